"""Training a classifier of texts, or of pairs of texts: from labels to a calibrated model.

The linear model in the ensemble of a classifier: fitted on the training texts, with its weight fitted on
dev.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from headwise.data.items.batching import items_at
from headwise.metrics.classification_scores import (
    hard_labels,
    mean_loss,
    score_labels,
    weighted_rates,
)
from headwise.metrics.operating_points import (
    parse_operating_points,
)
from headwise.nn.layers.output_layers import class_weights, classification_loss
from headwise.nn.networks.bag_model import BagModel
from headwise.nn.networks.text_models import PairModel, TextClassifierModel
from headwise.training.label_names import append_label_names, label_counts
from headwise.training.linear_probe import fit_linear_probe
from headwise.training.objectives.text_objective import TextObjective

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
