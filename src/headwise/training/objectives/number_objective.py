"""Training of regressors of texts, or pairs of texts.

The linear model in the ensemble of a regressor: fitted on training texts, with its weight fitted on
held-out ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from headwise.linear.ensemble_weights import MIN_CONTRIBUTION
from headwise.linear.linear_model import FittedSettings
from headwise.metrics.regression_scores import number_scores
from headwise.nn.layers.output_layers import squared_error
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.text_models import PairScorer, TextRegressorModel
from headwise.training.cross_fitting import OutOfFold
from headwise.training.linear_probe import fit_linear_number_probe
from headwise.training.objectives.label_objective import fit_linear_member
from headwise.training.objectives.text_objective import TextObjective
from headwise.training.train_result import PostTrainingFit

AnyRegressor = TypeVar("AnyRegressor", TextRegressorModel, PairScorer)


class NumberObjective(TextObjective[AnyRegressor]):
    """The squared error on training texts, and the errors on dev texts (see `headwise.training.loop`).

    Args:
        model: A regressor of texts or pairs.
        train: Training texts or pairs, and their numbers.
        dev: Dev texts or pairs, and their numbers.
        weights: Weights of the training texts, `[texts]`, 1 on average; None where all are equal.
        dev_weights: Weights of the dev texts.
    """

    def __init__(
        self,
        model: AnyRegressor,
        train: tuple[Sequence[Any], np.ndarray],
        dev: tuple[Sequence[Any], np.ndarray],
        weights: np.ndarray | None = None,
        dev_weights: np.ndarray | None = None,
    ):
        super().__init__(model, train[0], dev[0])
        self.text_weights, self.dev_weights = weights, dev_weights
        # A target of weight 0 may be too large for 32 bits.
        counted = train[1] if weights is None else np.where(weights > 0, train[1], model.scale.mean)
        self.train_targets = model.scale.standardize(counted)
        self.dev_targets = dev[1]

    def loss(self, texts: Sequence[int]) -> Tensor:
        losses = squared_error(self.outputs(texts), self.to_device(self.train_targets[list(texts)]))
        return self.summed(losses, texts)

    def probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return fit_linear_number_probe(vectors, targets, weights, same)

    def evaluate(self) -> Mapping[str, float]:
        predictions, deviation = self.model.scores(self.dev_items), self.model.scale.deviation
        return number_scores(predictions, self.dev_targets, deviation, self.dev_weights)

    def held_out(self) -> np.ndarray:
        """The dev outputs on the scale of the raw numbers, as each fold has its own training scale."""
        return self.model.scale.restore(super().held_out())


def fit_numbers(objective: NumberObjective) -> PostTrainingFit:
    """Fit the linear model and the ensemble weights of a trained model on dev."""
    linear = objective.model.config.expert.kind == "linear"
    refit_state = fit_number_ensemble(objective) if linear else None
    return PostTrainingFit(dict(objective.evaluate()), refit_state=refit_state)


def fit_numbers_out_of_fold(objective: NumberObjective, crossed: OutOfFold) -> PostTrainingFit:
    """Fit the linear model and the ensemble weights of a model trained on all texts, by out-of-fold
    outputs."""
    model, predictions = objective.model, crossed.outputs[:, 0]
    if model.config.expert.kind == "linear":
        predictions = fit_number_ensemble_out_of_fold(objective, crossed)
    targets = model.scale.restore(objective.train_targets[crossed.held])
    weights = objective.weights_of(crossed.held)
    return PostTrainingFit(dict(number_scores(predictions, targets, model.scale.deviation, weights)))


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
class EnsembleWeights:
    """The ensemble weights of encoder and linear model, and the share of the latter in the mean combined
    score."""

    encoder: float
    expert: float
    share: float


@dataclass(frozen=True)
class NumberRefitState:
    """The results of the first model that a refit takes over."""

    weights: EnsembleWeights
    chosen: FittedSettings


def fit_weights(
    encoder: NDArray, expert: NDArray, targets: NDArray, importance: NDArray | None = None
) -> EnsembleWeights:
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
    weights = _robust_weights(outputs, clipped, counts, _PRIOR)
    sizes = weights * outputs.std(axis=0)
    share = float(sizes[1] / sizes.sum()) if sizes.sum() > 0 else 0.5
    if min(share, 1 - share) < MIN_CONTRIBUTION:
        member = int(share > 0.5)
        alone = (
            float(_robust_weights(outputs[:, [member]], clipped, counts, 0.0)[0])
            if outputs[:, member].any()
            else 1.0
        )
        return EnsembleWeights(alone * (1 - member), alone * member, float(member))
    return EnsembleWeights(float(weights[0]), float(weights[1]), share)


def _robust_weights(outputs: NDArray, targets: NDArray, counts: NDArray, prior: float) -> NDArray:
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


def fit_number_ensemble(objective: "NumberObjective") -> NumberRefitState | None:
    """Fit the linear model on the training texts (or pairs), and the ensemble weights on dev."""
    fitted = fit_linear_member(objective)
    expert = TextLinearBuffers.of(fitted.model)
    if not expert.features or not len(objective.dev_items):
        return None
    model = objective.model
    model.add_expert(expert, 0.0)
    outputs = model.outputs_of(objective.dev_items)[:, 0], model.expert_scores(objective.dev_items)[:, 0]
    weights = fit_weights(*outputs, model.scale.deviations(objective.dev_targets), objective.dev_weights)
    _set_ensemble_weights(objective, expert, weights)
    return NumberRefitState(weights, fitted.chosen)


def refit_number_ensemble(objective: "NumberObjective", refit_state: NumberRefitState | None) -> None:
    """Fit the linear model of a refitted model on more texts, with the ensemble weights of the first
    model."""
    if refit_state is None:
        return
    expert = (
        TextLinearBuffers.of(fit_linear_member(objective, refit_state.chosen).model)
        if refit_state.weights.expert
        else None
    )
    _set_ensemble_weights(objective, expert, refit_state.weights)


def fit_number_ensemble_out_of_fold(objective: "NumberObjective", crossed: OutOfFold) -> NDArray:
    """Fit the linear model on all texts, and the ensemble weights on out-of-fold outputs.

    Returns:
        The out-of-fold predictions of the ensemble, `[texts]`.
    """
    fitted, scale = fit_linear_member(objective, every=True), objective.model.scale
    expert = TextLinearBuffers.of(fitted.model)
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
    _set_ensemble_weights(objective, expert, weights)
    return scale.restore(weights.encoder * encoder_outputs + weights.expert * expert_outputs)


def _set_ensemble_weights(
    objective: "NumberObjective", expert: TextLinearBuffers | None, weights: EnsembleWeights
) -> None:
    model = objective.model
    if expert is None or not weights.expert:
        model.remove_linear_model()
        model.encoder_weight = weights.encoder
        return
    model.add_expert(expert, weights.expert, encoder_weight=weights.encoder, share=weights.share)
