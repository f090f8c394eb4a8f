"""OneNumber: base class of regressors of texts and of pairs."""

from collections.abc import Mapping
from typing import Any

from headwise.features.vocabulary import Vocabulary
from headwise.models.answers.one_number import NumberAnswers
from headwise.models.expert_reader import ExpertReader
from headwise.models.model_config import ModelConfig
from headwise.scores.scale import Scale


class OneNumber(NumberAnswers, ExpertReader):
    """A regressor.

    Args:
        config: See `ModelConfig`.
        vocabulary: The word vocabulary.
        scale: Maps outputs of the network to the scale of the target.
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
