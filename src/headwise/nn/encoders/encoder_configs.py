"""The configurations of all encoders by name, that of the default encoder, and of the windows in which
encoders read long texts.

Importing this file loads neither torch nor NumPy, so that the command line can make flags of the
configurations. What needs them is imported where it is called.
"""

import importlib
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError
from headwise.core.lazy_table import LazyTable
from headwise.nn.encoders.config_checks import POSITIONS, QUADRATIC_WORDS, RECENCY, check_attention

if TYPE_CHECKING:
    from headwise.nn.encoders.recurrent_configs import BiLSTMConfig, SLSTMConfig, TreeLSTMConfig
    from headwise.nn.encoders.set_configs import SetTransformerConfig
    from headwise.nn.encoders.transformer_configs import (
        BPTransformerConfig,
        DiSANConfig,
        MSSANConfig,
        StarTransformerConfig,
        TransformerConfig,
    )
    from headwise.nn.priors.base import Prior


class HasWidth(Protocol):
    """The configuration of an encoder."""

    @property
    def width(self) -> int:
        """Number of input features."""
        ...


def output_width(config: HasWidth) -> int:
    """Output features of the encoder with this configuration: its `output_width` if it has one, else its
    `width`, the number of input features."""
    return getattr(config, "output_width", config.width)


