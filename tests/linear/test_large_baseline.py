"""The baseline of texts whose features are too many for memory predicts what a fit in memory predicts."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest

from headwise.core import scratch
from headwise.core.errors import HeadwiseError
from headwise.linear import large_fit
from headwise.linear.baselines import TFIDF_SVM, LinearBaseline, fit_baseline, predict_number_baseline
from headwise.linear.sklearn_models import TFIDF_ONE_VS_REST, fit_multi_label_baseline

from .conftest import corpus


def parts(classes: int):
    texts, labels = corpus(classes, texts=400, noise=0.1)
    return (texts[:240], labels[:240]), (texts[240:300], labels[240:300]), texts[300:]


def from_a_file(monkeypatch, train, dev, *, portion: int = 2_000, **how) -> LinearBaseline:
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    monkeypatch.setattr(large_fit, "_PORTION_ENTRIES", portion)
    fitted = fit_baseline(train, dev, **how)
    assert fitted is not None
    return fitted


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_predicts_what_a_fit_in_memory_predicts(monkeypatch, classes, refit):
    train, dev, test = parts(classes)
    small = fit_baseline(train, dev, refit=refit)
    large = from_a_file(monkeypatch, train, dev, refit=refit)
    assert small is not None
    assert (large.blocks, large.strength, large.dev_accuracy) == (
        small.blocks,
        small.strength,
        small.dev_accuracy,
    )
    for name in small.model.blocks:
        np.testing.assert_array_equal(small.model.blocks[name].keys, large.model.blocks[name].keys)
    np.testing.assert_allclose(large.model.scores(test), small.model.scores(test), atol=0.05)
    assert np.mean(large.predict(test) == small.predict(test)) >= 0.98


def test_a_sample_chooses_and_all_texts_are_learnt(monkeypatch):
    train, dev, _ = parts(2)
    train = ([*train[0], "zebra crossing"] * 3, np.tile(np.append(train[1], 1), 3))
    monkeypatch.setattr(large_fit, "MOST_CHOSEN_ON", 1_000)
    large = from_a_file(monkeypatch, train, dev)
    step = large_fit.sample_step(train[0], large_fit.BlockReader("words"))
    assert step > 10
    assert "zebra crossing" not in train[0][::step]
    assert large.predict(["zebra crossing"]).tolist() == [1]


def test_its_name_says_that_a_sample_chose(monkeypatch):
    train, dev, _ = parts(2)
    small = fit_baseline(train, dev)
    assert small is not None
    assert small.name == TFIDF_SVM
    assert "sample" in from_a_file(monkeypatch, train, dev).name


def test_a_full_disk_is_an_error_that_names_the_folder(tmp_path, monkeypatch):
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "TemporaryFile", full)
    train, dev, _ = parts(2)
    with scratch.scratch_folder(tmp_path), pytest.raises(HeadwiseError, match="No space left") as caught:
        from_a_file(monkeypatch, train, dev)
    assert caught.value.code == "HW412"
    assert str(tmp_path) in str(caught.value)


def test_a_disk_without_space_for_all_features_is_an_error_at_once(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 10_000})
    monkeypatch.setattr(scratch, "disk_usage", lambda _: usage)
    train, dev, _ = parts(2)
    with scratch.scratch_folder(tmp_path), pytest.raises(HeadwiseError) as caught:
        from_a_file(monkeypatch, train, dev, portion=1_000)
    message = str(caught.value)
    assert caught.value.code == "HW412"
    assert str(tmp_path) in message
    assert "GB more are needed" in message
    assert "0.0 GB are free" in message


Fit = TypeVar("Fit")


def small_and_large(monkeypatch, fit: Callable[[], Fit | None]) -> tuple[Fit, Fit]:
    """What a function returns in memory and from a file."""
    in_memory = fit()
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    monkeypatch.setattr(large_fit, "_PORTION_ENTRIES", 2_000)
    from_file = fit()
    assert in_memory is not None
    assert from_file is not None
    return in_memory, from_file


@pytest.mark.parametrize("refit", [False, True])
def test_numbers_are_those_of_ridge_regression_in_memory(monkeypatch, refit):
    train, dev, test = parts(4)
    numbers = (train[0], 100 + 10.0 * train[1]), (dev[0], 100 + 10.0 * dev[1])
    small, large = small_and_large(
        monkeypatch, lambda: predict_number_baseline(*numbers, test, refit=refit)
    )
    assert np.std(small) > 5
    np.testing.assert_allclose(large, small, atol=1.0)  # the intercept is penalised, which 300 texts show


@pytest.mark.parametrize("refit", [False, True])
def test_label_sets_are_those_of_a_fit_in_memory(monkeypatch, refit):
    train, dev, test = parts(4)
    hot = np.eye(4, dtype=bool)
    sets = (train[0], hot[train[1]]), (dev[0], hot[dev[1]])
    small, large = small_and_large(monkeypatch, lambda: fit_multi_label_baseline(*sets, refit=refit))
    assert small.name == TFIDF_ONE_VS_REST
    assert "sample" in large.name
    np.testing.assert_array_equal(small.thresholds, large.thresholds)
    np.testing.assert_allclose(large.scores(test), small.scores(test), atol=0.1)
