"""The layers of models of text pairs: cross-attention before the readout, and the head after it.

`CrossAttentionLayers` let the words of each text attend to those of the other. `PairHead` combines the two
text vectors (`concat`, `concat_absolute`, `product`) and classifies the result.
"""

from abc import abstractmethod
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from headwise.nn.attention.cross import cross_attention
from headwise.nn.attention.self_attention import projections
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.head_weights import RecordedAttention, cross_text_attention
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.layer_configs import ClassifierConfig, PairConfig
from headwise.nn.task_layers.output_layers import Classifier


def concat_absolute(first: Tensor, second: Tensor) -> Tensor:
    """`r1, r2, |r1 - r2|, r1 - r2`, `[pairs, 4 width]` (MS-Transformer, on natural language inference; the
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


class CrossAttentionLayers(nn.Module):
    """Layers in which the words of each text attend to the words of the other.

    Every word attends to all words of the other text. Both directions share weights, and both start from
    the states before the layer. (BP-Transformer can do this within its upper layers, see `pair_layers`.)
    These are additional layers on top of any encoder. A summary of the text (node, relay, root) attends to
    the words of the other text too. If that has no words, attention gives 0.

    Args:
        width: Features of a word's state.
        config: The configuration, with `interaction` `cross` or `match`.
    """

    def __init__(self, width: int, config: PairConfig):
        super().__init__()
        block = SoftAlignmentBlock if config.interaction == "match" else TransformerCrossBlock
        self.blocks = nn.ModuleList(block(width, config) for _ in range(config.cross_layers))

    def forward(self, encoded: Encoded) -> Encoded:
        """States of `2 n` texts, the first texts of n pairs, then the second texts -> new states."""
        words, summary = encoded.tokens, encoded.summary
        pairs = len(words) // 2
        partner_layout = words.layout.select([*range(pairs, 2 * pairs), *range(pairs)])
        cut = sum(words.layout.sizes[:pairs])
        ones = Layout([1] * len(words), words.device)
        for block in self.blocks:
            swapped = Ragged(torch.cat([words.values[cut:], words.values[:cut]]), partner_layout)
            if summary is not None:
                summary = block(Ragged(summary, ones), swapped, of="node").values
            words = block(words, swapped)
        return replace(encoded, tokens=words, summary=summary)


class CrossAttentionBlock(nn.Module):
    """Base class of cross-attention blocks: rows of a text attend to the words of its partner."""

    @abstractmethod
    def projected(self, rows: Ragged, partners: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of the rows, keys and values of the partners, each `[rows, heads, size]`."""

    @abstractmethod
    def joined(self, rows: Tensor, seen: Tensor) -> Tensor:
        """New states of rows, `[rows, width]`, from the outputs of their heads, `[rows, heads * size]`."""

    def forward(self, rows: Ragged, partners: Ragged, of: str = "word") -> Ragged:
        """Rows of texts, and the words of their partners, both `[width]` -> new states of the rows. `of` is
        the kind of the rows in recorded weights (`headwise.nn.encoders.head_weights`)."""
        query, key, value = self.projected(rows, partners)
        seen = cross_attention(query, key, value, rows.layout, partners.layout)
        return rows.with_values(self.joined(rows.values, seen.flatten(1)))

    def attention_records(
        self, rows: Ragged, partners: Ragged, of: str = "word", **_: object
    ) -> tuple[list[RecordedAttention], Tensor]:
        """Attention weights, and the expected outputs (see
        `headwise.nn.encoders.head_weights.record_attention`)."""
        records, seen = cross_text_attention(
            *self.projected(rows, partners), rows.layout, partners.layout, of
        )
        return records, self.joined(rows.values, seen)


class TransformerCrossBlock(CrossAttentionBlock):
    """A Transformer block with cross-attention to the other text: `Z = LayerNorm(H + Att(H, other))`,
    `LayerNorm(Z + FFN(Z))`."""

    def __init__(self, width: int, config: PairConfig):
        super().__init__()
        inner = config.cross_heads * config.cross_head_size
        self.heads = config.cross_heads
        self.query, self.key, self.value, self.out = projections(width, inner, bias=False)
        self.norm1 = nn.LayerNorm(width)
        self.up = nn.Linear(width, config.cross_feedforward)
        self.down = nn.Linear(config.cross_feedforward, width)
        self.norm2 = nn.LayerNorm(width)
        self.dropout = Dropout(config.cross_dropout)

    def projected(self, rows: Ragged, partners: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.query(rows.values), self.key(partners.values), self.value(partners.values)
        split = (self.heads, -1)
        return query.unflatten(-1, split), key.unflatten(-1, split), value.unflatten(-1, split)

    def joined(self, rows: Tensor, seen: Tensor) -> Tensor:
        z = self.norm1(rows + self.dropout(self.out(seen)))
        return self.norm2(z + self.dropout(self.down(self.dropout(relu(self.up(z))))))


class SoftAlignmentBlock(CrossAttentionBlock):
    """Soft alignment: each word is compared with similar words of the other text (Parikh et al., EMNLP
    2016; Chen et al., ACL 2017).

    With `E = H W` of both texts: `S = softmax(E E_other^T / sqrt(width)) H_other`, and the new states are
    `LayerNorm(relu(V [H, S, H * S, |H - S|] + b))`. `W` is initialised as the identity, so that words
    attend to similar words from the first step; a head with separate queries and keys does not learn that
    from few pairs.
    """

    def __init__(self, width: int, config: PairConfig):
        super().__init__()
        self.look = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.look.weight)
        self.compare = nn.Linear(4 * width, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(config.cross_dropout)

    def projected(self, rows: Ragged, partners: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        return (
            self.look(rows.values)[:, None],
            self.look(partners.values)[:, None],
            partners.values[:, None],
        )

    def joined(self, rows: Tensor, seen: Tensor) -> Tensor:
        return self.norm(relu(self.compare(self.dropout(product(rows, seen)))))
