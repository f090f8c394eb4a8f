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

from headwise.core.minimization import minimize_bounded
from headwise.core.threads import one_blas_thread
from headwise.metrics.classification_scores import smooth_targets

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
        alone: The same loss of each member alone, with its own temperature.
    """

    weights: tuple[float, ...]
    shares: tuple[float, ...]
    loss: float
    alone: tuple[float, ...]

    def mix(self, members: Sequence[NDArray]) -> NDArray[np.float32]:
        """Combine the logits of the members, `[texts, classes]` each, to those of the ensemble."""
        mixed = np.zeros(members[0].shape, dtype=np.float32)
        for weight, member in zip(self.weights, members, strict=True):
            if weight:
                mixed += np.float32(weight) * np.asarray(member, dtype=np.float32)
        return mixed


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
        return Ensemble((1.0 / len(members),) * len(members), (1.0 / len(members),) * len(members), 0.0, ())
    logits = [_centred(member) for member in members]
    soft_targets = smooth_targets(targets, logits[0].shape[1])
    text_weights = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    temperatures = [
        _fit_weights(
            [member_logits],
            soft_targets,
            text_weights,
            WeightPrior(strength=0.0),
            scale=1.0 if member in prior.unscaled else _HOTTEST,
        )
        for member, member_logits in enumerate(logits)
    ]
    alone = [
        _Loss([member_logits], soft_targets, text_weights)(weight)[0]
        for member_logits, weight in zip(logits, temperatures, strict=True)
    ]
    scaled = [
        member_logits * float(weight[0]) for member_logits, weight in zip(logits, temperatures, strict=True)
    ]
    active = list(range(len(members)))
    member_weights = _fit_weights(scaled, soft_targets, text_weights, prior)
    while len(active) > 1:
        shares = contributions([scaled[member] for member in active], member_weights)
        least = int(np.argmin(shares))
        if shares[least] >= MIN_CONTRIBUTION:
            break
        active.pop(least)
        remaining = WeightPrior(tuple(prior.of(active)), prior.strength)
        member_weights = _fit_weights(
            [scaled[member] for member in active], soft_targets, text_weights, remaining
        )
    final = np.zeros(len(members))
    final[active] = member_weights
    loss = _Loss(scaled, soft_targets, text_weights)(final)[0]
    factors = [float(temperature[0]) for temperature in temperatures]
    return Ensemble(
        weights=tuple(float(weight * factor) for weight, factor in zip(final, factors, strict=True)),
        shares=tuple(contributions(scaled, final)),
        loss=float(loss),
        alone=tuple(float(member_loss) for member_loss in alone),
    )


def _centred(logits: NDArray) -> NDArray[np.float64]:
    logits = np.asarray(logits, dtype=np.float64)
    return logits - logits.mean(axis=1, keepdims=True)


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


def _fit_weights(
    logits: Sequence[NDArray],
    targets: NDArray,
    weights: NDArray,
    prior: WeightPrior,
    *,
    scale: float = 5.0,
) -> NDArray:
    loss = _Loss(logits, targets, weights)
    begun, pull = np.full(len(logits), 1 / len(logits)), prior.strength / len(targets)
    expected = prior.of(range(len(logits)))

    def cost(member_weights: NDArray) -> tuple[float, NDArray, NDArray]:
        (value, gradient, hessian), away = loss(member_weights), member_weights - expected
        penalty = pull * float(away @ away)
        return value + penalty, gradient + 2 * pull * away, hessian + 2 * pull * np.eye(len(away))

    low = _COLDEST if len(logits) == 1 else 0.0
    with one_blas_thread():  # several cores take longer over small matrices
        return minimize_bounded(cost, begun, low, scale)


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
    says = np.array(
        [
            weight * np.abs(member_logits[rows, first] - member_logits[rows, second]).mean()
            for weight, member_logits in zip(weights, logits, strict=True)
        ]
    )
    total = says.sum()
    return [float(say / total) if total > 0 else 1 / len(logits) for say in says]


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
        alone = (
            float(_robust_weights(outputs[:, [member]], clipped, text_weights, 0.0, np.ones(1))[0])
            if outputs[:, member].any()
            else 1.0
        )
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
    member_weights = np.full(
        members, np.inf
    )  # not a start value: least squares may give 0 because of one outlier
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
