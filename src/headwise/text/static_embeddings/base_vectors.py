"""Static embeddings (a base): vectors of words, and of character n-grams for words that it does not list.

The vector of a text is the weighted mean of its word vectors, normalised to length 1. `BaseTokens` are the
words of a text as indices into vectors of a base. `headwise.training.pretraining` trains bases; using one
needs NumPy only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.tokenizer import normalize_spelling
from headwise.text.static_embeddings.word_groups import (
    WordClusters,
    compound_parts,
    find_spelling_variant,
    subword_buckets,
)
from headwise.text.text_reader import Lexicon, TokenizedTexts, grown


class BaseError(HeadwiseError):
    """A base cannot be used.

    Codes: HW801 there is none of this name, HW802 its folder is damaged or incomplete, HW803 its files
    contradict each other.
    """

    code = "HW802"


Floats = NDArray[np.float32]


@dataclass(frozen=True)
class QuantizedMatrix:
    """A matrix quantised to 8 bits with one scale per row: `values * scales[:, None]`.

    Attributes:
        values: `[rows, size]`, int8.
        scales: `[rows]`, float32.
    """

    values: NDArray[np.int8]
    scales: Floats

    @classmethod
    def of(cls, rows: NDArray) -> "QuantizedMatrix":
        """Quantise a matrix, `[rows, size]`."""
        scales = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-12) / 127
        values = np.rint(rows / scales[:, None]).astype(np.int8)
        return cls(values, scales.astype(np.float32))

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class StaticEmbeddings:
    """Static embeddings of words and of character n-grams.

    Attributes:
        name: Name of the base.
        words: The listed words, in their plain lower-case spelling.
        table: Vectors of the listed words, `[words, size]`.
        subwords: Vectors of the hash buckets of character n-grams, `[buckets, size]`.
        weights: Weight of each word in the mean of its text, `[words + 1]`; the last is for unlisted words.
        about: Content of its card: sources, licences, teacher, scores.
        groups: Distributional word clusters, a feature of taggers; None if the base has none.
        encoder: Settings of its encoder, sections of a recipe; empty if the base has none.
    """

    name: str
    words: tuple[str, ...]
    table: QuantizedMatrix
    subwords: QuantizedMatrix
    weights: Floats
    about: JsonMapping = field(default_factory=dict)
    groups: WordClusters | None = None
    encoder: Mapping[str, JsonObject] = field(default_factory=dict)
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)
    _compositions: "_CompositionMemo" = field(
        init=False, repr=False, compare=False, default_factory=lambda: _CompositionMemo()
    )

    def __post_init__(self) -> None:
        rows, size = self.table.values.shape
        if rows != len(self.words) or len(self.weights) != rows + 1:
            raise ConfigError(
                f"a base of {len(self.words):,} words has {rows:,} vectors, {len(self.weights):,} weights"
            )
        if not len(self.subwords) or self.subwords.values.shape[1] != size:
            raise ConfigError(f"a base of vectors of {size} has subwords of {self.subwords.values.shape}")
        object.__setattr__(self, "_numbers", dict(zip(self.words, range(rows), strict=True)))

    @property
    def size(self) -> int:
        """Dimensions of a vector."""
        return self.table.values.shape[1]

    def __contains__(self, word: str) -> bool:
        """Whether the base lists the word or another spelling of it."""
        return len(self._listed(normalize_spelling(word.lower()))) == 1  # a compound has several

    def _listed(self, word: str) -> list[int]:
        """The number of a word in its plain spelling, or those of the parts of a compound; empty if neither
        is listed."""
        number = self._numbers.get(word)
        if number is None:
            number = find_spelling_variant(word, self._numbers)
        return compound_parts(word, self._numbers) if number is None else [number]

    def compositions(self, words: Sequence[str]) -> "DistinctWords":
        """The compositions of words as written."""
        plain = [normalize_spelling(word.lower()) for word in words]
        listed = [self._listed(word) for word in plain]
        sizes = np.fromiter(map(len, listed), np.int64, len(listed))
        weights = np.full(len(words), self.weights[-1], dtype=np.float32)
        for place in np.flatnonzero(sizes).tolist():
            weights[place] = self.weights[listed[place]].sum()
        unlisted = sizes == 0
        runs, ends = subword_buckets(
            [plain[place] for place in np.flatnonzero(unlisted)], len(self.subwords)
        )
        sizes[unlisted] = np.diff(ends)
        rows, is_run = np.empty(int(sizes.sum()), dtype=np.int32), np.repeat(unlisted, sizes)
        rows[is_run] = runs + len(self.words)
        rows[~is_run] = np.fromiter(chain.from_iterable(listed), np.int32, len(rows) - len(runs))
        return DistinctWords(rows, np.append(0, sizes.cumsum()), weights)

    def vectors(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """The vectors of words as written, `[words, size]`, and their weights, `[words]`."""
        kinds = self.compositions(words)
        return self.means(kinds.rows, kinds.ends), kinds.weights

    def means(self, rows: NDArray, ends: NDArray) -> Floats:
        """Means of vectors, `[words, size]`.

        Args:
            rows: Numbers of the vectors, word after word.
            ends: Where the rows of each word begin in `rows`, and the end, `[words + 1]`.
        """
        tables = self.table, self.subwords
        values = np.concatenate([table.values for table in tables])
        scales = np.concatenate([table.scales for table in tables])
        return native.mean_vectors(values, scales, np.asarray(rows, np.int32), np.asarray(ends, np.int64))

    def texts(self, texts: Sequence[Sequence[str]]) -> Floats:
        """Vectors of tokenised texts, `[texts, size]`, of length 1 (0 for a text without words)."""
        kinds, numbers, ends = self.distinct_words(texts)
        vectors = self.means(kinds.rows, kinds.ends)
        sums = native.weighted_sums(vectors, kinds.weights, numbers.astype(np.int64), ends[:-1], ends[1:])
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(1e-12))

    def distinct_words(
        self, texts: Sequence[Sequence[str]]
    ) -> tuple["DistinctWords", NDArray[np.int32], NDArray[np.int64]]:
        """The distinct words of tokenised texts, the index of each word among them, text after text,
        `[total]`, and the offsets of the texts, `[texts + 1]`."""
        if isinstance(texts, TokenizedTexts):
            used, numbers = unique_with_inverse(texts.words, len(texts.lexicon))
            kinds = self._compositions.of(texts.lexicon, self.compositions)
            return kinds.take(used), numbers.astype(np.int32), texts.ends
        words = list(chain.from_iterable(texts))
        places = {word: place for place, word in enumerate(dict.fromkeys(words))}
        numbers = np.fromiter(map(places.__getitem__, words), np.int32, len(words))
        return self.compositions(list(places)), numbers, np.cumsum([0, *map(len, texts)])

    def token_coverage(self, counts: Mapping[str, int]) -> float:
        """Token coverage: the share of the counted words that the base lists in some spelling; 0 of
        none."""
        total = sum(counts.values())
        return sum(count for word, count in counts.items() if word in self) / total if total else 0.0


@dataclass(slots=True, eq=False)
class DistinctWords:
    """Distinct words, each composed as the mean of vectors of a base.

    Attributes:
        rows: Numbers of the vectors, word after word, int32. Numbers below the number of listed words are
            words, those above are subword buckets.
        ends: Where the rows of each word begin, and the end, int64 `[kinds + 1]`.
        weights: Weights of the words, float32 `[kinds]`.
        vectors: Cache of the word vectors, `[kinds, size]`; None until they are computed.
    """

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]
    weights: NDArray[np.float32]
    vectors: Any = None

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, kinds: NDArray[np.int64]) -> "DistinctWords":
        """The words with these indices."""
        starts = self.ends[kinds]
        lengths = self.ends[kinds + 1] - starts
        ends = np.append(0, lengths.cumsum())
        places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
        return DistinctWords(self.rows[places], ends, self.weights[kinds])


class _CompositionMemo:
    """The compositions of the words of a lexicon, in arrays that grow by doubling."""

    def __init__(self) -> None:
        self._lexicon: Lexicon | None = None
        self._kinds = DistinctWords(
            np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.float32)
        )
        self._words = self._rows = 0
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["_CompositionMemo"], tuple[()]]:
        return _CompositionMemo, ()  # copies and other processes begin anew

    def of(self, lexicon: Lexicon, compute: Callable[[Sequence[str]], DistinctWords]) -> DistinctWords:
        with self._lock:
            if lexicon is not self._lexicon:
                self._lexicon, self._words, self._rows = lexicon, 0, 0
            if (words := len(lexicon)) > self._words:
                self._append(compute(lexicon.words[self._words : words]))
            kinds = self._kinds
            ends = kinds.ends[: self._words + 1]
            return DistinctWords(kinds.rows[: self._rows], ends, kinds.weights[: self._words])

    def _append(self, new: DistinctWords) -> None:
        words, rows, kinds = self._words + len(new), self._rows + len(new.rows), self._kinds
        kinds.rows = grown(kinds.rows, self._rows, rows)
        kinds.weights = grown(kinds.weights, self._words, words)
        kinds.ends = grown(kinds.ends, self._words + 1, words + 1)
        kinds.rows[self._rows : rows] = new.rows
        kinds.weights[self._words : words] = new.weights
        kinds.ends[self._words + 1 : words + 1] = new.ends[1:] + self._rows
        self._words, self._rows = words, rows


@dataclass(frozen=True, slots=True, eq=False)
class BaseTokens:
    """The words of a text.

    Attributes:
        kinds: The distinct words of all texts that were encoded together with this one.
        numbers: Index of each word in `kinds`, int32 `[words]`.
        unknown: Number of words that the base lists in no spelling.
    """

    kinds: DistinctWords
    numbers: NDArray[np.int32]
    unknown: int = 0

    def __len__(self) -> int:
        """Number of words."""
        return len(self.numbers)

    @classmethod
    def of(cls, base: StaticEmbeddings, texts: Sequence[Sequence[str]]) -> "list[BaseTokens]":
        """Encode tokenised texts."""
        kinds, numbers, bounds = base.distinct_words(texts)
        unlisted = kinds.rows[kinds.ends[1:] - 1] >= len(base.words)
        unknown = np.diff(np.append(0, unlisted[numbers].cumsum())[bounds]).tolist()
        spans = pairwise(bounds.tolist())
        return [
            cls(kinds, numbers[start:end], unknown_words)
            for (start, end), unknown_words in zip(spans, unknown, strict=True)
        ]

    @staticmethod
    def together(
        texts: Sequence["BaseTokens"],
    ) -> tuple[list[tuple[DistinctWords, NDArray[np.int64]]], NDArray[np.int64]]:
        """The distinct words of texts that may have different `kinds`.

        Returns:
            Each `DistinctWords` with the indices that the texts use, and the index of each word among all
            used words, text after text, `[total]`.
        """
        tables = list({id(text.kinds): text.kinds for text in texts}.values())
        bounds = np.cumsum([0, *map(len, tables)])
        starts = {id(table): start for table, start in zip(tables, bounds.tolist(), strict=False)}
        numbers = [text.numbers for text in texts]
        if len(tables) > 1:
            numbers = [ids + starts[id(text.kinds)] for ids, text in zip(numbers, texts, strict=True)]
        flat = np.concatenate([np.zeros(0, dtype=np.int32), *numbers])
        used, places = unique_with_inverse(flat, bounds[-1])
        cuts = np.split(used, np.searchsorted(used, bounds[1:-1]))
        selections = [(table, cut - start) for table, cut, start in zip(tables, cuts, bounds, strict=False)]
        return selections, places


_FEW = 64  # sorting a number takes as long as passing so many flags


def unique_with_inverse(numbers: NDArray, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values among `numbers`, which are below `count`, in ascending order, and the index of
    each number among them (`np.unique` with `return_inverse`, without sorting unless there are few)."""
    if _FEW * len(numbers) < count:
        return np.unique(numbers, return_inverse=True)
    seen = np.zeros(count, dtype=np.bool_)
    seen[numbers] = True
    return np.flatnonzero(seen), (seen.cumsum() - 1)[numbers]
