"""What holds for all tests of the benchmarks: one thread each, and Ctrl-C is Ctrl-C."""

import os
import signal

import pytest

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so where a shell started the tests with &
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder with two domains of short texts."""
    import gzip

    folder = tmp_path / "data" / "mtl16"
    folder.mkdir(parents=True)
    for domain in ("MR", "imdb"):
        for part in ("train", "test"):
            lines = [f"{n % 2}\t{' '.join(['good', 'bad', 'film'][: n % 3 + 1])}\n" for n in range(12)]
            (folder / f"{domain}.task.{part}.gz").write_bytes(gzip.compress("".join(lines).encode()))
    monkeypatch.setattr("benchmarks.speed.speed_texts.DATA", folder.parent)
    return folder.parent
