"""LabelSetModel: a multi-label text classifier."""

from collections.abc import Mapping, Sequence
from typing import Any

from headwise.data.options import SEPARATOR
from headwise.errors import ConfigError
from headwise.features.vocabulary import Vocabulary
from headwise.models.answers.label_set import LabelSetAnswers
from headwise.models.expert_reader import LabelReader
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import TextReader


class LabelSetModel(LabelSetAnswers, LabelReader, TextReader):
    """A multi-label text classifier.

    Args:
        config: See `ModelConfig`.
        vocabulary: The word vocabulary.
        labels: Names of the labels, in the order of the outputs.
        files: See `TextModel`.
        separator: Separator of labels that are written in one cell.
    """

    SETS = True

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        files: Mapping[str, Any] | None = None,
        *,
        separator: str = SEPARATOR,
    ):
        if not labels or len(set(labels)) < len(labels):
            raise ConfigError(f"one or more different labels are needed, got {list(labels)}")
        super().__init__(config, vocabulary, len(labels), config.classifier, files)
        self.labels = tuple(labels)
        self.separator = separator
        self.place_expert()
        self.thresholds = [0.5] * len(labels)
