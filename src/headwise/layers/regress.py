"""Regression: configuration and loss of a number for each text or pair."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from headwise.config import check_range
from headwise.layers.classify import ClassifierConfig


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
