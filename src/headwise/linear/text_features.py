"""Words, word pairs and characters of texts, weighted by TF-IDF: what the linear models read.

Two blocks, each of length 1 for a text: words and pairs of words that are near each other, as the
tokeniser finds them, with punctuation, in lower case; and runs of two to five characters inside words
(scikit-learn's `char_wb`), which see through inflection, spelling mistakes and words that training has not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.data.chunks import portions
from headwise.features.tokenize import get_tokenizer
from headwise.linear import hashing
from headwise.linear.pair_features import compared

Block = Literal["words", "characters"]

SHORTEST, LONGEST = 2, 5
"""Runs of characters that are counted."""
OFTEN = 3
"""Texts that a feature is in which is no rare one."""

_PORTION = 1 << 19  # characters that are read at a time


@dataclass(frozen=True)
class Vocabulary:
    """The features of one block that count, and how rare they are.

    Attributes:
        keys: Their hashes, sorted, `[features]`.
        idf: Inverse document frequency, `ln((1 + texts) / (1 + texts with it)) + 1`, `[features]`; texts
            count by their weights, where they have some.
    """

    keys: NDArray[np.uint32]
    idf: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def slots(self) -> NDArray[np.uint64]:
        """The keys as an open table."""
        return hashing.roomy_table_of(self.keys)


@dataclass(frozen=True)
class BlockReader:
    """What is read of texts for one block.

    Attributes:
        block: Words or characters.
        tokenizer: Finds the words.
        pairs: Pairs of texts are read, and what comes out is what `compared` makes of both.
        reach: How far apart the words of a pair of words are at most.
        edges: The beginning and the end of a text count as words with which others make pairs.
    """

    block: Block
    tokenizer: str = "penn"
    pairs: bool = False
    reach: int = 1
    edges: bool = False

    def hashes(self, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
        """The numbers of the features of texts, some texts at a time, and where those of each begin and
        end."""
        for some in portions(texts, _PORTION):
            if self.block == "words":
                cut = get_tokenizer(self.tokenizer).words
                words = [hashing.SEPARATOR.join(cut(text)).lower() for text in some]
                yield hashing.word_hashes(*hashing.codes_of(words), self.reach, self.edges)
            else:
                codes, ends = hashing.codes_of([text.lower() for text in some])
                yield hashing.character_hashes(codes, ends, SHORTEST, LONGEST)

    def fit(
        self,
        texts: Sequence[Any],
        *,
        max_features: int,
        least_texts: int = 1,
        rare: int | None = None,
        weights: NDArray | None = None,
    ) -> tuple[Vocabulary, csr_matrix]:
        """The features of training texts, the most widespread where there are too many; and the texts in
        them.

        Args:
            texts: Training texts, or pairs of them.
            max_features: Most features that are kept.
            least_texts: Features of fewer texts are left out.
            rare: Of more features than these, only those of `OFTEN` texts are kept; by default all.
            weights: How much each text counts in how rare features are, `[texts]`: 2 as much as two like
                it. What only texts of weight 0 have is no feature; others are chosen by texts, as a
                repeat would not make a feature more widespread.
        """
        texts = self._each(texts)
        table = _Growing()
        parts = [table.count(*found) for found in self.hashes(texts)]
        features, counts, ends = _joined(parts, len(texts))
        spread = np.bincount(features, minlength=table.known)
        frequency, total = spread, len(texts)
        if weights is not None:
            counting = np.tile(weights, 2) if self.pairs else weights
            own = np.repeat(counting, np.diff(ends))
            spread = np.bincount(features[own > 0], minlength=table.known)
            frequency, total = np.bincount(features, own, minlength=table.known), counting.sum()
        kept = np.flatnonzero(spread >= max(least_texts, 1))
        most = max_features
        if rare is not None:
            most = min(most, max(rare, np.count_nonzero(spread[kept] >= OFTEN)))
        if len(kept) > most:
            kept = kept[np.argsort(-spread[kept], kind="stable")[:most]]
        kept = kept[np.argsort(table.keys[kept])]
        new = np.full(table.known, -1, dtype=np.int32)
        new[kept] = np.arange(len(kept), dtype=np.int32)
        idf = np.log((1 + total) / (1 + frequency[kept])) + 1
        vocabulary = Vocabulary(table.keys[kept].copy(), idf.astype(np.float32))
        features, counts, ends = hashing.keep_features(features, counts, ends, new)
        return vocabulary, self._read(_matrix(features, counts, ends, vocabulary))

    def transform(self, texts: Sequence[Any], vocabulary: Vocabulary) -> csr_matrix:
        """Texts in the features of a vocabulary, `[texts, features]` float32, rows of length 1 (or 0); of
        pairs what `compared` makes of those of both, `[pairs, 4 * features]`."""
        texts = self._each(texts)
        parts = [
            hashing.count_known(*found, vocabulary.slots, len(vocabulary)) for found in self.hashes(texts)
        ]
        return self._read(_matrix(*_joined(parts, len(texts)), vocabulary))

    def _each(self, texts: Sequence[Any]) -> Sequence[str]:
        return [pair[side] for side in (0, 1) for pair in texts] if self.pairs else texts

    def _read(self, matrix: csr_matrix) -> csr_matrix:
        half = matrix.shape[0] // 2  # type: ignore[index]
        return compared(matrix[:half], matrix[half:]) if self.pairs else matrix


@dataclass
class _Growing:
    """Keys in the order in which they were first seen."""

    keys: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(1 << 15, dtype=np.uint32))
    known: int = 0
    slots: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(1 << 16, dtype=np.uint64))

    def count(
        self, hashes: NDArray[np.uint32], bounds: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Learn the features of some texts, and count them."""
        read = 0
        while True:
            read, self.known = hashing.add_keys(hashes, read, self.slots, self.keys, self.known)
            if read == len(hashes):
                return hashing.count_known(hashes, bounds, self.slots, self.known)
            self.keys = np.concatenate([self.keys, np.zeros_like(self.keys)])
            self.slots = hashing.table_of(self.keys[: self.known], 2 * len(self.slots))


def _joined(
    parts: Sequence[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]], texts: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The counts of portions as one."""
    sizes = [np.diff(ends) for _, _, ends in parts]
    ends = np.zeros(texts + 1, dtype=np.int64)
    if parts:
        np.cumsum(np.concatenate(sizes), out=ends[1:])
    empty = np.zeros(0, dtype=np.int32)
    features = np.concatenate([empty, *(part[0] for part in parts)])
    counts = np.concatenate([empty, *(part[1] for part in parts)])
    return features, counts, ends


def _matrix(
    features: NDArray[np.int32], counts: NDArray[np.int32], ends: NDArray[np.int64], vocabulary: Vocabulary
) -> csr_matrix:
    values = hashing.weigh(features, counts, ends, vocabulary.idf)
    return csr_matrix((values, features, ends), shape=(len(ends) - 1, len(vocabulary)))
