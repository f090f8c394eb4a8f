"""Prediction of one label for each text or pair."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from headwise.data.chunks import in_chunks
from headwise.models.answers.outputs import output_names
from headwise.models.answers.weighed import WeighedLabels
from headwise.scores.thresholds import decide


@dataclass(frozen=True)
class Prediction:
    """Prediction for one text or pair.

    Attributes:
        label: The most probable label, or the label chosen by the thresholds.
        probabilities: Probability of each label, in the order of the model's `labels`; they sum to 1.
        unknown_words: Share of out-of-vocabulary words, from 0 to 1.
    """

    label: str
    probabilities: tuple[float, ...]
    unknown_words: float


class OneLabelAnswers(WeighedLabels):
    """Mixin of single-label classifiers.

    Attributes:
        thresholds: Thresholds of the labels, see `headwise.scores.thresholds.decide`; None: the most
            probable label is predicted.
    """

    LABEL_FACTORS: ClassVar[dict[str, float]] = {"thresholds": 1e-9, **WeighedLabels.LABEL_FACTORS}
    thresholds: list[float] | None = None

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"labels": output_names(outputs)}

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Logits `[texts, labels]` -> calibrated probabilities of the same shape."""
        return softmax(self.calibrated(logits), axis=1)

    def predict(self, items: Iterable[Any], *, chunk: int = 4096) -> Iterator[Prediction]:
        """Predictions in the order of the texts or pairs, which may be a stream of any length.

        They are processed `chunk` at a time, so memory does not grow with their number.
        """
        for part in in_chunks(items, chunk):
            encoded = self.encoded(part)
            for item, row in zip(encoded, self.probabilities(self.logits(encoded)), strict=True):
                unknown = item.unknown / max(len(item), 1)
                label = self.labels[int(decide(row, self.thresholds))]
                yield Prediction(label, tuple(map(float, row)), unknown)
