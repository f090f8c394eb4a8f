"""EncodedPair: the model input for a pair of texts. This module does not import torch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.data.items.examples import Example, Pair
from headwise.text.text_features import EncodedText, TextFeatures


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """The model input for a pair of texts.

    Attributes:
        first: The first text.
        second: The second text.
        compared: Comparison features from the vectors of a base, `[size]`, if they are precomputed.
    """

    first: EncodedText
    second: EncodedText
    compared: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Number of words of both."""
        return len(self.first) + len(self.second)

    @property
    def unknown(self) -> int:
        """Number of out-of-vocabulary words of both texts."""
        return self.first.unknown + self.second.unknown

    @property
    def cut(self) -> int:
        """Number of truncated words of both texts."""
        return self.first.cut + self.second.cut

    @property
    def empty(self) -> bool:
        """Whether one of the texts has no word."""
        return self.first.empty or self.second.empty


def encode_pairs(features: TextFeatures, pairs: Sequence[Pair]) -> list[EncodedPair]:
    """Encode pairs of texts.

    Raises:
        ParseError: As `TextFeatures.encode`.
    """
    firsts = features.encode([Example(pair.first, None, pair.line, pair.first_parse) for pair in pairs])
    seconds = features.encode([Example(pair.second, None, pair.line, pair.second_parse) for pair in pairs])
    return [EncodedPair(first, second) for first, second in zip(firsts, seconds, strict=True)]


def comparison_features(pairs: Sequence[EncodedPair]) -> NDArray[np.float32] | None:
    """The precomputed comparison features, `[pairs, size]`; None unless all pairs have them."""
    vectors = [pair.compared for pair in pairs if pair.compared is not None]
    return np.stack(vectors) if vectors and len(vectors) == len(pairs) else None
