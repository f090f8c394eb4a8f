"""The configurations of how texts are read: words, static embeddings, dependency trees, characters.

Importing this file loads neither torch nor NumPy.
"""

from dataclasses import dataclass
from typing import Literal

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError

Case = Literal["lower", "keep"]


@dataclass(frozen=True)
class WordConfig:
    """How a text becomes words and words become vectors."""

    tokenizer: str = "penn"
    """How texts are cut into words: penn, or whitespace for text that is tokenised already."""
    case: Case = "lower"
    """lower: the vocabulary ignores case; keep: it does not."""
    min_count: int = 1
    """Words seen less often in the training texts are unknown."""
    max_words: int = 100_000
    """Largest vocabulary, the most frequent words first."""
    vector_size: int = 300
    """Features of a word vector; taken from the vectors file where one is given."""
    initial_std: float = 0.1
    """Of word vectors that begin at random; small, so that training soon decides what they are."""
    train_vectors: bool = True
    """Train the word vectors with the rest; off keeps them as they begin."""
    dropout: float = 0.3
    """On the word vectors, while training."""
    word_dropout: float = 0.05
    """Share of words that are made unknown while training, so that unknown words get a meaning."""

    def __post_init__(self) -> None:
        if self.tokenizer != "penn":
            from headwise.core.tokenizer import TOKENIZERS

            check_choice(self, "tokenizer", list(TOKENIZERS))
        check_range(self, "min_count", "max_words", "vector_size", low=1)
        check_range(self, "initial_std", low=0)
        check_range(self, "dropout", "word_dropout", low=0, high=1, open=True)


@dataclass(frozen=True)
class BaseConfig:
    """What a model knows before it sees a label."""

    name: str = ""
    """auto (the base that comes with headwise, where it knows most of the words), the name or the folder of
    one (headwise pretrain makes it), or none."""
    train: bool = False
    """Train the vectors of the words of the training texts with the rest; off keeps them as they are."""
    dropout: float = 0.1
    """On the word vectors, while training."""
    word_dropout: float = 0.0
    """Share of words that are left out while training."""
    probe: bool = True
    """Begin as what the vectors alone say of the answers, and keep it; off: the encoder learns by itself,
    and what the vectors say is left to the expert beside it."""
    names: bool = True
    """Each name of a single label (card_arrival) is one more training text of it, where names say something
    of the texts."""
    size: int = 0
    """Features of a vector; taken from the base, not to be set."""
    subwords: int = 0
    """Vectors for runs of letters; taken from the base, not to be set."""
    named: int = 0
    """Labels whose names were training texts; not to be set."""

    def __post_init__(self) -> None:
        check_range(self, "dropout", "word_dropout", low=0, high=1, open=True)
        check_range(self, "size", "subwords", low=0)


@dataclass(frozen=True)
class SyntaxConfig:
    """Where dependency trees come from, for encoders that go by them."""

    pipeline: str | None = None
    """A spaCy pipeline with a parser, by name or path; it parses texts that come without heads."""

    cache: bool = True
    """Keep its parses on disk, so that no text is parsed twice."""


@dataclass(frozen=True)
class CharacterConfig:
    """What a model reads of the spelling of words, beside the words themselves."""

    network: Literal["cnn", "lstm", "none"] = "cnn"
    """Over the characters of a word: cnn (a convolution and the maximum), lstm (bidirectional, the last
    states), or none."""
    vector_size: int = 30
    """Features of a character vector."""
    features: int = 30
    """Features of a word that the network gives; the two directions of an lstm share them."""
    window: int = 3
    """Characters that the convolution sees at once, an odd number."""
    dropout: float = 0.3
    """On the character vectors, while training."""
    min_count: int = 2
    """Characters seen less often in the training texts are unknown."""
    ngrams: int = 0
    """Features of the mean of a word's character n-grams; 0: none."""
    longest_ngram: int = 4
    """Characters of the longest n-grams; the shortest have one."""
    buckets: int = 32_768
    """Into how many numbers the n-grams are hashed."""
    shape: int = 0
    """Features of a word's capitals, digits and punctuation; 0: none."""

    def __post_init__(self) -> None:
        check_range(self, "vector_size", "features", "window", "min_count", "longest_ngram", low=1)
        check_range(self, "buckets", low=1)
        check_range(self, "ngrams", "shape", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)
        if self.window % 2 == 0:
            raise ConfigError(f"window must be odd, got {self.window}")
        if self.network == "lstm" and self.features % 2:
            raise ConfigError(
                f"features of an lstm must be even, for its two directions; got {self.features}"
            )

    @property
    def size(self) -> int:
        """Features of a word in all."""
        return (self.features if self.network != "none" else 0) + self.ngrams + self.shape
