"""Loss, calibration and ensemble of label sets."""

import numpy as np
import pytest
import torch
from scipy.special import expit
from sklearn.metrics import log_loss

from headwise.linear.ensemble_weights import fit_binary_ensemble, fit_binary_temperature
from headwise.metrics.multi_label_scores import binary_calibration_error, mean_binary_loss
from headwise.nn.task_layers.output_layers import multi_label_loss


def data(texts: int = 400, labels: int = 3):
    random = np.random.default_rng(0)
    logits = random.normal(size=(texts, labels))
    return logits, random.random((texts, labels)) < expit(logits)


def test_the_loss_is_that_of_scikit_learn():
    logits, targets = data()
    expected = np.mean([log_loss(targets[:, n], expit(logits[:, n])) for n in range(3)])
    assert mean_binary_loss(logits, targets) == pytest.approx(expected)
    actual = multi_label_loss(torch.tensor(logits), torch.tensor(targets, dtype=torch.float64))
    assert actual.shape == (400,)
    assert actual.mean().item() == pytest.approx(expected)


def test_weights_count_texts_with_a_label_more_often():
    logits, targets = (torch.tensor(part).double() for part in data(6, 2))
    weighted = multi_label_loss(logits, targets, weights=torch.tensor([3.0, 1.0]).double())
    plain = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    factors = torch.where(targets.bool(), torch.tensor([3.0, 1.0]).double(), torch.ones(2).double())
    torch.testing.assert_close(weighted, (plain * factors).mean(1))


def test_smoothing_spreads_over_yes_and_no():
    sure = torch.tensor([[30.0]])
    assert multi_label_loss(sure, torch.ones(1, 1), label_smoothing=0.2).item() == pytest.approx(
        3.0, rel=1e-3
    )


def test_the_temperature_that_was_put_in_is_found():
    logits, targets = data(4_000)
    temperature = fit_binary_temperature(3 * logits, targets)
    assert temperature == pytest.approx(3, rel=0.1)
    before = binary_calibration_error(expit(3 * logits), targets)
    assert binary_calibration_error(expit(3 * logits / temperature), targets) < 0.03 < before


def test_a_linear_member_gets_the_say_that_it_deserves():
    logits, targets = data(4_000)
    noise = np.random.default_rng(1).normal(size=logits.shape)
    encoder_weight, weight, _ = fit_binary_ensemble(logits - noise, noise, targets)
    assert weight / encoder_weight == pytest.approx(1, rel=0.1)
    assert fit_binary_ensemble(logits, noise, targets)[1] == pytest.approx(0, abs=0.1)
    assert fit_binary_ensemble(noise, logits, targets)[0] == pytest.approx(0, abs=0.1)


def test_a_linear_member_whose_zero_is_not_even_odds_is_shifted():
    logits, targets = data(4_000)
    shifted = (logits - np.linspace(-3, 3, logits.shape[1])) / 2
    _, weight, shift = fit_binary_ensemble(0 * logits, shifted, targets)
    mixed = weight * (shifted + shift)
    np.testing.assert_allclose(shift, np.linspace(-3, 3, logits.shape[1]) / 2, atol=0.15)
    assert binary_calibration_error(expit(mixed), targets) < 0.03
    # Few texts say little against even odds.
    few = fit_binary_ensemble(0 * logits[:8], shifted[:8], targets[:8])[2]
    assert np.isfinite(few).all()


def test_nothing_to_fit_on():
    nothing = np.zeros((0, 3), np.float32)
    assert fit_binary_temperature(nothing, nothing.astype(bool)) == 1
    encoder_weight, weight, shift = fit_binary_ensemble(nothing, nothing, nothing.astype(bool))
    assert (encoder_weight, weight, shift.tolist()) == (1, 0, [0, 0, 0])


def test_calibration_error():
    assert binary_calibration_error(np.full((4, 1), 0.5), np.array([[1], [0], [1], [0]], bool)) == 0
    assert binary_calibration_error(np.full((2, 1), 0.9), np.zeros((2, 1), bool)) == pytest.approx(0.9)
    assert binary_calibration_error(np.zeros((0, 3)), np.zeros((0, 3), bool)) == 0


def test_a_weight_is_as_many_texts():
    random = np.random.default_rng(0)
    logits, targets = random.normal(size=(2, 400, 3)) * 2
    targets = targets + logits > 0
    logits[:200] *= 3  # the half that is too sure counts more
    weights = np.where(np.arange(400) < 200, 3, 1)
    again = np.repeat(np.arange(400), weights)
    for actual in (
        mean_binary_loss,
        fit_binary_temperature,
        lambda *arguments: binary_calibration_error(expit(arguments[0]), *arguments[1:]),
    ):
        weighed, expected = actual(logits, targets, weights), actual(logits[again], targets[again])
        assert weighed == pytest.approx(expected, rel=0.02)
        assert abs(actual(logits, targets) - expected) > 0.02
    noise = random.normal(size=logits.shape)
    weighed = fit_binary_ensemble(logits, noise, targets, weights)
    expected = fit_binary_ensemble(logits[again], noise[again], targets[again])
    np.testing.assert_allclose(weighed[0], expected[0], rtol=0.02)
