"""OneLabel: what classifiers of texts and of pairs begin with; one of the labels for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from headwise.data.chunks import in_chunks
from headwise.errors import ConfigError
from headwise.features.vocabulary import Vocabulary
from headwise.models.expert_reader import LabelReader
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import output_names
from headwise.scores.thresholds import decide


@dataclass(frozen=True)
class Prediction:
    """What a model says of one text or pair.

    Attributes:
        label: The most probable label, or what the thresholds say.
        probabilities: Of every label, in the order of the model's `labels`; they add up to 1.
        unknown_words: Share of the words that the vocabulary does not know.
    """

    label: str
    probabilities: tuple[float, ...]
    unknown_words: float


class OneLabel(LabelReader):
    """A model that chooses one of its labels.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        labels: Names of the labels, in the order of the outputs.
        files: See `TextModel`.

    Attributes:
        thresholds: Of the labels, see `headwise.scores.thresholds.decide`; None where the most probable
            label is given.
    """

    LABEL_FACTORS: ClassVar[dict[str, float]] = {"thresholds": 1e-9}
    thresholds: list[float] | None = None

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

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"labels": output_names(outputs)}

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[texts, labels]`."""
        return softmax(logits.astype(np.float64) / self.temperature, axis=1)

    def predict(self, items: Iterable[Any], *, chunk: int = 4096) -> Iterator[Prediction]:
        """Predictions in the order of the texts or pairs, which may be a stream of any length.

        They are taken `chunk` at a time, so memory does not grow with their number.
        """
        for part in in_chunks(items, chunk):
            encoded = self.encoded(part)
            for item, row in zip(encoded, self.probabilities(self.logits(encoded)), strict=True):
                unknown = item.unknown / max(len(item), 1)
                label = self.labels[int(decide(row, self.thresholds))]
                yield Prediction(label, tuple(map(float, row)), unknown)


def check_classes(labels: Sequence[str]) -> None:
    """Raise an error unless a classifier can choose between these labels."""
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise ConfigError(f"a classifier needs two or more different labels, got {list(labels)}")
