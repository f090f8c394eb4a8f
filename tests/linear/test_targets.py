"""Targets: each kind as the solver is asked it, beside a brute-force reading of what it says it is."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

from headwise.linear.linear_weights import DesignMatrix
from headwise.linear.targets import (
    LabelTargets,
    MultiLabelTargets,
    NumericTargets,
    SoftLabelTargets,
    Targets,
    TextWeights,
)
from headwise.metrics.classification_scores import smooth_targets

RANDOM = np.random.default_rng(0)
TEXTS = 60
LABELS = RANDOM.integers(0, 3, TEXTS)
SOFT = RANDOM.dirichlet(np.ones(3), TEXTS)
SETS = RANDOM.random((TEXTS, 2)) < 0.3
NUMBERS = RANDOM.normal(size=TEXTS)
KINDS = {
    "labels": (LABELS, 3, LabelTargets, 3),
    "two labels": (LABELS.clip(max=1), 2, LabelTargets, 1),
    "soft": (SOFT, 3, SoftLabelTargets, 3),
    "soft, two": (SOFT[:, :2] / SOFT[:, :2].sum(1, keepdims=True), 2, SoftLabelTargets, 1),
    "sets": (SETS, 2, MultiLabelTargets, 2),
    "numbers": (NUMBERS, 1, NumericTargets, 1),
}
ROWS = DesignMatrix(
    csr_matrix(RANDOM.random((TEXTS, 7)).astype(np.float32)), np.ones((TEXTS, 2), np.float32)
)


@pytest.mark.parametrize(("given", "classes", "kind", "columns"), KINDS.values(), ids=KINDS)
def test_each_kind_is_told_by_its_array(given, classes, kind, columns):
    targets = Targets.of(given, classes)
    assert type(targets) is kind
    assert (len(targets), targets.columns) == (TEXTS, columns)
    some = np.array([4, 4, 0])
    own = targets.take(some).problem(ROWS.take(some), np.ones((3, 1), np.float32), None)
    assert own.signs.shape[1] == columns
    assert set(np.unique(own.signs)) <= {-1, 1}
    assert len(own.rows) == len(own.signs) == len(own.costs)


@pytest.mark.parametrize(("given", "classes", "kind", "columns"), KINDS.values(), ids=KINDS)
def test_what_is_said_of_a_text_does_not_change_with_those_beside_it(given, classes, kind, columns):
    targets, scores = Targets.of(given, classes), RANDOM.normal(size=(TEXTS, classes)).astype(np.float32)
    parts = np.array_split(np.arange(TEXTS), 3)
    if kind is NumericTargets:  # a share of the variance among them
        return
    each = [targets.take(part).score(scores[part]) for part in parts]
    assert targets.score(scores) == pytest.approx(np.mean(each))


@pytest.mark.parametrize("offsets", [None, RANDOM.normal(size=(TEXTS, 3)).astype(np.float32)])
def test_soft_labels_cost_by_their_probabilities(offsets):
    weights = RANDOM.random((TEXTS, 1)).astype(np.float32)
    own = Targets.of(SOFT, 3).problem(ROWS, weights, offsets)
    margins = RANDOM.normal(size=(TEXTS, 3))
    asked = (own.costs * np.maximum(0, 1 - own.signs * np.vstack([margins, margins])) ** 2).sum()
    with_it, without = (np.maximum(0, 1 - sign * margins) ** 2 for sign in (1, -1))
    assert asked == pytest.approx((weights * (SOFT * with_it + (1 - SOFT) * without)).sum(), rel=1e-5)
    np.testing.assert_array_equal(own.rows.sparse[TEXTS:].toarray(), ROWS.sparse.toarray())
    assert offsets is None if own.offsets is None else (own.offsets[:TEXTS] == own.offsets[TEXTS:]).all()


def test_texts_with_a_label_count_by_its_weight():
    own = Targets.of(SETS, 2, np.array([3.0, 1.0])).problem(ROWS, np.full((TEXTS, 1), 2, np.float32), None)
    np.testing.assert_array_equal(own.costs[:, 0], np.where(SETS[:, 0], 6, 2))
    np.testing.assert_array_equal(own.costs[:, 1], 2)


@pytest.mark.parametrize("name", ["labels", "soft"])
def test_the_temperature_is_the_best(name):
    targets, wanted = Targets.of(KINDS[name][0], 3), smooth_targets(KINDS[name][0], 3)
    scores = (3 * np.eye(3)[LABELS] + RANDOM.normal(size=(TEXTS, 3))).astype(np.float32)
    counts = RANDOM.random(TEXTS).astype(np.float32)
    counts /= counts.mean()

    def loss(factor):
        return np.average(-(wanted * log_softmax(factor * scores, axis=1)).sum(1), weights=counts)

    factor, found = targets.calibration(scores, counts)
    assert found == pytest.approx(loss(factor), rel=1e-4)
    assert found <= min(map(loss, np.linspace(0.05, 3, 60))) + 1e-4


def test_numbers_are_judged_by_the_variance_they_explain():
    targets = Targets.of(NUMBERS, 1)
    scores = (NUMBERS + 0.5).astype(np.float32)[:, None]
    assert targets.calibration(scores, None) == (1.0, pytest.approx(0.25))
    assert targets.score(scores) == pytest.approx(1 - 0.25 / NUMBERS.var(), rel=1e-5)


def test_texts_count_by_their_labels_and_one_in_the_mean():
    own = np.array([0.0, 1.0, 3.0])
    weights = np.array([1.0, 2.0, 5.0])
    plain = TextWeights.of(Targets.of(np.array([0, 1, 2]), 3), own, weights)
    np.testing.assert_allclose(plain.costs, own * weights / (own * weights)[1:].mean())
    np.testing.assert_allclose(plain.counts, own / 2)
    soft = TextWeights.of(Targets.of(np.full((3, 3), 1 / 3), 3), own, weights)
    np.testing.assert_allclose(soft.costs, own / 2, rtol=1e-6)
    sets = TextWeights.of(Targets.of(np.eye(3) > 0, 3), own, weights)
    np.testing.assert_allclose(sets.costs, own / 2)
