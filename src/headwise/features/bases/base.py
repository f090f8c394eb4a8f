"""Base: vectors of words, and of runs of letters for the words that it does not list.

The vector of a text is the mean of the vectors of its words, each with the weight of its word, at length 1.
A base is trained so that this vector says what the text is about (`headwise.pretrain`); whoever uses it
needs NumPy alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError
from headwise.features.bases.groups import WordGroups
from headwise.features.bases.spelling import other_spelling, parts, subwords
from headwise.features.tokenize import plain_spelling

Floats = NDArray[np.float32]
_CACHED = 1 << 18


@dataclass(frozen=True)
class Table:
    """Rows of numbers, kept in a byte each: `values * scales[:, None]`.

    Attributes:
        values: `[rows, size]`, int8.
        scales: `[rows]`, float32.
    """

    values: NDArray[np.int8]
    scales: Floats

    @classmethod
    def of(cls, rows: NDArray) -> "Table":
        """The nearest table to these rows, `[rows, size]`."""
        scales = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-12) / 127
        values = np.rint(rows / scales[:, None]).astype(np.int8)
        return cls(values, scales.astype(np.float32))

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, numbers: Any) -> Floats:
        """Some rows, float32."""
        return self.values[numbers].astype(np.float32) * self.scales[numbers][..., None]


@dataclass(frozen=True)
class Piece:
    """What a word is made of.

    Attributes:
        rows: Numbers of its vectors, of which it is the mean: those of words first, those of runs of
            letters behind them.
        weight: Of the word in its text.
    """

    rows: tuple[int, ...]
    weight: float


@dataclass(frozen=True)
class Base:
    """Vectors of words and of runs of letters.

    Attributes:
        name: What it is called.
        words: The listed words, in their plain lower-case spelling.
        table: Their vectors, `[words, size]`.
        subwords: The vectors of the buckets of runs of letters, `[buckets, size]`.
        weights: How much each word counts in its text, `[words + 1]`; the last is for all other words.
        about: What its card says: sources, licences, teacher, scores.
        groups: Of words that stand among the same neighbours, which taggers read; None where there are
            none.
    """

    name: str
    words: tuple[str, ...]
    table: Table
    subwords: Table
    weights: Floats
    about: Mapping[str, Any] = field(default_factory=dict)
    groups: WordGroups | None = None
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)
    _cache: dict[str, Piece] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        rows, size = self.table.values.shape
        if rows != len(self.words) or len(self.weights) != rows + 1:
            raise ConfigError(
                f"a base of {len(self.words):,} words has {rows:,} vectors, {len(self.weights):,} weights"
            )
        if not len(self.subwords) or self.subwords.values.shape[1] != size:
            raise ConfigError(f"a base of vectors of {size} has subwords of {self.subwords.values.shape}")
        object.__setattr__(self, "_numbers", {word: number for number, word in enumerate(self.words)})

    @property
    def size(self) -> int:
        """Features of a vector."""
        return self.table.values.shape[1]

    def __contains__(self, word: str) -> bool:
        """Whether it lists a word, or another spelling of it."""
        rows = self.piece(word).rows
        return len(rows) == 1 and rows[0] < len(self.words)  # else the one run of letters of a short word

    def piece(self, word: str) -> Piece:
        """What a word, as written, is made of."""
        found = self._cache.get(word)
        if found is None:
            found = self._piece(plain_spelling(word.lower()))
            if len(self._cache) < _CACHED:
                self._cache[word] = found
        return found

    def _piece(self, word: str) -> Piece:
        known = self._numbers
        number = known.get(word)
        if number is None:
            number = other_spelling(word, known)
        if number is not None:
            return Piece((number,), float(self.weights[number]))
        if compound := parts(word, known):
            return Piece(tuple(compound), float(self.weights[compound].sum()))
        runs = subwords(word, len(self.subwords))
        return Piece(tuple(len(self.words) + run for run in runs), float(self.weights[-1]))

    def vectors(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """The vectors of words as written, `[words, size]`, and their weights, `[words]`."""
        pieces = [self.piece(word) for word in words]
        weights = np.array([piece.weight for piece in pieces], dtype=np.float32)
        ends = np.cumsum([0, *(len(piece.rows) for piece in pieces)])
        rows = np.fromiter((row for piece in pieces for row in piece.rows), np.int64, int(ends[-1]))
        return self.means(rows, ends), weights

    def means(self, rows: NDArray, ends: NDArray) -> Floats:
        """The means of vectors, `[words, size]`: of those with the numbers `rows`, from each of the `ends`
        to the next, `[words + 1]`, of which no two are the same."""
        if len(ends) < 2:
            return np.zeros((0, self.size), dtype=np.float32)
        sums = np.add.reduceat(self._rows(rows), ends[:-1], axis=0)
        return (sums / np.diff(ends)[:, None]).astype(np.float32)

    def _rows(self, numbers: NDArray[np.int64]) -> Floats:
        own = numbers < len(self.words)
        found = np.empty((len(numbers), self.size), dtype=np.float32)
        found[own] = self.table.rows(numbers[own])
        found[~own] = self.subwords.rows(numbers[~own] - len(self.words))
        return found

    def texts(self, texts: Sequence[Sequence[str]]) -> Floats:
        """The vectors of texts, of each of which the words are given, `[texts, size]`, of length 1 (0 for a
        text without words)."""
        kinds: dict[str, int] = {}
        ids = [[kinds.setdefault(word, len(kinds)) for word in words] for words in texts]
        vectors, weights = self.vectors(list(kinds))
        weighted = vectors * weights[:, None]
        out = np.zeros((len(texts), self.size), dtype=np.float32)
        for place, own in enumerate(ids):
            if own:
                out[place] = weighted[own].sum(axis=0)
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)

    def share_known(self, counts: Mapping[str, int]) -> float:
        """Which share of counted words it lists in some spelling; 0 of none."""
        total = sum(counts.values())
        return sum(count for word, count in counts.items() if word in self) / total if total else 0.0
