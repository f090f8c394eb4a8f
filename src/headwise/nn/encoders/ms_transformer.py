"""MS-Transformer: the Multi-Scale Transformer (MS-Trans; Guo, Qiu, Liu, Xue, Zhang; AAAI 2020).

Every head has its own scale omega: position j of head i attends to the window of omega_i positions
around j (Eq. 6-8). With Omega_l the scales of the heads of layer l,

    MSMSA(H; Omega) = [head_1(H, omega_1); ...; head_N'(H, omega_N')] W^O            (Eq. 9)
    H_{l+1} = LayerNorm(H_l + ReLU(MSMSA(H_l; Omega_l)))                             (Eq. 10)

There is no feed-forward layer and, as the windows make the model local, no position embedding. A
classification node in front of the text is treated like any token. Low layers have more heads of small
scale, the top layer the same number of each (Eq. 11-12, `headwise.nn.priors.allocate_scales`).
"""

from collections.abc import Sequence

from torch import nn

from headwise.nn.attention import SelfAttention
from headwise.nn.encoders.encoder import ClassificationNode, Encoded, Positions
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.fused import add_norm
from headwise.nn.priors import Prior
from headwise.nn.ragged import Ragged, RaggedModule


class MSTransformer(RaggedModule):
    """MS-Transformer: a stack of post-norm blocks of multi-scale self-attention (Eq. 10)."""

    def __init__(self, config: MSTransformerConfig | None = None):
        super().__init__()
        self.config = c = config or MSTransformerConfig()
        self.positions = Positions(c.positions, c.width, c.max_positions)
        self.node = ClassificationNode(c.width) if c.classification_node else None
        self.blocks = nn.ModuleList(MultiScaleBlock(c, priors) for priors in c.layer_priors)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words and of the classification node."""
        h = self.positions(x)
        h = self.node.prepend(h) if self.node else h
        for block in self.blocks:
            h = block(h)
        return self.node.split(h) if self.node else Encoded(h)


class MultiScaleBlock(nn.Module):
    """`LayerNorm(H + ReLU(MSMSA(H)))` (Eq. 10)."""

    def __init__(self, config: MSTransformerConfig, priors: Sequence[Prior]):
        super().__init__()
        self.attention = SelfAttention(
            config.width, priors, config.head_size, bias=config.bias, impl=config.attention
        )
        self.dropout = Dropout(config.dropout)
        self.norm = nn.LayerNorm(config.width)

    def forward(self, h: Ragged) -> Ragged:
        update = self.attention(h).values
        return h.with_values(add_norm(h.values, update, self.norm, self.dropout, relu=True))
