"""Training of multi-label classifiers: objective, thresholds, ensemble weights and calibration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from headwise.data.items.examples import Example
from headwise.linear.ensemble_weights import MIN_CONTRIBUTION
from headwise.linear.linear_fit import LinearFit
from headwise.linear.linear_model import FittedSettings, LinearModel
from headwise.metrics.binary_labels import (
    binary_calibration_error,
    fit_binary_ensemble,
    fit_binary_temperature,
    mean_binary_loss,
)
from headwise.metrics.calibration import MAX_USUAL_TEMPERATURE, cross_fitted_error
from headwise.metrics.multi_label_scores import dev_scores, ranking_rates, set_rates
from headwise.metrics.operating_points import OPERATING_POINTS, choose_threshold, parse_operating_points
from headwise.metrics.thresholds import Weights, fit_thresholds
from headwise.nn.layers.output_layers import class_weights, multi_label_loss
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.text_models import MultiLabelModel
from headwise.training.cross_fitting import OutOfFold
from headwise.training.label_names import append_label_names, label_counts
from headwise.training.linear_probe import fit_linear_probe
from headwise.training.objectives.label_objective import fit_linear_member
from headwise.training.objectives.text_objective import TextObjective
from headwise.training.train_result import PostTrainingFit


class MultiLabelObjective(TextObjective[MultiLabelModel]):
    """The training loss of multi-label classifiers, and their dev scores (see `headwise.training.loop`).

    Args:
        model: The multi-label model.
        train: Training texts and multi-hot labels, `[texts, labels]`.
        dev: Dev texts and multi-hot labels.
        weights: Weights of the training texts, `[texts]`, 1 on average; None where all are equal.
        dev_weights: Weights of the dev texts.
    """

    def __init__(
        self,
        model: MultiLabelModel,
        train: tuple[Sequence[Example], NDArray[np.bool_]],
        dev: tuple[Sequence[Example], NDArray[np.bool_]],
        weights: np.ndarray | None = None,
        dev_weights: np.ndarray | None = None,
    ):
        super().__init__(model, train[0], dev[0])
        self.train_targets, self.dev_targets = train[1], dev[1]
        self.text_weights, self.dev_weights = weights, dev_weights
        self.names = 0
        if model.config.base.names:
            append_label_names(self)
        settings = model.config.classifier
        counts = label_counts(train[1], weights, len(model.labels)).tolist()
        self.label_weights = class_weights(settings.class_weights, model.labels, counts)
        self._smoothing = settings.label_smoothing
        parse_operating_points(settings.thresholds, model.labels)  # raises for unknown labels early

    def loss(self, texts: Sequence[int]) -> Tensor:
        targets = self.to_device(self.train_targets[list(texts)].astype(np.float32))
        how = {"label_smoothing": self._smoothing, "weights": self.class_weights_on_device}
        losses = multi_label_loss(self.outputs(texts), targets, **how)
        return self.summed(losses, texts)

    def probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        how = {"weights": weights, "same": same, "always": self.names}
        return fit_linear_probe(vectors, targets, len(self.model.labels), sets=True, **how)

    def evaluate(self) -> Mapping[str, float]:
        return dev_scores(self.model.logits(self.dev_items), self.dev_targets, self.dev_weights)


@dataclass(frozen=True)
class _LabelSetRefitState:
    """The results of the first model that a refit takes over.

    Attributes:
        model: The first model.
        chosen: Settings of its linear model; None without one.
        shift: Added to the scores of the linear model, `[labels]`; None without one.
    """

    model: MultiLabelModel
    chosen: FittedSettings | None = None
    shift: NDArray[np.float32] | None = None


def fit_label_sets(objective: MultiLabelObjective) -> PostTrainingFit:
    """Fit the linear model, ensemble weights, temperature and thresholds of a trained model on dev."""
    model, targets, dev = objective.model, objective.dev_targets, list[Any](objective.dev_items)
    refit_state, encoder, weights = _LabelSetRefitState(model), model.outputs_of(dev), objective.dev_weights
    before = binary_calibration_error(model.probabilities(encoder), targets, weights)
    if model.config.expert.kind == "linear":
        fitted = fit_linear_member(objective)
        if any(map(len, fitted.model.blocks.values())):
            scores = fitted.model.scores([item.text for item in dev], model.base_vectors(dev))
            refit_state = _set_ensemble_weights(model, fitted, encoder, scores, targets, weights)
    if model.expert is None:
        model.temperature = fit_binary_temperature(encoder, targets, weights)
    return _finished(model, model.logits(dev), targets, weights, before, refit_state)


def fit_label_sets_out_of_fold(objective: MultiLabelObjective, crossed: OutOfFold) -> PostTrainingFit:
    """Fit the linear model, ensemble weights, temperature and thresholds of a model trained on all texts,
    by out-of-fold outputs."""
    model, held, outputs = objective.model, crossed.held, crossed.outputs
    targets, logits, weights = objective.train_targets[held], outputs, objective.weights_of(held)
    before = binary_calibration_error(model.probabilities(outputs), targets, weights)
    if model.config.expert.kind == "linear":
        fitted = fit_linear_member(objective, every=True)
        if any(map(len, fitted.model.blocks.values())):
            scores = fitted.oof_scores[held]
            refit_state = _set_ensemble_weights(model, fitted, outputs, scores, targets, weights)
            if refit_state.shift is not None:
                encoder_weight, expert_weight = (
                    np.float32(model.encoder_weight),
                    np.float32(model.expert_weight),
                )
                logits = np.asarray(
                    encoder_weight * outputs + expert_weight * (scores + refit_state.shift),
                    dtype=np.float32,
                )
    if model.expert is None:
        model.temperature = fit_binary_temperature(outputs, targets, weights)
    return _finished(model, logits, targets, weights, before)


def _finished(
    model: MultiLabelModel,
    logits: NDArray[np.float32],
    targets: NDArray[np.bool_],
    weights: Weights,
    before: float,
    refit_state: Any = None,
) -> PostTrainingFit:
    """Fit the thresholds of a calibrated model on held-out logits; returns the scores to report.

    Args:
        weights: Weights of these texts.
        before: The calibration error before the temperature was fitted.
        refit_state: What a refit takes over.
    """
    how = fit_binary_temperature, expit, binary_calibration_error
    after = cross_fitted_error(logits, targets, *how, weights=weights)
    return PostTrainingFit(
        fit_label_set_thresholds(model, logits, targets, weights), (before, after), refit_state
    )


def fit_label_set_thresholds(
    model: MultiLabelModel, logits: NDArray[np.float32], targets: NDArray[np.bool_], weights: Weights
) -> dict[str, Any]:
    """Fit the thresholds of a calibrated model on held-out logits; returns the scores to report."""
    calibrated = model.calibrated(logits)
    thresholds = fit_thresholds(calibrated, targets, model.config.thresholds.min_texts, weights)
    promised = list[dict[str, Any]]()
    for point in parse_operating_points(model.config.classifier.thresholds):
        label = model.labels.index(point.label)
        label_scores = calibrated[:, label]
        decision = choose_threshold(point, label_scores, targets[:, label], expit(label_scores), weights)
        thresholds[label] = decision.threshold
        promised.append(decision.to_json())
    model.thresholds = expit(thresholds).tolist()
    probabilities = model.probabilities(logits)
    return {
        **set_rates(probabilities, np.array(model.thresholds), targets, weights),
        **ranking_rates(probabilities, targets, weights),
        "loss": mean_binary_loss(calibrated, targets, weights),
        **({OPERATING_POINTS: promised} if promised else {}),
    }


def refit_label_sets(objective: MultiLabelObjective, finished: PostTrainingFit) -> None:
    """Carry the ensemble weights, temperature and thresholds over to a model refitted on all texts, and fit
    its linear model."""
    model, first_model = objective.model, finished.refit_state.model
    model.temperature, model.thresholds = first_model.temperature, first_model.thresholds
    if first_model.expert is not None:
        fitted = fit_linear_member(objective, finished.refit_state.chosen)
        weights = {"encoder_weight": first_model.encoder_weight, "share": first_model.expert_share}
        model.add_expert(
            _shifted(fitted.model, finished.refit_state.shift), first_model.expert_weight, **weights
        )


def _set_ensemble_weights(
    model: MultiLabelModel,
    fitted: LinearFit,
    logits: NDArray[np.float32],
    scores: NDArray[np.float32],
    targets: NDArray[np.bool_],
    weights: Weights,
) -> _LabelSetRefitState:
    """Fit the ensemble weights of encoder and linear model, and the temperature, on held-out texts. A
    member whose share falls below `LEAST_SHARE` is dropped.

    Args:
        model: The model that gets the linear model.
        fitted: The linear model.
        logits: Encoder logits of held-out texts.
        scores: Scores of the linear model on these texts.
        targets: Multi-hot labels of these texts.
        weights: Weights of these texts.
    """
    if fit_binary_temperature(logits, targets, weights) > MAX_USUAL_TEMPERATURE:  # it has diverged
        logits = np.zeros_like(logits)
    encoder_weight, expert_weight, shift = fit_binary_ensemble(logits, scores, targets, weights)
    says = np.array(
        [np.abs(encoder_weight * logits).mean(), np.abs(expert_weight * (scores + shift)).mean()]
    )
    if says[1] <= MIN_CONTRIBUTION * says.sum():
        return _LabelSetRefitState(model)
    if says[0] < MIN_CONTRIBUTION * says.sum():
        encoder_weight, says[0] = 0.0, 0.0
        _, expert_weight, shift = fit_binary_ensemble(np.zeros_like(logits), scores, targets, weights)
    how = {"encoder_weight": float(encoder_weight > 0), "share": float(says[1] / says.sum())}
    model.add_expert(
        _shifted(fitted.model, shift), expert_weight / encoder_weight if encoder_weight else 1.0, **how
    )
    model.temperature = 1 / (encoder_weight or expert_weight)
    return _LabelSetRefitState(model, fitted.chosen, shift)


def _shifted(model: LinearModel, shift: NDArray[np.float32]) -> TextLinearBuffers:
    bias = model.machine.bias + shift
    return TextLinearBuffers.of(replace(model, machine=replace(model.machine, bias=bias)))
