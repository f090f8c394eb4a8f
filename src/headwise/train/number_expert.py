"""The linear expert beside an encoder of numbers: fitted on training texts, weighed on held-out ones."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headwise.linear.mixture import LEAST_SHARE
from headwise.linear.text_data import LinearSettings
from headwise.linear.text_expert import TextExpert
from headwise.train.crossing import Crossed
from headwise.train.label_expert import fit_texts

if TYPE_CHECKING:
    from headwise.train.regression import RegressionObjective

_PRIOR = 4.0
"""How many texts it is worth that encoder and expert have equal weights."""


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
    settings: LinearSettings


def fit_weights(
    encoder: NDArray, expert: NDArray, wanted: NDArray, importance: NDArray | None = None
) -> Weights:
    """The weights, not negative, with which what both say of held-out texts comes nearest to the truth, by
    its squares; a member with next to no share is dropped.

    Args:
        encoder: `[texts]`, on the scale on which the targets have mean 0 and deviation 1.
        expert: Likewise.
        wanted: The targets.
        importance: How much each text counts, if they differ, 1 in the mean.
    """
    from scipy.optimize import nnls  # slow to load, and predictions do without

    said = np.stack([encoder, expert], axis=1).astype(np.float64)
    own, prior = wanted.astype(np.float64), np.sqrt(_PRIOR)
    if importance is not None:
        counts = np.sqrt(importance)
        said, own = said * counts[:, None], own * counts
    weights = nnls(np.vstack([said, prior * np.eye(2)]), np.append(own, [prior / 2] * 2))[0]
    sizes = weights * said.std(axis=0)
    share = float(sizes[1] / sizes.sum()) if sizes.sum() > 0 else 0.5
    if min(share, 1 - share) < LEAST_SHARE:
        kept = int(share > 0.5)
        alone = nnls(said[:, [kept]], own)[0][0] if said[:, kept].any() else 1.0
        return Weights(alone * (1 - kept), alone * kept, float(kept))
    return Weights(float(weights[0]), float(weights[1]), share)


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
    weights = fit_weights(*said, model.scale.standardize(objective.dev_targets))
    _weigh(objective, expert, weights)
    return Kept(weights, fitted.settings)


def add_number_expert_again(objective: "RegressionObjective", kept: Kept | None) -> None:
    """Give a model that was trained again, on more texts, an expert on these and the former weights."""
    if kept is None:
        return
    expert = TextExpert.of(fit_texts(objective, kept.settings).model) if kept.weights.expert else None
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
    importance = None if objective.text_weights is None else objective.text_weights[crossed.held]
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
