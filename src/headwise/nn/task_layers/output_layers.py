"""The classification head, and the losses of labels, label sets and numbers.

A loss has one value for each text, `[texts]`; the objectives in `headwise.training.text_objectives` weight
and sum them. `class_weights` gives the weights of the labels in the classification loss.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, binary_cross_entropy_with_logits, cross_entropy

from headwise.core.errors import ConfigError
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.fused import is_watched, perceptron
from headwise.nn.task_layers.layer_configs import ClassifierConfig


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that also trains on batches of one text, as long texts have: it normalises them
    with the running statistics, as in prediction, since one text equals the batch mean."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training or len(input) > 1:  # in this order: the exporter takes a length for a constant
            return super().forward(input)
        seen = self.running_mean, self.running_var
        return batch_norm(input, *seen, self.weight, self.bias, eps=self.eps)


class Classifier(nn.Module):
    """Two-layer perceptron from a text vector to a logit for each label.

    Args:
        width: Features of the text vector.
        classes: Number of labels.
        config: See `ClassifierConfig`.
    """

    def __init__(self, width: int, classes: int, config: ClassifierConfig):
        super().__init__()
        norms = {"none": nn.Identity, "batch": BatchNorm, "layer": nn.LayerNorm}
        self.layers = nn.Sequential(
            norms[config.normalize](width),
            nn.Linear(width, config.hidden),
            nn.ReLU(),
            Dropout(config.dropout),
            nn.Linear(config.hidden, classes),
        )

    def forward(self, text: Tensor) -> Tensor:
        """`[texts, width]` -> logits `[texts, classes]`."""
        layers: Any = self.layers
        norm, up, _, dropout, down = layers
        plain = type(up) is type(down) is nn.Linear and type(dropout) is Dropout and dropout.p < 1
        if not plain or text.dim() != 2 or is_watched(self.layers, *self.layers):
            return self.layers(text)
        return perceptron(norm(text), up, dropout, down)


def classification_loss(
    logits: Tensor, targets: Tensor, *, label_smoothing: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Cross-entropy of each text, `[texts]`, times the weight of its label (of probabilities their mean).

    A weight of w has the effect of w times as many texts with this label.

    Args:
        logits: `[texts, classes]`.
        targets: `[texts]`, int64, or the probabilities of labels, `[texts, classes]`.
        label_smoothing: See `ClassifierConfig`.
        weights: `[classes]`, or None for all 1.
    """
    losses = cross_entropy(logits, targets, label_smoothing=label_smoothing, reduction="none")
    if weights is None:
        return losses
    return losses * (weights[targets] if targets.dim() == 1 else targets @ weights)


def class_weights(setting: str, labels: Sequence[str], counts: Sequence[float]) -> Tensor | None:
    """The weights that `ClassifierConfig.class_weights` asks for.

    Args:
        setting: `none`, `balanced` or `name=weight,...`.
        labels: Names of the labels.
        counts: Training texts of each.

    Returns:
        `[classes]`, scaled so that the weights of all training texts average 1; None for `none`.

    Raises:
        ConfigError: The setting cannot be read, names an unknown label, or has a weight that is not
            positive.
    """
    if setting == "none":
        return None
    if setting == "balanced":
        weights = [1.0 / max(count, 1) for count in counts]
    else:
        weight_of = _parse_weights(setting, labels)
        weights = [weight_of.get(label, 1.0) for label in labels]
    mean = sum(w * n for w, n in zip(weights, counts, strict=True)) / max(sum(counts), 1)
    return torch.tensor([w / mean for w in weights], dtype=torch.float32)


def _parse_weights(setting: str, labels: Sequence[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for pair in setting.split(","):
        name, equals, number = pair.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = float("nan")
        if not equals or not 0 < weight < float("inf"):
            raise ConfigError(
                f"cannot read the class weight {pair!r}; expected none, balanced or pairs such as "
                "spam=2.0,ham=1.0 with numbers above 0"
            )
        if name.strip() not in labels:
            raise ConfigError(
                f"class weight for unknown label {name.strip()!r}; labels are {', '.join(labels)}"
            )
        weights[name.strip()] = weight
    return weights


def squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """Squared error of each text, `[texts]`.

    Args:
        outputs: `[texts, 1]`.
        targets: `[texts]`, standardised.
    """
    return (outputs.float()[:, 0] - targets).square()


def multi_label_loss(
    logits: Tensor, targets: Tensor, *, label_smoothing: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Binary cross-entropy of each text, the mean over its labels, `[texts]`.

    Args:
        logits: `[texts, labels]`.
        targets: `[texts, labels]`, 0 or 1, float.
        label_smoothing: Share of each target that is spread evenly over 0 and 1.
        weights: `[labels]`; a weight of w has the effect of w times as many texts with this label.
    """
    targets = targets * (1 - label_smoothing) + label_smoothing / 2
    losses = binary_cross_entropy_with_logits(logits, targets, pos_weight=weights, reduction="none")
    return losses.mean(1)
