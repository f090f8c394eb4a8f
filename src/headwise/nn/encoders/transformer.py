"""Transformer encoder (Vaswani et al. 2017), the baseline of the papers.

    Z_l = LayerNorm(H_l + MSA(H_l))                                  (MS-Trans, Eq. 4)
    H_{l+1} = LayerNorm(Z_l + FFN(Z_l))                              (MS-Trans, Eq. 5)

Every head sees the whole text (unless it is given another prior), so the order of the words comes from a
position embedding. With the same weights it gives what `torch.nn.TransformerEncoderLayer` gives (a test
copies them).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn, relu

from headwise.core.config import check_choice, check_range
from headwise.nn.attention import SelfAttention
from headwise.nn.attention.dispatch import IMPLEMENTATIONS
from headwise.nn.encoders.encoder import RECENCY_PRIORS, Encoded
from headwise.nn.encoders.positions import POSITIONS, ClassificationNode, Positions
from headwise.nn.priors import Everything, Prior, parse_layers
from headwise.nn.priors.head_lists import check_spelling, without_heads
from headwise.nn.ragged import Ragged, RaggedModule


@dataclass(frozen=True)
class TransformerConfig:
    """Settings of the Transformer."""

    width: int = 300
    """Features of a hidden state."""
    layers: int = 3
    """Number of blocks."""
    heads: int = 10
    """Heads in each block; heads x head size need not equal the width."""
    head_size: int = 30
    """Features of a head."""
    feedforward: int = 1200
    """Hidden features of the feed-forward layer."""
    classification_node: bool = True
    """Put a learned node in front of every text."""
    priors: tuple[str, ...] = ()
    """Priors of the heads in place of the encoder's own, say "window(3)*2" "forward + word-distance(1)";
    fewer than the heads repeat in turn, a vertical bar separates layers."""
    dropped: tuple[str, ...] = ()
    """Heads that headwise heads --prune has removed, as layer.head, both from 1; not to be set."""
    positions: str = "sinusoidal"
    """Position embedding: none, sinusoidal or learned."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.1
    """On what each sub-layer adds and inside the feed-forward layer, while training."""
    bias: bool = True
    """Whether the attention's projections have biases."""
    attention: str = "auto"
    """Which implementation of attention: auto, or the name of one (docs/speed.md)."""

    @classmethod
    def for_texts(cls, width: int, heads: int, layers: int) -> dict[str, Any]:
        """Default settings in models of labelled texts of this size; `readout` is that of the model."""
        return {"heads": heads, "head_size": width // heads, "layers": layers} | {
            "readout": "mean",
            "feedforward": 4 * width,
        }

    @classmethod
    def looking_back(cls) -> dict[str, Any]:
        """Default settings in language models: every second head prefers the preceding symbols, which
        position embeddings alone learn late."""
        sizes = {"width": 128, "layers": 3, "heads": 4, "head_size": 32, "feedforward": 512}
        return sizes | {"priors": RECENCY_PRIORS, "classification_node": False, "positions": "none"}

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "heads", "head_size", "feedforward", "max_positions", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "positions", POSITIONS)
        check_choice(self, "attention", ("auto", *IMPLEMENTATIONS))
        if self.priors:
            check_spelling(self.priors)

    @property
    def layer_priors(self) -> Sequence[Sequence[Prior]]:
        """The prior of each head that is left, layer by layer.

        Raises:
            ConfigError: A dropped head is not there, or the number of `priors` fits neither the heads nor
                the layers.
        """
        layers = [[Everything()] * self.heads] * self.layers
        if self.priors:
            layers = parse_layers(self.priors, self.heads, self.layers)
        return without_heads(layers, self.dropped)


class Transformer(RaggedModule):
    """A stack of post-norm blocks of self-attention and feed-forward layers."""

    def __init__(self, config: TransformerConfig | None = None):
        super().__init__()
        self.config = c = config or TransformerConfig()
        self.positions = Positions(c.positions, c.width, c.max_positions)
        self.node = ClassificationNode(c.width) if c.classification_node else None
        self.blocks = nn.ModuleList(TransformerBlock(c, priors) for priors in c.layer_priors)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words and of the classification node."""
        h = self.positions(x)
        h = self.node.prepend(h) if self.node else h
        for block in self.blocks:
            h = block(h)
        return self.node.split(h) if self.node else Encoded(h)


class TransformerBlock(nn.Module):
    """Self-attention, then the feed-forward layer, each added to its input and normed (Eq. 4-5)."""

    def __init__(self, config: TransformerConfig, priors: Sequence[Prior]):
        super().__init__()
        self.attention = SelfAttention(
            config.width, priors, config.head_size, bias=config.bias, impl=config.attention
        )
        self.norm1 = nn.LayerNorm(config.width)
        self.up = nn.Linear(config.width, config.feedforward)
        self.down = nn.Linear(config.feedforward, config.width)
        self.norm2 = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, h: Ragged) -> Ragged:
        z = self.norm1(h.values + self.dropout(self.attention(h).values))
        inner = self.down(self.dropout(relu(self.up(z))))
        return h.with_values(self.norm2(z + self.dropout(inner)))
