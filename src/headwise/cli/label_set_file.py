"""Predictions that are sets of labels: how they are made and written down."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwise.cli.console import note, percent
from headwise.cli.long_texts import tell_cut
from headwise.cli.predict_texts import Labeller, Tally, tell_unknown
from headwise.cli.prediction_file import Form, Layout, OutputError, json_text
from headwise.models.label_set_model import LabelSetModel

_LISTED = 12  # labels in the summary


@dataclass(frozen=True)
class LabelSetLayout(Layout):
    """How predicted sets are written down: `prediction`, the labels with the separator between them (a list
    in jsonl), and then the probability of every label.

    Attributes:
        thresholds: The least probability with which each label is given.
        separator: What stands between labels.
    """

    thresholds: tuple[float, ...] = ()
    separator: str = "|"

    @classmethod
    def of_model(
        cls, model: LabelSetModel, separator: str
    ) -> Callable[[Form, Iterable[Any], Sequence[str]], Layout]:
        """A maker of layouts for a model. In tables no label may hold the separator, as cells could not be
        read again: that is an `OutputError` (HW603)."""

        def of(form: Form, rows: Iterable[Any], labels: Sequence[str]) -> Layout:
            bad = next((label for label in labels if separator in label), None)
            if form != "jsonl" and bad is not None:
                raise OutputError(
                    f"the label {bad!r} holds {separator!r}, which is to stand between labels; give "
                    "another --label-separator, or write the predictions as jsonl (--format-out jsonl)",
                    code="HW603",
                )
            plain = Layout.of(form, rows, labels)
            added = (plain.added[0], *plain.added[2:])
            return cls(form, plain.fields, plain.labels, added, tuple(model.thresholds), separator)

        return of

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


class LabelSetLabeller(Labeller):
    """A model of label sets at work."""

    def __init__(self, model: LabelSetModel, batch_tokens: int):
        super().__init__(model, batch_tokens)
        self.texts = self.bare = 0

    def count(self, probabilities: np.ndarray) -> None:
        given = self.model.given(probabilities)
        self.texts += len(given)
        self.bare += int((~given.any(1)).sum())
        self.tally.labels.update(
            Counter({name: int(times) for name, times in zip(self.model.labels, given.sum(0), strict=True)})
        )

    def summarise(self) -> None:
        """Say how many texts there were, and which labels they got."""
        if not self.texts:
            note("nothing was left to predict")
            return
        tally: Tally = self.tally
        rate = self.texts / max(tally.seconds, 1e-9)
        unknown = tally.unknown / max(tally.words, 1)
        note(
            f"{self.texts:,} texts predicted in {tally.seconds:,.1f} s ({rate:,.0f} texts/s); "
            f"{percent(unknown)} of their words are unknown"
        )
        common = [(label, n) for label, n in tally.labels.most_common() if n]
        counts = [f"{label} {n:,} ({percent(n / self.texts)})" for label, n in common[:_LISTED]]
        rest = len(common) - len(counts)
        counts += [f"{rest:,} labels more"] if rest else []
        counts.append(f"no label {self.bare:,} ({percent(self.bare / self.texts)})")
        note("predicted " + ", ".join(counts))
        tell_cut(tally.cut)
        tell_unknown(unknown)
