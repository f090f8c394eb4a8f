"""Regressor: a number for each text, such as a rating or a price."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headwise.data.example import Example
from headwise.encoders.base import output_width
from headwise.features.encoded import Batch, EncodedText
from headwise.features.vocabulary import Vocabulary
from headwise.model import ModelConfig, TextModel, output_scale
from headwise.number_report import NumberEvaluation
from headwise.pooling import Readout
from headwise.tasks.classify import Classifier
from headwise.tasks.regress import Scale, score_numbers


class Regressor(TextModel):
    """A model that gives each text a number.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        scale: From the network's output to numbers.
        files: See `TextModel`.
    """

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        scale: Scale,
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, files)
        self.scale = scale
        self.readout = Readout(config.readout, output_width(config.encoder), config.encoder.width)
        self.regressor = Classifier(self.readout.width, 1, config.regressor.perceptron)

    @classmethod
    def from_parts(
        cls,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: Mapping[str, Any],
        files: Mapping[str, Any] | None = None,
    ) -> "Regressor":
        return cls(config, vocabulary, output_scale(outputs), files)

    def outputs_json(self) -> dict[str, Any]:
        return dict(self.scale.to_json())

    def forward(self, batch: Batch) -> Tensor:
        """Texts -> standardised numbers, `[texts, 1]`."""
        return self.regressor(self.readout(self.encode(batch)))

    @torch.no_grad()
    def scores(
        self, encoded: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Numbers of encoded texts, `[texts]` float64, in the order given."""
        out = np.zeros(len(encoded), dtype=np.float32)
        for places, batch in self.batches(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens):
            out[places] = self(batch)[:, 0].float().cpu().numpy()
        return self.scale.restore(out)

    def predict(self, texts: Iterable[str | Example], *, chunk: int = 4096) -> Iterator[float]:
        """Numbers in the order of the texts, which may be a stream of any length."""
        stream = iter(texts)
        while part := list(islice(stream, chunk)):
            yield from map(float, self.scores(self.features.encode(part)))


def evaluate_numbers(
    model: Regressor, texts: Sequence[str | Example], targets: np.ndarray
) -> NumberEvaluation:
    """Let a model give texts numbers, and compare with those that they have, `[texts]`.

    Raises:
        ValueError: There are no texts.
    """
    encoded = model.features.encode(texts)
    predicted = model.scores(encoded)
    return NumberEvaluation(
        scores=score_numbers(predicted, targets),
        unknown_words=sum(text.unknown for text in encoded) / max(sum(map(len, encoded)), 1),
        empty_texts=sum(len(text) == 0 for text in encoded),
        cut_texts=sum(text.cut > 0 for text in encoded),
        predicted=predicted,
    )
