"""The scores that benchmarks/defaults/unknown.py compares, on vectors that are plain to see."""

import numpy as np
import pytest

from benchmarks.defaults.default_sets import Part
from benchmarks.defaults.unknown import OUTSIDE, SUMMARIES, SpaceScores, hold_out_labels, table


def test_vectors_between_the_classes_are_the_least_familiar():
    random = np.random.default_rng(0)
    centers = np.array([[5.0, 0, 0], [0, 5.0, 0]])
    labels = np.repeat([0, 1], 100)
    space = SpaceScores(centers[labels] + random.normal(size=(200, 3)) / 4, labels)
    new = np.array([[5.0, 0, 0], [0, 5.0, 0], [0, 0, 5.0]])
    for score in (space.mean_cosine, space.mahalanobis, space.neighbours):
        first, second, strange = score(new)
        assert min(first, second) > strange
    np.testing.assert_allclose(space.mean_cosine(centers), 1, atol=0.01)


def test_summaries_of_logits():
    logits = np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    scores = {name: summary(logits) for name, summary in SUMMARIES.items()}
    assert scores["largest logit"].tolist() == [2, 0]
    assert scores["energy"] == pytest.approx([np.log(np.exp(2) + 2), np.log(3)])
    assert scores["largest probability"] == pytest.approx([np.exp(2) / (np.exp(2) + 2), 1 / 3])


def test_table():
    row = {"set": "a", "outside": "b", "labels": 3, "auroc": 0.9, "caught": 0.5}
    mark = {"at_threshold": {"kept": 0.951, "caught": 0.47}}
    lines = list(table([row | {"score": "headwise"} | mark, row | {"score": "energy"}]))
    assert "| energy | 0.900, 50 |" in lines
    assert lines[-1] == "| at the stored threshold, 95.1 % kept | 47 |"


def test_out_of_scope_sets_are_not_those_that_are_trained_on():
    assert all(name not in outside for name, outside in OUTSIDE.items())


def test_held_out_labels_are_in_no_training_text():
    labels = [f"label {n % 12}" for n in range(48)]
    part = Part([f"text {n}" for n in range(48)], labels)
    train, inside, new = hold_out_labels(part, part)
    assert len(set(new.labels)) == 3
    assert {*train.labels} == {*inside.labels} == {*labels} - {*new.labels}
    assert len(inside) + len(new) == 48
