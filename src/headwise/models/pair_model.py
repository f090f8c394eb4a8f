"""PairModel and PairScorer: siamese models of text pairs."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.encoders.base import Encoded, output_width
from headwise.features.bases.embedding import BaseEmbedding
from headwise.features.encoded import Batch
from headwise.features.encoded_pair import EncodedPair
from headwise.features.encoded_pairs import batch_of_pairs
from headwise.layers.classify import ClassifierConfig
from headwise.layers.interaction import Interaction
from headwise.layers.pair import PairHead
from headwise.linear.pair_features import PairSide, compared_size
from headwise.models.answers.pairs import PairReads, compared_sides
from headwise.models.one_label import OneLabel
from headwise.models.one_number import OneNumber
from headwise.models.text_model import Reader, new_probe
from headwise.ragged import Ragged


class PairReader(PairReads, Reader):
    """Base class of models of text pairs.

    One encoder with shared weights encodes all texts of a batch of pairs in one ragged batch; the section
    `pair` of the configuration sets how two texts are combined.
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
        """Texts -> word vectors, and with a base's linear probe the comparison features of the pairs,
        `[pairs, 4 * size + 15]` (see `compared_by`), else the embedding's summaries."""
        words, cls = super().embed(batch)
        if isinstance(self.embedding, BaseEmbedding) and self.probe is not None:
            stored = batch.compared
            cls = torch.from_numpy(compared_by(self.embedding, batch)) if stored is None else stored
            cls = cls.to(words.values)
        return words, cls

    def forward(self, batch: Batch) -> Tensor:
        """The first texts of pairs, then the second texts -> `[pairs, outputs]`."""
        return self.read(self.encode(batch))

    def read(self, encoded: Encoded) -> Tensor:
        """States of the words of both texts -> `[pairs, outputs]`."""
        if self.interaction is not None:
            encoded = self.interaction(encoded)
        first, second = self.readout(encoded).chunk(2)
        outputs = self.head(first, second)
        return outputs if self.probe is None else outputs + self.probe(encoded.cls)

    @property
    def base_size(self) -> int:
        return self.embedding.config.size if isinstance(self.embedding, BaseEmbedding) else 0

    def compared(self, encoded: Sequence[EncodedPair]) -> np.ndarray:
        return compared_by(self.embedding, self.collate(encoded, self.device))  # type: ignore[arg-type]

    def remember(self, encoded: Sequence[EncodedPair]) -> None:
        super().remember([text for pair in encoded for text in (pair.first, pair.second)])


def compared_by(embedding: BaseEmbedding, batch: Batch) -> np.ndarray:
    """Comparison features of pairs from the uncorrected vectors of a base (see
    `PairReads.base_vectors`)."""
    return compared_sides(words_by(embedding, batch), embedding.config.size)


@torch.no_grad()
def words_by(embedding: BaseEmbedding, batch: Batch) -> list[PairSide]:
    """The input of `compared_words` for each text of a batch."""
    cuts = np.cumsum(batch.layout.sizes)[:-1]
    vectors = embedding.addends(batch.words, batch.spelling, trained=False).cpu().numpy()
    numbers = batch.words.values.cpu().numpy()
    return list(zip(np.split(numbers, cuts), np.split(vectors, cuts), strict=True))


class PairModel(OneLabel, PairReader):
    """A classifier of text pairs."""


class PairScorer(OneNumber, PairReader):
    """A regressor of text pairs, for scores such as similarity."""
