"""Transformer encoder (Vaswani et al. 2017), the baseline of the papers.

    Z_l = LayerNorm(H_l + MSA(H_l))                                  (MS-Transformer, Eq. 4)
    H_{l+1} = LayerNorm(Z_l + FFN(Z_l))                              (MS-Transformer, Eq. 5)

Every head sees the whole text (unless it is given another prior), so the order of the words comes from a
position embedding. With the same weights it gives what `torch.nn.TransformerEncoderLayer` gives (a test
copies them).
"""

from collections.abc import Sequence

from torch import nn, relu

from headwise.nn.attention import SelfAttention
from headwise.nn.encoders.encoder import ClassificationNode, Encoded, Positions
from headwise.nn.encoders.transformer_configs import TransformerConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.row_blocks import BlockedLinear
from headwise.nn.priors import Prior
from headwise.nn.ragged import Ragged, RaggedModule


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
        self.up = BlockedLinear(config.width, config.feedforward)
        self.down = BlockedLinear(config.feedforward, config.width)
        self.norm2 = nn.LayerNorm(config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, h: Ragged) -> Ragged:
        z = self.norm1(h.values + self.dropout(self.attention(h).values))
        inner = self.down(self.dropout(relu(self.up(z))))
        return h.with_values(self.norm2(z + self.dropout(inner)))
