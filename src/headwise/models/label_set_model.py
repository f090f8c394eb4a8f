"""LabelSetModel: any number of labels for each text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from headwise.data.chunks import in_chunks
from headwise.data.example import Example
from headwise.data.options import SEPARATOR
from headwise.errors import ConfigError
from headwise.features.vocabulary import Vocabulary
from headwise.models.expert_reader import LabelReader
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import OutputsError, TextReader, output_names


@dataclass(frozen=True)
class LabelSetPrediction:
    """What a model says of one text.

    Attributes:
        labels: The labels that it gives the text, in the order of `LabelSetModel.labels`; may be none.
        probabilities: Of every label, each by itself, in the order of `LabelSetModel.labels`.
        unknown_words: Share of the text's words that the vocabulary does not know.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: float


class LabelSetModel(LabelReader, TextReader):
    """A classifier that says of each label whether a text has it.

    Attributes:
        thresholds: The least probability with which each label is given, `[labels]`.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        labels: Names of the labels, in the order of the outputs.
        files: See `TextModel`.
        separator: What stands between labels where they are written in one cell.
    """

    SETS = True
    LABEL_FACTORS: ClassVar[dict[str, float]] = {"thresholds": 0.0}

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

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        separator = outputs.get("separator")
        if not isinstance(separator, str) or not separator.strip():
            raise OutputsError("'separator' is missing or no text")
        return {"labels": output_names(outputs, least=1), "separator": separator}

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "separator": self.separator}

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Calibrated probabilities of logits, both `[texts, labels]`; each label's stands by itself."""
        return expit(logits.astype(np.float64) / self.temperature)

    def given(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which labels texts get, `[texts, labels]`."""
        return probabilities >= np.array(self.thresholds)

    def predict(self, texts: Iterable[str | Example], *, chunk: int = 4096) -> Iterator[LabelSetPrediction]:
        """Predictions in the order of the texts, which may be a stream of any length."""
        for part in in_chunks(texts, chunk):
            encoded = self.features.encode(part)
            probabilities = self.probabilities(self.logits(encoded))
            rows = zip(encoded, probabilities, self.given(probabilities), strict=True)
            for text, row, given in rows:
                labels = tuple(name for name, own in zip(self.labels, given, strict=True) if own)
                yield LabelSetPrediction(labels, tuple(map(float, row)), text.unknown / max(len(text), 1))
