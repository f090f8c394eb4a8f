"""Word, word-pair and character features of texts, weighted by TF-IDF: the input of the linear models.

There are two blocks, each of length 1 per text. The first has words and pairs of nearby words, lower-cased,
with punctuation, as the tokenizer finds them. The second has character n-grams (n from 2 to 5) inside
words, as in scikit-learn's `char_wb`; they cover inflections, spelling mistakes and unseen words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

from headwise.core import hashing
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.dataset import chunks_by_length
from headwise.linear.pair_features import compare_matrices
from headwise.text.text_reader import WordCache, text_reader

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LinearTexts = Sequence[str] | Sequence[tuple[str, str]]
"""Texts, or pairs of them."""

BlockName = Literal["words", "characters"]
BLOCK_NAMES: tuple[BlockName, ...] = ("words", "characters")

SHORTEST, LONGEST = 2, 5
"""The range of n of the character n-grams."""
MIN_TEXTS = 3
"""Number of texts from which on a feature is not rare."""

MOST_COUNTED = 1 << 23
"""Number of features that are counted at once in more texts than fit into memory."""

_PORTION = 1 << 19  # characters per portion
_LARGE_PORTION = 1 << 22


@dataclass(frozen=True)
class FeatureVocabulary:
    """The features of one block and their inverse document frequencies.

    Attributes:
        keys: Hashes of the features, sorted, `[features]`.
        idf: Inverse document frequency, `ln((1 + texts) / (1 + texts with it)) + 1`, `[features]`; texts
            count by their weights, where they have some.
    """

    keys: NDArray[np.uint32]
    idf: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def slots(self) -> NDArray[np.uint64]:
        """The keys as a hash table."""
        return hashing.roomy_table_of(self.keys)


@dataclass(frozen=True)
class BlockReader:
    """The feature extractor of one block.

    Attributes:
        block: Words or characters.
        tokenizer: Name of the tokenizer.
        pairs: Whether the items are text pairs, whose feature vectors are combined by `compared`.
        reach: Maximum distance between the words of a pair.
        edges: Whether words also form pairs with the beginning and the end of a text.
    """

    block: BlockName
    tokenizer: str = "penn"
    pairs: bool = False
    reach: int = 1
    edges: bool = False

    def hashes(
        self, texts: Sequence[str], characters: int = _PORTION
    ) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
        """Feature hashes of texts, in portions of `characters` characters, with their offsets per text."""
        for portion in chunks_by_length(texts, characters):
            if self.block == "words":
                read = text_reader(self.tokenizer).read(portion)
                states = _state_memo(self.tokenizer).of(read.lexicon, _states_of)
                yield hashing.read_hashes(states, read.words, read.ends, self.reach, self.edges)
            else:
                normalize = get_tokenizer(self.tokenizer).normalize
                codes, ends = hashing.joined_code_points([normalize(text).lower() for text in portion])
                yield hashing.character_hashes(codes, ends, SHORTEST, LONGEST)

    def fit(
        self,
        texts: LinearTexts,
        *,
        max_features: int,
        least_texts: int = 1,
        rare: int | None = None,
        weights: NDArray | None = None,
    ) -> "tuple[FeatureVocabulary, csr_matrix]":
        """Choose the features of training texts, the most widespread first; returns them and the feature
        matrix.

        Args:
            texts: Training texts, or pairs of them.
            max_features: Maximum number of features.
            least_texts: Minimum number of texts per feature.
            rare: Number of features up to which rare ones are kept; beyond it only those in `MIN_TEXTS`
                texts or more. By default all are kept.
            weights: Weights of the texts in document frequencies, `[texts]`: weight 2 acts like two equal
                texts. Features of texts with weight 0 only are dropped. The choice of features counts texts
                unweighted, as a repeated text does not make a feature more widespread.
        """
        texts = self._flatten_pairs(texts)
        table = _GrowingTable()
        parts = [table.count(*hashed) for hashed in self.hashes(texts)]
        features, counts, ends = _joined(parts, len(texts))
        spread = np.bincount(features, minlength=table.size)
        frequency, total = spread, len(texts)
        if weights is not None:
            counting = np.tile(weights, 2) if self.pairs else weights
            occurrence_weights = np.repeat(counting, np.diff(ends))
            spread = np.bincount(features[occurrence_weights > 0], minlength=table.size)
            frequency, total = (
                np.bincount(features, occurrence_weights, minlength=table.size),
                counting.sum(),
            )
        selected = _most_widespread(table.keys, spread, max_features, least_texts, rare)
        new = np.full(table.size, -1, dtype=np.int32)
        new[selected] = np.arange(len(selected), dtype=np.int32)
        idf = _idf(frequency[selected], total)
        vocabulary = FeatureVocabulary(table.keys[selected].copy(), idf)
        features, counts, ends = hashing.keep_features(features, counts, ends, new)
        return vocabulary, self._read(_matrix(features, counts, ends, vocabulary))

    def choose(
        self,
        texts: Sequence[str],
        *,
        max_features: int,
        rare: int | None = None,
        weights: NDArray | None = None,
    ) -> FeatureVocabulary:
        """Choose the features of training texts as `fit` does, in memory that does not grow with the texts.

        Up to `MOST_COUNTED` features are counted. Beyond them, the rarest are forgotten and begin at 0
        when they come again, so that a feature may be passed over which is about as rare as the rarest that
        are chosen (lossy counting: Manku, Motwani; VLDB 2002). Frequencies are exact.

        Args:
            texts, max_features, rare, weights: As those of `fit`.
        """
        counting = np.ones(len(texts)) if weights is None else weights
        table, spread = _GrowingTable(), np.zeros(0, dtype=np.int64)
        begin, forgotten = 0, False
        for hashes, bounds in self.hashes(texts, _LARGE_PORTION):
            features, _, ends = table.count(hashes, bounds)
            counted = np.repeat(counting[begin : begin + len(ends) - 1] > 0, np.diff(ends))
            new = np.bincount(features[counted], minlength=table.size)
            new[: len(spread)] += spread
            spread, begin = new, begin + len(ends) - 1
            if table.size > MOST_COUNTED:
                table, spread = table.without_rare(spread)
                forgotten = True
        selected = _most_widespread(table.keys, spread, max_features, 1, rare)
        vocabulary = FeatureVocabulary(table.keys[selected].copy(), np.zeros(len(selected), np.float32))
        frequency = spread[selected]
        if forgotten or weights is not None:
            frequency = self._frequency(texts, vocabulary, counting)
        return replace(vocabulary, idf=_idf(frequency, len(texts) if weights is None else counting.sum()))

    def _frequency(self, texts: Sequence[str], vocabulary: FeatureVocabulary, weights: NDArray) -> NDArray:
        """The total weight of the texts with each feature, `[features]`."""
        frequency, begin = np.zeros(len(vocabulary)), 0
        for hashes, bounds in self.hashes(texts, _LARGE_PORTION):
            features, _, ends = hashing.count_features(hashes, bounds, vocabulary.slots, len(vocabulary))
            occurrence_weights = np.repeat(weights[begin : begin + len(ends) - 1], np.diff(ends))
            frequency += np.bincount(features, occurrence_weights, minlength=len(vocabulary))
            begin += len(ends) - 1
        return frequency

    def transform(self, texts: LinearTexts, vocabulary: FeatureVocabulary) -> "csr_matrix":
        """The feature matrix of texts, `[texts, features]` float32, with rows of length 1 (or 0); for pairs
        the output of `compared`, `[pairs, 4 * features]`."""
        texts = self._flatten_pairs(texts)
        parts = [
            hashing.count_features(*hashed, vocabulary.slots, len(vocabulary))
            for hashed in self.hashes(texts)
        ]
        return self._read(_matrix(*_joined(parts, len(texts)), vocabulary))

    def _flatten_pairs(self, texts: LinearTexts) -> Sequence[str]:
        if not self.pairs:
            return cast(Sequence[str], texts)
        return [pair[side] for side in (0, 1) for pair in texts]

    def _read(self, matrix: "csr_matrix") -> "csr_matrix":
        half = matrix.shape[0] // 2  # type: ignore[index]
        return compare_matrices(matrix[:half], matrix[half:]) if self.pairs else matrix


@cache
def _state_memo(tokenizer: str) -> WordCache:
    """The states of the words that the reader with this tokenizer knows."""
    return WordCache()


def _states_of(words: list[str]) -> NDArray[np.uint64]:
    return hashing.word_hash_states([word.lower() for word in words])


@dataclass
class _GrowingTable:
    """A hash table that grows, with keys in order of first appearance."""

    keys: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(1 << 15, dtype=np.uint32))
    size: int = 0
    slots: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(1 << 16, dtype=np.uint64))

    def count(
        self, hashes: NDArray[np.uint32], bounds: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Add the features of some texts, and count them."""
        read = 0
        while True:
            read, self.size = hashing.add_keys(hashes, read, self.slots, self.keys, self.size)
            if read == len(hashes):
                return hashing.count_features(hashes, bounds, self.slots, self.size)
            self.keys = np.concatenate([self.keys, np.zeros_like(self.keys)])
            self.slots = hashing.table_of(self.keys[: self.size], 2 * len(self.slots))

    def without_rare(self, spread: NDArray[np.int64]) -> "tuple[_GrowingTable, NDArray[np.int64]]":
        """The table without its rarest features (at least half of them), and the number of texts with each
        remaining feature."""
        least = np.partition(spread, self.size // 2)[self.size // 2]
        selected = np.flatnonzero(spread > least)
        table = _GrowingTable(size=len(selected), slots=hashing.roomy_table_of(self.keys[selected]))
        table.keys = np.zeros(max(2 * len(selected), len(table.keys)), dtype=np.uint32)
        table.keys[: len(selected)] = self.keys[selected]
        return table, spread[selected]


def _most_widespread(
    keys: NDArray[np.uint32],
    spread: NDArray[np.int64],
    max_features: int,
    least_texts: int,
    rare: int | None,
) -> NDArray[np.int64]:
    """The places of the features in the most texts, sorted by key; see `BlockReader.fit`."""
    selected = np.flatnonzero(spread >= max(least_texts, 1))
    most = max_features
    if rare is not None:
        most = min(most, max(rare, np.count_nonzero(spread[selected] >= MIN_TEXTS)))
    if len(selected) > most:
        selected = selected[np.argsort(-spread[selected], kind="stable")[:most]]
    return selected[np.argsort(keys[selected])]


def _idf(frequency: NDArray, total: float) -> NDArray[np.float32]:
    """The inverse document frequencies of features with these document frequencies among `total` texts."""
    return (np.log((1 + total) / (1 + frequency)) + 1).astype(np.float32)


def _joined(
    parts: Sequence[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]], texts: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Concatenate the counts of portions."""
    sizes = [np.diff(ends) for _, _, ends in parts]
    ends = np.zeros(texts + 1, dtype=np.int64)
    if parts:
        np.cumsum(np.concatenate(sizes), out=ends[1:])
    empty = np.zeros(0, dtype=np.int32)
    features = np.concatenate([empty, *(part[0] for part in parts)])
    counts = np.concatenate([empty, *(part[1] for part in parts)])
    return features, counts, ends


def _matrix(
    features: NDArray[np.int32],
    counts: NDArray[np.int32],
    ends: NDArray[np.int64],
    vocabulary: FeatureVocabulary,
) -> "csr_matrix":
    from scipy.sparse import csr_matrix  # slow to load, and most predictions do without

    values = hashing.tfidf_values(features, counts, ends, vocabulary.idf)
    return csr_matrix((values, features, ends), shape=(len(ends) - 1, len(vocabulary)))
