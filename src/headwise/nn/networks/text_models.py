"""The models of texts and of text pairs: single-label and multi-label classifiers, and regressors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headwise.data.columns.reading_options import DEFAULT_LABEL_SEPARATOR
from headwise.linear.pair_features import PairSide, compare_pairs, dense_pair_size
from headwise.metrics.target_scale import Scale
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.embeddings.encoded_batches import TextBatch, batch_of_pairs
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_model import TextEncoderModel, new_probe
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.nn.task_layers.pair_layers import CrossAttentionLayers, PairHead
from headwise.runtime.ensemble_outputs import item_numbers
from headwise.runtime.outputs import (
    MultiLabelOutputs,
    NumberOutputs,
    OutputsType,
    SingleLabelOutputs,
)
from headwise.runtime.pair_outputs import PairInputs
from headwise.text.text_features import EncodedPair
from headwise.text.vocabulary import Vocabulary


class OneLabelModel(TextEncoderModel[SingleLabelOutputs], outputs=SingleLabelOutputs):
    """Base class of single-label classifiers.

    Args:
        config, vocabulary, files: See `TextEncoderModel`.
        labels: Names of the labels, in the order of the outputs.
    """

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, SingleLabelOutputs(labels), files)


class RegressionModel(TextEncoderModel[NumberOutputs], outputs=NumberOutputs):
    """Base class of regressors.

    Args:
        config, vocabulary, files: See `TextEncoderModel`.
        scale: Maps outputs of the network to the scale of the target.
    """

    scores = item_numbers

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        scale: Scale,
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, NumberOutputs(scale), files)


class TextClassifierModel(OneLabelModel):
    """A single-label text classifier; see `OneLabelModel`."""


class TextRegressorModel(RegressionModel):
    """A regressor: predicts a number for each text, such as a rating or a price; see `RegressionModel`."""


class MultiLabelModel(TextEncoderModel[MultiLabelOutputs], outputs=MultiLabelOutputs):
    """A multi-label text classifier.

    Args:
        config, vocabulary, files: See `TextEncoderModel`.
        labels: Names of the labels, in the order of the outputs.
        separator: Separator of labels that are written in one cell.
    """

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        files: Mapping[str, Any] | None = None,
        *,
        separator: str = DEFAULT_LABEL_SEPARATOR,
    ):
        super().__init__(config, vocabulary, MultiLabelOutputs(labels, separator), files)


class PairEncoderModel(PairInputs, TextEncoderModel[OutputsType]):
    """Base class of models of text pairs.

    One encoder with shared weights encodes all texts of a batch of pairs in one ragged batch; the section
    `pair` of the configuration sets how two texts are combined.
    """

    reads_pairs = True
    collate = staticmethod(batch_of_pairs)

    def create_head(self, perceptron: ClassifierConfig) -> None:
        width, pair = output_width(self.config.encoder), self.config.pair
        self.interaction = CrossAttentionLayers(width, pair) if pair.interaction != "none" else None
        self.head = PairHead(self.readout.width, self.outputs.count, pair, perceptron)
        self.probe = None
        if isinstance(self.embedding, BaseEmbedding) and self.config.base.probe:
            size = dense_pair_size(self.embedding.config.size)
            self.probe = new_probe(size, self.head, self.outputs.count)

    def embed(self, batch: TextBatch) -> tuple[Ragged, Tensor | None]:
        """Texts -> word vectors, and with a base's linear probe the comparison features of the pairs,
        `[pairs, 4 * size + 15]` (see `comparison_features_of`), else the embedding's summaries."""
        words, cls = super().embed(batch)
        if isinstance(self.embedding, BaseEmbedding) and self.probe is not None:
            cls = batch.compared
            if cls is None:
                cls = torch.from_numpy(comparison_features_of(self.embedding, batch))
            cls = cls.to(words.values)
        return words, cls

    def contextual(self, encoded: Encoded) -> Encoded:
        """States of words after cross-attention between the texts of each pair, if there is any."""
        return encoded if self.interaction is None else self.interaction(encoded)

    def read(self, encoded: Encoded) -> Tensor:
        """States of the words of both texts -> `[pairs, outputs]`."""
        encoded = self.contextual(encoded)
        first, second = self.readout(encoded).chunk(2)
        outputs = self.head(first, second)
        return outputs if self.probe is None else outputs + self.probe(encoded.cls)

    @property
    def base_size(self) -> int:
        return self.embedding.config.size if isinstance(self.embedding, BaseEmbedding) else 0

    def compared(self, encoded: Sequence[EncodedPair]) -> np.ndarray:
        return comparison_features_of(self.embedding, self.collate(encoded, self.device))  # type: ignore[arg-type]

    def pair_sides(self, encoded: Sequence[EncodedPair]) -> list[tuple[PairSide, PairSide]]:
        """The inputs of `dense_pair_features` for each pair."""
        batches = (self.collate([pair], self.device) for pair in encoded)
        sides = (pair_sides_of(self.embedding, batch) for batch in batches)  # type: ignore[arg-type]
        return [(first, second) for first, second in sides]

    def remember(self, encoded: Iterable[EncodedPair]) -> None:
        super().remember([text for pair in encoded for text in (pair.first, pair.second)])


def comparison_features_of(embedding: BaseEmbedding, batch: TextBatch) -> np.ndarray:
    """Comparison features of pairs from the uncorrected vectors of a base (see
    `PairInputs.base_vectors`)."""
    return compare_pairs(pair_sides_of(embedding, batch))


@torch.no_grad()
def pair_sides_of(embedding: BaseEmbedding, batch: TextBatch) -> list[PairSide]:
    """The input of `dense_pair_features` for each text of a batch."""
    cuts = np.cumsum(batch.layout.sizes)[:-1]
    vectors = embedding.word_contributions(batch.words, batch.spelling, trained=False).cpu().numpy()
    numbers = batch.words.values.cpu().numpy()
    return list(zip(np.split(numbers, cuts), np.split(vectors, cuts), strict=True))


class PairModel(PairEncoderModel[SingleLabelOutputs], OneLabelModel):
    """A classifier of text pairs; see `OneLabelModel`."""


class PairScorer(PairEncoderModel[NumberOutputs], RegressionModel):
    """A regressor of text pairs, for scores such as similarity; see `RegressionModel`."""
