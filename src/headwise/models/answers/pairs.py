"""What models of text pairs read of them. Nothing here imports torch."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headwise.data.chunks import several
from headwise.data.pair import Pair
from headwise.errors import ConfigError
from headwise.features.encoded_pair import EncodedPair, comparisons, encode_pairs
from headwise.features.words import TextFeatures
from headwise.linear.pair_features import (
    NUMBERS,
    OVERLAPS,
    PairSide,
    compared_size,
    compared_words,
    overlap_of_numbers,
)

MOST_COMPARED = 50_000
"""Pairs up to which how they compare is found out when they are encoded, and kept (3 kB each): training
reads it in every epoch, a prediction twice. Of more it is found out anew each time."""
_PORTION = 512  # pairs that are compared at a time


class PairReads:
    """What a model reads of pairs of texts."""

    features: TextFeatures

    @property
    @abstractmethod
    def base_size(self) -> int:
        """Features of the vectors of its base; 0 without one."""

    @abstractmethod
    def compared(self, encoded: Sequence[EncodedPair]) -> NDArray[np.float32]:
        """What `base_vectors` says of some pairs, found out anew."""

    def encoded(self, items: Sequence[Pair | tuple[str, str]]) -> list[EncodedPair]:
        """What the model reads of pairs."""
        pairs = encode_pairs(self.features, [as_pair(item) for item in several(items)])
        if len(pairs) > MOST_COMPARED or (compared := self.base_vectors(pairs)) is None:
            return pairs
        return [replace(pair, compared=own) for pair, own in zip(pairs, compared, strict=True)]

    def base_vectors(self, encoded: Sequence[EncodedPair]) -> np.ndarray | None:
        """How the texts of pairs compare by the vectors of a base as it came, `[pairs, 4 * size + 15]` (see
        `headwise.linear.pair_features.compared_words`); None without a base."""
        if not self.base_size:
            return None
        if (known := comparisons(encoded)) is not None:
            return known
        size = compared_size(self.base_size)
        starts = range(0, len(encoded), _PORTION)
        parts = [self.compared(encoded[start : start + _PORTION]) for start in starts]
        return np.concatenate([np.zeros((0, size), dtype=np.float32), *parts])

    def texts_of(self, encoded: Sequence[EncodedPair]) -> Sequence[tuple[str, str]]:
        return [(pair.first.text, pair.second.text) for pair in encoded]

    def expert_reads(
        self, encoded: Sequence[EncodedPair], *, vectors: bool = True
    ) -> tuple[Sequence[tuple[str, str]], np.ndarray | None, np.ndarray]:
        """Both texts of each pair, with a base how their words match by its vectors as they came, and how
        they overlap (see `headwise.linear.pair_features`)."""
        texts = self.texts_of(encoded)
        found = self.base_vectors(encoded) if vectors else None
        if found is not None:
            return texts, found[:, :-NUMBERS], found[:, -NUMBERS:]
        numbers = np.zeros((len(texts), NUMBERS), dtype=np.float32)
        for place, pair in enumerate(encoded):
            numbers[place, :OVERLAPS] = overlap_of_numbers(pair.first.words, pair.second.words)
        return texts, None, numbers


def compared_sides(sides: Sequence[PairSide], size: int) -> NDArray[np.float32]:
    """How texts compare, `[pairs, 4 * size + 15]`.

    Args:
        sides: Of the first texts of pairs, and then of the second ones.
        size: Features of the base's vectors.
    """
    pairs = len(sides) // 2
    found = np.zeros((pairs, compared_size(size)), dtype=np.float32)
    for place in range(pairs):
        found[place] = compared_words(sides[place], sides[pairs + place])
    return found


def as_pair(pair: Pair | tuple[str, str]) -> Pair:
    """A pair, or two texts, as a pair.

    Raises:
        ConfigError: It is something else.
    """
    if isinstance(pair, Pair):
        return pair
    two = not isinstance(pair, str | Mapping) and hasattr(pair, "__len__") and len(pair) == 2
    if not two or not all(isinstance(text, str) for text in pair):
        raise ConfigError(f"expected a pair of texts, got {pair!r:.80}; give a list of pairs")
    return Pair(*pair)
