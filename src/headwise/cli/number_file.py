"""Predictions that are numbers: how they are made and written down."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwise.cli.console import note, percent, warn
from headwise.cli.long_texts import tell_cut
from headwise.cli.predict_texts import MANY_UNKNOWN, Labeller
from headwise.cli.prediction_file import Form, Layout
from headwise.layers.regress import Scale


@dataclass(frozen=True)
class NumberLayout(Layout):
    """How predicted numbers are written down: one column, `prediction`, with 6 significant digits of the
    deviation.

    Attributes:
        scale: Of the model's targets. Numbers are compared in it when a file is resumed.
    """

    scale: Scale = field(default_factory=lambda: Scale(0.0, 1.0))

    @classmethod
    def scaled(cls, scale: Scale) -> Callable[[Form, Iterable[Any], Sequence[str]], Layout]:
        """Makes layouts for a model with this scale."""

        def of(form: Form, rows: Iterable[Any], labels: Sequence[str]) -> Layout:
            plain = Layout.of(form, rows, ())
            return cls(form, plain.fields, (), plain.added[:1], scale)

        return of

    def record(self, row: Any, probabilities: np.ndarray) -> str:
        """One record with its line end; `probabilities` is the standardised number, `[1]`."""
        number = float(self.scale.restore(probabilities)[0])
        shown = f"{round(number, self._places):.{max(self._places, 0)}f}"
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

    @property
    def _places(self) -> int:
        """Digits behind the point."""
        return min(15, 5 - int(np.floor(np.log10(self.scale.deviation))))


class NumberLabeller(Labeller):
    """A model of numbers at work."""

    def __init__(self, model: Any, batch_tokens: int):
        super().__init__(model, batch_tokens)
        self.numbers: list[tuple[int, float, float, float]] = []

    def probabilities(self, rows: Sequence[Any]) -> np.ndarray:
        """Standardised numbers, `[rows, 1]`."""
        encoded = self.encode(rows)
        found = self.standardized(encoded)
        self.note_words(encoded)
        numbers = self.model.scale.restore(found[:, 0])
        self.numbers.append(
            (len(numbers), float(numbers.sum()), float(numbers.min()), float(numbers.max()))
        )
        return found

    def standardized(self, encoded: Sequence[Any]) -> np.ndarray:
        """What the model says of encoded texts, `[texts, 1]`."""
        numbers = self.model.scores(encoded, batch_tokens=self.batch_tokens)
        return self.model.scale.standardize(numbers)[:, None]

    def summarise(self) -> None:
        """Say how many numbers there are, and what they are like."""
        if not self.numbers:
            note("nothing was left to predict")
            return
        texts = sum(part[0] for part in self.numbers)
        mean = sum(part[1] for part in self.numbers) / texts
        low, high = min(part[2] for part in self.numbers), max(part[3] for part in self.numbers)
        unknown = self.tally.unknown / max(self.tally.words, 1)
        rate = texts / max(self.tally.seconds, 1e-9)
        note(
            f"{texts:,} predicted in {self.tally.seconds:,.1f} s ({rate:,.0f}/s): {low:g} to {high:g}, "
            f"mean {mean:g}; {percent(unknown)} of the words are unknown"
        )
        tell_cut(self.tally.cut)
        if unknown > MANY_UNKNOWN:
            warn(f"the model does not know {percent(unknown)} of the words: its numbers may mean little")
