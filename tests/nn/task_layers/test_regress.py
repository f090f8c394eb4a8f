"""Standardised targets, and errors and correlations by hand."""

import numpy as np
import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.metrics.regression_scores import number_scores, score_numbers
from headwise.metrics.target_scale import Scale
from headwise.models.tasks import find_task
from headwise.nn.task_layers.output_layers import squared_error


def test_scale_there_and_back():
    targets = np.array([1.0, 3.0, 8.0, 1e6])
    scale = Scale.of(targets)
    np.testing.assert_allclose(scale.restore(scale.standardize(targets)), targets, rtol=1e-6, atol=0.1)
    np.testing.assert_allclose(scale.standardize(targets).mean(), 0, atol=1e-6)
    np.testing.assert_allclose(scale.standardize(targets).std(), 1, atol=1e-6)
    assert Scale.from_json(scale.to_json()) == scale
    assert Scale.of(np.array([2.0, 2.0])) == Scale(2.0, 1.0)
    assert Scale(2.0, 4.0).deviations(np.array([1e90])) == pytest.approx(2.5e89)


def test_scale_of_numbers_that_count_several_times_or_not_at_all():
    targets, counts = np.array([1.0, 3.0, 8.0, 1e300]), np.array([1, 2, 3, 0])
    actual, expected = Scale.of(targets, counts / 1.5), Scale.of(targets.repeat(counts))
    assert (actual.mean, actual.deviation) == pytest.approx((expected.mean, expected.deviation))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"mean": 1},
        {"mean": True, "deviation": 1},
        {"mean": "0", "deviation": 1},
        {"mean": float("nan"), "deviation": 1},
        {"mean": 0, "deviation": 0},
        {"mean": 0, "deviation": -1},
        {"mean": 0, "deviation": float("inf")},
    ],
)
def test_scales_that_make_no_sense(data):
    with pytest.raises(ConfigError):
        Scale.from_json(data)


def test_squared_error():
    losses = squared_error(torch.tensor([[1.0], [2.0]]), torch.tensor([0.0, 5.0]))
    assert losses.tolist() == [1.0, 9.0]


def test_scores_by_hand():
    predicted, targets = np.array([1.0, 2.0, 3.0, 5.0]), np.array([2.0, 2.0, 5.0, 7.0])
    scores = score_numbers(predicted, targets)
    assert (scores.texts, scores.mae, scores.rmse) == (4, 1.25, 1.5)
    assert scores.pearson == pytest.approx(np.corrcoef(predicted, targets)[0, 1])
    assert scores.spearman == pytest.approx(np.corrcoef([1, 2, 3, 4], [1.5, 1.5, 3, 4])[0, 1])
    assert scores.r2 == pytest.approx(1 - 9 / 18)
    low, high = scores.pearson_interval
    assert low < scores.pearson < high < 1
    named = number_scores(predicted, targets, 2.0)
    assert named["loss"] == pytest.approx(1.5**2 / 4)
    counts = np.array([3, 0, 1, 2])
    more = number_scores(predicted.repeat(counts), targets.repeat(counts), 2.0)
    assert number_scores(predicted, targets, 2.0, counts)["loss"] == pytest.approx(more["loss"])


def test_scores_without_variance():
    scores = score_numbers(np.array([1.0, 1.0]), np.array([1.0, 3.0]))
    assert (scores.pearson, scores.spearman, scores.pearson_interval) == (0, 0, None)
    scores = score_numbers(np.array([1.0]), np.array([4.0]))
    assert (scores.mae, scores.pearson, scores.r2) == (3, 0, 0)
    assert score_numbers(np.arange(5.0), np.arange(5.0)).pearson == pytest.approx(1)
    with pytest.raises(ValueError, match="no texts"):
        score_numbers(np.array([]), np.array([]))


def test_numbers_are_written_by_their_deviation():
    assert Scale(1990.0, 15.0).written(2001.43219) == "2001.4322"
    assert Scale(0.0, 3e6).written(1234567.8) == "1234570"
    assert Scale(0.5, 2e-4).written(0.50012345678) == "0.500123457"


@pytest.mark.parametrize(
    ("number", "predicted", "message"),
    [
        (1.0, 0.98765, "1 predicted as 0.9877"),
        (2001.0, 2003.4567, "2001 predicted as 2003.46"),
        (1.0, 1.00004, "1 predicted as 1.0000400"),
        (1234567.0, 1234500.0, "1234567 predicted as 1234500.0"),
        (3.0, 120.0, "3 predicted as 120"),
        (3.0, 3.0, "3 predicted as 3.00"),
        (1e-14, 2.51e-14, "1e-14 predicted as 2.51e-14"),
    ],
)
def test_a_mistake_is_told_by_what_it_is_off(number, predicted, message):
    assert find_task("regress").describe_error({"number": number, "predicted": predicted}) == message
