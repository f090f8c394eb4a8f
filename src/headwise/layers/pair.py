"""Text pairs: combination of two text vectors, and the head on top."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from headwise.config import check_range
from headwise.layers.classify import Classifier, ClassifierConfig


@dataclass(frozen=True)
class PairConfig:
    """How two texts come together; the layers above are the classifier's or the regressor's."""

    features: Literal["concat-absolute", "product", "concat"] = "concat-absolute"
    """What the classifier reads of the vectors r1 and r2 of both texts: concat-absolute is r1, r2,
    |r1 - r2|, r1 - r2 (MS-Trans); product is r1, r2, r1 * r2, |r1 - r2| (MS-SAN); concat is r1, r2
    (BP-Transformer)."""
    interaction: Literal["none", "cross", "match"] = "none"
    """none: each text is read by itself; before the readout, the words of each text look at those of the
    other, so that a text has no vector without its partner: cross: in blocks of the Transformer
    (BP-Transformer); match: each at those that are like it, with which it is then compared."""
    cross_layers: int = 1
    """Layers of such looks."""
    cross_heads: int = 6
    """Heads of cross in each of them."""
    cross_head_size: int = 50
    """Features of such a head."""
    cross_feedforward: int = 600
    """Hidden features of cross's feed-forward layer after each look."""
    cross_dropout: float = 0.1
    """Of cross: on what attention and feed-forward layer give and inside the latter; of match: on what is
    compared; while training."""

    def __post_init__(self) -> None:
        check_range(
            self, "cross_layers", "cross_heads", "cross_head_size", "cross_feedforward", low=1, high=4096
        )
        check_range(self, "cross_dropout", low=0, high=1, open=True)


def concat_absolute(first: Tensor, second: Tensor) -> Tensor:
    """`r1, r2, |r1 - r2|, r1 - r2`, `[pairs, 4 width]` (MS-Trans, on natural language inference; the
    absolute value of each feature, where the paper's bars could be read as a norm)."""
    difference = first - second
    return torch.cat([first, second, difference.abs(), difference], dim=-1)


def product(first: Tensor, second: Tensor) -> Tensor:
    """`p, h, p * h, |p - h|`, `[pairs, 4 width]` (MS-SAN, its experiment setting)."""
    return torch.cat([first, second, first * second, (first - second).abs()], dim=-1)


def concat(first: Tensor, second: Tensor) -> Tensor:
    """`r1, r2`, `[pairs, 2 width]` (BP-Transformer, released code)."""
    return torch.cat([first, second], dim=-1)


FEATURES = {"concat-absolute": concat_absolute, "product": product, "concat": concat}


class PairHead(Classifier):
    """Two-layer perceptron on the combination of two text vectors.

    Args:
        width: Features of a text vector.
        outputs: Number of labels, or 1 for a score.
        config: How the vectors are combined.
        classifier: Configuration of the perceptron.
    """

    def __init__(self, width: int, outputs: int, config: PairConfig, classifier: ClassifierConfig):
        super().__init__((2 if config.features == "concat" else 4) * width, outputs, classifier)
        self.features = FEATURES[config.features]

    def forward(self, first: Tensor, second: Tensor) -> Tensor:  # type: ignore[override]
        """Vectors of the first and of the second texts, `[pairs, width]` -> `[pairs, outputs]`."""
        return super().forward(self.features(first, second))
