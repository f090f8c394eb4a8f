"""PairModel: what holds between two texts, which one encoder reads both."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from headwise.data.chunks import several
from headwise.data.pair import Pair
from headwise.encoders.base import Encoded, output_width
from headwise.errors import ConfigError
from headwise.features.bases.embedding import BaseEmbedding
from headwise.features.encoded import Batch
from headwise.features.encoded_pairs import EncodedPair, batch_of_pairs, comparisons, encode_pairs
from headwise.layers.classify import ClassifierConfig
from headwise.layers.interaction import Interaction
from headwise.layers.pair import PairHead
from headwise.linear.pair_features import (
    NUMBERS,
    OVERLAPS,
    PairSide,
    compared_size,
    compared_words,
    overlap_of_numbers,
)
from headwise.models.one_label import OneLabel
from headwise.models.one_number import OneNumber
from headwise.models.text_model import Reader, new_probe
from headwise.ragged import Ragged

MOST_COMPARED = 50_000
"""Pairs up to which how they compare is found out when they are encoded, and kept (3 kB each): training
reads it in every epoch, a prediction twice. Of more it is found out anew each time."""
_PORTION = 512  # pairs that are compared at a time


class PairReader(Reader):
    """What models of text pairs begin with: from pairs to outputs.

    All texts of a batch of pairs are encoded together, in one ragged batch, with the same weights; the
    configuration's `pair` says how two texts come together.
    """

    reads_pairs = True
    collate = staticmethod(batch_of_pairs)

    def place_head(self, perceptron: ClassifierConfig) -> None:
        width, pair = output_width(self.config.encoder), self.config.pair
        self.interaction = Interaction(width, pair) if pair.interaction != "none" else None
        self.head = PairHead(self.readout.width, self.outputs, pair, perceptron)
        self.probe = None
        if isinstance(self.embedding, BaseEmbedding) and self.config.base.probe:
            self.probe = new_probe(compared_size(self.embedding.config.size), self.head, self.outputs)

    def embed(self, batch: Batch) -> tuple[Ragged, Tensor | None]:
        """Texts -> the vectors of their words, and with a base's probe how the two of each pair compare by
        its vectors as they came, `[pairs, 4 * size + 15]` (see `compared_by`)."""
        words, cls = super().embed(batch)
        if isinstance(self.embedding, BaseEmbedding) and self.probe is not None:
            known = batch.compared
            cls = torch.from_numpy(compared_by(self.embedding, batch)) if known is None else known
            cls = cls.to(words.values)
        return words, cls

    def forward(self, batch: Batch) -> Tensor:
        """The first texts of pairs, and then their second texts -> `[pairs, outputs]`."""
        return self.read(self.encode(batch))

    def read(self, encoded: Encoded) -> Tensor:
        """The states of the words of both -> `[pairs, outputs]`."""
        if self.interaction is not None:
            encoded = self.interaction(encoded)
        first, second = self.readout(encoded).chunk(2)
        outputs = self.head(first, second)
        return outputs if self.probe is None else outputs + self.probe(encoded.cls)

    def encoded(self, items: Sequence[Pair | tuple[str, str]]) -> list[EncodedPair]:
        """What the model reads of pairs."""
        pairs = encode_pairs(self.features, [as_pair(item) for item in several(items)])
        if len(pairs) > MOST_COMPARED or (compared := self.base_vectors(pairs)) is None:
            return pairs
        return [replace(pair, compared=own) for pair, own in zip(pairs, compared, strict=True)]

    def base_vectors(self, encoded: Sequence[EncodedPair]) -> np.ndarray | None:
        """What `compared_by` says of pairs; None without a base."""
        if not isinstance(self.embedding, BaseEmbedding):
            return None
        if (known := comparisons(encoded)) is not None:
            return known
        size = compared_size(self.embedding.config.size)
        parts = [
            compared_by(self.embedding, self.collate(encoded[start : start + _PORTION], self.device))
            for start in range(0, len(encoded), _PORTION)
        ]
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

    def remember(self, encoded: Sequence[EncodedPair]) -> None:
        super().remember([text for pair in encoded for text in (pair.first, pair.second)])


def compared_by(embedding: BaseEmbedding, batch: Batch) -> np.ndarray:
    """How the texts of pairs compare by the vectors of a base as it came, `[pairs, 4 * size + 15]` (see
    `compared_words`)."""
    sides = words_by(embedding, batch)
    pairs = len(sides) // 2
    found = np.zeros((pairs, compared_size(embedding.config.size)), dtype=np.float32)
    for place in range(pairs):
        found[place] = compared_words(sides[place], sides[pairs + place])
    return found


@torch.no_grad()
def words_by(embedding: BaseEmbedding, batch: Batch) -> list[PairSide]:
    """What `compared_words` reads of each text of a batch."""
    cuts = np.cumsum(batch.layout.sizes)[:-1]
    vectors = embedding.addends(batch.words, batch.spelling, trained=False).cpu().numpy()
    numbers = batch.words.values.cpu().numpy()
    return list(zip(np.split(numbers, cuts), np.split(vectors, cuts), strict=True))


class PairModel(OneLabel, PairReader):
    """A classifier of text pairs."""


class PairScorer(OneNumber, PairReader):
    """A model that gives text pairs a score, such as how similar they are."""


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
