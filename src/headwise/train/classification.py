"""Training a classifier of texts, or of pairs of texts: from labels to a calibrated model."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor

from headwise.data.chunks import items_at
from headwise.layers.classify import class_weights, classification_loss
from headwise.models.bag_model import BagModel
from headwise.models.classifier import Model
from headwise.models.pair_model import PairModel
from headwise.scores.calibrate import cross_fitted_error, expected_calibration_error, fit_temperature
from headwise.scores.metrics import mean_loss, score, weighted_rates
from headwise.scores.operating_points import (
    OPERATING_POINTS,
    ahead,
    decided_by,
    operating_points,
    promise,
)
from headwise.scores.sureness import SURENESS, Sureness
from headwise.scores.targets import likeliest, right_of
from headwise.scores.thresholds import fit_label_thresholds
from headwise.train.crossing import Crossed
from headwise.train.fitted import Finished
from headwise.train.label_expert import add_expert, add_expert_again, add_expert_crossed
from headwise.train.label_names import label_counts, learn_names
from headwise.train.probe import fit_probe
from headwise.train.reading import ReaderObjective

AnyClassifier = TypeVar("AnyClassifier", Model, PairModel, BagModel)


class ClassificationObjective(ReaderObjective[AnyClassifier]):
    """The training loss of classifiers, and their dev scores (see `headwise.train.objective`).

    Args:
        model: The classifier.
        train: Training texts or pairs and their targets: label indices, or label probabilities where some
            labels are soft (see `headwise.scores.targets`).
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
            operating_points(
                model.config.classifier.thresholds, model.labels
            )  # raises for unknown labels early
        self.names = 0
        if isinstance(model, Model) and model.config.base.names:
            learn_names(self)

    def loss(self, texts: Sequence[int]) -> Tensor:
        targets = self.there(self.train_targets[list(texts)])
        how = {"label_smoothing": self._smoothing, "weights": self.weights_there}
        losses = classification_loss(self.outputs(texts), targets, **how)
        return self.summed(losses, texts)

    def begin_with_probe(self) -> None:
        """Initialise a classifier with static embeddings from a linear probe on their vectors; in a warm
        start, from a probe of what they add to the previous model."""
        model: Any = self.model
        texts = self.sampled
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
        fitted = fit_probe(model.base_vectors(items), targets, len(model.labels), **how)
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
    predicted, true_labels = logits.argmax(axis=1), likeliest(targets)
    if weights is None:
        scores = score(predicted, true_labels, labels)
        accuracy, macro_f1 = scores.accuracy, scores.macro_f1
    else:
        accuracy, macro_f1 = weighted_rates(predicted, true_labels, len(labels), weights)
    return {"accuracy": accuracy, "macro_f1": macro_f1, "loss": mean_loss(logits, targets, weights)}


def finish_labels(objective: ClassificationObjective) -> Finished:
    """Fit the linear model, its ensemble weight and the temperature of a trained classifier on dev."""
    model, targets, weights = objective.model, objective.dev_targets, objective.dev_weights
    logits = model.outputs_of(objective.dev_items)
    before = expected_calibration_error(model.probabilities(logits), targets, weights)
    chosen = add_expert(objective, logits) if _wants_expert(model) else None
    if model.expert is None:
        model.temperature = fit_temperature(logits, targets, weights)
    logits = model.logits(objective.dev_items)
    after = cross_fitted_error(logits, targets, weights=weights)
    logits = logits / model.temperature
    dev = held_out_scores(logits, targets, model.labels, weights) | set_thresholds(
        model, logits, targets, weights
    )
    return Finished(dev, (before, after), (model, chosen))


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
    chances, true_labels = softmax(logits.astype(np.float64), axis=1), likeliest(targets)
    if model.config.classifier.thresholds == "f1":
        model.thresholds = fit_label_thresholds(chances, true_labels, weights=weights)
        return {}
    (point,) = operating_points(model.config.classifier.thresholds)
    label = model.labels.index(point.label)
    promised = promise(point, ahead(chances, label), true_labels == label, chances[:, label], weights)
    model.thresholds = decided_by(promised.threshold, label, len(model.labels))
    return {OPERATING_POINTS: [promised.to_json()]}


def finish_labels_again(objective: ClassificationObjective, finished: Finished) -> None:
    """Carry the ensemble weights, temperature and thresholds over to a classifier refitted on all texts,
    and fit its linear model."""
    first_model, chosen = finished.refit_state
    objective.model.temperature, objective.model.thresholds = (
        first_model.temperature,
        first_model.thresholds,
    )
    add_expert_again(objective, first_model, chosen)


def finish_labels_crossed(objective: ClassificationObjective, crossed: Crossed) -> Finished:
    """Fit the linear model, its ensemble weight and the temperature of a classifier trained on all texts,
    by out-of-fold outputs."""
    model = objective.model
    outputs, targets = crossed.outputs, objective.train_targets[crossed.held]
    weights = objective.weights_of(crossed.held)
    before = expected_calibration_error(model.probabilities(outputs), targets, weights)
    logits = add_expert_crossed(objective, crossed) if _wants_expert(model) else None
    if logits is None:
        model.temperature = fit_temperature(outputs, targets, weights)
        logits = outputs / model.temperature
    after = cross_fitted_error(logits, targets, weights=weights)
    dev = held_out_scores(logits, targets, model.labels, weights) | set_thresholds(
        model, logits, targets, weights
    )
    return Finished(dev, (before, after))


def held_out_scores(
    logits: np.ndarray, targets: np.ndarray, labels: Sequence[str], weights: np.ndarray | None
) -> dict[str, Any]:
    """Scores of calibrated logits on held-out texts, and the accuracy at each confidence (selective
    prediction)."""
    sure = softmax(logits.astype(np.float64), axis=1).max(axis=1)
    right = right_of(logits.argmax(axis=1), targets)
    sureness = Sureness.of(sure, right, weights=weights).to_json()
    return {**dev_scores(logits, targets, labels, weights), SURENESS: sureness}
