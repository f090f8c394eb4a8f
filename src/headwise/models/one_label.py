"""OneLabel: base class of single-label classifiers of texts and of pairs."""

from collections.abc import Mapping, Sequence
from typing import Any

from headwise.errors import ConfigError
from headwise.features.vocabulary import Vocabulary
from headwise.models.answers.one_label import OneLabelAnswers
from headwise.models.expert_reader import LabelReader
from headwise.models.model_config import ModelConfig


class OneLabel(OneLabelAnswers, LabelReader):
    """A single-label classifier.

    Args:
        config: See `ModelConfig`.
        vocabulary: The word vocabulary.
        labels: Names of the labels, in the order of the outputs.
        files: See `TextModel`.
    """

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


def check_classes(labels: Sequence[str]) -> None:
    """Raise an error unless a classifier can choose between these labels."""
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise ConfigError(f"a classifier needs two or more different labels, got {list(labels)}")
