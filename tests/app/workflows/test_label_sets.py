"""A whole run on label sets as a function."""

import json
from pathlib import Path

import numpy as np
import pytest

from headwise.app.configuration import build_config
from headwise.app.training_plan import RunData, TrainingPlan
from headwise.app.workflows.train import fit_evaluate_save
from headwise.artifacts import load_model
from headwise.core.errors import HeadwiseError
from headwise.data.splits.data_parts import DataParts, read_parts
from headwise.models.tasks import find_task
from headwise.models.tasks.multi_label_task import names_of

SMALL = {
    "model": {"task": "multi-label", "readout": "mean"},
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "words": {"vector-size": 8},
    "train": {"epochs": 8, "batch-texts": 8, "learning-rate": 0.02, "vectors-learning-rate": 0.02},
}
NAMES = ("sun", "rain", "wind", "snow")


def write(path: Path, rows: int, seed: int = 0, rare: int = 0) -> str:
    random = np.random.default_rng(seed)
    lines = []
    for n in range(rows):
        own = [name for name in NAMES if random.random() < 0.4]
        words = [*own, *random.choice(list("abcdef"), 5), f"n{seed}-{n}"]
        own += ["rare"] * (n < rare)
        lines.append(f"{' '.join(words)},{'|'.join(own)}")
    path.write_text("\n".join(["text,labels", *lines, ""]))
    return str(path)


def read(train: str, recipe, dev: str | None = None, test: str | None = None) -> DataParts:
    """The parts of the files, for the task of the recipe."""
    kind = find_task(recipe.model.task).item_type_for(recipe.model)
    return read_parts(kind, train, dev, test, recipe.data, recipe.split)


def test_split_keeps_rare_labels_in_training(tmp_path):
    texts = read(write(tmp_path / "f.csv", 200, rare=7), build_config(SMALL))
    assert [len(part) for part in (texts.train, texts.dev, texts.test)] == [140, 30, 30]
    counts = [sum("rare" in own.labels for own in part) for part in (texts.train, texts.dev, texts.test)]
    assert counts == [5, 1, 1]
    assert sorted(names_of(texts)) == ["rain", "rare", "snow", "sun", "wind"]


def test_a_run(tmp_path):
    recipe = build_config(SMALL)
    texts = read(
        write(tmp_path / "train.csv", 260),
        recipe,
        write(tmp_path / "dev.csv", 60, 1),
        write(tmp_path / "test.csv", 60, 2),
    )
    outcome = fit_evaluate_save(
        TrainingPlan(find_task("multi-label"), RunData(texts), recipe), tmp_path / "model"
    )
    assert outcome.test is not None
    assert outcome.test.scores.micro_f1 > 0.9
    assert outcome.systems["baseline"].scores["micro_f1"] > 0.9
    assert not (tmp_path / "model" / "training").exists()
    loaded = load_model(tmp_path / "model")
    assert loaded.thresholds == outcome.fitted.model.thresholds
    assert all(0 < threshold < 1 for threshold in loaded.thresholds)
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["test"]["micro_f1"] == outcome.test.scores.micro_f1
    assert metrics["baseline"]["difference"]["p_value"] <= 1
    data = json.loads((tmp_path / "model" / "data.json").read_text())
    assert data["test"]["labels"]["sun"] == sum("sun" in own.labels for own in texts.test)


def test_the_encoder_alone_learns_too(tmp_path):
    recipe = build_config(SMALL, {"linear_model": {"kind": "none"}, "train": {"epochs": 15, "score": "f1"}})
    texts = read(write(tmp_path / "f.csv", 300), recipe)
    outcome = fit_evaluate_save(
        TrainingPlan(find_task("multi-label"), RunData(texts), recipe), tmp_path / "model", baseline=False
    )
    assert outcome.fitted.model.linear_model is None
    assert not outcome.systems
    assert outcome.test is not None
    assert outcome.test.scores.micro_f1 > 0.8


def test_labels_that_are_missing_in_training(tmp_path):
    train = tmp_path / "train.csv"
    write(train, 20)
    (tmp_path / "none.csv").write_text("text,labels\nx,\ny,\n")
    with pytest.raises(HeadwiseError, match=r"HW406.*no labels in 2 texts"):
        read(str(tmp_path / "none.csv"), build_config(SMALL))
    (tmp_path / "dev.csv").write_text("text,labels\nx,hail\n")
    with pytest.raises(HeadwiseError, match=r"HW140.*'hail'"):
        read(str(train), build_config(SMALL), str(tmp_path / "dev.csv"))
