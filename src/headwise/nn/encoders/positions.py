"""Position embeddings, added to the word vectors.

The classification node: a learned row in front of every text (BERT's [CLS]).
"""

import math

import torch
from torch import Tensor, nn

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.encoder_configs import POSITIONS
from headwise.nn.ragged import Ragged


class Positions(nn.Module):
    """Adds an embedding of each row's place in its text.

    Args:
        kind: `none`, `sinusoidal` (Vaswani et al. 2017, 3.5; any length) or `learned`.
        width: Features of a row.
        max_positions: Rows of the learned table.
    """

    def __init__(self, kind: str, width: int, max_positions: int = 8192):
        super().__init__()
        if kind not in POSITIONS:
            raise ConfigError(f"unknown positions {kind!r}; known are {', '.join(POSITIONS)}")
        self.kind = kind
        self.table = nn.Embedding(max_positions, width) if kind == "learned" else None
        if self.table is not None:
            nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x: Ragged) -> Ragged:
        """Rows of `[width]` -> rows of `[width]`.

        Raises:
            HeadwiseError: A text is longer than the learned table.
        """
        if self.kind == "none":
            return x
        if self.table is None:
            table = sinusoids(x.layout.longest, x.values.shape[-1]).to(x.values)
            return x.with_values(x.values + table[x.layout.positions])
        if x.layout.longest > self.table.num_embeddings:
            raise HeadwiseError(
                f"a text has {x.layout.longest} words, but the learned positions end at "
                f"{self.table.num_embeddings}; train with a larger max_positions or with "
                "sinusoidal positions",
                code="HW301",
            )
        return x.with_values(x.values + self.table(x.layout.positions))


def sinusoids(length: int, width: int) -> Tensor:
    """`[length, width]`, float32: sines in the even features, cosines in the odd ones
    (Vaswani et al. 2017, 3.5)."""
    place = torch.arange(length, dtype=torch.float64, device="cpu")[:, None]
    even = torch.arange(0, width, 2, dtype=torch.float64, device="cpu")
    angle = place * torch.exp(-math.log(10000.0) * even / width)
    table = torch.zeros(length, width, dtype=torch.float64, device="cpu")
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()[:, : width // 2]
    return table.float()


class ClassificationNode(nn.Module):
    """A learned node that an encoder treats like any token and whose last state sums up the text."""

    def __init__(self, width: int):
        super().__init__()
        self.state = nn.Parameter(nn.init.normal_(torch.empty(width), std=0.02))

    def prepend(self, x: Ragged) -> Ragged:
        """The node in front of every text; a text without words becomes the node alone."""
        return x.prepend(self.state)

    def split(self, nodes: Ragged) -> Encoded:
        """Take the node's states apart from the tokens'."""
        summary, tokens = nodes.split_first()
        return Encoded(tokens, summary)