def text_settings(config: type, width: int, heads: int, layers: int) -> dict[str, object]:
    """Default settings of an encoder of this size in models of labelled texts; `readout` is that of the
    model. Empty if the defaults of the configuration class (its paper's) apply."""
    if not getattr(config, "sized_by_data", False):
        return {}
    sizes: dict[str, object] = {"heads": heads, "head_size": width // heads, "layers": layers}
    feedforward = {"feedforward": 4 * width} if hasattr(config, "feedforward") else {}
    return {**sizes, **feedforward, "readout": "mean"}


def causal_settings(config: type) -> dict[str, object]:
    """Default settings of an encoder in language models; empty for an encoder that is not causal."""
    settings = getattr(config, "causal_defaults", None)
    if settings is None:
        return {}
    sizes: dict[str, object] = {"width": 128, "layers": 3, "heads": 4, "head_size": 32}
    return sizes | ({"feedforward": 512} if hasattr(config, "feedforward") else {}) | settings


def default_readout(config: object) -> str:
    """The readout for the encoder of this configuration (or class of configurations), where none is named:
    its `readout` where it has one, else `node+max`."""
    return getattr(config, "readout", "node+max")


@dataclass(frozen=True)
class MSTransformerConfig:
    """Settings of the MS-Transformer; the defaults are the paper's for classification."""

    sized_by_data: ClassVar[bool] = True
    causal_defaults: ClassVar = RECENCY | {"classification_node": False, "positions": "none"}

    width: int = 300
    """Size of a hidden state."""
    layers: int = 3
    """Number of blocks; the paper has 3."""
    heads: int = 10
    """Heads in each block; heads x head size need not equal the width."""
    head_size: int = 30
    """Size of a head."""
    scales: tuple[str, ...] = ("1", "3", "n/16", "n/8", "n/4")
    """Candidate scales from small to large: an odd number of words, or a fraction of the text (n/16)."""
    alpha: float = 0.5
    """Preference of low layers for small scales; 0 = none, negative = for large scales (Eq. 11)."""
    priors: tuple[str, ...] = ()
    """Priors of the heads, instead of the encoder's: "window(3)*2" "forward + word-distance(1)". Fewer
    priors than heads repeat in turn; a vertical bar separates layers."""
    classification_node: bool = True
    """Put a learned classification node in front of every text."""
    global_node: bool = False
    """The classification node attends to all words and all words attend to it, whatever the scale (as in
    Longformer, not in the paper)."""
    dropped: tuple[str, ...] = ()
    """Heads removed by headwise heads --prune, as layer.head, both from 1; set by pruning."""
    positions: str = "none"
    """Position embedding: none (the paper's), sinusoidal or learned."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.1
    """Dropout on the output of each sublayer in training."""
    bias: bool = False
    """Biases of the projections."""
    attention: str = "auto"
    """Implementation of attention: auto, or a name (docs/speed.md)."""

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "heads", "head_size", "max_positions", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "positions", POSITIONS)
        if self.global_node and not self.classification_node:
            raise ConfigError("global_node makes the classification node global, but there is none")
        check_attention(self)

    @property
    def layer_priors(self) -> "Sequence[Sequence[Prior]]":
        """The prior of each remaining head, layer by layer.

        Raises:
            ConfigError: A scale is invalid, a dropped head does not exist, or the number of `priors` fits
                neither the heads nor the layers.
        """
        if self.priors:
            from headwise.nn.priors import parse_layers

            layers = parse_layers(self.priors, self.heads, self.layers)
        else:
            from headwise.nn.priors import allocate_scales

            sizes = (self.layers, self.heads, self.scales, self.alpha)
            layers = [allocate_scales(layer, *sizes) for layer in range(1, self.layers + 1)]
        if self.global_node:
            from headwise.nn.priors import GlobalTokens

            layers = [[GlobalTokens(p) for p in priors] for priors in layers]
        if not self.dropped:
            return layers
        from headwise.nn.priors.head_lists import without_heads

        return without_heads(layers, self.dropped)


if TYPE_CHECKING:
    EncoderConfig = (
        MSTransformerConfig
        | MSSANConfig
        | SetTransformerConfig
        | StarTransformerConfig
        | BPTransformerConfig
        | TransformerConfig
        | BiLSTMConfig
        | DiSANConfig
        | SLSTMConfig
        | TreeLSTMConfig
    )

_HOMES = {
    "ms-san": ("transformer_configs", "MSSANConfig"),
    "set-transformer": ("set_configs", "SetTransformerConfig"),
    "star-transformer": ("transformer_configs", "StarTransformerConfig"),
    "bp-transformer": ("transformer_configs", "BPTransformerConfig"),
    "transformer": ("transformer_configs", "TransformerConfig"),
    "bilstm": ("recurrent_configs", "BiLSTMConfig"),
    "disan": ("transformer_configs", "DiSANConfig"),
    "s-lstm": ("recurrent_configs", "SLSTMConfig"),
    "tree-lstm": ("recurrent_configs", "TreeLSTMConfig"),
}
"""The module and the class of each configuration that is imported when it is looked up."""


def _config_class(module: str, name: str) -> "type[EncoderConfig]":
    return getattr(importlib.import_module(f"headwise.nn.encoders.{module}"), name)


ENCODER_CONFIGS: "MutableMapping[str, type[EncoderConfig]]" = LazyTable(
    {"ms-transformer": lambda: MSTransformerConfig}
    | {name: partial(_config_class, *home) for name, home in _HOMES.items()}
)
"""The configuration of each encoder. `headwise.nn.encoders.ENCODERS` has the encoders themselves."""


def __getattr__(name: str) -> object:
    if name != "EncoderConfig":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return reduce(or_, ENCODER_CONFIGS.values())


EncoderName = Literal[
    "ms-transformer",
    "ms-san",
    "set-transformer",
    "star-transformer",
    "bp-transformer",
    "transformer",
    "bilstm",
    "disan",
    "s-lstm",
    "tree-lstm",
]
"""The keys of `ENCODER_CONFIGS`, for annotations."""

DEFAULT_ENCODER = "ms-transformer"


def encoder_name(config: "EncoderConfig") -> str:
    """The name under which `ENCODER_CONFIGS` lists this configuration."""
    return next(name for name, kind in ENCODER_CONFIGS.items() if kind is type(config))


RELATIVE_WORDS = 8_192
"""Default window, in words, of an encoder whose heads see at most a fraction of a text."""

_LONG = 1 << 16  # words of a text on which it is seen how far heads look


@dataclass(frozen=True)
class WindowsConfig:
    """Windows in which an encoder reads long texts."""

    words: int | None = None
    """Largest number of words in a window; 0 = no limit. Default: 2048 if a head sees most of the text,
    8192 if one sees a fraction of it. Default of disan: 512; of bp-transformer, s-lstm, tree-lstm: 16384.
    Default with learned positions: their number. Otherwise no limit."""
    overlap: int | None = None
    """Smallest overlap of neighbouring windows in words; by default an eighth of the window."""
    long: Literal["split", "truncate", "error"] = "split"
    """What to do with longer texts: read them in windows (split), cut them off (truncate; they are
    counted), or stop (error)."""
    most_words: int | None = None
    """Most words of a text that a training run uses; 0 = no limit. Default: a limit where a few texts are
    far longer than all others and hold most of the words; 16 times the usual length, 512 at least."""

    def __post_init__(self) -> None:
        check_range(self, "words", "overlap", "most_words", low=0)
        if self.words and self.overlap is not None and self.overlap >= self.words:
            raise ConfigError(f"overlap must be less than words, got {self.overlap} and {self.words}")

    def sizes(self, encoder: object) -> tuple[int, int]:
        """Words and overlap of the windows for the encoder of a configuration; 0 words for no limit."""
        words = default_words(encoder) if self.words is None else self.words
        overlap = words // 8 if self.overlap is None else min(self.overlap, max(words - 1, 0))
        return words, overlap


def default_words(config: object) -> int:
    """Default window of the encoder of this configuration in words; 0 for no limit.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    words = getattr(config, "window_words", 0)
    heads = [prior for priors in getattr(config, "layer_priors", ()) for prior in priors]
    if any(_sees_most(prior) for prior in set(heads)):
        words = QUADRATIC_WORDS
    elif any(_grows(prior) for prior in set(heads)):
        words = RELATIVE_WORDS
    if getattr(config, "positions", None) == "learned":
        positions: int = getattr(config, "max_positions", 0)
        words = min(words or positions, positions)
    return words


def _sees_most(prior: "Prior") -> bool:
    """Whether a head with this prior sees more than half of a long text: its cost is quadratic."""
    import numpy as np

    band = prior.band(np.array([_LONG]))
    return band is None or bool((band.left + band.right + 1 > _LONG // 2).any())


def _grows(prior: "Prior") -> bool:
    """Whether a head with this prior sees more words in a longer text: its cost per word grows."""
    import numpy as np

    bands = [prior.band(np.array([length])) for length in (_LONG, 2 * _LONG)]
    seen = [(band.left + band.right).max() for band in bands if band is not None]
    return len(seen) < 2 or bool(seen[1] > seen[0])
