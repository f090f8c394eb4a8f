"""Training of multi-label classifiers: objective, thresholds, ensemble weights and calibration."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from headwise.data.items.examples import Example
from headwise.metrics.multi_label_scores import dev_scores
from headwise.metrics.operating_points import parse_operating_points
from headwise.nn.layers.output_layers import class_weights, multi_label_loss
from headwise.nn.networks.text_models import MultiLabelModel
from headwise.training.label_names import append_label_names, label_counts
from headwise.training.linear_probe import fit_linear_probe
from headwise.training.objectives.text_objective import TextObjective


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
