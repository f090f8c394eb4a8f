"""Any number of labels for each text."""

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
    """What a model says of one text.

    Attributes:
        labels: The labels that it gives the text, in the order of `LabelSetAnswers.labels`; may be none.
        probabilities: Of every label, each by itself, in the order of `LabelSetAnswers.labels`.
        unknown_words: Share of the text's words that the vocabulary does not know.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: float


class LabelSetAnswers(WeighedLabels):
    """What a model says of each label: whether a text has it.

    Attributes:
        thresholds: The least probability with which each label is given, `[labels]`.
        separator: What stands between labels where they are written in one cell.
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
        """Calibrated probabilities of logits, both `[texts, labels]`; each label's stands by itself."""
        return expit(self.calibrated(logits))

    def given(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which labels texts get, `[texts, labels]`."""
        return probabilities >= np.array(self.thresholds)

    def predict(self, texts: Iterable[Any], *, chunk: int = 4096) -> Iterator[LabelSetPrediction]:
        """Predictions in the order of the texts, which may be a stream of any length."""
        for part in in_chunks(texts, chunk):
            encoded = self.encoded(part)
            probabilities = self.probabilities(self.logits(encoded))
            rows = zip(encoded, probabilities, self.given(probabilities), strict=True)
            for text, row, given in rows:
                labels = tuple(name for name, own in zip(self.labels, given, strict=True) if own)
                yield LabelSetPrediction(labels, tuple(map(float, row)), text.unknown / max(len(text), 1))
