"""Character-level features of words: characters, n-grams and word shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headwise.config import check_range
from headwise.errors import ConfigError
from headwise.features.alphabet import Alphabet
from headwise.features.character_ngrams import ngram_buckets
from headwise.features.tokenize import plain_spelling
from headwise.features.word_shape import word_shape

_CACHED = 1 << 17  # distinct words whose features are cached, at less than a kilobyte each
_NOTHING = np.zeros(0, dtype=np.int64)


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


@dataclass(frozen=True, slots=True)
class Spelling:
    """Character features of one word.

    Attributes:
        characters: Character ids with the marks of both ends, int64 `[characters + 2]`.
        ngrams: Hash buckets of its n-grams, int64 `[n-grams]`.
        shape: See `word_shape`, float32 `[shapes]`.
    """

    characters: NDArray[np.int64]
    ngrams: NDArray[np.int64]
    shape: NDArray[np.float32]


class Speller(dict[str, Spelling]):
    """Mapping from a word to its `Spelling`; caches up to `_CACHED` words."""

    def __init__(self, config: CharacterConfig, alphabet: Alphabet):
        super().__init__()
        self.config = config
        self.alphabet = alphabet

    def __missing__(self, word: str) -> Spelling:
        plain, c = plain_spelling(word), self.config
        spelling = Spelling(
            self.alphabet.encode(word) if c.network != "none" else _NOTHING,
            ngram_buckets(plain, c.longest_ngram, c.buckets) if c.ngrams else _NOTHING,
            word_shape(plain),
        )
        if len(self) < _CACHED:
            self[word] = spelling
        return spelling


@dataclass(frozen=True, slots=True)
class Spelled:
    """The words of a text, for character features, and its pieces if the embedding reads any."""

    words: tuple[str, ...]
    pieces: Any = None


def spell_by(prepare: Any) -> Any:
    """A function from tokenised texts to a `Spelled` of each; `prepare` computes the pieces."""
    return partial(_spell, prepare)  # picklable, as scikit-learn requires of estimators


def _spell(prepare: Any, texts: Sequence[Sequence[str]]) -> list[Spelled]:
    pieces = [None] * len(texts) if prepare is None else prepare(texts)
    return [Spelled(tuple(words), text_pieces) for words, text_pieces in zip(texts, pieces, strict=True)]
