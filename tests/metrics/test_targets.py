import numpy as np
import pytest

from headwise.metrics.calibration import (
    binned_calibration_error,
    expected_calibration_error,
    fit_temperature,
)
from headwise.metrics.classification_scores import correctness, hard_labels, mean_loss, smooth_targets
from headwise.metrics.operating_points import RiskCoverageCurve

TRUE = np.array([2, 0, 1])
SHARES = np.array([[0.1, 0.2, 0.7], [0.6, 0.4, 0.0], [0.0, 1.0, 0.0]], np.float32)


def test_likeliest_and_how_right_what_is_said_is():
    assert hard_labels(TRUE) is TRUE
    assert hard_labels(SHARES).tolist() == [2, 0, 1]
    predicted = np.array([2, 1, 1])
    assert correctness(predicted, TRUE).tolist() == [True, False, True]
    assert correctness(predicted, SHARES) == pytest.approx([0.7, 0.4, 1.0])


def test_smoothed_targets_are_of_one_text_more_of_all_labels():
    assert smooth_targets(TRUE, 3).sum(axis=1) == pytest.approx(np.ones(3))
    assert smooth_targets(TRUE, 3)[0] == pytest.approx([1 / 15, 1 / 15, 0.8 + 1 / 15])
    assert smooth_targets(SHARES, 3)[0] == pytest.approx([1 / 15 + 0.08, 1 / 15 + 0.16, 1 / 15 + 0.56])


def test_certain_probabilities_are_labels():
    logits = np.random.default_rng(0).normal(size=(3, 3))
    certain = np.eye(3)[TRUE]
    assert mean_loss(logits, certain) == pytest.approx(mean_loss(logits, TRUE))
    assert fit_temperature(logits, certain) == pytest.approx(fit_temperature(logits, TRUE))
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    errors = [expected_calibration_error(chances, targets) for targets in (certain, TRUE)]
    assert errors[0] == pytest.approx(errors[1])


def test_probabilities_are_what_calibrated_logits_say():
    """Of texts of which each label is drawn, the likeliest label alone would make the model too sure."""
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.ones(3), 4000)
    logits = np.log(shares) * 3
    assert fit_temperature(logits, shares) == pytest.approx(3, rel=0.02)
    assert fit_temperature(logits, shares.argmax(axis=1)) < 0.5
    assert expected_calibration_error(shares, shares) < 1e-9
    drawn = np.array([random.choice(3, p=probabilities) for probabilities in shares])
    assert mean_loss(np.log(shares), shares) == pytest.approx(mean_loss(np.log(shares), drawn), abs=0.03)
    assert binned_calibration_error(shares.max(axis=1), shares.max(axis=1)) < 1e-9


def test_sure_answers_are_as_right_as_their_probabilities():
    sure = np.array([0.9, 0.8, 0.7, 0.6])
    curve = RiskCoverageCurve.of(sure, np.array([1.0, 0.8, 0.7, 0.5]))
    assert curve.right.tolist() == [1, 2, 2, 3]  # 1, 1.8, 2.5 and 3.0, rounded
