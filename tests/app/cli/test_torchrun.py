"""`headwise train` in several processes of torchrun."""

import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from safetensors.numpy import load_file

from headwise.app.cli import main
from headwise.app.workflows.train import train_files
from headwise.artifacts import read_info
from headwise.core.errors import ConfigError

OPTIONS = (
    "--epochs 2 --linear-model.kind none --no-baseline --batch-texts 25 "
    "--base.dropout 0 --base.word-dropout 0 --classifier.dropout 0 --encoder.dropout 0"
)


@pytest.fixture
def arguments(tmp_path):
    """Of `headwise train`, without the output; the last batch has an odd number of texts."""
    lines = (files("headwise") / "data/samples/helpdesk.tsv").read_text("utf-8").splitlines(keepends=True)
    for name, start, count in (("train", 1, 89), ("dev", 400, 40), ("test", 600, 40)):
        (tmp_path / f"{name}.tsv").write_text(lines[0] + "".join(lines[start : start + count]), "utf-8")
    train, dev, test = (str(tmp_path / f"{name}.tsv") for name in ("train", "dev", "test"))
    return ["train", train, "--dev", dev, "--test", test, *OPTIONS.split()]


def test_two_processes_learn_what_one_learns(tmp_path, arguments, capsys):
    single, double = tmp_path / "single", tmp_path / "double"
    assert main([*arguments, "--output", str(single)]) == 0
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "headwise"]
    done = subprocess.run(
        [*torchrun, *arguments, "--output", str(double)], capture_output=True, text=True, check=True
    )
    assert done.stdout == capsys.readouterr().out.replace(str(single), str(double))  # printed once
    expected, weights = (load_file(folder / "model.safetensors") for folder in (single, double))
    assert expected.keys() == weights.keys()
    for name, values in weights.items():
        np.testing.assert_allclose(
            values.astype(float), expected[name].astype(float), atol=1e-4, err_msg=name
        )
    losses, expected_losses = (
        [epoch["train_loss"] for epoch in read_info(folder)["training"]["history"]]
        for folder in (double, single)
    )
    assert losses == pytest.approx(expected_losses, abs=1e-5)


@pytest.fixture
def two_processes(monkeypatch):
    """The environment of the first of two processes of torchrun."""
    for name, value in (("TORCHELASTIC_RUN_ID", "none"), ("WORLD_SIZE", "2"), ("RANK", "0")):
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("two_processes")
def test_a_run_is_resumed_by_one_process(tmp_path, arguments):
    with pytest.raises(ConfigError, match="continue with one process"):
        train_files(arguments[1], tmp_path / "model", resume=True)
    assert not (tmp_path / "model").exists()


@pytest.mark.usefixtures("two_processes")
def test_processes_do_not_share_standard_input(tmp_path):
    with pytest.raises(ConfigError, match="'-' cannot be read by each process of torchrun"):
        train_files("-", tmp_path / "model")
    assert not (tmp_path / "model").exists()
