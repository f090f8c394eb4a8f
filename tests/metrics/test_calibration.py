"""Temperature and calibration error."""

import numpy as np
import pytest
from scipy.special import softmax

from headwise.linear.ensemble_weights import fit_binary_temperature
from headwise.metrics.calibration import cross_fitted_error, expected_calibration_error, fit_temperature
from headwise.metrics.multi_label_scores import mean_binary_loss


def sample(temperature: float, texts: int = 20_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits whose true probabilities are softmax(logits / temperature), and labels drawn from them."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(texts, 3)) * 2
    chances = softmax(logits / temperature, axis=1).cumsum(axis=1)
    return logits, (random.random((texts, 1)) > chances).sum(axis=1)


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_finds_the_temperature_that_the_labels_were_drawn_with(temperature):
    assert fit_temperature(*sample(temperature)) == pytest.approx(temperature, rel=0.05)


def test_a_text_that_counts_twice_is_as_two():
    logits, targets = sample(2.0, texts=50)
    counts = np.random.default_rng(0).integers(0, 3, 50)
    repeated = fit_temperature(logits.repeat(counts, axis=0), targets.repeat(counts))
    assert fit_temperature(logits, targets, counts) == pytest.approx(repeated, rel=1e-2)


def test_never_less_likely_than_no_temperature():
    for seed in range(5):
        logits, targets = sample(1.0, texts=7, seed=seed)
        temperature = fit_temperature(logits, targets)

        def likelihood(t, logits=logits, targets=targets):
            log_chances = np.log(softmax(logits / t, axis=1))
            return (
                log_chances[np.arange(7), targets].mean() * 8 / 9 + log_chances.mean() / 9
            )  # two more, of any label

        assert likelihood(temperature) >= likelihood(1.0)


@pytest.mark.parametrize("texts", [3, 30, 3_000])
def test_texts_that_are_all_right_make_no_model_surer_than_they_can(texts):
    targets = np.arange(texts) % 3
    logits = np.eye(3)[targets] * 5
    temperature = fit_temperature(logits, targets)
    sure = softmax(logits / temperature, axis=1).max()
    assert sure == pytest.approx(1 - 2 / 3 / (texts + 2), rel=1e-3)
    yes = np.eye(3, dtype=bool)[targets]
    chances = 1 / (1 + np.exp(-(2 * logits - 5) / fit_binary_temperature(2 * logits - 5, yes)))
    assert chances.max() == pytest.approx(1 - 1 / 2 / (texts + 2), rel=1e-3)


def test_no_texts_have_no_temperature():
    assert fit_temperature(np.zeros((0, 3)), np.zeros(0, dtype=int)) == 1.0


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_large_outputs_that_say_nothing_are_switched_off(size):
    """As those of an encoder that diverged; within the usual bounds they would be certain and wrong."""
    random = np.random.default_rng(0)
    targets = random.integers(0, 3, 200)
    logits = random.normal(size=(200, 3)) * size
    chances = softmax(logits / fit_temperature(logits, targets), axis=1)
    assert -np.log(chances[np.arange(200), targets]).mean() < 1.05 * np.log(3)
    yes = np.eye(3, dtype=bool)[targets]
    temperature = fit_binary_temperature(logits, yes)
    assert mean_binary_loss(logits / temperature, yes) < 1.05 * np.log(2)


def test_calibration_error_by_hand():
    # Two texts at confidence 0.9, one right: gap 0.4. Two at 0.6, both right: gap 0.4.
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    assert expected_calibration_error(probabilities, np.array([0, 1, 1, 1])) == pytest.approx(0.4)
    assert expected_calibration_error(np.eye(2), np.array([0, 1])) == 0.0
    assert expected_calibration_error(np.zeros((0, 2)), np.zeros(0, dtype=int)) == 0.0


def test_calibrated_probabilities_have_a_small_error():
    logits, targets = sample(2.5)
    before = expected_calibration_error(softmax(logits, axis=1), targets)
    after = expected_calibration_error(softmax(logits / fit_temperature(logits, targets), axis=1), targets)
    assert before > 0.15
    assert after < 0.02


def test_cross_fitted_is_not_too_good():
    """On a few texts the error where the temperature was fitted is below that on new ones."""
    fitted, crossed, new = [], [], []
    for seed in range(150):
        logits, targets = sample(2.0, texts=60, seed=seed)
        temperature = fit_temperature(logits, targets)
        fitted.append(expected_calibration_error(softmax(logits / temperature, axis=1), targets))
        crossed.append(cross_fitted_error(logits, targets))
        new_logits, true = sample(2.0, texts=60, seed=seed + 1000)
        new.append(expected_calibration_error(softmax(new_logits / temperature, axis=1), true))
    fitted, crossed, new = (float(np.mean(errors)) for errors in (fitted, crossed, new))
    assert fitted < crossed
    assert abs(crossed - new) < abs(fitted - new)
    assert cross_fitted_error(np.zeros((0, 3)), np.zeros(0, dtype=int)) == 0.0


def test_a_fold_beside_which_nothing_counts_is_left_as_it_is():
    logits, targets = np.array([[2.0, 0.0]] * 7), np.zeros(7, dtype=np.int64)
    weights = np.eye(7)[0]
    right = 1 / (1 + np.exp(-2.0))
    assert cross_fitted_error(logits, targets, weights=weights) == pytest.approx(1 - right)
