"""OneNumber: what models begin with that give each text or pair a number."""

from collections.abc import Mapping
from typing import Any

from headwise.features.vocabulary import Vocabulary
from headwise.models.answers.one_number import NumberAnswers
from headwise.models.expert_reader import ExpertReader
from headwise.models.model_config import ModelConfig
from headwise.scores.scale import Scale


class OneNumber(NumberAnswers, ExpertReader):
    """A model of numbers.

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
        super().__init__(config, vocabulary, 1, config.regressor.perceptron, files)
        self.scale = scale
        self.place_expert()
