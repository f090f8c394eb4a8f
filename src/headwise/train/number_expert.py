"""The linear expert beside an encoder of numbers: fitted on training texts, weighed on held-out ones."""

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
"""How many texts it is worth that encoder and expert have equal weights."""
_FAR = 1.345 * 1.4826
"""Times the median error from which on a text counts less (Huber: 95 % as good as least squares where
errors are normal)."""
_ROUNDS = 50
_FARTHEST = 1e4
"""Deviations from the mean. What is farther off, as a mistyped number of held-out texts that the training
ones have nothing like, has as little say; and as the rounds begin with least squares, they would not come
near the others."""


@dataclass(frozen=True)
class Weights:
    """What encoder and expert are multiplied by, and the expert's share of what they say in the mean."""

    encoder: float
    expert: float
    share: float


@dataclass(frozen=True)
class Kept:
    """What a second training takes over."""

    weights: Weights
    chosen: Chosen


def fit_weights(
    encoder: NDArray, expert: NDArray, wanted: NDArray, importance: NDArray | None = None
) -> Weights:
    """The weights, not negative, with which what both say of held-out texts comes nearest to the truth; a
    few texts that both are far off do not decide. A member with next to no share is dropped.

    Args:
        encoder: `[texts]`, on the scale on which the targets have mean 0 and deviation 1.
        expert: Likewise.
        wanted: The targets.
        importance: How much each text counts, if they differ, 1 in the mean.
    """
    said = np.stack([encoder, expert], axis=1).astype(np.float64)
    own = wanted.astype(np.float64).clip(-_FARTHEST, _FARTHEST)
    counts = np.ones(len(own)) if importance is None else np.asarray(importance, dtype=np.float64)
    weights = _nearest(said, own, counts, _PRIOR)
    sizes = weights * said.std(axis=0)
    share = float(sizes[1] / sizes.sum()) if sizes.sum() > 0 else 0.5
    if min(share, 1 - share) < LEAST_SHARE:
        kept = int(share > 0.5)
        alone = float(_nearest(said[:, [kept]], own, counts, 0.0)[0]) if said[:, kept].any() else 1.0
        return Weights(alone * (1 - kept), alone * kept, float(kept))
    return Weights(float(weights[0]), float(weights[1]), share)


def _nearest(said: NDArray, wanted: NDArray, counts: NDArray, prior: float) -> NDArray:
    """Weights of the members (`said`: `[texts, members]`), not negative, by Huber's loss: least squares
    anew, in which texts that were farther off than most count less, until nothing changes."""
    from scipy.optimize import nnls  # slow to load, and predictions do without

    members = said.shape[1]
    equal, near = np.sqrt(prior) * np.eye(members), np.ones(len(wanted))
    weights = np.full(members, np.inf)  # no start: least squares may give 0 where one text is far off
    for _ in range(_ROUNDS):
        roots, before = np.sqrt(counts * near), weights
        left = np.vstack([said * roots[:, None], equal])
        weights = nnls(left, np.append(wanted * roots, equal.sum(axis=0) / members))[0]
        if np.abs(weights - before).max() < 1e-6:
            break
        off = np.abs(wanted - said @ weights)
        far = max(_FAR * float(np.median(off[counts > 0])), 1e-6)
        near = far / off.clip(far)
    return weights


def add_number_expert(objective: "RegressionObjective") -> Kept | None:
    """Fit the linear expert on the training texts (or pairs), and on dev how much say it and the encoder
    have."""
    fitted = fit_texts(objective)
    expert = TextExpert.of(fitted.model)
    if not expert.features or not len(objective.dev_items):
        return None
    model = objective.model
    model.add_expert(expert, 0.0)
    said = model.outputs_of(objective.dev_items)[:, 0], model.expert_scores(objective.dev_items)[:, 0]
    weights = fit_weights(*said, model.scale.deviations(objective.dev_targets), objective.dev_weights)
    _weigh(objective, expert, weights)
    return Kept(weights, fitted.chosen)


def add_number_expert_again(objective: "RegressionObjective", kept: Kept | None) -> None:
    """Give a model that was trained again, on more texts, an expert on these and the former weights."""
    if kept is None:
        return
    expert = TextExpert.of(fit_texts(objective, kept.chosen).model) if kept.weights.expert else None
    _weigh(objective, expert, kept.weights)


def add_number_expert_crossed(objective: "RegressionObjective", crossed: Crossed) -> NDArray:
    """Fit the linear expert on all texts, and the weights on what models said of texts that they were not
    trained on.

    Returns:
        What both together say of these texts, `[texts]`.
    """
    fitted, scale = fit_texts(objective, every=True), objective.model.scale
    expert = TextExpert.of(fitted.model)
    if not expert.features:
        return crossed.outputs[:, 0]
    encoder, own = scale.standardize(crossed.outputs[:, 0]), fitted.oof_scores[crossed.held, 0]
    importance = objective.weights_of(crossed.held)
    weights = fit_weights(encoder, own, objective.train_targets[crossed.held], importance)
    _weigh(objective, expert, weights)
    return scale.restore(weights.encoder * encoder + weights.expert * own)


def _weigh(objective: "RegressionObjective", expert: TextExpert | None, weights: Weights) -> None:
    model = objective.model
    if expert is None or not weights.expert:
        model.remove_expert()
        model.encoder_weight = weights.encoder
        return
    model.add_expert(expert, weights.expert, encoder_weight=weights.encoder, share=weights.share)
