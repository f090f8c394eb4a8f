"""The configurations of all encoders, and of the windows in which they read long texts.

Importing this file loads neither torch nor NumPy, so that the command line can make flags of the
configurations. What needs them is imported where it is called.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_args

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError

if TYPE_CHECKING:
    from headwise.nn.priors.base import Prior


POSITIONS = ("none", "sinusoidal", "learned")


def check_attention(config: "MSTransformerConfig | MSSANConfig | TransformerConfig") -> None:
    """Check the implementation of attention and the notation of the priors.

    Raises:
        ConfigError: There is no such implementation, or a text denotes no priors.
    """
    if config.attention != "auto":
        from headwise.nn.attention.dispatch import IMPLEMENTATIONS

        check_choice(config, "attention", ("auto", *IMPLEMENTATIONS))
    if config.priors:
        from headwise.nn.priors.head_lists import check_spelling

        check_spelling(config.priors)


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
    settings = getattr(config, "for_texts", None)
    return {} if settings is None else settings(width, heads, layers)


def causal_settings(config: type) -> dict[str, object]:
    """Default settings of an encoder in language models; empty for an encoder that is not causal."""
    settings = getattr(config, "looking_back", None)
    return {} if settings is None else settings()


RECENCY_PRIORS = ["forward + word-distance(1)", "forward"]
"""Priors of the heads of a language model, in turn."""


def default_readout(config: object) -> str:
    """The readout for the encoder of this configuration (or class of configurations), where none is named:
    its `readout` where it has one, else `node+max`."""
    return getattr(config, "readout", "node+max")


@dataclass(frozen=True)
class MSTransformerConfig:
    """Settings of the Multi-Scale Transformer; the defaults are the paper's for classification."""

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

    @classmethod
    def for_texts(cls, width: int, heads: int, layers: int) -> dict[str, object]:
        """Default settings in models of labelled texts of this size; `readout` is that of the model."""
        return {"heads": heads, "head_size": width // heads, "layers": layers, "readout": "mean"}

    @classmethod
    def looking_back(cls) -> dict[str, object]:
        """Default settings in language models: every second head prefers the preceding symbols, which
        position embeddings alone learn late."""
        sizes: dict[str, object] = {"width": 128, "layers": 3, "heads": 4, "head_size": 32}
        return sizes | {"priors": RECENCY_PRIORS, "classification_node": False, "positions": "none"}

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
        from headwise.nn.priors import GlobalTokens, allocate_scales, parse_layers
        from headwise.nn.priors.head_lists import without_heads

        if self.priors:
            layers = parse_layers(self.priors, self.heads, self.layers)
        else:
            sizes = (self.layers, self.heads, self.scales, self.alpha)
            layers = [allocate_scales(layer, *sizes) for layer in range(1, self.layers + 1)]
        if self.global_node:
            layers = [[GlobalTokens(p) for p in priors] for priors in layers]
        return without_heads(layers, self.dropped)


@dataclass(frozen=True)
class MSSANConfig:
    """Settings of MS-SAN; the defaults are the paper's, if it states them."""

    readout: ClassVar[str] = "attentive,max"

    width: int = 300
    """Size of a hidden state."""
    layers: int = 1
    """Number of blocks."""
    heads: int = 6
    """Heads in each block, an even number; heads x head size need not equal the width."""
    head_size: int = 50
    """Size of a head."""
    feedforward: int = 300
    """Hidden size of the feed-forward layer."""
    direction: bool = True
    """Half of the heads attend to the words before, half to the words after (MS-SAN)."""
    distances: tuple[str, ...] = ("word", "tree", "none")
    """Distances of the heads of each half, in turn: word, tree (dependency tree), none, or the learned
    relative positions shaw and xl (MS-SAN)."""
    distance_alpha: float = 1.0
    """Penalty of the score per step of distance (MS-SAN; the paper's value is not public)."""
    shaw_span: int = 16
    """Largest distance of shaw heads with its own vector, on each side (MS-SAN)."""
    tree_fallback: Literal["error", "word"] = "error"
    """What tree heads do with unparsed texts: error, or use the word distance (word)."""
    priors: tuple[str, ...] = ()
    """Priors of the heads, instead of the encoder's: "window(3)*2" "forward + word-distance(1)". Fewer
    priors than heads repeat in turn; a vertical bar separates layers."""
    dropped: tuple[str, ...] = ()
    """Heads removed by headwise heads --prune, as layer.head, both from 1; set by pruning."""
    separate: bool = False
    """MS-SAN_sep: a forward and a backward encoder whose outputs are concatenated."""
    activation: Literal["relu", "elu", "gelu"] = "relu"
    """Activation of the feed-forward layer (the paper names none)."""
    dropout: float = 0.1
    """Dropout on the output of attention and feed-forward layer, and inside the latter, in training."""
    bias: bool = False
    """Biases of the projections of attention."""
    attention: str = "auto"
    """Implementation of attention: auto, or a name (docs/speed.md)."""

    @classmethod
    def looking_back(cls) -> dict[str, object]:
        """Default settings in language models: every second head prefers the preceding symbols, which
        position embeddings alone learn late."""
        sizes: dict[str, object] = {"width": 128, "layers": 3, "heads": 4, "head_size": 32}
        sizes["feedforward"] = 512
        return sizes | {"priors": RECENCY_PRIORS}

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "head_size", "feedforward", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_attention(self)

    @property
    def output_width(self) -> int:
        """Number of output features."""
        return self.width * (2 if self.separate else 1)

    @property
    def layer_priors(self) -> "Sequence[Sequence[Prior]]":
        """The prior of each remaining head, layer by layer; with separate encoders, the forward ones first.

        Raises:
            ConfigError: The heads, distances or priors do not fit each other or the layers.
        """
        from headwise.nn.priors import Backward, Forward, parse_layers
        from headwise.nn.priors.head_lists import without_heads

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


def head_priors(config: MSSANConfig, directions: "tuple[Prior | None, Prior | None]") -> "list[Prior]":
    """The mask of each head (Eq. 6): the directions of the two halves of the heads, and in each half the
    distances in turn.

    Raises:
        ConfigError: The number of heads is odd, or a distance is unknown.
    """
    from headwise.nn.priors import Everything, Shaw, TransformerXL, TreeDistance, WordDistance

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


@dataclass(frozen=True)
class SetTransformerConfig:
    """Settings of the Set Transformer."""

    readout: ClassVar[str] = "node"

    width: int = 300
    """Size of a hidden state."""
    layers: int = 2
    """Number of blocks."""
    heads: int = 4
    """Heads in each block; they share the width, which they must divide (Set Transformer)."""
    induced: int = 16
    """Number of induced points for attention between elements; 0 = direct attention, SAB (Set
    Transformer)."""
    block: Literal["paper", "released", "tf"] = "released"
    """Published definition of MAB to use (Set Transformer)."""
    norm: Literal["off", "post", "pre"] = "off"
    """Layer norms: off (as released), after the residuals (the paper) or before attention."""
    scale: Literal["model", "head"] = "model"
    """Scores are divided by the square root of the width (model, as in the paper) or of a head's width."""
    positions: str = "none"
    """Position embedding: none (the paper's), sinusoidal or learned."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.1
    """Dropout on the output of each block in training."""
    bias: bool = True
    """Biases of the projections of attention."""

    def __post_init__(self) -> None:
        check_range(self, "width", "heads", "max_positions", low=1)
        check_range(self, "layers", "induced", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "block", ("paper", "released", "tf"))
        check_choice(self, "norm", ("off", "post", "pre"))
        check_choice(self, "scale", ("model", "head"))
        check_choice(self, "positions", POSITIONS)

    @property
    def window_words(self) -> int:
        """Default window in words: without induced points the cost grows with the square of the text."""
        return 0 if self.induced else QUADRATIC_WORDS


_POOLINGS = ("mean", "sum", "max")


@dataclass(frozen=True)
class SetModelConfig:
    """Settings of a set model."""

    inputs: int
    """Features of an element."""
    outputs: int
    """Features of a row of the output."""
    blocks: SetTransformerConfig
    """Width and kind of all blocks, number of the encoder's; `induced` = 0 for SAB. Its positions and its
    dropout do not count here."""
    rows: int = 1
    """Number of rows of the output, k."""
    encoder: Literal["blocks", "rff"] = "blocks"
    """Encoder of the elements: attention between them (SAB, ISAB) or none (rFF)."""
    pooling: Literal["pma", "mean", "sum", "max"] = "pma"
    """Pooling of the elements to the rows."""
    decoder_layers: int = 0
    """Number of layers after the pooling: SABs among the rows of PMA, otherwise linear layers with ReLU."""

    def __post_init__(self) -> None:
        check_range(self, "inputs", "outputs", "rows", low=1)
        check_range(self, "decoder_layers", low=0)

    @classmethod
    def named(cls, name: str, *, blocks: SetTransformerConfig, **settings: Any) -> "SetModelConfig":
        """The settings for a name of the paper's tables: `sab+pma`, `isab16+pma`, `rff+mean`, ...

        Raises:
            ConfigError: The name is not of that form.
        """
        match = re.fullmatch(rf"(rff|sab|isab([1-9]\d*))\+(pma|{'|'.join(_POOLINGS)})", name)
        if match is None:
            raise ConfigError(
                f"unknown model of sets {name!r}; expected ENCODER+POOLING with an encoder rff, sab or "
                f"isab16 (16 induced points) and a pooling pma, {', '.join(_POOLINGS)}"
            )
        return cls(
            **settings,
            encoder="rff" if match[1] == "rff" else "blocks",
            pooling=match[3],  # type: ignore[arg-type]
            blocks=replace(blocks, induced=int(match[2] or 0)),
        )


Ring = Literal["wrap", "truncate", "zero"]
Variant = Literal["paper", "fastnlp"]


@dataclass(frozen=True)
class StarTransformerConfig:
    """Settings of the Star-Transformer; the defaults are the paper's for classification where it is known
    (the number of steps is that of the authors' recipe)."""

    width: int = 300
    """Size of a hidden state."""
    layers: int = 2
    """Number of steps T, each with separate weights."""
    heads: int = 6
    """Heads in each attention; heads x head size need not equal the width."""
    head_size: int = 50
    """Size of a head."""
    ring: Ring = "wrap"
    """Neighbours of the first and the last word: wrap, truncate (one fewer) or zero (a zero key)."""
    variant: Variant = "paper"
    """Order of norm and activation: paper, or fastnlp (the authors' later code)."""
    residual: bool = False
    """Residual connections: add each state to its update; recommended for many steps."""
    relays: int = 1
    """Number of relay nodes of a text (the paper: 1); several start from different learned vectors."""
    positions: str = "learned"
    """Position embedding: none, sinusoidal or learned (the paper's)."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.0
    """Dropout on the output of each attention in training; the papers have dropout on word vectors only."""
    bias: bool = True
    """Biases of the projections."""

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "heads", "head_size", "relays", "max_positions", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "ring", get_args(Ring))
        check_choice(self, "variant", get_args(Variant))
        check_choice(self, "positions", POSITIONS)


@dataclass(frozen=True)
class BPTransformerConfig:
    """Settings of the BP-Transformer; the defaults are the paper's for IMDB."""

    readout: ClassVar[str] = "node"
    window_words: ClassVar[int] = 1 << 14
    """Longest window in words: the graph takes 9 KB per word."""

    width: int = 300
    """Size of a hidden state."""
    layers: int = 5
    """Number of blocks."""
    heads: int = 6
    """Heads in each block; heads x head size need not equal the width."""
    head_size: int = 50
    """Size of a head."""
    feedforward: int = 600
    """Hidden size of the feed-forward layer."""
    k: int = 4
    """Contextual edges of a token per level and side; from the length of the text on, full attention."""
    clip: int = 5
    """Levels above this level share its relative positions."""
    causal: bool = False
    """Causal: tokens attend to the left only."""
    pair_layers: int = 0
    """Additional blocks in which the tokens of each text of a pair attend to those of the other (task
    pair)."""
    relative: bool = True
    """Relative positions on the edges."""
    relative_rows: int = 1000
    """Rows of the table of relative positions; (2k + 1)(clip + 1) of them are used."""
    train_relative: bool = True
    """Train the relative positions; off freezes them."""
    positions: str = "none"
    """Position embedding of the tokens: none, sinusoidal or learned (the paper's without relative ones)."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.1
    """Dropout on the output of each sublayer and inside the feed-forward layer, in training."""
    attention_dropout: float = 0.3
    """Dropout on the attention weights in training."""

    def __post_init__(self) -> None:
        sizes = ("width", "layers", "heads", "head_size", "feedforward", "k", "max_positions")
        check_range(self, *sizes, low=1)
        check_range(self, "clip", "pair_layers", low=0)
        check_range(self, "dropout", "attention_dropout", low=0, high=1, open=True)
        check_choice(self, "positions", POSITIONS)
        used = relative_positions(self)
        if self.relative and used > self.relative_rows:
            raise ConfigError(
                f"k = {self.k} and clip = {self.clip} need {used} relative positions, but relative_rows is "
                f"{self.relative_rows}"
            )

    @classmethod
    def looking_back(cls) -> dict[str, object]:
        """Default settings in language models."""
        sizes: dict[str, object] = {"width": 128, "layers": 3, "heads": 4, "head_size": 32}
        sizes["feedforward"] = 512
        return sizes | {"causal": True, "k": 32, "attention_dropout": 0.1}


def relative_positions(config: BPTransformerConfig) -> int:
    """Number of relative positions: 2k + 1 for each level up to `clip`."""
    return (2 * config.k + 1) * (config.clip + 1)


@dataclass(frozen=True)
class TransformerConfig:
    """Settings of the Transformer."""

    width: int = 300
    """Size of a hidden state."""
    layers: int = 3
    """Number of blocks."""
    heads: int = 10
    """Heads in each block; heads x head size need not equal the width."""
    head_size: int = 30
    """Size of a head."""
    feedforward: int = 1200
    """Hidden size of the feed-forward layer."""
    classification_node: bool = True
    """Put a learned classification node in front of every text."""
    priors: tuple[str, ...] = ()
    """Priors of the heads, instead of the encoder's: "window(3)*2" "forward + word-distance(1)". Fewer
    priors than heads repeat in turn; a vertical bar separates layers."""
    dropped: tuple[str, ...] = ()
    """Heads removed by headwise heads --prune, as layer.head, both from 1; set by pruning."""
    positions: str = "sinusoidal"
    """Position embedding: none, sinusoidal or learned."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.1
    """Dropout on the output of each sublayer and inside the feed-forward layer, in training."""
    bias: bool = True
    """Biases of the projections of attention."""
    attention: str = "auto"
    """Implementation of attention: auto, or a name (docs/speed.md)."""

    @classmethod
    def for_texts(cls, width: int, heads: int, layers: int) -> dict[str, object]:
        """Default settings in models of labelled texts of this size; `readout` is that of the model."""
        sizes: dict[str, object] = {"heads": heads, "head_size": width // heads, "layers": layers}
        return sizes | {"readout": "mean", "feedforward": 4 * width}

    @classmethod
    def looking_back(cls) -> dict[str, object]:
        """Default settings in language models: every second head prefers the preceding symbols, which
        position embeddings alone learn late."""
        sizes: dict[str, object] = {"width": 128, "layers": 3, "heads": 4, "head_size": 32}
        sizes["feedforward"] = 512
        return sizes | {"priors": RECENCY_PRIORS, "classification_node": False, "positions": "none"}

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "heads", "head_size", "feedforward", "max_positions", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "positions", POSITIONS)
        check_attention(self)

    @property
    def layer_priors(self) -> "Sequence[Sequence[Prior]]":
        """The prior of each remaining head, layer by layer.

        Raises:
            ConfigError: A dropped head does not exist, or the number of `priors` fits neither the heads nor
                the layers.
        """
        from headwise.nn.priors import Everything, parse_layers
        from headwise.nn.priors.head_lists import without_heads

        layers = [[Everything()] * self.heads] * self.layers
        if self.priors:
            layers = parse_layers(self.priors, self.heads, self.layers)
        return without_heads(layers, self.dropped)


@dataclass(frozen=True)
class BiLSTMConfig:
    """Settings of the bidirectional LSTM."""

    readout: ClassVar[str] = "max"

    width: int = 300
    """Features of a word vector."""
    layers: int = 1
    """Number of stacked LSTM layers, in each direction."""
    hidden: int = 150
    """Size of a state in each direction; the output concatenates both (BiLSTM)."""
    dropout: float = 0.1
    """Dropout on the output of each layer in training."""

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", "hidden", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)

    @property
    def output_width(self) -> int:
        """Number of output features."""
        return 2 * self.hidden


@dataclass(frozen=True)
class DiSANConfig:
    """Settings of DiSAN; the defaults are the paper's, but for the dropout."""

    readout: ClassVar[str] = "attentive"
    window_words: ClassVar[int] = 512

    width: int = 300
    """Features of a word vector and of a state in each direction."""
    layers: int = 1
    """Number of blocks (the paper has one)."""
    bound: float = 5.0
    """Bound of the scores: they stay between -bound and bound (c in DiSAN)."""
    dropout: float = 0.1
    """Dropout on the input of each block in training (the paper: 0.25 for SNLI, 0.3 for SST)."""

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        if not 0 < self.bound <= 50:
            raise ConfigError(
                f"the bound of the scores must be more than 0 and at most 50, got {self.bound}"
            )

    @property
    def output_width(self) -> int:
        """Number of output features, of both directions."""
        return 2 * self.width


@dataclass(frozen=True)
class SLSTMConfig:
    """Settings of the S-LSTM; the defaults are those of its paper for classification."""

    readout: ClassVar[str] = "node"
    window_words: ClassVar[int] = 1 << 14
    """Longest window in words: the states take 10 KB per word."""

    width: int = 300
    """Features of a word vector and of a state."""
    layers: int = 9
    """Number of steps, which share their weights."""
    dropout: float = 0.1
    """Dropout on the last states in training."""

    def __post_init__(self) -> None:
        check_range(self, "width", "layers", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class TreeLSTMConfig:
    """Settings of the Tree-LSTM; the defaults are its paper's for sentiment."""

    readout: ClassVar[str] = "node"

    width: int = 300
    """Features of a word vector."""
    hidden: int = 168
    """Features of a state."""
    trees: Literal["dependency", "constituency"] = "dependency"
    """Trees that the parses describe: dependency or constituency."""
    tree_fallback: Literal["error", "word"] = "error"
    """What to do with unparsed texts: error, or use a chain of words (word)."""
    dropout: float = 0.1
    """Dropout on the states in training."""

    def __post_init__(self) -> None:
        check_range(self, "width", "hidden", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "trees", ("dependency", "constituency"))
        if self.tree_fallback not in ("error", "word"):
            from headwise.nn.priors.distance import check_fallback

            check_fallback(self.tree_fallback)

    @property
    def output_width(self) -> int:
        """Features of a state."""
        return self.hidden

    @property
    def window_words(self) -> int:
        """Default window in words; a constituency tree is read as a whole."""
        return 1 << 14 if self.trees == "dependency" else 0

    @property
    def tree_use(self) -> Literal["error", "word"]:
        """See `headwise.nn.encoders.encoder`."""
        return self.tree_fallback


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

ENCODER_CONFIGS: dict[str, type[EncoderConfig]] = {
    "ms-transformer": MSTransformerConfig,
    "ms-san": MSSANConfig,
    "set-transformer": SetTransformerConfig,
    "star-transformer": StarTransformerConfig,
    "bp-transformer": BPTransformerConfig,
    "transformer": TransformerConfig,
    "bilstm": BiLSTMConfig,
    "disan": DiSANConfig,
    "s-lstm": SLSTMConfig,
    "tree-lstm": TreeLSTMConfig,
}
"""The configuration of each encoder. `headwise.nn.encoders.ENCODERS` has the encoders themselves."""

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


def encoder_name(config: EncoderConfig) -> str:
    """The name under which `ENCODER_CONFIGS` lists this configuration."""
    return next(name for name, kind in ENCODER_CONFIGS.items() if kind is type(config))


QUADRATIC_WORDS = 2_048
"""Default window, in words, of an encoder with a head that sees most of a text."""

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
