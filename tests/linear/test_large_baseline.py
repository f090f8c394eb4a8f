"""The baseline of texts whose features are too many for memory predicts what a fit in memory predicts."""

import numpy as np
import pytest

from headwise.core import scratch
from headwise.core.errors import HeadwiseError
from headwise.linear import large_baseline, large_fit
from headwise.linear.baselines import TFIDF_SVM, LinearBaseline, fit_baseline

from .conftest import corpus


def parts(classes: int):
    texts, labels = corpus(classes, texts=400, noise=0.1)
    return (texts[:240], labels[:240]), (texts[240:300], labels[240:300]), texts[300:]


def from_a_file(monkeypatch, train, dev, *, portion: int = 2_000, **how) -> LinearBaseline:
    monkeypatch.setattr(large_fit, "MOST_ENTRIES", 0)
    monkeypatch.setattr(large_baseline, "_PORTION_ENTRIES", portion)
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
    monkeypatch.setattr(large_baseline, "MOST_CHOSEN_ON", 1_000)
    large = from_a_file(monkeypatch, train, dev)
    step = large_baseline.sample_step(train[0], large_fit.BlockReader("words"))
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
