"""Text classification: the classification head and its loss.

Regression: configuration and loss of a number for each text or pair.

Multi-label classification: the loss of independent binary decisions for each label.

Classification of bags of instances: the settings of the model (multiple-instance learning).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, binary_cross_entropy_with_logits, cross_entropy

from headwise.core.config import check_range
from headwise.core.errors import ConfigError
from headwise.metrics.operating_points import parse_operating_points
from headwise.nn.encoders.set_models import SetModelConfig
from headwise.nn.encoders.set_transformer import SetTransformerConfig


@dataclass(frozen=True)
class ClassifierConfig:
    """The classifier on top of the text vector, and its loss."""

    hidden: int = 300
    """Hidden features of the two-layer classifier."""
    dropout: float = 0.3
    """On the hidden layer, while training."""
    normalize: Literal["none", "batch", "layer"] = "none"
    """Normalise the text vector first: over the batch, or over its features."""
    label_smoothing: float = 0.0
    """Share of the target that is spread evenly over all labels."""
    class_weights: str = "none"
    """none; balanced (each label counts the same in the loss, however rare); or given, as name=weight
    pairs: spam=2.0,ham=1.0 (labels that are not named weigh 1)."""
    thresholds: str = "none"
    """none: a text gets its most probable label; f1: each label has a threshold of its own, chosen for the
    best macro F1 on dev, so that rare labels are not passed over; or a label and what is to be kept, on new
    texts, by what is found on dev: urgent:recall=0.95 (of its texts at least 95 % get it), spam:fpr=0.01
    (of others at most 1 %), spam:precision=0.98 (of what gets it at least 98 % are right). Of label sets
    several, with commas between them; the other labels have their usual thresholds."""

    def __post_init__(self) -> None:
        parse_operating_points(self.thresholds)
        check_range(self, "hidden", low=1)
        check_range(self, "dropout", "label_smoothing", low=0, high=1, open=True)


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that also trains on batches of one text, as long texts have: it normalises them
    with the running statistics, as in prediction, since one text equals the batch mean."""

    def forward(self, input: Tensor) -> Tensor:
        if len(input) > 1 or not self.training:
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
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, classes),
        )

    def forward(self, text: Tensor) -> Tensor:
        """`[texts, width]` -> logits `[texts, classes]`."""
        return self.layers(text)


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


@dataclass(frozen=True)
class RegressorConfig:
    """The regressor on top of the text vector."""

    hidden: int = 300
    """Hidden features of the two-layer regressor."""
    dropout: float = 0.3
    """On the hidden layer, while training."""
    normalize: Literal["none", "batch", "layer"] = "none"
    """Normalise the text vector first: over the batch, or over its features."""

    def __post_init__(self) -> None:
        check_range(self, "hidden", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)

    @property
    def perceptron(self) -> ClassifierConfig:
        """The configuration of the two-layer perceptron."""
        return ClassifierConfig(self.hidden, self.dropout, self.normalize)


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


@dataclass(frozen=True)
class BagConfig:
    """The model of bags, and its loss."""

    model: str = "sab+pma"
    """ENCODER+POOLING: rff (instances for themselves), sab (they see each other) or isab16 (through 16
    learned points: for bags of hundreds of instances), and pma (attention), mean, sum or max."""
    width: int = 64
    """Hidden features; the heads must divide it."""
    heads: int = 4
    """Heads in each block."""
    layers: int = 2
    """Blocks before the pooling, or pairs of linear layers with rff."""
    decoder_layers: int = 0
    """After the pooling: blocks with pma, linear layers otherwise."""
    norm: Literal["off", "post", "pre"] = "post"
    """Layer norms of the blocks (not of rff): off, after the residuals or before attention."""
    dropout: float = 0.2
    """Share of the features of each instance that is left out, while training."""
    label_smoothing: float = 0.0
    """Share of the target that is spread evenly over all labels."""
    class_weights: str = "none"
    """none, balanced, or name=weight pairs, as in the classifier of texts."""

    def __post_init__(self) -> None:
        check_range(self, "width", "heads", "layers", low=1)
        check_range(self, "decoder_layers", low=0)
        check_range(self, "dropout", "label_smoothing", low=0, high=1, open=True)

    def set_model(self, features: int, labels: int) -> SetModelConfig:
        """The model of sets with these numbers of features and outputs.

        Raises:
            ConfigError: The model is unknown.
        """
        blocks = SetTransformerConfig(
            width=self.width, heads=self.heads, layers=self.layers, norm=self.norm
        )
        return SetModelConfig.named(
            self.model, inputs=features, outputs=labels, decoder_layers=self.decoder_layers, blocks=blocks
        )
