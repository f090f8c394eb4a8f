"""cross_validated_large: the same model as in memory, whatever the targets; features chosen in passes."""

import os
from contextlib import closing

import numpy as np
import pytest

from headwise.core.scratch import ScratchFile, scratch_folder
from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE, LabelType
from headwise.linear import large_fit, tfidf_features, training_data
from headwise.linear.linear_fit import LinearExamples, cross_validated, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.linear.tfidf_features import BlockReader

from .conftest import corpus

RANDOM = np.random.default_rng(3)


class ComputedVectors:
    """Vectors that are computed when they are needed, and the most texts of one call."""

    def __init__(self, vectors: np.ndarray):
        self.vectors, self.most = vectors, 0

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, texts: np.ndarray) -> np.ndarray:
        self.most = max(self.most, len(texts))
        return self.vectors[texts]


def both(monkeypatch, examples, entries=500, **how):
    """The fits in memory and from a file, in portions of so many features."""
    in_memory = fit_linear(examples, **how)
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    monkeypatch.setattr(large_fit, "_PORTION_ENTRIES", entries)
    return in_memory, fit_linear(examples, **how)


def targets_of(kind: str, labels: np.ndarray) -> tuple[LabelType, np.ndarray, int]:
    hot = np.eye(4, dtype=bool)[labels]
    if kind == "sets":
        return LABEL_SET_TYPE, hot | np.roll(hot, 1, axis=1), 4
    if kind == "soft":
        return SINGLE_LABEL_TYPE, (hot * 0.7 + 0.075).astype(np.float32), 4
    if kind == "numbers":
        return NUMERIC_LABEL_TYPE, (labels - 1.5).astype(np.float32), 1
    return SINGLE_LABEL_TYPE, labels, 4


@pytest.mark.parametrize("kind", ["labels", "sets", "soft", "numbers"])
def test_scores_are_those_of_a_fit_in_memory(monkeypatch, kind):
    texts, labels = corpus(4, texts=200)
    label_type, targets, classes = targets_of(kind, labels)
    vectors = RANDOM.standard_normal((200, 5)).astype(np.float32)
    settings = LinearSettings(ratios=kind == "labels", dense=1.0, form=True)
    weights = None if kind == "numbers" else np.tile([1.0, 2.0, 0.0, 1.0], 50)
    examples = LinearExamples(texts, targets, classes, label_type, vectors, sample_weight=weights)
    small, large = both(monkeypatch, examples, settings=settings, calibrated=False)
    expected, scores = (fit.model.scores(texts, vectors) for fit in (small, large))
    for name in small.model.blocks:
        np.testing.assert_array_equal(small.model.blocks[name].keys, large.model.blocks[name].keys)
        np.testing.assert_allclose(small.model.blocks[name].idf, large.model.blocks[name].idf, rtol=1e-6)
    assert np.abs(expected).max() > 0.5
    np.testing.assert_allclose(scores, expected, atol=0.1)


def test_chooses_settings_and_calibrates(monkeypatch):
    texts, labels = corpus(2, texts=400, noise=0.3)
    small, large = both(monkeypatch, LinearExamples(texts, labels, 2), entries=2_000)
    assert large.oof_scores.shape == (400, 2)
    assert large.oof_scores.any(axis=1).all()
    assert large.cv_score == pytest.approx(small.cv_score, abs=0.05)
    more, truth = corpus(2, texts=400, noise=0.3, seed=1)
    accuracies = [float((fit.model.scores(more).argmax(axis=1) == truth).mean()) for fit in (small, large)]
    assert accuracies[1] == pytest.approx(accuracies[0], abs=0.05)


@pytest.mark.parametrize("most_entries", [large_fit.MOST_ENTRIES, 0])
def test_cross_validation_alone_has_the_scores_of_a_fit_and_reports_its_steps(monkeypatch, most_entries):
    texts, labels = corpus(4, texts=200)
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", most_entries)
    fitted = fit_linear(LinearExamples(texts, labels, 4))
    fits, steps = [], []
    for name in ("fit_svm_portions", "fit_svm_columns"):
        module = large_fit if name == "fit_svm_portions" else training_data
        solve = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, solve=solve, **k: fits.append(a[0]) or solve(*a, **k))
    with cross_validated(LinearExamples(texts, labels, 4), step=steps.append) as validated:
        np.testing.assert_array_equal(validated.oof_scores, fitted.oof_scores)
        assert (validated.settings, validated.cv_score) == (fitted.settings, fitted.cv_score)
        before = len(fits)
        np.testing.assert_array_equal(validated.fit_model().scores(texts), fitted.model.scores(texts))
        assert len(fits) == before + 1
    assert "choosing settings" in steps
    if not most_entries:
        assert steps[-2:] == [f"fitting a linear model without fold {fold} of 2" for fold in (1, 2)]


