import contextlib
import csv
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import torch

from headwise.app.cli import main

LABELS = ["bad", "good"]
WORDS = [f"w{i}" for i in range(50)]


@pytest.fixture(autouse=True)
def _fits_once(fits_once):
    """For all commands."""


@pytest.fixture(scope="session")
def save(tmp_path_factory):
    """Save a small model with these labels and return its folder."""
    from headwise.artifacts import save_model
    from headwise.nn.encoders import MSTransformerConfig
    from headwise.nn.networks.model_config import ModelConfig
    from headwise.nn.networks.text_models import TextClassifierModel
    from headwise.text.text_configs import WordConfig
    from headwise.text.vocabulary import Vocabulary

    def save(labels, *, seed=1, layers=2, **parts) -> Path:
        torch.manual_seed(seed)
        encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=layers)
        config = ModelConfig(words=WordConfig(vector_size=8), encoder=encoder)
        model = TextClassifierModel(config, Vocabulary.build([WORDS]), labels)
        for parameter in model.parameters():  # different texts are to get different predictions
            parameter.data += 0.1 * torch.randn_like(parameter)
        folder = tmp_path_factory.mktemp("models") / "model"
        save_model(model, folder, **{"data": {}, "training": {}, "metrics": {}, **parts})
        return folder

    return save


@pytest.fixture(scope="session")
def model(save) -> Path:
    """The folder of a model that tells bad from good."""
    return save(LABELS)


@pytest.fixture
def run(capfdbinary, monkeypatch, tmp_path):
    """Run `headwise` in a folder of its own; returns (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments, stdin: bytes = b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


@pytest.fixture(scope="session")
def train_once(tmp_path_factory):
    """Run a training command in a folder of its own with these files; returns the folder, standard output
    and standard error. Tests that share a model copy the folder."""

    def train_once(files: Mapping[str, str], *arguments: object) -> tuple[Path, str, str]:
        folder = tmp_path_factory.mktemp("trained")
        for name, content in files.items():
            (folder / name).write_text(content)
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", "80")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(["train", *map(str, arguments)])
        said = [stream.buffer.getvalue().decode() for stream in (out, err)]
        assert code == 0, said[1]
        return folder, *said

    return train_once


@pytest.fixture
def spawn(tmp_path):
    """Start `python -m headwise` as a process of its own."""
    environment = {**os.environ, "COLUMNS": "80"}
    started = []

    def spawn(*arguments, **options) -> subprocess.Popen:
        command = [sys.executable, "-m", "headwise", *map(str, arguments)]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path, **options}
        started.append(subprocess.Popen(command, env=environment, **options))
        return started[-1]

    yield spawn
    for process in started:
        process.kill()
        process.communicate()


class Forked:
    """A command in a process of its own, as much like a `subprocess.Popen` as the tests need."""

    def __init__(
        self, zygote: socket.socket, arguments: Sequence[object], folder: Path, largest_file: int | None
    ):
        request = {
            "arguments": [*map(str, arguments)],
            "folder": str(folder),
            "environment": {"COLUMNS": "80"},
            "largest_file": largest_file,
        }
        pipes = [os.pipe() for _ in range(3)]
        socket.send_fds(zygote, [json.dumps(request).encode()], [write for _, write in pipes])
        for _, write in pipes:
            os.close(write)
        self.stdout, self.stderr, self._news = (os.fdopen(read, "rb") for read, _ in pipes)
        self.pid = int(self._news.readline())
        os.set_blocking(self._news.fileno(), False)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and (line := self._news.readline()):
            self.returncode = int(line)
        return self.returncode

    def wait(self) -> int:
        os.set_blocking(self._news.fileno(), True)
        code = self.poll()
        assert code is not None, "who watches the process has ended"
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """`timeout`: seconds after which the process is killed."""
        killer = threading.Timer(timeout or 1e6, self.send_signal, [signal.SIGKILL])
        killer.daemon = True
        killer.start()
        said = (self.stdout.read(), self.stderr.read())  # what the tests' commands say fits into the pipes
        killer.cancel()
        self.wait()
        return said

    def close(self) -> None:
        self.send_signal(signal.SIGKILL)
        for stream in (self.stdout, self.stderr, self._news):
            stream.close()


@pytest.fixture(scope="session")
def zygote():
    """The process that forks (see `zygote.py`)."""
    ours, its = socket.socketpair()
    environment = {**os.environ, "COLUMNS": "80"}
    script = Path(__file__).with_name("zygote.py")
    process = subprocess.Popen([sys.executable, script], stdin=its, env=environment)
    its.close()
    assert ours.recv(16) == b"ready\n"
    yield ours
    ours.close()
    process.wait()


@pytest.fixture
def fork(zygote, tmp_path):
    """Start a command as `spawn` does, in a tenth of the time: for tests that do so often."""
    started = []

    def fork(*arguments, largest_file: int | None = None) -> Forked:
        """`largest_file`: bytes that a file may have, as on a disk that is nearly full."""
        started.append(Forked(zygote, arguments, tmp_path, largest_file))
        return started[-1]

    yield fork
    for process in started:
        process.close()


@pytest.fixture(scope="session")
def table():
    """Write a csv file of random texts, some with quotes, line ends or no words; returns its rows."""

    def table(path: Path, rows: int, *, seed=0) -> list[dict[str, str]]:
        chance = random.Random(seed)
        odd = ['say "hi", w1', "w1\nw2", "", '"', "w3\r\nw4", "ünï\u2028cödé 😀"]
        written = []
        for number in range(rows):
            text = " ".join(chance.choices(WORDS, k=chance.randint(1, 12)))
            text = chance.choice(odd) if chance.random() < 0.2 else text
            written.append({"id": str(number), "text": text, "label": chance.choice(LABELS)})
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["id", "text", "label"])
            writer.writeheader()
            writer.writerows(written)
        return written

    return table
