"""The linear model in the ensemble of a regressor: fitted on training texts, with its weight fitted on
held-out ones."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headwise.linear.mixture import LEAST_SHARE
from headwise.linear.settings import Chosen
from headwise.linear.text_expert import TextExpert
from headwise.train.crossing import Crossed
from headwise.train.label_expert import fit_texts

if TYPE_CHECKING:
    from headwise.train.regression import RegressionObjective

_PRIOR = 4.0
"""Strength of the prior for equal ensemble weights, in texts."""
_FAR = 1.345 * 1.4826
"""Multiple of the median error from which on a text counts less (Huber: 95 % as efficient as least squares
for normal errors)."""
_ROUNDS = 50
_FARTHEST = 1e4
"""Targets are clipped to this many standard deviations. An outlier such as a mistyped number must not
dominate: the iterations start from least squares and would not recover."""


@dataclass(frozen=True)
class Weights:
    """The ensemble weights of encoder and linear model, and the share of the latter in the mean combined
    score."""

    encoder: float
    expert: float
    share: float


@dataclass(frozen=True)
class Kept:
    """The results of the first model that a refit takes over."""

    weights: Weights
    chosen: Chosen


def fit_weights(
    encoder: NDArray, expert: NDArray, targets: NDArray, importance: NDArray | None = None
) -> Weights:
    """Fit non-negative ensemble weights on held-out texts by a robust loss: a few texts that both members
    get wrong do not decide. A member with a share below `LEAST_SHARE` is dropped.

    Args:
        encoder: Encoder outputs, `[texts]`, on the scale on which the targets have mean 0 and standard
            deviation 1.
        expert: Outputs of the linear model, on the same scale.
        targets: The targets, on the same scale.
        importance: Weights of the texts, 1 on average; None where all are equal.
    """
    outputs = np.stack([encoder, expert], axis=1).astype(np.float64)
    clipped = targets.astype(np.float64).clip(-_FARTHEST, _FARTHEST)
    counts = np.ones(len(clipped)) if importance is None else np.asarray(importance, dtype=np.float64)
    weights = _nearest(outputs, clipped, counts, _PRIOR)
    sizes = weights * outputs.std(axis=0)
    share = float(sizes[1] / sizes.sum()) if sizes.sum() > 0 else 0.5
    if min(share, 1 - share) < LEAST_SHARE:
        member = int(share > 0.5)
        alone = (
            float(_nearest(outputs[:, [member]], clipped, counts, 0.0)[0])
            if outputs[:, member].any()
            else 1.0
        )
        return Weights(alone * (1 - member), alone * member, float(member))
    return Weights(float(weights[0]), float(weights[1]), share)


def _nearest(outputs: NDArray, targets: NDArray, counts: NDArray, prior: float) -> NDArray:
    """Non-negative weights of the members (`outputs`: `[texts, members]`) by Huber's loss: iteratively
    reweighted least squares, in which texts with large errors count less."""
    from scipy.optimize import nnls  # slow to load, and predictions do without

    members = outputs.shape[1]
    equal, damping = np.sqrt(prior) * np.eye(members), np.ones(len(targets))
    weights = np.full(members, np.inf)  # not a start value: least squares may give 0 because of one outlier
    for _ in range(_ROUNDS):
        roots, before = np.sqrt(counts * damping), weights
        left = np.vstack([outputs * roots[:, None], equal])
        weights = nnls(left, np.append(targets * roots, equal.sum(axis=0) / members))[0]
        if np.abs(weights - before).max() < 1e-6:
            break
        off = np.abs(targets - outputs @ weights)
        far = max(_FAR * float(np.median(off[counts > 0])), 1e-6)
        damping = far / off.clip(far)
    return weights


def add_number_expert(objective: "RegressionObjective") -> Kept | None:
    """Fit the linear model on the training texts (or pairs), and the ensemble weights on dev."""
    fitted = fit_texts(objective)
    expert = TextExpert.of(fitted.model)
    if not expert.features or not len(objective.dev_items):
        return None
    model = objective.model
    model.add_expert(expert, 0.0)
    outputs = model.outputs_of(objective.dev_items)[:, 0], model.expert_scores(objective.dev_items)[:, 0]
    weights = fit_weights(*outputs, model.scale.deviations(objective.dev_targets), objective.dev_weights)
    _weigh(objective, expert, weights)
    return Kept(weights, fitted.chosen)


def add_number_expert_again(objective: "RegressionObjective", refit_state: Kept | None) -> None:
    """Fit the linear model of a refitted model on more texts, with the ensemble weights of the first
    model."""
    if refit_state is None:
        return
    expert = (
        TextExpert.of(fit_texts(objective, refit_state.chosen).model)
        if refit_state.weights.expert
        else None
    )
    _weigh(objective, expert, refit_state.weights)


def add_number_expert_crossed(objective: "RegressionObjective", crossed: Crossed) -> NDArray:
    """Fit the linear model on all texts, and the ensemble weights on out-of-fold outputs.

    Returns:
        The out-of-fold predictions of the ensemble, `[texts]`.
    """
    fitted, scale = fit_texts(objective, every=True), objective.model.scale
    expert = TextExpert.of(fitted.model)
    if not expert.features:
        return crossed.outputs[:, 0]
    encoder_outputs, expert_outputs = (
        scale.standardize(crossed.outputs[:, 0]),
        fitted.oof_scores[crossed.held, 0],
    )
    importance = objective.weights_of(crossed.held)
    weights = fit_weights(
        encoder_outputs, expert_outputs, objective.train_targets[crossed.held], importance
    )
    _weigh(objective, expert, weights)
    return scale.restore(weights.encoder * encoder_outputs + weights.expert * expert_outputs)


def _weigh(objective: "RegressionObjective", expert: TextExpert | None, weights: Weights) -> None:
    model = objective.model
    if expert is None or not weights.expert:
        model.remove_expert()
        model.encoder_weight = weights.encoder
        return
    model.add_expert(expert, weights.expert, encoder_weight=weights.encoder, share=weights.share)
