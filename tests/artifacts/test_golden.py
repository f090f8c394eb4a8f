"""Folders that were made once, of each task: they load, and their models say what they said."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from headwise.app.workflows.evaluate import evaluate_file
from headwise.app.workflows.predict import predict_file
from headwise.app.workflows.report import report_file
from headwise.artifacts import load_model
from headwise.models.tasks import TASKS

GOLDEN = Path(__file__).parent / "golden"


def test_there_is_one_of_each_task():
    assert {path.name for path in GOLDEN.iterdir()} == set(TASKS)


def cells(path: Path) -> list[list[str | float]]:
    """What a file of predictions says, numbers as such."""
    rows = []
    for line in path.read_text().splitlines():
        values = _flat(json.loads(line)) if path.suffix == ".jsonl" else line.split(",")
        rows.append([_number(value) for value in values])
    return rows


def _flat(value) -> list:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in (key, *_flat(item))]
    return [leaf for item in value for leaf in _flat(item)] if isinstance(value, list) else [value]


def _number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


@pytest.mark.parametrize("task", TASKS)
def test_it_says_what_it_said(task, tmp_path):
    folder = GOLDEN / task
    assert load_model(folder / "model").config.task == task
    new = next(folder.glob("new.*"))
    expected_file = next(folder.glob("said.*"), None)
    if expected_file is None:
        scores = evaluate_file(folder / "model", new).evaluation.to_json()
        expected = json.loads((folder / "scores.json").read_text())
        [measure] = {"bits_per_character", "perplexity"} & set(expected)
        assert scores[measure] == pytest.approx(expected[measure], rel=1e-4)
        return
    output = tmp_path / expected_file.name
    predict_file(folder / "model", new, output)
    for row, expected in zip(cells(output), cells(expected_file), strict=True):
        assert [type(value) for value in row] == [type(value) for value in expected]
        for value, expected_value in zip(row, expected, strict=True):
            if isinstance(expected_value, float):
                assert np.isclose(value, expected_value, rtol=1e-3, atol=1e-3)
            else:
                assert value == expected_value


@pytest.mark.parametrize("history", [7, "epoch", [1], None])
def test_a_page_of_a_folder_whose_history_was_damaged(history, tmp_path, sign):
    folder = tmp_path / "model"
    shutil.copytree(GOLDEN / "classify" / "model", folder)
    training = json.loads((folder / "training.json").read_text())
    (folder / "training.json").write_text(json.dumps({**training, "history": history}))
    sign(folder)
    assert "accuracy" in report_file(folder)
