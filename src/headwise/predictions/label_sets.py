"""Multi-label predictions: predictor and record layout."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwise.data.rows import Row
from headwise.predictions.file import OutputError, RecordLayout, json_text
from headwise.predictions.predictor import LISTED, LabelPredictor


@dataclass(frozen=True)
class LabelSetLayout(RecordLayout):
    """The record layout of label sets: `prediction`, the predicted labels joined by the separator (a list
    in jsonl), and then the probability of every label.

    Attributes:
        thresholds: A label is predicted from this probability on, `[labels]`.
        separator: The separator between labels.
    """

    thresholds: tuple[float, ...] = ()
    separator: str = "|"

    def record(self, row: Any, probabilities: np.ndarray) -> str:
        """A record of the file, with its line end; `probabilities` is `[labels]`."""
        shown = [f"{probability:.6g}" for probability in probabilities]
        predicted = [
            name
            for name, is_predicted in zip(self.labels, probabilities >= self.thresholds, strict=True)
            if is_predicted
        ]
        if self.form != "jsonl":
            return self.start(row) + self._line([self.separator.join(predicted), *shown])
        pairs = ", ".join(f"{json_text(name)}: {p}" for name, p in zip(self.labels, shown, strict=True))
        probabilities_key = json_text(self.added[1])
        return f"{self.start(row)}{json_text(predicted)}, {probabilities_key}: {{{pairs}}}}}\n"


class LabelSetPredictor(LabelPredictor):
    """The predictor of a multi-label classifier: a prediction is the probabilities, `[labels]`."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.bare = 0

    def layout(self, form: str, rows: Sequence[Row[Any]]) -> RecordLayout:
        """The record layout, see `Predictor.layout`.

        Raises:
            OutputError: HW603, a label contains the separator, so that a table could not be read again.
        """
        labels, separator = self.model.labels, self.reading.get("label_separator") or self.model.separator
        bad = next((label for label in labels if separator in label), None)
        if form != "jsonl" and bad is not None:
            raise OutputError(
                f"the label {bad!r} holds {separator!r}, which is to stand between labels; give "
                "another --label-separator, or write the predictions as jsonl (--format-out jsonl)",
                code="HW603",
            )
        plain = RecordLayout.of(form, rows, labels)
        added = (plain.added[0], *plain.added[2:])
        thresholds = tuple(self.model.thresholds)
        return LabelSetLayout(form, plain.fields, plain.labels, added, thresholds, separator)

    def count(self, predictions: Any) -> None:
        predicted = self.model.chosen_labels(predictions)
        self.bare += int((~predicted.any(1)).sum())
        for name, times in zip(self.model.labels, predicted.sum(0).tolist(), strict=True):
            self.tally[name] += times

    def counted(self) -> list[str]:
        common = [(label, n) for label, n in self.tally.most_common() if n]
        shown = [f"{label} {n:,} ({100 * n / self.items:.1f} %)" for label, n in common[:LISTED]]
        rest = len(common) - len(shown)
        shown += [f"{rest:,} labels more"] if rest else []
        shown.append(f"no label {self.bare:,} ({100 * self.bare / self.items:.1f} %)")
        return ["predicted " + ", ".join(shown)]