def test_label_names_are_no_held_out_texts(monkeypatch):
    texts, labels = corpus(2, texts=100)
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    fitted = fit_linear(
        LinearExamples([*texts, "harbour", "garden"], np.append(labels, [0, 1]), 2, label_name_count=2)
    )
    assert fitted.oof_scores.shape == (100, 2)


def test_vectors_are_computed_portion_by_portion(monkeypatch):
    texts, labels = corpus(2, texts=200)
    vectors = ComputedVectors(RANDOM.standard_normal((200, 5)).astype(np.float32))
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    monkeypatch.setattr(large_fit, "MOST_COMPARED", 30)
    monkeypatch.setattr(large_fit, "_PORTION_ENTRIES", 1_500)
    fitted = fit_linear(LinearExamples(texts, labels, 2, dense=vectors), calibrated=False)
    assert fitted.model.scale is not None
    assert 0 < vectors.most < 100


@pytest.mark.parametrize("block", ["words", "characters"])
@pytest.mark.parametrize("weights", [None, np.tile([1.0, 0.0, 2.5], 40)])
def test_chosen_features_are_those_of_one_pass(monkeypatch, block, weights):
    texts, _ = corpus(4, texts=120)
    reader = BlockReader(block, reach=2)
    expected, _ = reader.fit(texts, max_features=90, rare=50, weights=weights)
    monkeypatch.setattr(tfidf_features, "_LARGE_PORTION", 100)
    chosen = reader.choose(texts, max_features=90, rare=50, weights=weights)
    np.testing.assert_array_equal(chosen.keys, expected.keys)
    np.testing.assert_allclose(chosen.idf, expected.idf, rtol=1e-6)


def test_common_features_survive_when_rare_ones_are_forgotten(monkeypatch):
    texts = [f"all of these texts share words but {number} number{number}" for number in range(400)]
    reader = BlockReader("words")
    expected, _ = reader.fit(texts, max_features=12)
    monkeypatch.setattr(tfidf_features, "_LARGE_PORTION", 500)
    monkeypatch.setattr(tfidf_features, "MOST_COUNTED", 60)
    chosen = reader.choose(texts, max_features=12)
    np.testing.assert_array_equal(chosen.keys, expected.keys)
    np.testing.assert_allclose(chosen.idf, expected.idf, rtol=1e-6)


def test_reckons_the_features_from_a_sample(monkeypatch):
    texts, _ = corpus(2, texts=300)
    reader = BlockReader("words")
    blocks = [BlockReader(name).fit(texts, max_features=10_000) for name in ("words", "characters")]
    entries = sum(matrix.nnz for _, matrix in blocks)
    assert large_fit.entries_per_text(texts, reader) == pytest.approx(entries / 300)
    for most, large in ((entries - 1, True), (entries + 1, False)):
        monkeypatch.setattr(large_fit, "MOST_ENTRIES", most)
        assert large_fit.is_large(texts, reader) == large
    vectors = np.zeros((300, 4), dtype=np.float32)
    assert large_fit.is_large(texts, reader, vectors)
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", entries + 2 * 300)
    assert not large_fit.is_large(texts, reader, vectors)


def test_scratch_files_have_no_name(tmp_path):
    with scratch_folder(tmp_path / "run"):
        file = ScratchFile()
    arrays = [np.arange(6, dtype=np.float16).reshape(2, 3), np.zeros((0, 4), dtype=np.int64), np.arange(5)]
    with closing(file):
        stored = [file.write(array) for array in arrays]
        for array, place in zip(arrays, stored, strict=True):
            read = file.read(place)
            assert read.dtype == array.dtype
            np.testing.assert_array_equal(read, array)
        if os.name == "posix":
            assert not [*(tmp_path / "run").iterdir()]
