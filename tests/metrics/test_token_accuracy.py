"""Accuracy over words."""

import numpy as np
import pytest

from headwise.metrics.tagging_scores import compare_tags, score_tags


def numbers(*texts):
    return [np.array(text, dtype=np.int64) for text in texts]


def test_by_hand():
    targets, predicted = numbers([0, 1, 1], [], [2]), numbers([0, 1, 0], [], [2])
    scores = score_tags(predicted, targets, ["a", "b", "c", "d"])
    assert (scores.texts, scores.words, scores.accuracy) == (3, 4, 0.75)
    assert [(tag.tag, tag.precision, tag.recall, tag.words) for tag in scores.tags] == [
        ("a", 0.5, 1.0, 1),
        ("b", 1.0, 0.5, 2),
        ("c", 1.0, 1.0, 1),
        ("d", 0.0, 0.0, 0),
    ]
    assert scores.macro_f1 == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    low, high = scores.accuracy_interval
    assert low < 0.75 < high


def test_compare():
    targets = numbers(*[[0, 1]] * 30)
    worse = numbers(*[[0, 1]] * 18, *[[1, 1]] * 12)
    comparison = compare_tags(targets, worse, targets)
    assert comparison.score == pytest.approx(0.2)
    assert comparison.p_value < 0.01


def test_wrong_input():
    with pytest.raises(ValueError, match="no words"):
        score_tags(numbers([]), numbers([]), ["a"])
    with pytest.raises(ValueError, match="not of the same words"):
        score_tags(numbers([0]), numbers([0, 1]), ["a", "b"])
    with pytest.raises(ValueError, match="not of the same words"):
        score_tags(numbers([0]), numbers([0], [1]), ["a", "b"])
