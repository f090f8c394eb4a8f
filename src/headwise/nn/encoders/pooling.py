"""Readouts: from the states of a text's words to one vector for the text."""

from __future__ import annotations  # pooling lies under the encoders: it knows their result only as a type

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from headwise.core.errors import ConfigError

if TYPE_CHECKING:
    from headwise.nn.encoders.encoder import Encoded


def node(encoded: Encoded) -> Tensor:
    """The classification node's (relay's, root's) state."""
    if encoded.summary is None:
        raise ConfigError(
            "this readout needs a state of the whole text, but the encoder keeps none; switch its "
            "classification node on or choose the readout max, mean or mean,max"
        )
    return encoded.summary


NO_CLS = (
    "this readout needs the [CLS] state of a pretrained encoder, but words have vectors of their own; name "
    "an encoder (pretrained.name) or choose the readout attentive,max"
)


def _cls(encoded: Encoded) -> Tensor:
    if encoded.cls is None:
        raise ConfigError(NO_CLS)
    return encoded.cls


def max_pool(encoded: Encoded) -> Tensor:
    """Largest value of each feature over all nodes. The classification node is one of them; a relay or
    root is not, and without words the maximum is 0."""
    top = encoded.tokens.max()
    if encoded.summary is None or not encoded.summary_is_node:
        return top
    empty = (encoded.tokens.lengths == 0)[:, None]
    return torch.where(empty, encoded.summary, torch.maximum(top, encoded.summary))


def mean_pool(encoded: Encoded) -> Tensor:
    """Mean over the words; 0 for a text without words."""
    return encoded.tokens.mean()


def node_plus_max(encoded: Encoded) -> Tensor:
    """Sum of the classification node and the maximum over all nodes (MS-Transformer)."""
    return node(encoded) + max_pool(encoded)


def node_and_max(encoded: Encoded) -> Tensor:
    """Classification node and maximum over all nodes, side by side."""
    return torch.cat([node(encoded), max_pool(encoded)], dim=-1)


def mean_and_max(encoded: Encoded) -> Tensor:
    """Mean over the words and maximum over all nodes, side by side."""
    return torch.cat([mean_pool(encoded), max_pool(encoded)], dim=-1)


# name -> (function, output width as a multiple of the encoder's)
READOUTS: dict[str, tuple[Callable[[Encoded], Tensor], int]] = {
    "node+max": (node_plus_max, 1),
    "node,max": (node_and_max, 2),
    "mean,max": (mean_and_max, 2),
    "node": (node, 1),
    "max": (max_pool, 1),
    "mean": (mean_pool, 1),
}


class AttentivePooling(nn.Module):
    """Attentive pooling, separately for every feature (MS-SAN, Eq. 11; DiSAN's source2token).

    U = W_2 ReLU(W_1 x + b_1) + b_2; softmax of U over the words of the text for each feature; the sum of
    the words weighted with it. A text without words gives 0.
    """

    def __init__(self, width: int, hidden: int | None = None):
        super().__init__()
        hidden = hidden or width
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, encoded: Encoded) -> Tensor:
        """-> `[texts, width]`."""
        tokens = encoded.tokens
        weights = tokens.map(lambda x: self.down(torch.relu(self.up(x)))).softmax()
        return tokens.with_values(weights.values * tokens.values).sum()


class Readout(nn.Module):
    """A readout by name.

    Args:
        name: A key of `READOUTS`, `attentive`, `attentive,max` (MS-SAN), or `attentive,cls` (MS-SAN on a
            pretrained encoder, whose [CLS] state takes the place of the maximum).
        width: Features of the encoder's states.
        cls_width: Features of the [CLS] state, if they differ.

    Attributes:
        width: Features of the text vector.
    """

    def __init__(self, name: str, width: int, cls_width: int | None = None):
        super().__init__()
        names = (*READOUTS, "attentive", "attentive,max", "attentive,cls")
        if name not in names:
            raise ConfigError(f"unknown readout {name!r}; expected one of {'; '.join(names)}")
        self.name = name
        self.attentive = AttentivePooling(width) if name.startswith("attentive") else None
        extra_widths = {"attentive,max": width, "attentive,cls": width if cls_width is None else cls_width}
        self.width = width * READOUTS[name][1] if name in READOUTS else width + extra_widths.get(name, 0)

    def forward(self, encoded: Encoded) -> Tensor:
        """-> `[texts, self.width]`."""
        if self.attentive is None:
            return READOUTS[self.name][0](encoded)
        pooled = self.attentive(encoded)
        if self.name == "attentive":
            return pooled
        extra = _cls(encoded) if self.name == "attentive,cls" else max_pool(encoded)
        return torch.cat([pooled, extra], dim=-1)
