"""Files get their name when they are complete."""

import os
from pathlib import Path

import pytest

from headwise.core.file_lock import atomic_output


def write(path: Path, error: bool) -> None:
    with atomic_output(path) as part:
        part.write_text("new")
        if error:
            raise KeyboardInterrupt


def test_what_has_the_name_stays_until_the_new_file_is_whole(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write(path, error=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "old")]
    write(path, error=False)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "new")]


@pytest.mark.skipif(os.name == "nt", reason="needs a device")
def test_a_device_is_written_as_it_is():
    with atomic_output(Path(os.devnull)) as part:
        assert part == Path(os.devnull)
    assert Path(os.devnull).exists()
