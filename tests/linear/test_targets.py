"""Targets of each label type, as the solver gets them, beside a brute-force reading of their definition."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

from headwise.data.items.label_types import (
    LABEL_SET_TYPE,
    NUMERIC_LABEL_TYPE,
    SINGLE_LABEL_TYPE,
    TAGS,
    SingleLabelType,
)
from headwise.linear.linear_weights import DesignMatrix
from headwise.linear.targets import (
    LabelTargets,
    MultiLabelTargets,
    NumericTargets,
    SoftLabelTargets,
    TextWeights,
    linear_targets,
)
from headwise.metrics.classification_scores import smooth_targets

RANDOM = np.random.default_rng(0)
TEXTS = 60
LABELS = RANDOM.integers(0, 3, TEXTS)
SOFT = RANDOM.dirichlet(np.ones(3), TEXTS)
SETS = RANDOM.random((TEXTS, 2)) < 0.3
NUMBERS = RANDOM.normal(size=TEXTS)
KINDS = {
    "labels": (SINGLE_LABEL_TYPE, LABELS, 3, LabelTargets, 3),
    "two labels": (SINGLE_LABEL_TYPE, LABELS.clip(max=1), 2, LabelTargets, 1),
    "soft": (SINGLE_LABEL_TYPE, SOFT, 3, SoftLabelTargets, 3),
    "soft, two": (
        SINGLE_LABEL_TYPE,
        SOFT[:, :2] / SOFT[:, :2].sum(1, keepdims=True),
        2,
        SoftLabelTargets,
        1,
    ),
    "sets": (LABEL_SET_TYPE, SETS, 2, MultiLabelTargets, 2),
    "numbers": (NUMERIC_LABEL_TYPE, NUMBERS, 1, NumericTargets, 1),
}
ROWS = DesignMatrix(
    csr_matrix(RANDOM.random((TEXTS, 7)).astype(np.float32)), np.ones((TEXTS, 2), np.float32)
)


@pytest.mark.parametrize(("label_type", "labels", "classes", "kind", "columns"), KINDS.values(), ids=KINDS)
def test_each_label_type_has_its_targets(label_type, labels, classes, kind, columns):
    targets = linear_targets(label_type, labels, classes)
    assert type(targets) is kind
    assert (len(targets), targets.columns) == (TEXTS, columns)
    numbers = np.array([4, 4, 0])
    problem = targets.take(numbers).problem(ROWS.take(numbers), np.ones((3, 1), np.float32), None)
    assert problem.signs.shape[1] == columns
    assert set(np.unique(problem.signs)) <= {-1, 1}
    assert len(problem.rows) == len(problem.signs) == len(problem.costs)


@pytest.mark.parametrize(("label_type", "labels", "classes", "kind", "columns"), KINDS.values(), ids=KINDS)
def test_what_is_said_of_a_text_does_not_change_with_those_beside_it(
    label_type, labels, classes, kind, columns
):
    targets = linear_targets(label_type, labels, classes)
    scores = RANDOM.normal(size=(TEXTS, classes)).astype(np.float32)
    parts = np.array_split(np.arange(TEXTS), 3)
    if kind is NumericTargets:  # a share of the variance among them
        return
    part_scores = [targets.take(part).score(scores[part]) for part in parts]
    assert targets.score(scores) == pytest.approx(np.mean(part_scores))


class NewLabelType(SingleLabelType):
    """A label type that nothing here knows, though it is like one that is known."""


@pytest.mark.parametrize("label_type", [TAGS, NewLabelType()])
def test_a_label_type_without_targets_is_an_error(label_type):
    with pytest.raises(TypeError, match=f"no linear model of texts for {type(label_type).__name__}"):
        linear_targets(label_type, LABELS, 3)


@pytest.mark.parametrize(
    ("label_type", "labels"),
    [
        *((SINGLE_LABEL_TYPE, array) for array in (SETS, NUMBERS, SOFT[..., None])),
        *((LABEL_SET_TYPE, array) for array in (LABELS, SOFT, SETS[:, 0])),
        *((NUMERIC_LABEL_TYPE, array) for array in (LABELS, SOFT, SETS)),
    ],
)
def test_targets_of_another_label_type_are_an_error(label_type, labels):
    with pytest.raises(TypeError, match="dimensions, not"):
        linear_targets(label_type, labels, 3)


@pytest.mark.parametrize("offsets", [None, RANDOM.normal(size=(TEXTS, 3)).astype(np.float32)])
def test_soft_labels_cost_by_their_probabilities(offsets):
    weights = RANDOM.random((TEXTS, 1)).astype(np.float32)
    problem = SoftLabelTargets.of(SOFT, 3).problem(ROWS, weights, offsets)
    margins = RANDOM.normal(size=(TEXTS, 3))
    cost = (problem.costs * np.maximum(0, 1 - problem.signs * np.vstack([margins, margins])) ** 2).sum()
    with_it, without = (np.maximum(0, 1 - sign * margins) ** 2 for sign in (1, -1))
    assert cost == pytest.approx((weights * (SOFT * with_it + (1 - SOFT) * without)).sum(), rel=1e-5)
    np.testing.assert_array_equal(problem.rows.sparse[TEXTS:].toarray(), ROWS.sparse.toarray())
    assert (
        offsets is None
        if problem.offsets is None
        else (problem.offsets[:TEXTS] == problem.offsets[TEXTS:]).all()
    )


def test_texts_with_a_label_count_by_its_weight():
    problem = MultiLabelTargets.of(SETS, 2, np.array([3.0, 1.0])).problem(
        ROWS, np.full((TEXTS, 1), 2, np.float32), None
    )
    np.testing.assert_array_equal(problem.costs[:, 0], np.where(SETS[:, 0], 6, 2))
    np.testing.assert_array_equal(problem.costs[:, 1], 2)


@pytest.mark.parametrize("name", ["labels", "soft"])
def test_the_temperature_is_the_best(name):
    labels = KINDS[name][1]
    targets, smoothed = linear_targets(SINGLE_LABEL_TYPE, labels, 3), smooth_targets(labels, 3)
    scores = (3 * np.eye(3)[LABELS] + RANDOM.normal(size=(TEXTS, 3))).astype(np.float32)
    counts = RANDOM.random(TEXTS).astype(np.float32)
    counts /= counts.mean()

    def loss(factor):
        return np.average(-(smoothed * log_softmax(factor * scores, axis=1)).sum(1), weights=counts)

    calibration = targets.calibration(scores, counts)
    assert calibration.loss == pytest.approx(loss(calibration.factor), rel=1e-4)
    assert calibration.loss <= min(map(loss, np.linspace(0.05, 3, 60))) + 1e-4


def test_margins_of_rare_labels_are_shifted_to_their_odds():
    """Margins of an SVM for labels of 3, 10 and 50 % of the texts: without a shift no factor fits them."""
    rates = np.array([0.03, 0.1, 0.5])
    members = RANDOM.random((4_000, 3)) < rates
    logits = np.log(rates / (1 - rates)) + RANDOM.normal(size=(4_000, 3))
    members = RANDOM.random((4_000, 3)) < 1 / (1 + np.exp(-logits))
    margins = ((logits - np.log(rates / (1 - rates))) / 3 - 0.5).astype(np.float32)
    targets = linear_targets(LABEL_SET_TYPE, members, 3)
    calibration = targets.calibration(margins, None)
    assert calibration.factor == pytest.approx(3, rel=0.15)
    assert calibration.shift == pytest.approx(np.log(rates / (1 - rates)) + 1.5, abs=0.4)
    assert calibration.logits(margins).mean(axis=0) == pytest.approx(logits.mean(axis=0), abs=0.3)
    best = np.logaddexp(0, np.where(members, -logits, logits)).mean()
    assert calibration.loss == pytest.approx(best, rel=0.02)
    unshifted = min(
        np.logaddexp(0, np.where(members, -1, 1) * factor * margins).mean()
        for factor in np.linspace(0.1, 5, 50)
    )
    assert calibration.loss < 0.8 * unshifted


def test_numbers_are_judged_by_the_variance_they_explain():
    targets = NumericTargets.of(NUMBERS, 1)
    scores = (NUMBERS + 0.5).astype(np.float32)[:, None]
    calibration = targets.calibration(scores, None)
    assert (calibration.loss, calibration.logits(scores).tolist()) == (pytest.approx(0.25), scores.tolist())
    assert targets.score(scores) == pytest.approx(1 - 0.25 / NUMBERS.var(), rel=1e-5)


def test_texts_count_by_their_labels_and_one_in_the_mean():
    label_weights = np.array([0.0, 1.0, 3.0])
    weights = np.array([1.0, 2.0, 5.0])
    plain = TextWeights.of(LabelTargets.of(np.array([0, 1, 2]), 3), label_weights, weights)
    np.testing.assert_allclose(plain.costs, label_weights * weights / (label_weights * weights)[1:].mean())
    np.testing.assert_allclose(plain.counts, label_weights / 2)
    soft = TextWeights.of(SoftLabelTargets.of(np.full((3, 3), 1 / 3), 3), label_weights, weights)
    np.testing.assert_allclose(soft.costs, label_weights / 2, rtol=1e-6)
    sets = TextWeights.of(MultiLabelTargets.of(np.eye(3) > 0, 3), label_weights, weights)
    np.testing.assert_allclose(sets.costs, label_weights / 2)
