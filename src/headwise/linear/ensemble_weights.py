"""Ensembles of models of the same labels that do not lose to their best member.

Each member first gets its own temperature; then the logits are added with non-negative weights. Both are
fitted by log loss on texts that no member was trained on (held out, or out of fold). Two things keep 40
texts from deciding too much:

- smoothed targets (Platt 1999): labels are not taken as certain, so weights stay finite where a member
  makes no mistake;
- a prior for the expected weights (`WeightPrior`), worth a few texts. They are equal by default
  (`EQUAL_WEIGHTS`). A network without pretrained parts (`UNPRETRAINED_NETWORK`) is expected to have a
  fifth, and its logits are not scaled up: after an early stop they are nearly noise, and the network that
  is refitted on all texts gives different ones (1,000 tweets, irony: accuracy 51 % before, 67 % now; 23
  runs of 250 and 1,000 texts without static embeddings: +1.0 points, log loss -0.014). A network that
  starts from the encoder of a base (`PRETRAINED_NETWORK`) is expected to have more than the linear model
  (100 texts, six sets, three draws of training texts, on other training texts: +0.35 points, -0.006 nats).

A member with a share below `MIN_CONTRIBUTION` is dropped. (Dropping members whenever the others did as well
without them on the held-out texts cost 0.25 points with 50 such texts and 0.1 with 200: two members that
seem equal are better together.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import expit
from headwise.core.minimization import minimize_bounded
from headwise.core.threads import one_blas_thread
from headwise.metrics.calibration import MAX_TEMPERATURE, MAX_USUAL_TEMPERATURE
from headwise.metrics.classification_scores import smooth_targets, smoothing_mass
from headwise.metrics.thresholds import LabelScores, Targets, Weights

MIN_CONTRIBUTION = 0.05
"""Members with a smaller share are dropped."""
_COLDEST, _HOTTEST = 1 / 50, 50.0


@dataclass(frozen=True)
class WeightPrior:
    """What is expected of the ensemble weights before any text is seen.

    Attributes:
        expected: The expected weight of each member, summing to 1; None for equal ones.
        strength: The quadratic prior: nats, summed over all texts, for moving a weight by 1 from its
            expected value.
        unscaled: Members whose logits are not scaled up by a temperature.
    """

    expected: tuple[float, ...] | None = None
    strength: float = 4.0
    unscaled: tuple[int, ...] = ()

    def of(self, active: Sequence[int]) -> NDArray[np.float64]:
        """The expected weights of some members, summing to 1."""
        if self.expected is None:
            return np.full(len(active), 1 / len(active))
        weights = np.array([self.expected[member] for member in active])
        return weights / weights.sum()


EQUAL_WEIGHTS = WeightPrior()
UNPRETRAINED_NETWORK = WeightPrior((0.2, 0.8), unscaled=(0,))
"""For a network without pretrained parts and a linear model."""
PRETRAINED_NETWORK = WeightPrior((0.7, 0.3), strength=16.0)
"""For a network that starts from the encoder of a base, and a linear model."""


@dataclass(frozen=True)
class Ensemble:
    """Fitted ensemble weights. The weighted sum of the members' logits gives log probabilities up to a
    constant.

    Attributes:
        weights: Weight of each member, temperature included; 0 for a dropped member.
        shares: Contribution of each member to the combined score, summing to 1: its part of the distance
            between the first and second label, averaged over the texts.
        loss: Mean log loss on the texts used for fitting, in nats.
    """

    weights: tuple[float, ...]
    shares: tuple[float, ...]
    loss: float


def fit_ensemble(
    members: Sequence[NDArray],
    targets: NDArray,
    *,
    weights: NDArray | None = None,
    prior: WeightPrior = EQUAL_WEIGHTS,
) -> Ensemble:
    """Fit the ensemble weights that make the held-out labels most likely.

    Args:
        members: Logits of each member, `[texts, classes]`.
        targets: Label indices, `[texts]`, or label probabilities, `[texts, classes]`.
        weights: Weights of the texts, `[texts]`, with mean 1; None where all are equal.
        prior: What is expected of the weights.
    """
    if not len(targets):
        even = (1.0 / len(members),) * len(members)
        return Ensemble(even, even, 0.0)
    raw = [np.asarray(member, dtype=np.float64) for member in members]
    logits = [member - member.mean(axis=1, keepdims=True) for member in raw]
    soft_targets = smooth_targets(targets, logits[0].shape[1])
    text_weights = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)

    def fit(scores: Sequence[NDArray], prior: WeightPrior, most: float = 5.0) -> NDArray:
        return _fit_weights(_Loss(scores, soft_targets, text_weights), prior, most)

    unbiased = WeightPrior(strength=0.0)
    factors = np.concatenate(
        [
            fit([member_logits], unbiased, 1.0 if member in prior.unscaled else _HOTTEST)
            for member, member_logits in enumerate(logits)
        ]
    )
    scaled = [member_logits * float(factor) for member_logits, factor in zip(logits, factors, strict=True)]
    active = list(range(len(members)))
    member_weights = fit(scaled, prior)
    while len(active) > 1:
        shares = contributions([scaled[member] for member in active], member_weights)
        least = int(np.argmin(shares))
        if shares[least] >= MIN_CONTRIBUTION:
            break
        active.pop(least)
        remaining = WeightPrior(tuple(prior.of(active)), prior.strength)
        member_weights = fit([scaled[member] for member in active], remaining)
    final = np.zeros(len(members))
    final[active] = member_weights
    return Ensemble(
        weights=tuple((final * factors).tolist()),
        shares=tuple(contributions(scaled, final)),
        loss=_Loss(scaled, soft_targets, text_weights)(final)[0],
    )


class _Loss:
    """Mean log loss of the ensemble as a function of its weights, with its gradient and its Hessian.

    Args:
        logits: Logits of each member, `[texts, classes]`.
        targets: Label probabilities, `[texts, classes]`.
        weights: Weights of the texts, `[texts]`.
    """

    def __init__(self, logits: Sequence[NDArray], targets: NDArray, weights: NDArray):
        self.logits, self.targets, self.weights = np.stack(logits), targets, weights

    def __call__(self, member_weights: NDArray) -> tuple[float, NDArray, NDArray]:
        mixed = np.tensordot(member_weights, self.logits, axes=1)
        mixed = mixed - mixed.max(axis=1, keepdims=True)
        exponents = np.exp(mixed)
        total = exponents.sum(axis=1, keepdims=True)
        losses = np.log(total[:, 0]) - (self.targets * mixed).sum(axis=1)
        chances = exponents / total
        weights = self.weights[:, None] / len(self.targets)
        gradient = np.tensordot(self.logits, (chances - self.targets) * weights, axes=([1, 2], [0, 1]))
        away = self.logits - (chances * self.logits).sum(axis=2, keepdims=True)
        hessian = np.tensordot(away * (chances * weights), away, axes=([1, 2], [1, 2]))
        return float(losses @ weights[:, 0]), gradient, hessian


def _fit_weights(loss: _Loss, prior: WeightPrior, most: float) -> NDArray:
    """The weights, at most `most` each, with the least loss and distance from what is expected."""
    members, pull = len(loss.logits), prior.strength / len(loss.targets)
    expected = prior.of(range(members))

    def cost(member_weights: NDArray) -> tuple[float, NDArray, NDArray]:
        (value, gradient, hessian), away = loss(member_weights), member_weights - expected
        penalty = pull * float(away @ away)
        return value + penalty, gradient + 2 * pull * away, hessian + 2 * pull * np.eye(members)

    low = _COLDEST if members == 1 else 0.0
    with one_blas_thread():  # several cores take longer over small matrices
        return minimize_bounded(cost, np.full(members, 1 / members), low, most)


def contributions(logits: Sequence[NDArray], weights: NDArray) -> list[float]:
    """The contribution of each member to the distance between the first two labels of the ensemble, summing
    to 1.

    Args:
        logits: Logits of each member, `[texts, classes]`.
        weights: Weight of each member.
    """
    mixed = np.tensordot(weights, np.stack(logits), axes=1)
    rows = np.arange(len(mixed))
    order = np.argpartition(-mixed, 1, axis=1)[:, :2]
    first = np.where(mixed[rows, order[:, 0]] >= mixed[rows, order[:, 1]], order[:, 0], order[:, 1])
    second = np.where(first == order[:, 0], order[:, 1], order[:, 0])
    gaps = [np.abs(member[rows, first] - member[rows, second]).mean() for member in logits]
    parts = weights * np.array(gaps)
    return (parts / parts.sum()).tolist() if parts.sum() > 0 else [1 / len(logits)] * len(logits)


_FAR = 1.345 * 1.4826
"""Multiple of the median error from which on a text counts less (Huber: 95 % as efficient as least squares
for normal errors)."""
_ROUNDS = 50
_FARTHEST = 1e4
"""Targets are clipped to this many standard deviations. An outlier such as a mistyped number must not
dominate: the iterations start from least squares and would not recover."""


@dataclass(frozen=True)
class EnsembleWeights:
    """The weights of an encoder and a linear member, `encoder * outputs + linear_model * (scores + shift)`.

    Attributes:
        encoder: Weight of the encoder's outputs.
        linear_model: Weight of the linear member's scores; 0 if it is dropped.
        share: Contribution of the linear member to the combined score, from 0 to 1.
        temperature: Divisor of the combined logits; None if it is not fitted with the weights.
        shift: Added to the scores of the linear member, `[labels]`; None for 0.
    """

    encoder: float
    linear_model: float
    share: float
    temperature: float | None = None
    shift: NDArray[np.float32] | None = None

    def combine(self, outputs: NDArray, scores: NDArray) -> NDArray[np.float32]:
        """The outputs of the ensemble from those of the encoder and the (shifted) scores of the linear
        member, `[texts, outputs]` each."""
        combined = np.zeros(outputs.shape, dtype=np.float32)
        for weight, member in ((self.encoder, outputs), (self.linear_model, scores)):
            if weight:
                combined += np.float32(weight) * member
        return combined


NETWORK_ALONE = EnsembleWeights(1.0, 0.0, 0.0)


def fit_number_weights(
    encoder: NDArray,
    linear_model: NDArray,
    targets: NDArray,
    weights: NDArray | None = None,
    prior: WeightPrior = EQUAL_WEIGHTS,
) -> EnsembleWeights:
    """Fit non-negative ensemble weights on held-out texts by a robust loss: a few texts that both members
    get wrong do not decide. A member with a share below `MIN_CONTRIBUTION` is dropped.

    Args:
        encoder: Encoder outputs, `[texts]`, on the scale on which the targets have mean 0 and standard
            deviation 1.
        linear_model: Outputs of the linear model, on the same scale.
        targets: The targets, on the same scale.
        weights: Weights of the texts, 1 on average; None where all are equal.
        prior: What is expected of the weights, in squared standard deviations of the targets.
    """
    outputs = np.stack([encoder, linear_model], axis=1).astype(np.float64)
    clipped = targets.astype(np.float64).clip(-_FARTHEST, _FARTHEST)
    text_weights = np.ones(len(clipped)) if weights is None else np.asarray(weights, dtype=np.float64)
    member_weights = _robust_weights(outputs, clipped, text_weights, prior.strength, prior.of((0, 1)))
    sizes = member_weights * outputs.std(axis=0)
    share = float(sizes[1] / sizes.sum()) if sizes.sum() > 0 else 0.5
    if min(share, 1 - share) < MIN_CONTRIBUTION:
        member = int(share > 0.5)
        alone = 1.0
        if outputs[:, member].any():
            alone = float(_robust_weights(outputs[:, [member]], clipped, text_weights, 0.0, np.ones(1))[0])
        return EnsembleWeights(alone * (1 - member), alone * member, float(member))
    return EnsembleWeights(float(member_weights[0]), float(member_weights[1]), share)


def _robust_weights(
    outputs: NDArray, targets: NDArray, weights: NDArray, strength: float, expected: NDArray
) -> NDArray:
    """Non-negative weights of the members (`outputs`: `[texts, members]`) by Huber's loss: iteratively
    reweighted least squares, in which texts with large errors count less. The prior pulls them to the
    `expected` weights."""
    from scipy.optimize import nnls  # slow to load, and predictions do without

    members = outputs.shape[1]
    pull, damping = np.sqrt(strength) * np.eye(members), np.ones(len(targets))
    # Not a start value: least squares may give 0 because of one outlier.
    member_weights = np.full(members, np.inf)
    for _ in range(_ROUNDS):
        roots, before = np.sqrt(weights * damping), member_weights
        left = np.vstack([outputs * roots[:, None], pull])
        member_weights = nnls(left, np.append(targets * roots, pull @ expected))[0]
        if np.abs(member_weights - before).max() < 1e-6:
            break
        off = np.abs(targets - outputs @ member_weights)
        far = max(_FAR * float(np.median(off[weights > 0])), 1e-6)
        damping = far / off.clip(far)
    return member_weights


def fit_binary_temperature(logits: LabelScores, targets: Targets, weights: Weights = None) -> float:
    """The maximum-likelihood temperature of `sigmoid(logits / temperature)` on held-out texts, with text
    weights; see `headwise.metrics.calibration.fit_temperature`."""
    factors, _ = _fit_factors([logits], targets, weights)
    if factors[0] > 1 / MAX_USUAL_TEMPERATURE:
        return 1.0 / factors[0]
    largest = float(np.abs(logits).max())
    factors, _ = _fit_factors([logits / largest], targets, weights, least=0.0)
    return min(largest / max(factors[0], 1 / MAX_TEMPERATURE), MAX_TEMPERATURE)


def fit_binary_ensemble(
    encoder: LabelScores, linear_model: LabelScores, targets: Targets, weights: Weights = None
) -> tuple[float, float, NDArray[np.float32]]:
    """The maximum-likelihood ensemble weights of encoder and linear model on held-out texts, and a bias for
    the scores of the linear model (a linear SVM, whose score 0 is far from even odds for a rare label).

    Args:
        encoder: Logits of the encoder, `[texts, labels]`.
        linear_model: Scores of the linear model, `[texts, labels]`.
        targets: The true labels.
        weights: The weight of each text.

    Returns:
        `(encoder_weight, linear_weight, shift)` for
        `sigmoid(encoder_weight * encoder + linear_weight * (linear_model + shift))`; the shift is
        `[labels]`, and no weight is negative.
    """
    (encoder_weight, linear_weight), shift = _fit_factors(
        [encoder, linear_model], targets, weights, least=0.0, shifted=True
    )
    moved = shift / linear_weight if linear_weight > 0 else np.zeros_like(shift)
    return encoder_weight, linear_weight, moved.astype(np.float32)


def fit_binary_shifts(
    scores: LabelScores, targets: Targets, weights: Weights = None
) -> tuple[float, NDArray[np.float64]]:
    """The maximum-likelihood factor and the shift of each label, `[labels]`, of
    `sigmoid(factor * scores + shift)` on held-out texts, with text weights. Margins of SVMs need the shift:
    for a rare label, a margin of 0 is far from even odds."""
    (factor,), shift = _fit_factors([scores], targets, weights, shifted=True)
    return factor, shift


_SHIFT = 2.0
"""The standard deviation of the Gaussian prior on the shift of a label, in logits."""


def _fit_factors(
    parts: list[LabelScores],
    targets: Targets,
    weights: Weights = None,
    *,
    least: float = 1 / MAX_USUAL_TEMPERATURE,
    shifted: bool = False,
) -> tuple[list[float], NDArray[np.float64]]:
    """The maximum-likelihood factors of the scores, and if `shifted` a shift for each label, with smoothed
    targets (see `headwise.metrics.calibration.fit_temperature`)."""
    labels = targets.shape[1]
    if targets.size == 0:
        return [1.0, 0.0][: len(parts)], np.zeros(labels)
    from scipy.optimize import minimize  # slow to load, and predictions do without

    parts64 = [part.astype(np.float64) for part in parts]
    unsure = smoothing_mass(len(targets)) / 2
    smoothed_targets = np.where(targets, 1 - unsure, unsure)
    counts = np.ones((len(targets), 1)) if weights is None else np.asarray(weights, np.float64)[:, None]
    counts = counts / (counts.mean() or 1)

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factors, shift = values[: len(parts64)], values[len(parts64) :]
        logits = sum(factor * part for factor, part in zip(factors, parts64, strict=True))
        logits = logits + shift if shifted else logits
        slopes = counts * (expit(logits) - smoothed_targets) / targets.size
        prior = shift / _SHIFT**2 / targets.size
        ahead = np.concatenate(
            [[(slopes * part).sum() for part in parts64], slopes.sum(0)[: len(shift)] + prior]
        )
        losses = counts * (np.logaddexp(0.0, logits) - smoothed_targets * logits)
        return float(losses.mean() + (shift * prior).sum() / 2), ahead

    start = np.concatenate([np.ones(len(parts64)), np.zeros(labels if shifted else 0)])
    bounds = [(least, 20.0), (0.0, 40.0)][: len(parts64)] + [(-20.0, 20.0)] * (len(start) - len(parts64))
    solution = minimize(loss, x0=start, jac=True, bounds=bounds, method="L-BFGS-B")
    return solution.x[: len(parts64)].tolist(), solution.x[len(parts64) :]
