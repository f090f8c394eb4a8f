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
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import elu, gelu, relu

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention
from headwise.nn.attention.dispatch import IMPLEMENTATIONS
from headwise.nn.encoders.encoder import RECENCY_PRIORS, Encoded
from headwise.nn.priors import (
    Backward,
    Everything,
    Forward,
    Prior,
    Shaw,
    TransformerXL,
    TreeDistance,
    WordDistance,
    parse_layers,
)
from headwise.nn.priors.head_lists import check_spelling, without_heads
from headwise.nn.ragged import Ragged, RaggedModule

ACTIVATIONS = {"relu": relu, "elu": elu, "gelu": gelu}


@dataclass(frozen=True)
class MSSANConfig:
    """Settings of MS-SAN; the defaults are the paper's where it gives them."""

    readout: ClassVar[str] = "attentive,max"

    width: int = 300
    """Features of a hidden state."""
    layers: int = 1
    """Number of blocks."""
    heads: int = 6
    """Heads in each block, an even number; heads x head size need not equal the width."""
    head_size: int = 50
    """Features of a head."""
    feedforward: int = 300
    """Hidden features of the feed-forward layer."""
    direction: bool = True
    """Half of the heads see the words before, half the words after (MS-SAN)."""
    distances: tuple[str, ...] = ("word", "tree", "none")
    """What each half's heads go by, in turn: word, tree (dependency syntax), none, or the learned relative
    positions shaw and xl (MS-SAN)."""
    distance_alpha: float = 1.0
    """How much a step of distance takes from a score (MS-SAN; the paper's value is not public)."""
    shaw_span: int = 16
    """Distances of shaw heads that have vectors of their own, to each side (MS-SAN)."""
    tree_fallback: Literal["error", "word"] = "error"
    """What tree heads do with texts that are not parsed: error, or go by the word distance."""
    priors: tuple[str, ...] = ()
    """Priors of the heads in place of the encoder's own, say "window(3)*2" "forward + word-distance(1)";
    fewer than the heads repeat in turn, a vertical bar separates layers."""
    dropped: tuple[str, ...] = ()
    """Heads that headwise heads --prune has removed, as layer.head, both from 1; not to be set."""
    separate: bool = False
    """MS-SAN_sep: one encoder forward and one backward, side by side, twice as wide."""
    activation: Literal["relu", "elu", "gelu"] = "relu"
    """Activation of the feed-forward layer (the paper names none)."""
    dropout: float = 0.1
    """On what attention and feed-forward layer give and inside the latter, while training."""
    bias: bool = False
    """Whether the attention's projections have biases."""
    attention: str = "auto"
    """Which implementation of attention: auto, or the name of one (docs/speed.md)."""

    @classmethod
    def looking_back(cls) -> dict[str, Any]:
        """Default settings in language models: every second head prefers the preceding symbols, which
        position embeddings alone learn late."""
        sizes = {"width": 128, "layers": 3, "heads": 4, "head_size": 32, "feedforward": 512}
        return sizes | {"priors": RECENCY_PRIORS}

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "head_size", "feedforward", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "attention", ("auto", *IMPLEMENTATIONS))
        if self.priors:
            check_spelling(self.priors)

    @property
    def output_width(self) -> int:
        """Features of what the encoder gives."""
        return self.width * (2 if self.separate else 1)

    @property
    def layer_priors(self) -> Sequence[Sequence[Prior]]:
        """The prior of each head that is left, layer by layer; of separate encoders first all that look
        forward.

        Raises:
            ConfigError: The heads, distances or priors do not fit each other or the layers.
        """
        if self.separate and (self.priors or not self.direction):
            raise ConfigError(
                "separate encoders differ in their direction; they need direction = true and no priors"
            )
        if self.priors:
            layers = parse_layers(self.priors, self.heads, self.layers)
            return without_heads(layers, self.dropped)
        halves: list[tuple[Prior | None, Prior | None]] = [(Forward(), Backward())]
        if self.separate:
            halves = [(Forward(), Forward()), (Backward(), Backward())]
        elif not self.direction:
            halves = [(None, None)]
        layers = [head_priors(self, directions) for directions in halves for _ in range(self.layers)]
        return without_heads(layers, self.dropped)


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


def head_priors(config: MSSANConfig, directions: tuple[Prior | None, Prior | None]) -> list[Prior]:
    """The mask of each head (Eq. 6): the directions of the two halves of the heads, and in each half the
    distances in turn.

    Raises:
        ConfigError: The number of heads is odd, or a distance is unknown.
    """
    distances: dict[str, Prior | None] = {
        "word": WordDistance(config.distance_alpha),
        "tree": TreeDistance(config.distance_alpha, config.tree_fallback),
        "shaw": Shaw(config.shaw_span),
        "xl": TransformerXL(),
        "none": None,
    }
    if config.heads < 2 or config.heads % 2:
        raise ConfigError(f"MS-SAN needs an even number of heads, got {config.heads}")
    for name in config.distances or ("",):
        if name not in distances:
            raise ConfigError(f"unknown distance {name!r}; known are {', '.join(distances)}")
    priors = []
    for direction in directions:
        for head in range(config.heads // 2):
            distance = distances[config.distances[head % len(config.distances)]]
            if direction is not None and distance is not None:
                priors.append(direction + distance)
            else:
                priors.append(direction or distance or Everything())
    return priors


class MSSANBlock(nn.Module):
    """`Z = Gate(H, MM-MH(H))`, then `LayerNorm(Z + FFN(Z))` (Eq. 1-10)."""

    def __init__(self, config: MSSANConfig, priors: Sequence[Prior]):
        super().__init__()
        if config.activation not in ACTIVATIONS:
            names = ", ".join(ACTIVATIONS)
            raise ConfigError(f"unknown activation {config.activation!r}; known are {names}")
        self.attention = SelfAttention(
            config.width, priors, config.head_size, bias=config.bias, impl=config.attention
        )
        self.gate = FusionGate(config.width)
        self.up = nn.Linear(config.width, config.feedforward)
        self.activation = ACTIVATIONS[config.activation]
        self.down = nn.Linear(config.feedforward, config.width)
        self.norm = nn.LayerNorm(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, h: Ragged) -> Ragged:
        z = self.gate(h.values, self.dropout(self.attention(h).values))
        inner = self.down(self.dropout(self.activation(self.up(z))))
        return h.with_values(self.norm(z + self.dropout(inner)))


class FusionGate(nn.Module):
    """Chooses, feature by feature, between the input and the attention's output (Eq. 7-9)."""

    def __init__(self, width: int):
        super().__init__()
        self.input = nn.Linear(width, width, bias=False)  # W_I
        self.output = nn.Linear(width, width, bias=False)  # W_O
        self.gate_input = nn.Linear(width, width, bias=False)  # W_1
        self.gate_output = nn.Linear(width, width)  # W_2 and b

    def forward(self, inputs: Tensor, outputs: Tensor) -> Tensor:
        """`[rows, width]` of both -> `[rows, width]`."""
        inputs, outputs = self.input(inputs), self.output(outputs)
        f = torch.sigmoid(self.gate_input(inputs) + self.gate_output(outputs))
        return f * inputs + (1 - f) * outputs
