"""Models whose weights are too large for numbers: one error says so, and NumPy adds no warnings."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from headwise.app.cli import main
from headwise.artifacts.load import load_model
from headwise.artifacts.runtime_load import load_for_prediction
from headwise.core.errors import HeadwiseError

GOLDEN = Path(__file__).parent / "golden"
INPUTS = {
    "classify": "great",
    "multi-label": "great",
    "pair": ("great film", "great film"),
    "tag": "Anna flew",
}


@pytest.fixture(params=INPUTS)
def damaged(request, tmp_path, sign):
    """The task, and a folder whose linear model has the largest scales."""
    folder = tmp_path / "model"
    shutil.copytree(GOLDEN / request.param / "model", folder)
    path = folder / "model.safetensors"
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    tables = load_file(path)
    tables["expert.steps"] = np.full_like(tables["expert.steps"], 3e38)
    save_file(tables, path, metadata=metadata)
    sign(folder)
    return request.param, folder


@pytest.mark.parametrize("load", [load_model, load_for_prediction])
def test_predictions_are_one_error(damaged, load):
    task, folder = damaged
    with pytest.raises(HeadwiseError) as error:
        [*load(folder).predict([INPUTS[task]])]
    assert error.value.code == "HW409"


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_commands_print_the_same_error_alone(damaged, command, tmp_path, capfd):
    task, folder = damaged
    new = next((GOLDEN / task).glob("new.*"))
    output = ["--output", str(tmp_path / "out.jsonl")] if command == "predict" else []
    assert main([command, str(folder), str(new), *output]) != 0
    errors = capfd.readouterr().err
    assert "its weights are too large" in errors
    assert "Warning" not in errors
