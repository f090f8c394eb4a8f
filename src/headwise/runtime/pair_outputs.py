"""Inputs of models of text pairs. This module does not import torch."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import ConfigError
from headwise.data.items.dataset import require_list
from headwise.data.items.examples import Pair
from headwise.linear.pair_features import NUMBERS, OVERLAPS, compare_words, dense_pair_size
from headwise.text.text_features import EncodedPair, TextFeatures, comparison_features, encode_pairs

MAX_PRECOMPUTED_PAIRS = 50_000
"""Up to this number of pairs, comparison features are computed on encoding and stored (3 kB each): training
reads them in every epoch, prediction twice. For more pairs they are computed on each use."""
_PORTION = 256  # pairs per batch of comparison features


class PairInputs:
    """Mixin of models of text pairs: encoding and comparison features."""

    features: TextFeatures

    @property
    @abstractmethod
    def base_size(self) -> int:
        """Dimensions of the vectors of its base; 0 without a base."""

    @abstractmethod
    def compared(self, encoded: Sequence[EncodedPair]) -> NDArray[np.float32]:
        """Compute the comparison features of pairs, see `base_vectors`."""

    def encoded(self, items: Sequence[Pair | tuple[str, str]]) -> list[EncodedPair]:
        """Encode pairs."""
        pairs = encode_pairs(self.features, [as_pair(item) for item in require_list(items)])
        if len(pairs) > MAX_PRECOMPUTED_PAIRS or (compared := self.base_vectors(pairs)) is None:
            return pairs
        return [replace(pair, compared=row) for pair, row in zip(pairs, compared, strict=True)]

    def base_vectors(self, encoded: Sequence[EncodedPair]) -> np.ndarray | None:
        """Comparison features of pairs from the uncorrected vectors of the base, `[pairs, 4 * size + 15]`
        (see `headwise.linear.pair_features.compare_pairs`); None without a base."""
        if not self.base_size:
            return None
        if (stored := comparison_features(encoded)) is not None:
            return stored
        size = dense_pair_size(self.base_size)
        starts = range(0, len(encoded), _PORTION)
        parts = [self.compared(encoded[start : start + _PORTION]) for start in starts]
        return np.concatenate([np.zeros((0, size), dtype=np.float32), *parts])

    def texts_of(self, encoded: Sequence[EncodedPair]) -> Sequence[tuple[str, str]]:
        return [(pair.first.text, pair.second.text) for pair in encoded]

    def linear_inputs(
        self, encoded: Sequence[EncodedPair], *, vectors: bool = True
    ) -> tuple[Sequence[tuple[str, str]], np.ndarray | None, np.ndarray]:
        """Inputs of the linear model: both texts of each pair, comparison features if there is a base, and
        overlap features (see `headwise.linear.pair_features`)."""
        texts = self.texts_of(encoded)
        compared = self.base_vectors(encoded) if vectors else None
        if compared is not None:
            return texts, compared[:, :-NUMBERS], compared[:, -NUMBERS:]
        numbers = np.zeros((len(texts), NUMBERS), dtype=np.float32)
        words = [*(pair.first.words for pair in encoded), *(pair.second.words for pair in encoded)]
        indices = np.concatenate([np.zeros(0, dtype=np.int64), *words])
        nothing = np.zeros((len(indices), 0), dtype=np.float32)
        compared = compare_words(nothing, indices, np.cumsum([0, *map(len, words)]))
        numbers[:, :OVERLAPS] = compared[:, 1 : 1 + OVERLAPS]
        return texts, None, numbers


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
