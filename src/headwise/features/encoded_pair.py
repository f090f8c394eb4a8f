"""What a model reads of pairs of texts: a record for each. Nothing here imports torch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.data.example import Example
from headwise.data.pair import Pair
from headwise.features.encoded_text import EncodedText
from headwise.features.words import TextFeatures


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """What a model reads of two texts.

    Attributes:
        first: The first text.
        second: The second text.
        compared: How they compare by the vectors of a base, where that was found out beforehand, `[size]`.
    """

    first: EncodedText
    second: EncodedText
    compared: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Number of words of both."""
        return len(self.first) + len(self.second)

    @property
    def unknown(self) -> int:
        """How many of their words the vocabulary does not know."""
        return self.first.unknown + self.second.unknown

    @property
    def cut(self) -> int:
        """How many of their words are left out."""
        return self.first.cut + self.second.cut

    @property
    def empty(self) -> bool:
        """Whether one of them has no word."""
        return self.first.empty or self.second.empty


def encode_pairs(features: TextFeatures, pairs: Sequence[Pair]) -> list[EncodedPair]:
    """What the model reads of each pair.

    Raises:
        HeadsError: As `TextFeatures.encode`.
    """
    firsts = features.encode([Example(pair.first, None, pair.line, pair.first_heads) for pair in pairs])
    seconds = features.encode([Example(pair.second, None, pair.line, pair.second_heads) for pair in pairs])
    return [EncodedPair(first, second) for first, second in zip(firsts, seconds, strict=True)]


def comparisons(pairs: Sequence[EncodedPair]) -> NDArray[np.float32] | None:
    """How pairs compare, `[pairs, size]`, if that was found out of all of them beforehand."""
    found = [pair.compared for pair in pairs if pair.compared is not None]
    return np.stack(found) if found and len(found) == len(pairs) else None
