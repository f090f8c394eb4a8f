"""Recalibration: gradients against differences, and labels that are as common as they are said to be."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import expit, log_softmax, softmax

from headwise.metrics.calibration import (
    cross_fitted_logits,
    fit_recalibration,
    label_set_loss,
    one_label_loss,
)


def drawn(chance, texts, shares, spread=2.0):
    """Label numbers with these shares, and logits that are right where all labels are as common."""
    targets = chance.choice(len(shares), size=texts, p=shares)
    logits = chance.normal(size=(texts, len(shares)))
    logits[np.arange(texts), targets] += spread
    return spread * logits, targets  # the ratio of two normal densities


@pytest.mark.parametrize("loss", [one_label_loss, label_set_loss])
def test_gradients(loss):
    chance = np.random.default_rng(0)
    shape = (5, 3)
    targets = chance.dirichlet(np.ones(3), size=5) if loss is one_label_loss else chance.random(shape) < 0.5
    error = check_grad(
        lambda flat: loss(flat.reshape(shape), targets)[0].sum(),
        lambda flat: loss(flat.reshape(shape), targets)[1].ravel(),
        chance.normal(size=15),
    )
    assert error < 1e-5


def test_numbers_of_labels_are_certain_probabilities():
    logits, targets = drawn(np.random.default_rng(0), 50, [0.2, 0.3, 0.5])
    certain = fit_recalibration(logits, np.eye(3)[targets])
    recalibration = fit_recalibration(logits, targets)
    np.testing.assert_allclose(certain.biases, recalibration.biases)
    assert certain.temperature == pytest.approx(recalibration.temperature)


def test_of_many_texts_the_biases_are_what_the_shares_say():
    shares = np.array([0.7, 0.2, 0.1])
    logits, targets = drawn(np.random.default_rng(0), 20_000, shares)
    recalibration = fit_recalibration(logits, targets)
    expected = np.log(shares) - np.log(shares).mean()
    np.testing.assert_allclose(recalibration.biases - recalibration.biases.mean(), expected, atol=0.1)
    assert recalibration.temperature == pytest.approx(1.0, abs=0.05)


def test_few_texts_move_little():
    logits, targets = drawn(np.random.default_rng(0), 5, [0.5, 0.5])
    recalibration = fit_recalibration(logits, targets)
    assert np.abs(recalibration.biases).max() < 0.5
    none = fit_recalibration(logits[:0], targets[:0])
    assert (none.temperature, none.biases.tolist()) == (1.0, [0.0, 0.0])


def test_weights_are_texts():
    logits, targets = drawn(np.random.default_rng(0), 30, [0.3, 0.7])
    weights = np.repeat([0.0, 1.0, 2.0], 10)
    twice = np.repeat(np.arange(30), weights.astype(int))
    recalibration = fit_recalibration(logits, targets, weights=weights)
    repeated = fit_recalibration(logits[twice], targets[twice])
    np.testing.assert_allclose(recalibration.biases, repeated.biases, atol=1e-4)
    assert recalibration.temperature == pytest.approx(repeated.temperature, abs=1e-4)


def test_labels_that_stand_by_themselves():
    chance = np.random.default_rng(0)
    logits = chance.normal(size=(20_000, 2))
    moved = np.array([1.0, -2.0])
    has = chance.random(logits.shape) < expit(logits + moved)
    recalibration = fit_recalibration(logits, has, label_set_loss)
    np.testing.assert_allclose(recalibration.biases, moved, atol=0.1)


def test_texts_are_calibrated_by_others():
    """Where nothing is to be found, what was fitted to the texts themselves looks better than it is."""
    gains = []
    for seed in range(30):
        chance = np.random.default_rng(seed)
        logits = chance.normal(size=(20, 3))
        targets = (softmax(logits, axis=1).cumsum(axis=1) < chance.random((20, 1))).sum(axis=1)
        fitted = fit_recalibration(logits, targets)(logits)
        crossed = cross_fitted_logits(logits, targets)
        gains.append(
            [
                -log_softmax(values, axis=1)[np.arange(20), targets].mean()
                for values in (logits, fitted, crossed)
            ]
        )
    before, fitted, crossed = np.mean(gains, axis=0)
    assert fitted < before < crossed
