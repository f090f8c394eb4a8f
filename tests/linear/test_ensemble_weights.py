"""An ensemble is no worse than its best member."""

import numpy as np
import pytest
from scipy.special import log_softmax

from headwise.linear.ensemble_weights import (
    EQUAL_WEIGHTS,
    PRETRAINED_NETWORK,
    UNPRETRAINED_NETWORK,
    Ensemble,
    WeightPrior,
    fit_ensemble,
)


def member(targets: np.ndarray, classes: int, strength: float, seed: int, scale: float = 1.0) -> np.ndarray:
    """Noisy logits that point to the target."""
    random = np.random.default_rng(seed)
    return scale * (strength * np.eye(classes)[targets] + random.normal(size=(len(targets), classes)))


def loss(logits: np.ndarray, targets: np.ndarray) -> float:
    return -log_softmax(logits, axis=1)[np.arange(len(targets)), targets].mean()


def combined(ensemble: Ensemble, members: list[np.ndarray]) -> np.ndarray:
    return sum(weight * outputs for weight, outputs in zip(ensemble.weights, members, strict=True))


def alone(outputs: np.ndarray, targets: np.ndarray) -> float:
    """The loss of a member with its temperature."""
    return loss(fit_ensemble([outputs], targets).weights[0] * outputs, targets)


def targets_of(texts: int, classes: int) -> np.ndarray:
    return np.random.default_rng(9).integers(0, classes, texts)


@pytest.mark.parametrize("classes", [2, 5])
def test_finds_the_temperature(classes):
    targets = targets_of(2000, classes)
    outputs = member(targets, classes, 2.0, 0, scale=7.0)
    ensemble = fit_ensemble([outputs], targets)
    # The logarithm of the odds of normal noise around a strength of 2 is 2.
    assert ensemble.weights[0] * 7.0 == pytest.approx(2.0, rel=0.1)
    assert ensemble.shares == (1.0,)
    assert ensemble.loss == pytest.approx(alone(outputs, targets), abs=0.002)  # its targets are smoothed


def test_independent_members_are_better_together_and_scales_do_not_matter():
    targets = targets_of(800, 3)
    members = [member(targets, 3, 1.5, 0), member(targets, 3, 1.5, 1, scale=30.0)]
    ensemble = fit_ensemble(members, targets)
    assert ensemble.loss < min(alone(outputs, targets) for outputs in members) - 0.05
    assert ensemble.shares[0] == pytest.approx(0.5, abs=0.07)
    assert loss(combined(ensemble, members), targets) == pytest.approx(ensemble.loss, abs=0.01)


def test_a_network_that_knew_nothing_has_less_of_the_say_and_is_not_made_louder():
    targets = targets_of(40, 3)
    members = [member(targets, 3, 1.5, 0, scale=0.01), member(targets, 3, 1.5, 1)]
    even, raw = fit_ensemble(members, targets), fit_ensemble(members, targets, prior=UNPRETRAINED_NETWORK)
    assert even.shares[0] > 0.3
    assert raw.weights[0] <= 5.0 < even.weights[0]
    assert raw.shares[0] < 0.05
    loud = [members[0] * 300, members[1]]
    assert (
        fit_ensemble(loud, targets, prior=UNPRETRAINED_NETWORK).shares[0]
        < fit_ensemble(loud, targets).shares[0] - 0.01
    )
    many = targets_of(4000, 3)
    equal_members = [member(many, 3, 1.5, 0, scale=3.0), member(many, 3, 1.5, 1)]
    assert fit_ensemble(equal_members, many, prior=UNPRETRAINED_NETWORK).shares[0] == pytest.approx(
        0.5, abs=0.05
    )


def test_a_network_that_starts_from_an_encoder_has_more_of_the_say():
    few, many = targets_of(30, 3), targets_of(4000, 3)

    def shares(prior: WeightPrior) -> list[float]:
        both = [[member(targets, 3, 1.5, seed) for seed in (0, 1)] for targets in (few, many)]
        return [
            fit_ensemble(members, targets, prior=prior).shares[0]
            for members, targets in zip(both, (few, many), strict=True)
        ]

    equal, expected = shares(EQUAL_WEIGHTS), shares(PRETRAINED_NETWORK)
    assert expected[0] > equal[0] + 0.05
    assert expected[1] == pytest.approx(equal[1], abs=0.02)  # many texts outvote the prior


def test_the_prior_of_remaining_members_sums_to_one():
    prior = WeightPrior((0.5, 0.3, 0.2))
    np.testing.assert_allclose(prior.of([0, 2]), [5 / 7, 2 / 7])
    np.testing.assert_allclose(EQUAL_WEIGHTS.of([0, 2]), [0.5, 0.5])


@pytest.mark.parametrize("texts", [60, 800])
def test_a_member_of_noise_is_dropped(texts):
    targets = targets_of(texts, 4)
    members = [member(targets, 4, 2.5, 0), member(targets, 4, 0.0, 1)]
    ensemble = fit_ensemble(members, targets)
    assert ensemble.weights[1] == 0
    assert ensemble.shares == (1.0, 0.0)


def test_a_copy_is_dropped_or_shares():
    targets = targets_of(300, 3)
    outputs = member(targets, 3, 1.5, 0)
    ensemble = fit_ensemble([outputs, outputs], targets)
    assert ensemble.loss == pytest.approx(alone(outputs, targets), abs=0.01)


def test_perfect_members_do_not_explode():
    targets = targets_of(40, 2)
    perfect = 1e-3 * np.eye(2)[targets]
    ensemble = fit_ensemble([perfect, 5 * np.eye(2)[targets]], targets)
    assert np.isfinite(ensemble.weights).all()
    chances = log_softmax(combined(ensemble, [perfect, 5 * np.eye(2)[targets]]), axis=1).max(axis=1)
    assert np.exp(chances).max() < 0.999


@pytest.mark.parametrize("texts", [0, 1, 2])
def test_hardly_any_texts(texts):
    targets = targets_of(texts, 3)
    members = [member(targets, 3, 1.0, 0), member(targets, 3, 1.0, 1)]
    ensemble = fit_ensemble(members, targets)
    assert np.isfinite(combined(ensemble, members)).all()
    assert sum(ensemble.shares) == pytest.approx(1.0)


@pytest.mark.parametrize("held", [40, 250])
def test_hardly_ever_below_the_best_member(held):
    """Members of all strengths, correlated or not: fitted on few texts, judged on many."""
    behind = []
    for seed in range(30):
        random = np.random.default_rng(seed)
        targets = random.integers(0, 3, held + 4000)
        shared = random.normal(size=(len(targets), 3))
        members = []
        for _ in range(2):
            noise = random.normal(size=shared.shape)
            mixed = 0.6 * shared + 0.8 * noise if seed % 2 else noise
            members.append(random.uniform(0.5, 20) * (random.uniform(0, 2) * np.eye(3)[targets] + mixed))
        ensemble = fit_ensemble([member[:held] for member in members], targets[:held])
        judged = [*members, combined(ensemble, members)]
        right = [(outputs[held:].argmax(1) == targets[held:]).mean() for outputs in judged]
        behind.append(100 * (max(right[:2]) - right[2]))
    assert np.mean(behind) < 0.0
    assert np.max(behind) < (4.0 if held == 40 else 1.5)
