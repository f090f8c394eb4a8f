"""The configurations of the encoders with attention that are neither the default nor models of sets.

Importing this file loads neither torch nor NumPy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError
from headwise.nn.encoders.config_checks import POSITIONS, RECENCY, check_attention

if TYPE_CHECKING:
    from headwise.nn.priors.base import Prior


@dataclass(frozen=True)
class MSSANConfig:
    """Settings of MS-SAN; the defaults are the paper's, if it states them."""

    readout: ClassVar[str] = "attentive,max"
    causal_defaults: ClassVar = RECENCY

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
            raise ConfigError(f"unknown distance {name!r}; expected one of {', '.join(distances)}")
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
class TransformerConfig:
    """Settings of the Transformer."""

    sized_by_data: ClassVar[bool] = True
    causal_defaults: ClassVar = RECENCY | {"classification_node": False, "positions": "none"}

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
    causal_defaults: ClassVar = {"causal": True, "k": 32, "attention_dropout": 0.1}

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


def relative_positions(config: BPTransformerConfig) -> int:
    """Number of relative positions: 2k + 1 for each level up to `clip`."""
    return (2 * config.k + 1) * (config.clip + 1)


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
