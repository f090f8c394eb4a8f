"""OneNumber: what models begin with that give each text or pair a number."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from headwise.data.chunks import in_chunks
from headwise.errors import ConfigError
from headwise.features.vocabulary import Vocabulary
from headwise.layers.regress import Scale
from headwise.models.expert_reader import ExpertReader
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import OutputsError


class OneNumber(ExpertReader):
    """A model of numbers. (A folder from before they had an expert says nothing of its weights.)

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        scale: From the network's output to numbers.
        files: See `TextModel`.
    """

    encoder_weight, expert_weight, expert_share = 1.0, 0.0, 0.0

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        scale: Scale,
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, 1, config.regressor.perceptron, files)
        self.scale = scale
        self.place_expert()

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return {"scale": Scale.from_json(outputs)}
        except ConfigError as error:
            raise OutputsError(error.args[0]) from None

    def outputs_json(self) -> dict[str, Any]:
        return dict(self.scale.to_json())

    def scores(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Numbers of encoded texts or pairs, `[texts]` float64, in the order given."""
        outputs = self.logits(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        return self.scale.restore(outputs[:, 0])

    def predict(self, items: Iterable[Any], *, chunk: int = 4096) -> Iterator[float]:
        """Numbers in the order of the texts or pairs, which may be a stream of any length."""
        for part in in_chunks(items, chunk):
            yield from map(float, self.scores(self.encoded(part)))
