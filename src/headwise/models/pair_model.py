"""PairModel: what holds between two texts, which one encoder reads both."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from headwise.data.chunks import several
from headwise.data.pair import Pair
from headwise.encoders.base import Encoded, output_width
from headwise.errors import ConfigError
from headwise.features.encoded import Batch
from headwise.features.encoded_pairs import EncodedPair, batch_of_pairs, encode_pairs
from headwise.layers.classify import ClassifierConfig
from headwise.layers.pair import CrossInteraction, PairHead
from headwise.linear.pair_expert import MOST_WITH_VECTORS, PairExpert, PairWords, compared_vectors
from headwise.models.one_label import OneLabel
from headwise.models.one_number import OneNumber
from headwise.models.text_model import Reader


class PairReader(Reader):
    """What models of text pairs begin with: from pairs to outputs.

    All texts of a batch of pairs are encoded together, in one ragged batch, with the same weights; the
    configuration's `pair` says how two texts come together.
    """

    reads_pairs = True
    collate = staticmethod(batch_of_pairs)

    def place_head(self, perceptron: ClassifierConfig) -> None:
        width, pair = output_width(self.config.encoder), self.config.pair
        self.interaction = CrossInteraction(width, pair) if pair.interaction == "cross" else None
        self.head = PairHead(self.readout.width, self.outputs, pair, perceptron)

    def forward(self, batch: Batch) -> Tensor:
        """The first texts of pairs, and then their second texts -> `[pairs, outputs]`."""
        return self.read(self.encode(batch))

    def read(self, encoded: Encoded) -> Tensor:
        """The states of the words of both -> `[pairs, outputs]`."""
        if self.interaction is not None:
            encoded = self.interaction(encoded)
        first, second = self.readout(encoded).chunk(2)
        return self.head(first, second)

    def encoded(self, items: Sequence[Pair | tuple[str, str]]) -> list[EncodedPair]:
        """What the model reads of pairs."""
        return encode_pairs(self.features, [as_pair(item) for item in several(items)])

    def base_vectors(self, encoded: Sequence[EncodedPair]) -> np.ndarray | None:
        """How the vectors of both texts by the base as it came compare, `[pairs, 2 * size + 1]`; None
        without a base."""
        first = super().base_vectors([pair.first for pair in encoded])
        second = super().base_vectors([pair.second for pair in encoded])
        return None if first is None or second is None else compared_vectors(first, second)

    def remember(self, encoded: Sequence[EncodedPair]) -> None:
        super().remember([text for pair in encoded for text in (pair.first, pair.second)])


class PairModel(OneLabel, PairReader):
    """A classifier of text pairs."""

    EXPERT = PairExpert

    def expert_reads(self, encoded: Sequence[EncodedPair]) -> list[PairWords]:
        """The word numbers of both texts of each pair, and with a base how their vectors compare."""
        vectors = None
        if self.expert.vectors if self.expert is not None else len(encoded) <= MOST_WITH_VECTORS:
            vectors = self.base_vectors(encoded)
        if vectors is None:
            return [(pair.first.words, pair.second.words) for pair in encoded]
        return [
            (pair.first.words, pair.second.words, own) for pair, own in zip(encoded, vectors, strict=True)
        ]


class PairScorer(OneNumber, PairReader):
    """A model that gives text pairs a score, such as how similar they are."""


def as_pair(pair: Pair | tuple[str, str]) -> Pair:
    """A pair, or two texts, as a pair.

    Raises:
        ConfigError: It is something else.
    """
    if isinstance(pair, Pair):
        return pair
    if isinstance(pair, str) or len(pair) != 2:
        raise ConfigError(f"expected a pair of texts, got {pair!r:.80}; give a list of pairs")
    return Pair(*pair)
