"""CharacterEmbedding: what a word looks like, as a vector.

Three views of the spelling stand side by side, each of which can be left out: a network over the
characters, which is a convolution (Ma & Hovy, ACL 2016) or an LSTM (Lample et al., NAACL 2016); n-grams
(JMT); and the shape. Case is kept, so a tagger may read lower-case word vectors and still see capitals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headwise.config import check_range
from headwise.errors import ConfigError
from headwise.features.alphabet import Alphabet
from headwise.features.character_networks import CharacterCNN, CharacterLSTM
from headwise.features.character_ngrams import ngram_buckets
from headwise.features.tokenize import plain_spelling
from headwise.features.word_shape import SHAPES, word_shape
from headwise.ragged import Layout, Ragged

_CACHED = 1 << 17  # different words whose spelling is remembered, at less than a kilobyte each
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


@dataclass(frozen=True)
class Spellings:
    """What `CharacterEmbedding` reads of a batch: each different word once.

    Attributes:
        words: Which of the different words stands where, `[total]`, int64.
        characters: Character numbers of the different words.
        ngrams: Buckets of their n-grams.
        shapes: `[different words, shapes]`.
    """

    words: Tensor
    characters: Ragged
    ngrams: Ragged
    shapes: Tensor

    def to(self, device: torch.device | str) -> "Spellings":
        """The same on another device."""
        return Spellings(
            self.words.to(device),
            self.characters.to(device),
            self.ngrams.to(device),
            self.shapes.to(device),
        )


class CharacterEmbedding(nn.Module):
    """Vectors of words from their spelling; see `CharacterConfig`.

    A word that occurs more than once in a batch is computed once (with one dropout), and what is read of
    its spelling is looked up when it comes again: a second epoch spells nothing out.

    Args:
        config: At least one view of the spelling.
        alphabet: The characters that are known.

    Raises:
        ConfigError: The configuration gives no features.
    """

    def __init__(self, config: CharacterConfig, alphabet: Alphabet):
        super().__init__()
        if config.size == 0:
            raise ConfigError("character features without a network, n-grams or shape: choose one")
        self.config = c = config
        self._spell = _Speller(config, alphabet)
        self.network: CharacterCNN | CharacterLSTM | None = None
        if c.network != "none":
            self.vectors = nn.Embedding(len(alphabet), c.vector_size)
            bound = (3 / c.vector_size) ** 0.5  # variance 1 / vector_size, as Ma & Hovy
            nn.init.uniform_(self.vectors.weight, -bound, bound)
            self.dropout = nn.Dropout(c.dropout)
            self.network = (
                CharacterCNN(c.vector_size, c.features, c.window)
                if c.network == "cnn"
                else CharacterLSTM(c.vector_size, c.features)
            )
        self.ngrams = nn.EmbeddingBag(c.buckets, c.ngrams, mode="mean") if c.ngrams else None
        if self.ngrams is not None:
            nn.init.normal_(self.ngrams.weight, std=0.3)  # the mean of some ten to thirty is small
        self.shape = nn.Linear(len(SHAPES), c.shape) if c.shape else None

    def encode(self, tokens: Sequence[Sequence[str]]) -> Spellings:
        """What `embed` reads of the words of each text; on the CPU, to be computed ahead if need be."""
        numbers: dict[str, int] = {}
        words = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(tokens)]
        spelled = [self._spell[word] for word in numbers]
        shapes = np.array([word.shape for word in spelled], dtype=np.float32).reshape(-1, len(SHAPES))
        return Spellings(
            torch.tensor(words, dtype=torch.int64),
            _ragged([word.characters for word in spelled]),
            _ragged([word.ngrams for word in spelled]),
            torch.from_numpy(shapes),
        )

    def embed(self, spellings: Spellings) -> Tensor:
        """Vectors of all words, text after text, `[total, config.size]`."""
        device = next(self.parameters()).device
        s = spellings.to(device)
        if len(s.words) == 0:
            return torch.zeros(0, self.config.size, device=device)
        views = []
        if self.network is not None:
            views.append(self.network(s.characters.map(self.vectors).map(self.dropout)))
        if self.ngrams is not None:
            views.append(self.ngrams(s.ngrams.values, s.ngrams.offsets[:-1]))
        if self.shape is not None:
            views.append(self.shape(s.shapes))
        return torch.cat(views, dim=1).index_select(0, s.words)

    def forward(self, tokens: Sequence[Sequence[str]]) -> Tensor:
        """The words of each text -> vectors of all words, text after text, `[total, config.size]`."""
        return self.embed(self.encode(tokens))


@dataclass(frozen=True, slots=True)
class _Spelling:
    """What is read of one word."""

    characters: NDArray[np.int64]
    ngrams: NDArray[np.int64]
    shape: NDArray[np.float32]


class _Speller(dict[str, _Spelling]):
    """Word -> what is read of it; remembered for as many words as `_CACHED`."""

    def __init__(self, config: CharacterConfig, alphabet: Alphabet):
        super().__init__()
        self.config = config
        self.alphabet = alphabet

    def __missing__(self, word: str) -> _Spelling:
        plain, c = plain_spelling(word), self.config
        spelling = _Spelling(
            self.alphabet.encode(word) if c.network != "none" else _NOTHING,
            ngram_buckets(plain, c.longest_ngram, c.buckets) if c.ngrams else _NOTHING,
            word_shape(plain),
        )
        if len(self) < _CACHED:
            self[word] = spelling
        return spelling


def _ragged(rows: Sequence[NDArray[np.int64]]) -> Ragged:
    flat = np.concatenate(rows) if rows else _NOTHING
    return Ragged(torch.from_numpy(flat), Layout([len(row) for row in rows]))
