"""Training a classifier of texts, or of pairs of texts: from labels to a calibrated model.

The linear model in the ensemble of a classifier: fitted on the training texts, with its weight fitted on
dev.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor

from headwise.data.items.batching import items_at
from headwise.linear.ensemble_weights import Ensemble, fit_ensemble
from headwise.linear.linear_fit import LinearFit, fit_linear
from headwise.linear.linear_model import FittedSettings
from headwise.metrics.calibration import cross_fitted_error, expected_calibration_error, fit_temperature
from headwise.metrics.classification_scores import (
    correctness,
    hard_labels,
    mean_loss,
    score_labels,
    weighted_rates,
)
from headwise.metrics.operating_points import (
    OPERATING_POINTS,
    choose_threshold,
    label_thresholds,
    log_ratio,
    parse_operating_points,
)
from headwise.metrics.selective_prediction import SELECTIVE_PREDICTION, RiskCoverageCurve
from headwise.metrics.thresholds import fit_label_thresholds
from headwise.nn.layers.output_layers import class_weights, classification_loss
from headwise.nn.networks.bag_model import BagModel
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.text_models import PairModel, TextClassifierModel
from headwise.training.cross_fitting import OutOfFold
from headwise.training.label_names import append_label_names, label_counts
from headwise.training.linear_probe import fit_linear_probe
from headwise.training.objectives.text_objective import TextObjective
from headwise.training.train_result import PostTrainingFit, memoized

AnyClassifier = TypeVar("AnyClassifier", TextClassifierModel, PairModel, BagModel)


class ClassificationObjective(TextObjective[AnyClassifier]):
    """The training loss of classifiers, and their dev scores (see `headwise.training.loop`).

    Args:
        model: The classifier.
        train: Training texts or pairs and their targets: label indices, or label probabilities where some
            labels are soft (see `headwise.metrics.classification_scores`).
        dev: Dev texts or pairs and their targets.
        weights: Weights of the training texts, `[texts]`, 1 on average; None where all are equal.
        dev_weights: Weights of the dev texts.
    """

    def __init__(
        self,
        model: AnyClassifier,
        train: tuple[Sequence[Any], np.ndarray],
        dev: tuple[Sequence[Any], np.ndarray],
        *,
        weights: np.ndarray | None = None,
        dev_weights: np.ndarray | None = None,
    ):
        super().__init__(model, train[0], dev[0])
        self.train_targets, self.dev_targets = train[1], dev[1]
        self.text_weights, self.dev_weights = weights, dev_weights
        settings = model.config.bags if isinstance(model, BagModel) else model.config.classifier
        counts = label_counts(self.train_targets, weights, len(model.labels)).tolist()
        self.label_weights = class_weights(settings.class_weights, model.labels, counts)
        self._smoothing = settings.label_smoothing
        if not isinstance(model, BagModel):
            parse_operating_points(
                model.config.classifier.thresholds, model.labels
            )  # raises for unknown labels early
        self.names = 0
        if isinstance(model, TextClassifierModel) and model.config.base.names:
            append_label_names(self)

    def loss(self, texts: Sequence[int]) -> Tensor:
        targets = self.to_device(self.train_targets[list(texts)])
        how = {"label_smoothing": self._smoothing, "weights": self.class_weights_on_device}
        losses = classification_loss(self.outputs(texts), targets, **how)
        return self.summed(losses, texts)

    def init_from_probe(self) -> None:
        """Initialise a classifier with static embeddings from a linear probe on their vectors; in a warm
        start, from a probe of what they add to the previous model."""
        model: Any = self.model
        texts = self.sampled_indices
        targets = self.train_targets[texts]
        weights = self.weights_of(texts)
        if (of_labels := self.class_weights) is not None:
            factors = of_labels[targets] if targets.ndim == 1 else targets @ of_labels
            weights = factors if weights is None else factors * weights
        items = items_at(self.train_items, texts)
        silent = not (model.probe.weight.any() or model.head.layers[-1].weight.any())
        offsets = None if silent else model.outputs_of(items)
        how = {"same": self.same(texts), "always": self.names, "center": model.reads_pairs}
        how |= {"weights": weights, "offsets": offsets}
        fitted = fit_linear_probe(model.base_vectors(items), targets, len(model.labels), **how)
        with torch.no_grad():
            for parameter, values in zip((model.probe.weight, model.probe.bias), fitted, strict=True):
                parameter += torch.from_numpy(values).to(parameter)

    def evaluate(self) -> Mapping[str, float]:
        logits = self.model.logits(self.dev_items)
        return dev_scores(logits, self.dev_targets, self.model.labels, self.dev_weights)


def dev_scores(
    logits: np.ndarray, targets: np.ndarray, labels: Sequence[str], weights: np.ndarray | None
) -> dict[str, float]:
    """Weighted dev scores of logits `[texts, labels]`; for soft labels, the loss is the cross-entropy with
    their probabilities."""
    predicted, true_labels = logits.argmax(axis=1), hard_labels(targets)
    if weights is None:
        scores = score_labels(predicted, true_labels, labels)
        accuracy, macro_f1 = scores.accuracy, scores.macro_f1
    else:
        accuracy, macro_f1 = weighted_rates(predicted, true_labels, len(labels), weights)
    return {"accuracy": accuracy, "macro_f1": macro_f1, "loss": mean_loss(logits, targets, weights)}


def fit_labels(objective: ClassificationObjective) -> PostTrainingFit:
    """Fit the linear model, its ensemble weight and the temperature of a trained classifier on dev."""
    model, targets, weights = objective.model, objective.dev_targets, objective.dev_weights
    logits = model.outputs_of(objective.dev_items)
    before = expected_calibration_error(model.probabilities(logits), targets, weights)
    chosen = fit_label_ensemble(objective, logits) if _wants_expert(model) else None
    if model.expert is None:
        model.temperature = fit_temperature(logits, targets, weights)
    logits = model.logits(objective.dev_items)
    after = cross_fitted_error(logits, targets, weights=weights)
    logits = logits / model.temperature
    dev = held_out_scores(logits, targets, model.labels, weights) | set_thresholds(
        model, logits, targets, weights
    )
    return PostTrainingFit(dev, (before, after), (model, chosen))


def _wants_expert(model: Any) -> bool:
    """Whether the classifier is an ensemble with a linear model; only text models can be."""
    return not isinstance(model, BagModel) and model.config.expert.kind == "linear"


def set_thresholds(
    model: Any, logits: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
) -> dict[str, Any]:
    """Set the decision thresholds of a classifier, if its configuration requests some, by calibrated logits
    of held-out items; returns the operating points to report."""
    if isinstance(model, BagModel) or model.config.classifier.thresholds == "none":
        return {}
    chances, true_labels = softmax(logits.astype(np.float64), axis=1), hard_labels(targets)
    if model.config.classifier.thresholds == "f1":
        model.thresholds = fit_label_thresholds(chances, true_labels, weights=weights)
        return {}
    (point,) = parse_operating_points(model.config.classifier.thresholds)
    label = model.labels.index(point.label)
    promised = choose_threshold(
        point, log_ratio(chances, label), true_labels == label, chances[:, label], weights
    )
    model.thresholds = label_thresholds(promised.threshold, label, len(model.labels))
    return {OPERATING_POINTS: [promised.to_json()]}


def refit_labels(objective: ClassificationObjective, finished: PostTrainingFit) -> None:
    """Carry the ensemble weights, temperature and thresholds over to a classifier refitted on all texts,
    and fit its linear model."""
    first_model, chosen = finished.refit_state
    objective.model.temperature, objective.model.thresholds = (
        first_model.temperature,
        first_model.thresholds,
    )
    refit_label_ensemble(objective, first_model, chosen)


def fit_labels_out_of_fold(objective: ClassificationObjective, crossed: OutOfFold) -> PostTrainingFit:
    """Fit the linear model, its ensemble weight and the temperature of a classifier trained on all texts,
    by out-of-fold outputs."""
    model = objective.model
    outputs, targets = crossed.outputs, objective.train_targets[crossed.held]
    weights = objective.weights_of(crossed.held)
    before = expected_calibration_error(model.probabilities(outputs), targets, weights)
    logits = fit_label_ensemble_out_of_fold(objective, crossed) if _wants_expert(model) else None
    if logits is None:
        model.temperature = fit_temperature(outputs, targets, weights)
        logits = outputs / model.temperature
    after = cross_fitted_error(logits, targets, weights=weights)
    dev = held_out_scores(logits, targets, model.labels, weights) | set_thresholds(
        model, logits, targets, weights
    )
    return PostTrainingFit(dev, (before, after))


def held_out_scores(
    logits: np.ndarray, targets: np.ndarray, labels: Sequence[str], weights: np.ndarray | None
) -> dict[str, Any]:
    """Scores of calibrated logits on held-out texts, and the accuracy at each confidence (selective
    prediction)."""
    sure = softmax(logits.astype(np.float64), axis=1).max(axis=1)
    right = correctness(logits.argmax(axis=1), targets)
    sureness = RiskCoverageCurve.of(sure, right, weights=weights).to_json()
    return {**dev_scores(logits, targets, labels, weights), SELECTIVE_PREDICTION: sureness}


def fit_label_ensemble(objective: "ClassificationObjective", logits: np.ndarray) -> FittedSettings | None:
    """Fit the linear model on the training texts (or pairs), and the ensemble weights of it and the
    encoder, and the temperature, on dev. A member is dropped where the other does as well without it.

    Args:
        objective: The objective with the texts and the trained model.
        logits: Dev logits of the encoder.

    Returns:
        The chosen settings of the linear model, for `refit_label_ensemble`.
    """
    model, targets = objective.model, objective.dev_targets
    expert, chosen = _text_expert(objective)
    if expert is None or not len(targets):
        return chosen
    model.add_expert(expert, 0.0)
    members = [logits, model.expert_scores(objective.dev_items)]
    knew = model.config.base.name or model.config.pretrained.name
    mixture = fit_ensemble(members, targets, texts=objective.dev_weights, raw=None if knew else 0)
    _set_ensemble_weights(model, expert, mixture)
    return chosen


def fit_label_ensemble_out_of_fold(
    objective: "ClassificationObjective", crossed: OutOfFold
) -> np.ndarray | None:
    """Fit the linear model on all texts, and the ensemble weights and the temperature on out-of-fold
    outputs.

    Returns:
        The ensemble logits of these texts; None where the linear model is dropped.
    """
    held = crossed.held
    fitted = fit_linear_member(objective, every=True)
    expert = TextLinearBuffers.of(fitted.model)
    if not expert.features:
        return None
    members = [crossed.outputs, fitted.oof_scores[held]]
    mixture = fit_ensemble(members, objective.train_targets[held], texts=objective.weights_of(held))
    _set_ensemble_weights(objective.model, expert, mixture)
    return mixture.mix(members) if mixture.weights[1] else None


def _set_ensemble_weights(model: Any, expert: TextLinearBuffers, mixture: Ensemble) -> None:
    """Set the ensemble weights and the temperature of a model."""
    encoder, expert_weight = mixture.weights
    if expert_weight == 0:
        model.remove_linear_model()
        return
    model.add_expert(
        expert,
        expert_weight / encoder if encoder else 1.0,
        encoder_weight=float(encoder > 0),
        share=mixture.shares[1],
    )
    model.temperature = 1 / (encoder or expert_weight)


def refit_label_ensemble(
    objective: "ClassificationObjective", first_model: Any, chosen: FittedSettings | None
) -> None:
    """Fit the linear model of a refitted model on more texts, with the ensemble weights of the first model.

    Args:
        objective: The objective with the texts and the model.
        first_model: The model whose ensemble weights are taken over.
        chosen: Settings and calibration factor of its linear model.
    """
    if first_model.expert is None or chosen is None:
        return
    expert, _ = _text_expert(objective, chosen)
    if expert is not None:
        weights = {"encoder_weight": first_model.encoder_weight, "share": first_model.expert_share}
        objective.model.add_expert(expert, first_model.expert_weight, **weights)


def _text_expert(
    objective: "ClassificationObjective", chosen: FittedSettings | None = None
) -> tuple[TextLinearBuffers | None, FittedSettings]:
    """Fit a linear model of words, character n-grams and vectors, and return it with its settings; None for
    the model where the texts have no words."""
    fitted = fit_linear_member(objective, chosen)
    expert = TextLinearBuffers.of(fitted.model)
    return expert if expert.features else None, fitted.chosen


def fit_linear_member(
    objective: TextObjective[Any],
    chosen: FittedSettings | None = None,
    *,
    every: bool = False,
) -> LinearFit:
    """Fit a linear model to the training texts (a sample of very many pairs, unless `every` is set):
    labels, label sets or numbers, with given settings or chosen ones."""
    model = objective.model
    places = np.arange(len(objective.train_items)) if every else objective.sampled_indices
    texts, vectors, numbers = model.expert_reads(items_at(objective.train_items, places))
    return memoized(
        fit_linear,
        texts,
        objective.train_targets[places],
        model.outputs,
        sample_weight=objective.weights_of(places),
        class_weight=objective.class_weights,
        tokenizer=model.config.words.tokenizer,
        max_features=model.config.expert.max_features,
        dense=vectors,
        numbers=numbers,
        pairs=model.reads_pairs,
        always=objective.names,
        settings=chosen and chosen.settings,
        loudness=chosen and chosen.loudness,
        previous=model.previous_expert,
    )
