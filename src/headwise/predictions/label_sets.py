"""Predictions that are sets of labels: how they are made and written down."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwise.data.rows import Row
from headwise.predictions.file import OutputError, RecordLayout, json_text
from headwise.predictions.predictor import LISTED, LabelPredictor


@dataclass(frozen=True)
class LabelSetLayout(RecordLayout):
    """How predicted sets are written down: `prediction`, the labels with the separator between them (a list
    in jsonl), and then the probability of every label.

    Attributes:
        thresholds: The least probability with which each label is given.
        separator: What stands between labels.
    """

    thresholds: tuple[float, ...] = ()
    separator: str = "|"

    def record(self, row: Any, probabilities: np.ndarray) -> str:
        """One record with its line end; `probabilities` is `[labels]`."""
        shown = [f"{probability:.6g}" for probability in probabilities]
        given = [
            name for name, own in zip(self.labels, probabilities >= self.thresholds, strict=True) if own
        ]
        if self.form != "jsonl":
            return self.start(row) + self._line([self.separator.join(given), *shown])
        pairs = ", ".join(f"{json_text(name)}: {p}" for name, p in zip(self.labels, shown, strict=True))
        each = json_text(self.added[1])
        return f"{self.start(row)}{json_text(given)}, {each}: {{{pairs}}}}}\n"


class LabelSetPredictor(LabelPredictor):
    """A model of label sets at work."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.bare = 0

    def layout(self, form: str, rows: Sequence[Row[Any]]) -> RecordLayout:
        """As for all predictors. In tables no label may hold the separator, as cells could not be read
        again: that is an `OutputError` (HW603)."""
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

    def count(self, found: Any) -> None:
        given = self.model.given(found)
        self.bare += int((~given.any(1)).sum())
        for name, times in zip(self.model.labels, given.sum(0).tolist(), strict=True):
            self.tally[name] += times

    def counted(self) -> list[str]:
        common = [(label, n) for label, n in self.tally.most_common() if n]
        shown = [f"{label} {n:,} ({100 * n / self.items:.1f} %)" for label, n in common[:LISTED]]
        rest = len(common) - len(shown)
        shown += [f"{rest:,} labels more"] if rest else []
        shown.append(f"no label {self.bare:,} ({100 * self.bare / self.items:.1f} %)")
        return ["predicted " + ", ".join(shown)]
