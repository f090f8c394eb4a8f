"""A training run whose texts are too many for memory ends with the model of a run in memory."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from headwise.app.training_report import TrainingReport
from headwise.app.workflows.train import train_files
from headwise.linear import large_fit
from headwise.models.label_evaluation import SingleLabelEvaluation
from headwise.runtime import ensemble_outputs
from headwise.text import on_demand_texts
from headwise.text.static_embeddings.base_folder import save_base
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.training import ensembles

WORDS = ("good", "fine", "great", "bad", "poor", "awful", "film", "book", "this", "is")
SETTINGS = {
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "train": {"epochs": 2, "batch-texts": 8},
    "linear_model": {"kind": "linear"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, dict]:
    """A file of labelled texts, and settings with a base that knows what is good."""
    folder, random = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    rows = 0.3 * random.normal(size=(len(WORDS), 6)).astype(np.float32)
    rows[:3, 0], rows[3:6, 0] = 1, -1
    runs = QuantizedMatrix.of(0.1 * random.normal(size=(64, 6)).astype(np.float32))
    weights = np.ones(len(WORDS) + 1, dtype=np.float32)
    save_base(
        StaticEmbeddings("tiny", WORDS, QuantizedMatrix.of(rows), runs, weights), folder / "base", "#\n"
    )
    lines = ["text,label"]
    for number in range(160):
        words = random.choice(WORDS[6:], 8).tolist()
        words.insert(random.integers(8), WORDS[number % 6])
        lines.append(f"{' '.join(words)} x{number % 60},{'good' if number % 6 < 3 else 'bad'}")
    (folder / "texts.csv").write_text("\n".join([*lines, ""]))
    return folder / "texts.csv", {"base": {"name": str(folder / "base")}}


def trained(files: tuple[Path, dict], output: Path, **how) -> TrainingReport:
    return train_files(files[0], output, settings=[files[1], SETTINGS], **how)


def small_limits(monkeypatch) -> None:
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    monkeypatch.setattr(large_fit, "_PORTION_ENTRIES", 3_000)
    monkeypatch.setattr(on_demand_texts, "MOST_ENCODED", 0)
    monkeypatch.setattr(ensembles, "_MOST_EAGER", 20)
    monkeypatch.setattr(ensemble_outputs, "MOST_SCORED", 10)


def test_the_model_is_that_of_a_run_in_memory(files, tmp_path, monkeypatch):
    small = trained(files, tmp_path / "small")
    small_limits(monkeypatch)
    large = trained(files, tmp_path / "large")
    for one, other in zip(small.fitted.progress.history, large.fitted.progress.history, strict=True):
        assert one == pytest.approx(other, rel=1e-4)
    assert isinstance(small.test, SingleLabelEvaluation)
    assert isinstance(large.test, SingleLabelEvaluation)
    np.testing.assert_allclose(small.test.probabilities, large.test.probabilities, atol=0.05)
    assert small.test.reading == large.test.reading
    assert "sample" in large.systems["baseline"].name
    prints = [json.loads((tmp_path / name / "data.json").read_text()) for name in ("small", "large")]
    assert prints[0] == prints[1]
    assert not [*tmp_path.glob("large/.*")]


class Stops:
    """Ends a run after its first epoch."""

    def on_start(self, settings) -> None:
        pass

    def on_epoch(self, epoch, scores, part) -> None:
        raise KeyboardInterrupt

    def on_end(self, metrics) -> None:
        pass


def test_a_run_that_was_stopped_goes_on_to_the_same_model(files, tmp_path, monkeypatch):
    small_limits(monkeypatch)
    expected = trained(files, tmp_path / "whole", baseline=False).fitted.model.state_dict()
    with pytest.raises(KeyboardInterrupt):
        trained(files, tmp_path / "stopped", baseline=False, callbacks=[Stops()])
    resumed = trained(files, tmp_path / "stopped", baseline=False, resume=True).fitted.model.state_dict()
    for name, values in expected.items():
        assert torch.equal(values, resumed[name]), name
