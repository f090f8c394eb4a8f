"""Text pairs: what holds between two texts, from their vectors; and words that look at the other text's."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from headwise.attention.cross import cross_attention
from headwise.attention.heads import projections
from headwise.config import check_range
from headwise.encoders.base import Encoded
from headwise.layers.classify import Classifier, ClassifierConfig
from headwise.ragged import Layout, Ragged


@dataclass(frozen=True)
class PairConfig:
    """How two texts come together; the layers above are the classifier's or the regressor's."""

    features: Literal["concat-absolute", "product", "concat"] = "concat-absolute"
    """What the classifier reads of the vectors r1 and r2 of both texts: concat-absolute is r1, r2,
    |r1 - r2|, r1 - r2 (MS-Trans); product is r1, r2, r1 * r2, |r1 - r2| (MS-SAN); concat is r1, r2
    (BP-Transformer)."""
    interaction: Literal["none", "cross"] = "none"
    """none: each text is read by itself; cross: before the readout, the words of each text look at those of
    the other, so that a text has no vector without its partner (BP-Transformer)."""
    cross_layers: int = 1
    """Layers of such looks."""
    cross_heads: int = 6
    """Heads in each of them."""
    cross_head_size: int = 50
    """Features of such a head."""
    cross_feedforward: int = 600
    """Hidden features of the feed-forward layer after each look."""
    cross_dropout: float = 0.1
    """On what attention and feed-forward layer give and inside the latter, while training."""

    def __post_init__(self) -> None:
        check_range(
            self, "cross_layers", "cross_heads", "cross_head_size", "cross_feedforward", low=1, high=4096
        )
        check_range(self, "cross_dropout", low=0, high=1, open=True)


def concat_absolute(first: Tensor, second: Tensor) -> Tensor:
    """`r1, r2, |r1 - r2|, r1 - r2`, `[pairs, 4 width]` (MS-Trans, section 4.3; the absolute value of each
    feature, where the paper's bars could be read as a norm)."""
    difference = first - second
    return torch.cat([first, second, difference.abs(), difference], dim=-1)


def product(first: Tensor, second: Tensor) -> Tensor:
    """`p, h, p * h, |p - h|`, `[pairs, 4 width]` (MS-SAN, section 4.1)."""
    return torch.cat([first, second, first * second, (first - second).abs()], dim=-1)


def concat(first: Tensor, second: Tensor) -> Tensor:
    """`r1, r2`, `[pairs, 2 width]` (BP-Transformer, released code)."""
    return torch.cat([first, second], dim=-1)


FEATURES = {"concat-absolute": concat_absolute, "product": product, "concat": concat}


class PairHead(Classifier):
    """Two-layer perceptron on what two text vectors are to each other.

    Args:
        width: Features of a text vector.
        outputs: Labels, or 1 for a score.
        config: How the vectors come together.
        classifier: The perceptron's settings.
    """

    def __init__(self, width: int, outputs: int, config: PairConfig, classifier: ClassifierConfig):
        super().__init__((2 if config.features == "concat" else 4) * width, outputs, classifier)
        self.features = FEATURES[config.features]

    def forward(self, first: Tensor, second: Tensor) -> Tensor:  # type: ignore[override]
        """Vectors of the first and of the second texts, `[pairs, width]` -> `[pairs, outputs]`."""
        return super().forward(self.features(first, second))


class CrossInteraction(nn.Module):
    """Layers in which the words of each text attend to the words of the other.

    Every word sees all words of the other text, the same weights serve both directions, and both directions
    of a layer start from the states before it. (BP-Transformer has such looks within its own upper layers:
    its `pair_layers`.) These are layers of their own on top of any encoder, each as a block of the
    Transformer: `Z = LayerNorm(H + Att(H, other))`,
    `LayerNorm(Z + FFN(Z))`. A state of the whole text (node, relay, root) looks at the other text's words
    too. Where the other text has no words, attention adds 0.

    Args:
        width: Features of a word's state.
        config: See `PairConfig`.
    """

    def __init__(self, width: int, config: PairConfig):
        super().__init__()
        self.blocks = nn.ModuleList(CrossBlock(width, config) for _ in range(config.cross_layers))

    def forward(self, encoded: Encoded) -> Encoded:
        """`2 n` texts, the first texts of n pairs and then the second ones -> their states, each with the
        other text in view."""
        words, summary = encoded.tokens, encoded.summary
        pairs = len(words) // 2
        others = words.layout.select([*range(pairs, 2 * pairs), *range(pairs)])
        cut = sum(words.layout.sizes[:pairs])
        ones = Layout([1] * len(words), words.device)
        for block in self.blocks:
            swapped = Ragged(torch.cat([words.values[cut:], words.values[:cut]]), others)
            if summary is not None:
                summary = block(Ragged(summary, ones), swapped).values
            words = block(words, swapped)
        return replace(encoded, tokens=words, summary=summary)


class CrossBlock(nn.Module):
    """Attention to the other text, then a feed-forward layer, each added to its input and normed."""

    def __init__(self, width: int, config: PairConfig):
        super().__init__()
        inner = config.cross_heads * config.cross_head_size
        self.heads = config.cross_heads
        self.query, self.key, self.value, self.out = projections(width, inner, bias=False)
        self.norm1 = nn.LayerNorm(width)
        self.up = nn.Linear(width, config.cross_feedforward)
        self.down = nn.Linear(config.cross_feedforward, width)
        self.norm2 = nn.LayerNorm(width)
        self.dropout = nn.Dropout(config.cross_dropout)

    def forward(self, rows: Ragged, others: Ragged) -> Ragged:
        """Rows of texts, and the words of each one's partner, `[width]` both -> the rows' new states."""
        query, key, value = (
            projection(states).unflatten(-1, (self.heads, -1))
            for projection, states in (
                (self.query, rows.values),
                (self.key, others.values),
                (self.value, others.values),
            )
        )
        seen = cross_attention(query, key, value, rows.layout, others.layout)
        z = self.norm1(rows.values + self.dropout(self.out(seen.flatten(1))))
        return rows.with_values(self.norm2(z + self.dropout(self.down(self.dropout(relu(self.up(z)))))))
