"""The configurations of how texts are read: words, static embeddings, pretrained encoders, dependency
trees, characters.

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
    """Tokenizer: penn, or whitespace for text that is already tokenised. Both read texts in their normal
    spelling: composed accents, straight quotes, no invisible characters. With `-unnormalized` after it
    they read texts as written, as models of folders without this rule do."""
    case: Case = "lower"
    """lower: the vocabulary ignores case; keep: it is case-sensitive."""
    min_count: int = 1
    """Words that occur less often in the training texts are unknown."""
    max_words: int = 100_000
    """Largest vocabulary; the most frequent words are taken first."""
    vector_size: int = 300
    """Size of a word vector; set by the vectors file if there is one."""
    initial_std: float = 0.1
    """Standard deviation of randomly initialised word vectors; small, so that training soon determines
    them."""
    train_vectors: bool = True
    """Train the word vectors; off freezes them."""
    dropout: float = 0.3
    """Dropout on the word vectors in training."""
    word_dropout: float = 0.05
    """Fraction of words replaced by the unknown word in training, so that its vector is trained."""

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
    """auto (an installed base of the texts' language), the name or the folder of one (headwise pretrain
    makes it; german+french merges two of one vector space), or none."""
    train: bool = False
    """Train the vectors of the words in the training texts; off freezes them."""
    dropout: float = 0.1
    """Dropout on the word vectors in training."""
    word_dropout: float = 0.0
    """Fraction of words that are left out in training."""
    probe: bool = True
    """Initialise with a linear probe: a linear model on the mean word vector, which stays part of the
    model. Off: only the encoder and the linear model read the vectors."""
    encoder: Literal["auto", "on", "off"] = "auto"
    """Start from the pretrained encoder of the base, if it has one: on; off; or auto, which is on for few
    texts of few labels (docs/bases.md). It is more accurate with opinions, and slower."""
    names: bool = True
    """Add each label name (card_arrival) as a training text of the label, if names describe the texts."""
    size: int = 0
    """Features of a vector; taken from the base, not to be set."""
    subwords: int = 0
    """Vectors for runs of letters; taken from the base, not to be set."""
    named: int = 0
    """Number of labels whose names were training texts; set by training."""

    def __post_init__(self) -> None:
        check_range(self, "dropout", "word_dropout", low=0, high=1, open=True)
        check_range(self, "size", "subwords", low=0)


@dataclass(frozen=True)
class SyntaxConfig:
    """Where dependency trees come from, for encoders that go by them."""

    pipeline: str | None = None
    """A spaCy pipeline with a parser, by name or path, for texts without parses."""

    cache: bool = True
    """Cache its parses on disk, so that no text is parsed twice."""


@dataclass(frozen=True)
class CharacterConfig:
    """What a tagger knows of words beside their vectors: of their spelling, and their clusters."""

    network: Literal["cnn", "lstm", "none"] = "cnn"
    """Network over the characters of a word: cnn (a convolution with max-pooling), lstm (bidirectional, the
    last states), or none."""
    vector_size: int = 30
    """Size of a character vector."""
    features: int = 30
    """Output size of the network; shared by the two directions of an lstm."""
    window: int = 3
    """Width of the convolution in characters, an odd number."""
    dropout: float = 0.3
    """Dropout on the character vectors in training."""
    min_count: int = 2
    """Characters that occur less often in the training texts are unknown."""
    ngrams: int = 0
    """Size of the mean vector of a word's character n-grams; 0: none."""
    longest_ngram: int = 4
    """Length of the longest n-grams in characters; the shortest have one."""
    buckets: int = 32_768
    """Number of hash buckets of the n-grams."""
    shape: int = 0
    """Size of the word-shape vector (capitals, digits and punctuation); 0: none."""
    clusters: int = 0
    """Size of the vector of the clusters of a word. The base puts words with similar neighbours into a
    cluster; 0: none."""
    clustered: int = 0
    """Number of words with clusters; taken from the base, not to be set."""

    def __post_init__(self) -> None:
        check_range(self, "vector_size", "features", "window", "min_count", "longest_ngram", low=1)
        check_range(self, "buckets", low=1)
        check_range(self, "ngrams", "shape", "clusters", "clustered", low=0)
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
        return (self.features if self.network != "none" else 0) + self.ngrams + self.shape + self.clusters


@dataclass(frozen=True)
class PretrainedConfig:
    """Which pretrained encoder reads the words, and what is taken from it."""

    name: str = ""
    """A model of the Hugging Face hub (owner/name) or a folder, with safetensors weights and a fast
    tokenizer; empty = trained word vectors."""
    revision: str = "main"
    """Branch, tag or commit on the hub."""
    train: bool = True
    """Fine-tune the encoder; off freezes it, without dropout."""
    train_layers: int | None = None
    """Number of last layers to train; none = all layers and the vectors of the word pieces."""
    learning_rate: float = 2e-5
    """Peak learning rate of its weights."""
    layers: tuple[int, ...] = ()
    """Layers whose states are used, from 1; 0 is the input of the first. Several are combined with learned
    weights; empty = the last layer. Layers above these are left out."""
    pooling: str = "mean"
    """Pooling of the word pieces of a word: first, last or mean."""
    max_pieces: int | None = None
    """Largest number of word pieces in a window, with special tokens; none = the encoder's maximum. Longer
    texts are read in several windows."""
    overlap: int = 64
    """Overlap of neighbouring windows in word pieces, so that words at their ends have context."""
    remember: int = 1024
    """Cache in MiB for the states of the training texts, if the encoder is frozen: each text is then
    encoded once, not in every epoch. 0 = no cache."""
    dropout: float = 0.1
    """Dropout on the word vectors in training."""

    def __post_init__(self) -> None:
        check_range(self, "learning_rate", "overlap", "remember", low=0)
        check_range(self, "train_layers", "max_pieces", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "pooling", ("first", "mean", "last"))
        if self.train_layers is not None and not self.train:
            raise ConfigError(f"train_layers is {self.train_layers}, but train is off: choose one")
        rising = sorted({layer for layer in self.layers if layer >= 0})
        if self.layers and (list(self.layers) != rising or rising[-1] == 0):
            raise ConfigError(
                "layers must be different numbers of 0 or more in rising order, and not 0 alone; got "
                f"{', '.join(map(str, self.layers))}"
            )
