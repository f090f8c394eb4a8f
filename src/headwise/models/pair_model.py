"""PairModel: what holds between two texts, which one encoder reads both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import softmax
from torch import Tensor

from headwise.data.chunks import in_chunks, several
from headwise.data.pair import Pair
from headwise.encoders.base import output_width
from headwise.encoders.pooling import Readout
from headwise.errors import ConfigError
from headwise.features.encoded import Batch
from headwise.features.encoded_pairs import EncodedPair, batch_of_pairs, encode_pairs
from headwise.features.vocabulary import Vocabulary
from headwise.layers.classify import ClassifierConfig
from headwise.layers.pair import CrossInteraction, PairHead
from headwise.layers.regress import Scale
from headwise.linear.pair_expert import PairExpert
from headwise.models.classifier import Prediction, check_classes
from headwise.models.expert_reader import ExpertReader
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import Reader, output_names, output_scale


class PairReader(Reader):
    """What models of text pairs begin with: from pairs to outputs.

    All texts of a batch of pairs are encoded together, in one ragged batch, with the same weights.

    Args:
        config: See `ModelConfig`; its `pair` says how two texts come together.
        vocabulary: The words that it knows.
        outputs: Outputs for each pair.
        perceptron: The layers above both texts' vectors.
        files: See `TextModel`.
    """

    collate = staticmethod(batch_of_pairs)

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: int,
        perceptron: ClassifierConfig,
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, files)
        width = output_width(config.encoder)
        crossed = config.pair.interaction == "cross"
        self.interaction = CrossInteraction(width, config.pair) if crossed else None
        self.readout = Readout(config.readout, width, config.encoder.width)
        self.head = PairHead(self.readout.width, outputs, config.pair, perceptron)
        self.outputs = outputs

    def forward(self, batch: Batch) -> Tensor:
        """The first texts of pairs, and then their second texts -> `[pairs, outputs]`."""
        encoded = self.encode(batch)
        if self.interaction is not None:
            encoded = self.interaction(encoded)
        first, second = self.readout(encoded).chunk(2)
        return self.head(first, second)

    def encoded(self, items: Sequence[Pair]) -> list[EncodedPair]:
        """What the model reads of pairs."""
        return encode_pairs(self.features, items)

    def remember(self, encoded: Sequence[EncodedPair]) -> None:
        super().remember([text for pair in encoded for text in (pair.first, pair.second)])


class PairModel(ExpertReader, PairReader):
    """A classifier of text pairs.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        labels: Names of the labels, in the order of the outputs.
        files: See `TextModel`.
    """

    EXPERT = PairExpert

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        files: Mapping[str, Any] | None = None,
    ):
        check_classes(labels)
        super().__init__(config, vocabulary, len(labels), config.classifier, files)
        self.labels = tuple(labels)
        self.place_expert()

    @classmethod
    def from_parts(
        cls,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: Mapping[str, Any],
        files: Mapping[str, Any] | None = None,
    ) -> "PairModel":
        return cls(config, vocabulary, output_names(outputs), files)

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

    @staticmethod
    def expert_reads(encoded: Sequence[EncodedPair]) -> list[tuple[np.ndarray, np.ndarray]]:
        """The word numbers of both texts of each pair."""
        return [(pair.first.words, pair.second.words) for pair in encoded]

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[pairs, labels]`."""
        return softmax(logits.astype(np.float64) / self.temperature, axis=1)

    def predict_proba(self, pairs: Sequence[Pair | tuple[str, str]]) -> np.ndarray:
        """Calibrated probabilities, `[pairs, labels]`, float64."""
        return self.probabilities(self.logits(self.encoded(list(map(as_pair, several(pairs))))))

    def predict(
        self, pairs: Iterable[Pair | tuple[str, str]], *, chunk: int = 4096
    ) -> Iterator[Prediction]:
        """Predictions in the order of the pairs, which may be a stream of any length; memory does not grow
        with it, as they are taken `chunk` at a time."""
        for part in in_chunks(map(as_pair, several(pairs)), chunk):
            encoded = self.encoded(part)
            for pair, row in zip(encoded, self.probabilities(self.logits(encoded)), strict=True):
                unknown = pair.unknown / max(len(pair), 1)
                yield Prediction(self.labels[int(row.argmax())], tuple(map(float, row)), unknown)


class PairScorer(PairReader):
    """A model that gives text pairs a score, such as how similar they are.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        scale: From the network's output to scores.
        files: See `TextModel`.
    """

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        scale: Scale,
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, 1, config.regressor.perceptron, files)
        self.scale = scale

    @classmethod
    def from_parts(
        cls,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: Mapping[str, Any],
        files: Mapping[str, Any] | None = None,
    ) -> "PairScorer":
        return cls(config, vocabulary, output_scale(outputs), files)

    def outputs_json(self) -> dict[str, Any]:
        return self.scale.to_json()

    def scores(
        self, encoded: Sequence[EncodedPair], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Scores of encoded pairs, `[pairs]` float64, in the order given."""
        outputs = self.outputs_of(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        return self.scale.restore(outputs[:, 0])

    def predict(self, pairs: Iterable[Pair | tuple[str, str]], *, chunk: int = 4096) -> Iterator[float]:
        """Scores in the order of the pairs, which may be a stream of any length."""
        for part in in_chunks(map(as_pair, several(pairs)), chunk):
            yield from map(float, self.scores(self.encoded(part)))


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
