"""Confident learning on made probabilities."""

import numpy as np
import pytest

from headwise.metrics.label_quality import beats_label_frequencies, find_label_issues


def test_what_counts_as_another_label_is_a_suspect():
    """Label 0 has the mean .6, label 1 the mean .65: the text that has .9 of label 1 is one of it, the text
    that has .5 of each is one of neither."""
    chances = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8], [0.5, 0.5]])
    issues, margins = find_label_issues(chances, np.array([0, 0, 0, 1, 1]))
    assert issues.tolist() == [2]
    np.testing.assert_allclose(margins, [-0.8])


def test_a_label_that_is_itself_the_likeliest_is_none():
    """Label 1 has the mean .3: texts of label 0 with .4 and .55 of label 1 reach it, and only the second is
    held for one of it, as the first has .45 of its own."""
    chances = [[0.45, 0.4, 0.15], [0.4, 0.55, 0.05], [0.9, 0.05, 0.05], [0.2, 0.3, 0.5], [0.1, 0.3, 0.6]]
    issues, _ = find_label_issues(np.array(chances), np.array([0, 0, 0, 1, 2]))
    assert 0 not in issues
    assert 1 in issues


def test_the_likeliest_come_first_and_labels_without_texts_do_no_harm():
    chance = np.random.default_rng(0)
    true = chance.integers(0, 3, 300)
    chances = 0.1 * chance.random((300, 4)) + np.eye(4)[true]
    chances /= chances.sum(1, keepdims=True)
    labels = true.copy()
    labels[:30] = (true[:30] + 1) % 3
    issues, margins = find_label_issues(chances, labels)
    assert set(issues.tolist()) == set(range(30))
    assert (np.diff(margins) >= 0).all()


@pytest.mark.parametrize("labels", [2, 5])
def test_whether_probabilities_tell_labels(labels):
    chance = np.random.default_rng(0)
    targets = chance.integers(0, labels, 400)
    even = np.full((400, labels), 1 / labels)
    informative = np.where(np.eye(labels)[targets] > 0, 0.6, 0.4 / (labels - 1))
    wild = chance.dirichlet(np.ones(labels), 400)  # sure, and wrong as often as not
    assert beats_label_frequencies(informative, targets)
    assert not beats_label_frequencies(even, targets)
    assert not beats_label_frequencies(wild, targets)
    assert not beats_label_frequencies(np.eye(labels)[(targets + 1) % labels], targets)
