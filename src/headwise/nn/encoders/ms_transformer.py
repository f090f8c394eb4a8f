"""Multi-Scale Transformer (MS-Trans; Guo, Qiu, Liu, Xue, Zhang; AAAI 2020).

Every head has its own scale omega: position j of head i attends to the window of omega_i positions
around j (Eq. 6-8). With Omega_l the scales of the heads of layer l,

    MSMSA(H; Omega) = [head_1(H, omega_1); ...; head_N'(H, omega_N')] W^O            (Eq. 9)
    H_{l+1} = LayerNorm(H_l + ReLU(MSMSA(H_l; Omega_l)))                             (Eq. 10)

There is no feed-forward layer and, as the windows make the model local, no position embedding. A
classification node in front of the text is treated like any token. Low layers have more heads of small
scale, the top layer the same number of each (Eq. 11-12, `headwise.nn.priors.allocate_scales`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn, relu

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention
from headwise.nn.attention.dispatch import IMPLEMENTATIONS
from headwise.nn.encoders.encoder import RECENCY_PRIORS, Encoded
from headwise.nn.encoders.positions import POSITIONS, ClassificationNode, Positions
from headwise.nn.priors import GlobalTokens, Prior, allocate_scales, parse_layers
from headwise.nn.priors.head_lists import check_spelling, without_heads
from headwise.nn.ragged import Ragged, RaggedModule


@dataclass(frozen=True)
class MSTransformerConfig:
    """Settings of the Multi-Scale Transformer; the defaults are the paper's for classification."""

    width: int = 300
    """Features of a hidden state."""
    layers: int = 3
    """Number of blocks; the paper has 3."""
    heads: int = 10
    """Heads in each block; heads x head size need not equal the width."""
    head_size: int = 30
    """Features of a head."""
    scales: tuple[str, ...] = ("1", "3", "n/16", "n/8", "n/4")
    """Candidate scales from small to large: an odd number of words, or a part of the text (n/16)."""
    alpha: float = 0.5
    """Preference of low layers for small scales; 0 = none, negative = for large scales (Eq. 11)."""
    priors: tuple[str, ...] = ()
    """Priors of the heads in place of the encoder's own, say "window(3)*2" "forward + word-distance(1)";
    fewer than the heads repeat in turn, a vertical bar separates layers."""
    classification_node: bool = True
    """Put a learned node in front of every text."""
    global_node: bool = False
    """The node sees all words and all words see it, whatever the scale (Longformer's, not the paper's)."""
    dropped: tuple[str, ...] = ()
    """Heads that headwise heads --prune has removed, as layer.head, both from 1; not to be set."""
    positions: str = "none"
    """Position embedding: none (the paper's), sinusoidal or learned."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.1
    """On what each block adds, while training."""
    bias: bool = False
    """Whether the projections have biases."""
    attention: str = "auto"
    """Which implementation of attention: auto, or the name of one (docs/speed.md)."""

    @classmethod
    def for_texts(cls, width: int, heads: int, layers: int) -> dict[str, Any]:
        """Default settings in models of labelled texts of this size; `readout` is that of the model."""
        return {"heads": heads, "head_size": width // heads, "layers": layers, "readout": "mean"}

    @classmethod
    def looking_back(cls) -> dict[str, Any]:
        """Default settings in language models: every second head prefers the preceding symbols, which
        position embeddings alone learn late."""
        sizes = {"width": 128, "layers": 3, "heads": 4, "head_size": 32}
        return sizes | {"priors": RECENCY_PRIORS, "classification_node": False, "positions": "none"}

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "heads", "head_size", "max_positions", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "positions", POSITIONS)
        check_choice(self, "attention", ("auto", *IMPLEMENTATIONS))
        if self.global_node and not self.classification_node:
            raise ConfigError("global_node makes the classification node global, but there is none")
        if self.priors:
            check_spelling(self.priors)

    @property
    def layer_priors(self) -> Sequence[Sequence[Prior]]:
        """The prior of each head that is left, layer by layer.

        Raises:
            ConfigError: A scale is none, a dropped head is not there, or the number of `priors` fits
                neither the heads nor the layers.
        """
        if self.priors:
            layers = parse_layers(self.priors, self.heads, self.layers)
        else:
            sizes = (self.layers, self.heads, self.scales, self.alpha)
            layers = [allocate_scales(layer, *sizes) for layer in range(1, self.layers + 1)]
        if self.global_node:
            layers = [[GlobalTokens(p) for p in priors] for priors in layers]
        return without_heads(layers, self.dropped)


class MSTransformer(RaggedModule):
    """Multi-Scale Transformer: a stack of post-norm blocks of multi-scale self-attention (Eq. 10)."""

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
        self.dropout = nn.Dropout(config.dropout)
        self.norm = nn.LayerNorm(config.width)

    def forward(self, h: Ragged) -> Ragged:
        update: Tensor = relu(self.attention(h).values)
        return h.with_values(self.norm(h.values + self.dropout(update)))
