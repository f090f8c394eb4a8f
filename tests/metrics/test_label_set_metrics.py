"""Scores of label sets against scikit-learn's."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    label_ranking_average_precision_score,
    precision_recall_fscore_support,
)

from headwise.metrics.multi_label_scores import (
    compare_sets,
    dev_scores,
    multi_label_scores,
    ranking_precision,
    ranking_rates,
    set_rates,
)


def draw(texts: int, labels: int, seed: int, ties: bool = False):
    random = np.random.default_rng(seed)
    scores = random.random((texts, labels))
    if ties:
        scores = scores.round(1)
    return scores, random.random((texts, labels)) < random.random(labels), random.random(labels)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(2, 5), st.integers(0, 99), st.booleans())
def test_as_scikit_learn(texts, labels, seed, ties):
    scores, targets, thresholds = draw(texts, labels, seed, ties)
    predicted = scores >= thresholds
    result = multi_label_scores(scores, thresholds, targets, [f"l{n}" for n in range(labels)])
    if predicted.any() or targets.any():
        assert result.micro_f1 == pytest.approx(
            f1_score(targets, predicted, average="micro", zero_division=0)
        )
    reference = precision_recall_fscore_support(targets, predicted, zero_division=0)
    present = (targets | predicted).any(0)
    assert result.macro_f1 == pytest.approx(reference[2][present].mean() if present.any() else 0.0)
    assert result.subset_accuracy == pytest.approx(accuracy_score(targets, predicted))
    assert result.ranking == pytest.approx(label_ranking_average_precision_score(targets, scores))
    for n, row in enumerate(result.labels):
        assert (row.precision, row.recall, row.f1, row.texts) == pytest.approx(
            [part[n] for part in reference]
        )
        assert row.threshold == thresholds[n]
        if row.texts:
            assert row.average_precision == pytest.approx(
                average_precision_score(targets[:, n], scores[:, n])
            )
        else:
            assert row.average_precision is None
    for name in ("micro_f1", "macro_f1", "ranking", "subset_accuracy"):
        low, high = getattr(result, name + "_interval")
        assert 0 <= low <= high <= 1 + 1e-6


def test_intervals_narrow_with_more_texts():
    wide, narrow = (
        multi_label_scores(*parts, list("abc"))
        for parts in (
            (sample[0], np.full(3, 0.5), sample[1]) for sample in (draw(40, 3, 5), draw(1_000, 3, 5))
        )
    )
    for name in ("micro_f1", "macro_f1", "ranking"):
        sizes = [np.diff(getattr(scores, name + "_interval"))[0] for scores in (wide, narrow)]
        assert sizes[1] < 0.5 * sizes[0]
        low, high = getattr(narrow, name + "_interval")
        assert low < getattr(narrow, name) < high


def test_texts_without_labels_and_nothing_given():
    nothing = np.zeros((3, 2), dtype=bool)
    scores = multi_label_scores(np.zeros((3, 2)), np.full(2, 0.5), nothing, ["a", "b"])
    assert (scores.micro_f1, scores.subset_accuracy, scores.ranking, scores.macro_f1) == (
        1.0,
        1.0,
        1.0,
        0.0,
    )
    assert scores.mean_average_precision == 0.0
    with pytest.raises(ValueError, match="no texts"):
        multi_label_scores(np.zeros((0, 2)), np.full(2, 0.5), nothing[:0], ["a", "b"])


def test_ranking_of_ties_is_the_worst():
    targets = np.array([[True, False, False]])
    assert ranking_precision(np.array([[0.5, 0.5, 0.5]]), targets) == pytest.approx([1 / 3])
    assert ranking_precision(np.array([[0.5, 0.5, 0.4]]), targets) == pytest.approx([1 / 2])


def test_scores_on_dev():
    scores, targets, _ = draw(50, 4, 3)
    logits = 4 * scores - 2 + 3 * targets
    rates = dev_scores(logits, targets)
    best = max(f1_score(targets, logits >= t, average="micro", zero_division=0) for t in logits.ravel())
    assert rates["f1"] == pytest.approx(best)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss = np.log1p(np.exp(-np.where(targets, logits, -logits))).mean()
    assert rates["loss"] == pytest.approx(loss)


def test_better_sets_are_told_apart():
    _, targets, _ = draw(200, 4, 1)
    noise = np.random.default_rng(2).random(targets.shape)
    gap = compare_sets(targets ^ (noise < 0.05), targets ^ (noise < 0.3), targets)
    assert gap.score > 0.1
    assert 0 < gap.interval[0] < gap.score < gap.interval[1]
    assert gap.p_value < 0.001
    assert compare_sets(targets, targets, targets).score == 0.0


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 20), st.integers(2, 5), st.integers(0, 99), st.booleans())
def test_a_weight_is_as_many_texts(texts, labels, seed, ties):
    scores, targets, thresholds = draw(texts, labels, seed, ties)
    weights = np.random.default_rng(seed).integers(0, 4, texts)
    weights[0] += 1
    again = np.repeat(np.arange(texts), weights)
    rates = set_rates(scores, thresholds, targets, weights)
    assert rates == pytest.approx(set_rates(scores[again], thresholds, targets[again]))
    ranks = ranking_rates(scores, targets, weights)
    assert ranks == pytest.approx(ranking_rates(scores[again], targets[again]))
    assert dev_scores(scores, targets, weights) == pytest.approx(dev_scores(scores[again], targets[again]))
    repeated = multi_label_scores(scores, thresholds, targets, [f"l{n}" for n in range(labels)])
    plain = set_rates(scores, thresholds, targets) | ranking_rates(scores, targets)
    assert plain == pytest.approx({name: getattr(repeated, name) for name in plain})
