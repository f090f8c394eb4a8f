"""Regression predictions: predictor and record layout."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwise.data.rows import Row
from headwise.predictions.file import RecordLayout
from headwise.predictions.predictor import Predictor
from headwise.scores.scale import Scale


@dataclass(frozen=True)
class NumberLayout(RecordLayout):
    """The record layout of numbers: one added column, `prediction`, rounded to 6 significant digits of the
    standard deviation.

    Attributes:
        scale: The scale of the model's targets. Resuming a file compares standardised numbers.
    """

    scale: Scale = field(default_factory=lambda: Scale(0.0, 1.0))

    def record(self, row: Any, probabilities: np.ndarray) -> str:
        """A record of the file, with its line end; `probabilities` is the standardised number, `[1]`."""
        shown = self.scale.written(float(self.scale.restore(probabilities)[0]))
        if self.form == "jsonl":
            return f"{self.start(row)}{shown}}}\n"
        return self.start(row) + shown + "\n"

    def probabilities(self, record: str) -> list[float]:
        """The standardised number in a record of this layout."""
        if self.form == "jsonl":
            number = float(record[record.rindex(":") + 1 :].strip().rstrip("}"))
        else:
            number = float(record.rsplit(self._delimiter, 1)[1])
        return [(number - self.scale.mean) / self.scale.deviation]


class NumberPredictor(Predictor):
    """The predictor of a regression model: a prediction is the standardised number, `[1]`."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.sum, self.low, self.high = 0.0, np.inf, -np.inf

    def layout(self, form: str, rows: Sequence[Row[Any]]) -> RecordLayout:
        plain = RecordLayout.of(form, rows, ())
        return NumberLayout(form, plain.fields, (), plain.added[:1], self.model.scale)

    def predict_encoded(self, encoded: Sequence[Any]) -> np.ndarray:
        """Standardised numbers, `[items, 1]`."""
        numbers = self.model.scores(encoded, batch_tokens=self.batch_tokens)
        return self.model.scale.standardize(numbers)[:, None]

    def count(self, predictions: Any) -> None:
        numbers = self.model.scale.restore(predictions[:, 0])
        self.sum += float(numbers.sum())
        self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))

    def counted(self) -> list[str]:
        low, high, mean = map(self.model.scale.written, (self.low, self.high, self.sum / self.items))
        return [f"predicted {low} to {high}, mean {mean}"]
