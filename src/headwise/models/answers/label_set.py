"""Prediction of label sets (multi-label classification)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from headwise.data.chunks import in_chunks
from headwise.models.answers.outputs import OutputsError, output_names
from headwise.models.answers.weighed import WeighedLabels


@dataclass(frozen=True)
class LabelSetPrediction:
    """Prediction for one text.

    Attributes:
        labels: The predicted labels, in the order of `LabelSetAnswers.labels`; may be empty.
        probabilities: Independent probability of each label, in the order of `LabelSetAnswers.labels`.
        unknown_words: Share of out-of-vocabulary words, from 0 to 1.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: float


class LabelSetAnswers(WeighedLabels):
    """Mixin of multi-label classifiers.

    Attributes:
        thresholds: Smallest probability with which each label is predicted, `[labels]`.
        separator: Separator of labels that are written in one cell.
    """

    LABEL_FACTORS: ClassVar[dict[str, float]] = {"thresholds": 0.0, **WeighedLabels.LABEL_FACTORS}
    thresholds: list[float]
    separator: str

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        separator = outputs.get("separator")
        if not isinstance(separator, str) or not separator.strip():
            raise OutputsError("'separator' is missing or no text")
        return {"labels": output_names(outputs, least=1), "separator": separator}

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "separator": self.separator}

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits `[texts, labels]` -> calibrated probabilities of the same shape, independent by label."""
        return expit(self.calibrated(logits))

    def chosen_labels(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The predicted labels for probabilities `[texts, labels]`, bool of the same shape."""
        return probabilities >= np.array(self.thresholds)

    def predict(self, texts: Iterable[Any], *, chunk: int = 4096) -> Iterator[LabelSetPrediction]:
        """Predictions in the order of the texts, which may be a stream of any length."""
        for part in in_chunks(texts, chunk):
            encoded = self.encoded(part)
            probabilities = self.probabilities(self.logits(encoded))
            rows = zip(encoded, probabilities, self.chosen_labels(probabilities), strict=True)
            for text, row, chosen in rows:
                labels = tuple(
                    name for name, has_label in zip(self.labels, chosen, strict=True) if has_label
                )
                yield LabelSetPrediction(labels, tuple(map(float, row)), text.unknown / max(len(text), 1))
