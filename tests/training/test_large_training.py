"""Training runs whose features do not fit into memory."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from headwise.core import scratch
from headwise.core.errors import HeadwiseError
from headwise.linear import large_fit
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.training import ensembles, text_objectives
from headwise.training.text_objectives import TextObjective


class _Objective(TextObjective):
    """An objective of so many items, the last of which are label names."""

    def __init__(self, items: int, names: int):
        self.train_items, self.label_name_count = [None] * items, names
        self.model = type("Model", (), {"reads_pairs": False})()


class _Model:
    """A model with a vector of two numbers for each item, and the most items that it was asked for."""

    most = 0

    def base_vectors(self, items: Sequence[int]) -> np.ndarray:
        self.most = max(self.most, len(items))
        return np.array([[item, -item] for item in items], dtype=np.float32)


def test_a_probe_is_fitted_to_a_sample_and_all_label_names(monkeypatch) -> None:
    np.testing.assert_array_equal(_Objective(30, 4).probed_indices, np.arange(30))
    monkeypatch.setattr(text_objectives, "MOST_PROBED", 10)
    probed = _Objective(30, 4).probed_indices
    assert len(probed) == len(np.unique(probed)) == 14
    assert (np.diff(probed) > 0).all()
    assert probed[-4:].tolist() == [26, 27, 28, 29]


def test_vectors_are_computed_for_the_texts_that_are_asked_for() -> None:
    model = _Model()
    vectors = ensembles._TextVectors(model, [3, 1, 4, 1, 5])
    assert len(vectors) == 5
    np.testing.assert_array_equal(vectors[np.array([4, 0])], [[5, -5], [3, -3]])
    assert model.most == 2


def test_a_full_disk_is_an_error_that_names_the_folder(tmp_path: Path, monkeypatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "TemporaryFile", full)
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    texts = ["a dark day", "a bright night"] * 10
    with (
        scratch.scratch_folder(tmp_path),
        pytest.raises(HeadwiseError, match="No space left") as caught,
    ):
        fit_linear(LinearExamples(texts, np.arange(20) % 2, 2))
    assert caught.value.code == "HW412"
    assert str(tmp_path) in str(caught.value)
