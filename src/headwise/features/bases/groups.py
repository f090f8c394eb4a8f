"""WordGroups: distributional word clusters at several granularities.

Words with similar neighbours have similar syntactic functions (Schütze 1995). Such clusters are the most
useful features that a linear tagger gets from unlabelled text (as Brown clusters: Miller, Guinness &
Zamanian 2004; Turian, Ratinov & Bengio 2010). `headwise.pretrain.neighbours` computes them.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError
from headwise.features.bases.spelling import other_spelling, parts
from headwise.features.tokenize import plain_spelling

LEVELS = (8, 32, 128, 512, 2048)
"""Number of clusters at each level."""
UNKNOWN = -1
"""Cluster number of a word without clusters, at every level."""


def key_of_word(word: str) -> int:
    """The 32-bit hash of a word in its plain lower-case spelling."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class WordGroups:
    """Word clusters, indexed by the hash of a word, which needs no list of strings. With 60,000 words, one
    unlisted word in 70,000 collides with a listed one.

    Attributes:
        keys: Hashes of the words (see `key_of_word`), without repetition, uint32 `[words]`.
        numbers: Cluster of each word at each level, int16 `[words, levels]`.

    Raises:
        ConfigError: The shapes of the two arrays do not match, or a key occurs twice.
    """

    keys: NDArray[np.uint32]
    numbers: NDArray[np.int16]
    _known: "_Known" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.numbers.shape != (len(self.keys), len(LEVELS)):
            raise ConfigError(
                f"groups of {len(self.keys):,} words at {len(LEVELS)} levels have numbers of "
                f"{self.numbers.shape}"
            )
        rows = _Known(self.keys)
        if len(rows) < len(self.keys):
            raise ConfigError("groups of words: a key stands there twice")
        object.__setattr__(self, "_known", rows)

    def __len__(self) -> int:
        """Number of words."""
        return len(self.keys)

    def of(self, words: Sequence[str]) -> NDArray[np.int16]:
        """Clusters of words as written, `[words, levels]`; `UNKNOWN` for a word without."""
        rows = np.fromiter(map(self._row, words), np.int64, len(words))
        groups = np.full((len(words), len(LEVELS)), UNKNOWN, dtype=np.int16)
        groups[rows >= 0] = self.numbers[rows[rows >= 0]]
        return groups

    def _row(self, word: str) -> int:
        plain = plain_spelling(word.lower())
        row = self._known.get(plain)
        if row is None:
            row = other_spelling(plain, self._known)
        if row is None:  # a compound has the clusters of its last part
            row = (parts(plain, self._known) or [-1])[-1]
        return row


class _Known(Mapping[str, int]):
    """Mapping from a word to its row, by its hash."""

    def __init__(self, keys: NDArray[np.uint32]):
        self._rows = {key: row for row, key in enumerate(keys.tolist())}

    def __getitem__(self, word: str) -> int:
        return self._rows[key_of_word(word)]

    def __iter__(self) -> Iterator[str]:
        raise TypeError("only the hashes of the words are known")

    def __len__(self) -> int:
        return len(self._rows)
