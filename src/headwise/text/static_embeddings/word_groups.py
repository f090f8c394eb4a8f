"""What is known of a word that a base does not list: spelling variants, parts of a compound, n-grams,
clusters.

Words in a cluster have similar neighbours, and so similar syntactic functions (Schütze 1995). Such clusters
are the most useful features that a linear tagger gets from unlabelled text (as Brown clusters: Miller,
Guinness & Zamanian 2004; Turian, Ratinov & Bengio 2010). `headwise.training.pretraining.neighbour_groups`
computes them at several granularities.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike, NDArray

from headwise.core import native
from headwise.core.errors import ConfigError
from headwise.core.hashing import joined_code_points
from headwise.core.lazy_pattern import lazy_pattern
from headwise.core.tokenizer import normalize_spelling

_PARTS = lazy_pattern(r"[-/_.']")
_VARIED = lazy_pattern(r"(.)\1|[-/_.'#@*~]")
"""Occurs in every word that has a variant or parts by the rules below."""
SHORTEST_NGRAM, LONGEST_NGRAM = 3, 5
"""The range of n of the character n-grams of a word that a base does not list."""
MOST_LETTERS = 40
"""Characters of a word that are read: a megabyte without spaces is no word."""


def find_spelling_variant(word: str, numbers: Mapping[str, int]) -> int | None:
    """The number of the listed word of which `word` is a spelling variant (`soooo`: so, `#happy`: happy,
    `U.S.`: U.S); None if there is none."""
    if len(word) > MOST_LETTERS or not _VARIED.search(word):
        return None
    for spelling in (*_shortened(word), word.lstrip("#@"), word.rstrip("."), word.strip("'*_-.~")):
        if spelling and spelling in numbers:
            return numbers[spelling]
    return None


def _shortened(word: str) -> tuple[str, str]:
    """The word with each run of a character cut to two, and to one."""
    triples = zip(word[2:], word[1:], word, strict=False)
    twice = word[:2] + "".join([third for third, second, first in triples if not first == second == third])
    return twice, word[:1] + "".join(
        [next for next, last in zip(word[1:], word, strict=False) if next != last]
    )


def compound_parts(word: str, numbers: Mapping[str, int]) -> list[int]:
    """The numbers of the listed parts of a compound (`well-made`); empty if fewer than two are listed."""
    if len(word) > 4 * MOST_LETTERS or not _PARTS.search(word):
        return []
    listed = [numbers[part] for part in _PARTS.split(word) if part in numbers]
    return listed if len(listed) > 1 else []


def subword_buckets(words: Sequence[str], buckets: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Hash buckets (CRC-32) of the character n-grams of words, n from 3 to 5, with boundary marks: word
    after word, and where those of each word begin, `[words + 1]`."""
    marked = [f"<{word[:MOST_LETTERS]}>" for word in words]
    return native.ngram_buckets(*joined_code_points(marked), SHORTEST_NGRAM, LONGEST_NGRAM, buckets)


LEVELS = (8, 32, 128, 512, 2048)
"""Number of clusters at each level."""
UNKNOWN = -1
"""Cluster number of a word without clusters, at every level."""
CLUSTER_ROWS = sum(LEVELS) + len(LEVELS)
"""Rows of a table of vectors of all clusters of all levels, with one of `UNKNOWN` for each level."""
_FIRST_ROWS = np.cumsum([0, *(level + 1 for level in LEVELS[:-1])])


def cluster_rows(numbers: NDArray[np.int16]) -> NDArray[np.int64]:
    """Rows of clusters in a table of `CLUSTER_ROWS` rows: numbers, `[words, levels]` -> `[words,
    levels]`."""
    return numbers.astype(np.int64) + 1 + _FIRST_ROWS


def word_hash(word: str) -> int:
    """The 32-bit hash of a word in its plain lower-case spelling."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class WordClusters:
    """Word clusters, indexed by the hash of a word, which needs no list of strings. With 60,000 words, one
    unlisted word in 70,000 collides with a listed one.

    Attributes:
        keys: Hashes of the words (see `word_hash`), without repetition, uint32 `[words]`.
        numbers: Cluster of each word at each level, int16 `[words, levels]`.

    Raises:
        ConfigError: The shapes of the two arrays do not match, or a key occurs twice.
    """

    keys: NDArray[np.uint32]
    numbers: NDArray[np.int16]
    _rows_by_hash: "_RowsByHash" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.numbers.shape != (len(self.keys), len(LEVELS)):
            raise ConfigError(
                f"groups of {len(self.keys):,} words at {len(LEVELS)} levels have numbers of "
                f"{self.numbers.shape}"
            )
        rows = _RowsByHash(self.keys)
        if len(rows) < len(self.keys):
            raise ConfigError("groups of words: a key stands there twice")
        object.__setattr__(self, "_rows_by_hash", rows)

    def tables(self) -> dict[str, NDArray]:
        """The tables that store them, in the form of `ClusterTableFormat`."""
        return {"keys": self.keys.view(np.int32), "numbers": self.numbers}

    def __len__(self) -> int:
        """Number of words."""
        return len(self.keys)

    def __reduce__(self) -> tuple[type["WordClusters"], tuple[NDArray[np.uint32], NDArray[np.int16]]]:
        return WordClusters, (self.keys, self.numbers)  # without the dictionary of rows

    def of(self, words: Sequence[str]) -> NDArray[np.int16]:
        """Clusters of words as written, `[words, levels]`; `UNKNOWN` for a word without."""
        rows = np.fromiter(map(self._row, words), np.int64, len(words))
        groups = np.full((len(words), len(LEVELS)), UNKNOWN, dtype=np.int16)
        groups[rows >= 0] = self.numbers[rows[rows >= 0]]
        return groups

    def _row(self, word: str) -> int:
        plain = normalize_spelling(word.lower())
        row = self._rows_by_hash.get(plain)
        if row is None:
            row = find_spelling_variant(plain, self._rows_by_hash)
        if row is None:  # a compound has the clusters of its last part
            row = (compound_parts(plain, self._rows_by_hash) or [-1])[-1]
        return row


class _RowsByHash(Mapping[str, int]):
    """Mapping from a word to its row, by its hash."""

    def __init__(self, keys: NDArray[np.uint32]):
        self._rows = {key: row for row, key in enumerate(keys.tolist())}

    def __getitem__(self, word: str) -> int:
        return self._rows[word_hash(word)]

    def __iter__(self) -> Iterator[str]:
        raise TypeError("only the hashes of the words are known")

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True)
class ClusterTableFormat:
    """The tables that store `WordClusters`.

    Attributes:
        words: Number of words.
    """

    words: int

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The dtype and shape of each table, by name."""
        return {"keys": (np.int32, (self.words,)), "numbers": (np.int16, (self.words, len(LEVELS)))}

    def errors(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Errors in the values of the tables, as messages."""
        numbers = tables["numbers"]
        if len(np.unique(tables["keys"])) < self.words:
            yield "clusters: a word stands there twice"
        if ((numbers < UNKNOWN) | (numbers >= np.array(LEVELS))).any():
            yield "clusters: a number that no cluster has"

    def build(self, tables: Mapping[str, NDArray]) -> WordClusters:
        """The clusters that the tables store."""
        return WordClusters(tables["keys"].view(np.uint32), tables["numbers"])
