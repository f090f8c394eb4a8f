"""The configurations of recurrent encoders.

Importing this file loads neither torch nor NumPy.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from headwise.core.config import check_choice, check_range


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
