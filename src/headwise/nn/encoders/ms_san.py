"""Multiple Structural Priors Guided Self-Attention Network (MS-SAN; Qi, Zhang, Yin, Liu; 2020).

Every head h has its own mask, the sum of a direction and a distance:

    H_h = softmax(Q_h K_h^T / sqrt(d_k) + M_h) V_h                                  (Eq. 1)
    MM-MH = [H_1; ...; H_n] W^O                                                      (Eq. 2)
    M_h = M_dir + alpha * M_dis                                                      (Eq. 6)

The first half of the heads looks forward (at the words up to its own; Eq. 3), the other half backward
(Eq. 4). In each half the distances follow one another: word distance (Eq. 5), distance in the dependency
tree, none. A gate takes the place of the residual connection:

    I' = W_I I,  O' = W_O O                                                          (Eq. 7)
    f = sigmoid(W_1 I' + W_2 O' + b)                                                 (Eq. 8)
    Gate(I, O) = f * I' + (1 - f) * O'                                               (Eq. 9)

and a feed-forward layer with residual connection and layer norm follows (Eq. 10). The text's vector is the
attentive pooling (Eq. 11) beside the maximum: the readout `attentive,max`.

Eq. 3 and 4 as printed have the two directions the other way round; the paper's text, its Figure 4 and we
call forward what sees the words before. Settings for the rows of the paper's ablations (Tables 2 and 4):

    row                          direction   distances
    standard SAN                 False       none
    + direction                  True        none
    + word distance              False       word, none, none
    + dp. distance               False       none, tree, none
    + word & dp. distance        False       word, tree, none
    + direction & word distance  True        word, none, none
    + direction & dp. distance   True        none, tree, none
    + all mask (MS-SAN)          True        word, tree, none
    + Shaw                       False       shaw
    + Transformer-XL             False       xl
    + direction & Shaw           True        shaw
    + direction & XL             True        xl
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, gelu, relu

from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.transformer_configs import MSSANConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.fused import add_norm, gate
from headwise.nn.layers.row_blocks import BlockedLinear
from headwise.nn.priors import Prior
from headwise.nn.ragged import Ragged, RaggedModule

ACTIVATIONS = {"relu": relu, "elu": elu, "gelu": gelu}


class MSSAN(RaggedModule):
    """MS-SAN: a stack of blocks of attention, gate and feed-forward layer; or two stacks (`separate`)."""

    def __init__(self, config: MSSANConfig | None = None):
        super().__init__()
        self.config = c = config or MSSANConfig()
        blocks = [MSSANBlock(c, priors) for priors in c.layer_priors]
        cuts = range(0, len(blocks), c.layers)
        self.stacks = nn.ModuleList(nn.ModuleList(blocks[cut : cut + c.layers]) for cut in cuts)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words, `[output width]`."""
        outputs = []
        for stack in self.stacks:
            h = x
            for block in stack:  # type: ignore[attr-defined]  # a ModuleList
                h = block(h)
            outputs.append(h.values)
        return Encoded(x.with_values(outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=-1)))


class MSSANBlock(nn.Module):
    """`Z = Gate(H, MM-MH(H))`, then `LayerNorm(Z + FFN(Z))` (Eq. 1-10)."""

    def __init__(self, config: MSSANConfig, priors: Sequence[Prior]):
        super().__init__()
        if config.activation not in ACTIVATIONS:
            names = ", ".join(ACTIVATIONS)
            raise ConfigError(f"unknown activation {config.activation!r}; expected one of {names}")
        self.attention = SelfAttention(
            config.width, priors, config.head_size, bias=config.bias, impl=config.attention
        )
        self.gate = FusionGate(config.width)
        self.up = BlockedLinear(config.width, config.feedforward)
        self.activation = ACTIVATIONS[config.activation]
        self.down = BlockedLinear(config.feedforward, config.width)
        self.norm = nn.LayerNorm(config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, h: Ragged) -> Ragged:
        z = self.gate(h.values, self.dropout(self.attention(h).values))
        inner = self.down(self.dropout(self.activation(self.up(z))))
        return h.with_values(add_norm(z, inner, self.norm, self.dropout))


class FusionGate(nn.Module):
    """Chooses, feature by feature, between the input and the attention's output (Eq. 7-9)."""

    def __init__(self, width: int):
        super().__init__()
        self.input = BlockedLinear(width, width, bias=False)  # W_I
        self.output = BlockedLinear(width, width, bias=False)  # W_O
        self.gate_input = BlockedLinear(width, width, bias=False)  # W_1
        self.gate_output = BlockedLinear(width, width)  # W_2 and b

    def forward(self, inputs: Tensor, outputs: Tensor) -> Tensor:
        """`[rows, width]` of both -> `[rows, width]`."""
        inputs, outputs = self.input(inputs), self.output(outputs)
        return gate(self.gate_input(inputs), self.gate_output(outputs), inputs, outputs)
