"""Pairs of texts whose words look at those of the other text before each is read out."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from headwise.attention.cross import cross_attention
from headwise.attention.heads import projections
from headwise.encoders.base import Encoded
from headwise.encoders.weights import Look, on_other_text
from headwise.layers.pair import PairConfig, product
from headwise.ragged import Layout, Ragged


class Interaction(nn.Module):
    """Layers in which the words of each text attend to the words of the other.

    Every word sees all words of the other text, the same weights serve both directions, and both directions
    of a layer start from the states before it. (BP-Transformer has such looks within its own upper layers:
    its `pair_layers`.) These are layers of their own on top of any encoder. A state of the whole text
    (node, relay, root) looks at the other text's words too. Where that has none, attention gives 0.

    Args:
        width: Features of a word's state.
        config: Its `interaction` is `cross` or `match`.
    """

    def __init__(self, width: int, config: PairConfig):
        super().__init__()
        block = MatchBlock if config.interaction == "match" else CrossBlock
        self.blocks = nn.ModuleList(block(width, config) for _ in range(config.cross_layers))

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
                summary = block(Ragged(summary, ones), swapped, of="node").values
            words = block(words, swapped)
        return replace(encoded, tokens=words, summary=summary)


class Block(nn.Module):
    """Rows of texts look at the words of each one's partner: what all blocks have."""

    @abstractmethod
    def projected(self, rows: Ragged, others: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of the rows, keys and values of the others, `[rows, heads, size]` each."""

    @abstractmethod
    def joined(self, rows: Tensor, seen: Tensor) -> Tensor:
        """The new states of rows, `[rows, width]`, from what their heads saw, `[rows, heads * size]`."""

    def forward(self, rows: Ragged, others: Ragged, of: str = "word") -> Ragged:
        """Rows of texts, and the words of each one's partner, `[width]` both -> the rows' new states.
        `of` says what the rows are to those who watch (`headwise.encoders.weights`)."""
        query, key, value = self.projected(rows, others)
        seen = cross_attention(query, key, value, rows.layout, others.layout)
        return rows.with_values(self.joined(rows.values, seen.flatten(1)))

    def looks(self, rows: Ragged, others: Ragged, of: str = "word", **_: Any) -> tuple[list[Look], Tensor]:
        """What the rows look at, and what they should become (see `headwise.encoders.weights.record`)."""
        looks, seen = on_other_text(*self.projected(rows, others), rows.layout, others.layout, of)
        return looks, self.joined(rows.values, seen)


class CrossBlock(Block):
    """A block of the Transformer that looks at the other text: `Z = LayerNorm(H + Att(H, other))`,
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
        self.dropout = nn.Dropout(config.cross_dropout)

    def projected(self, rows: Ragged, others: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.query(rows.values), self.key(others.values), self.value(others.values)
        split = (self.heads, -1)
        return query.unflatten(-1, split), key.unflatten(-1, split), value.unflatten(-1, split)

    def joined(self, rows: Tensor, seen: Tensor) -> Tensor:
        z = self.norm1(rows + self.dropout(self.out(seen)))
        return self.norm2(z + self.dropout(self.down(self.dropout(relu(self.up(z))))))


class MatchBlock(Block):
    """Each word is compared with what it looks at: those words of the other text that are like it (the soft
    alignment of Parikh et al., EMNLP 2016, and Chen et al., ACL 2017).

    With `E = H W` of both texts: `S = softmax(E E_other^T / sqrt(width)) H_other`, and the new states are
    `LayerNorm(relu(V [H, S, H * S, |H - S|] + b))`. `W` begins as the identity, so that from the first step
    words look at what is like them; few pairs do not teach a head with queries and keys of its own that.
    """

    def __init__(self, width: int, config: PairConfig):
        super().__init__()
        self.look = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.look.weight)
        self.compare = nn.Linear(4 * width, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(config.cross_dropout)

    def projected(self, rows: Ragged, others: Ragged) -> tuple[Tensor, Tensor, Tensor]:
        return self.look(rows.values)[:, None], self.look(others.values)[:, None], others.values[:, None]

    def joined(self, rows: Tensor, seen: Tensor) -> Tensor:
        return self.norm(relu(self.compare(self.dropout(product(rows, seen)))))
