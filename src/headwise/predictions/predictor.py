"""A model at work on the rows of a file: what it says, how that is written down, and a tally of it."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headwise.data.nouns import Nouns
from headwise.data.rows import Row
from headwise.features.parse_cache import trouble_of
from headwise.predictions.file import FORMS, RecordLayout
from headwise.report.remarks import Remark
from headwise.report.sheet import is_number, lookup
from headwise.scores.thresholds import decide

_MANY_UNKNOWN = 0.2
"""Share of unknown words up to which no text is doubtful."""
LISTED = 12  # labels in a summary


def unknown_in_tests(metrics: Any) -> float:
    """The share of unknown words in the texts that a model was tested on in training, by what its folder
    says; 0 where it says nothing."""
    share = lookup(metrics, "test.unknown_words")
    return share if is_number(share) else 0.0


def many_unknown(share: float, usual: float) -> bool:
    """Whether a share of unknown words makes predictions doubtful, where the texts of the test had so many.

    What is written in several languages, or full of names and numbers, has many unknown words always, and
    the scores of the test are with them.
    """
    return share > max(_MANY_UNKNOWN, min(1.5 * usual, (1 + usual) / 2))


class Said(NamedTuple):
    """What a model says of items, by whichever process.

    Attributes:
        found: A prediction for each.
        words: How many words they have, where the model reads words.
        unknown: Those that it does not know.
        cut: Items that were cut short.
        trouble: Why their parses could not be kept, if so.
    """

    found: Sequence[Any]
    words: int
    unknown: int
    cut: int
    trouble: str | None


class Predictor(ABC):
    """A model at work, and a tally of what it does.

    Args:
        model: Ready to predict.
        nouns: What its items are called.
        batch_tokens: Words that it reads at once.
        reading: What the user has said of how files are read.

    Attributes:
        least: The least probability of a prediction that is sure enough, to be set where somebody asks.
        usual: The share of unknown words in what it was tested on, to be set where that is known.
        trouble: Why parses could not be kept, if so.
    """

    forms: ClassVar[Mapping[str, str]] = FORMS
    """The formats of its predictions, by the suffix of their files."""
    form: ClassVar[str] = "csv"
    """The format on standard output."""

    def __init__(self, model: Any, nouns: Nouns, batch_tokens: int, reading: Mapping[str, Any]):
        self.model, self.nouns, self.batch_tokens, self.reading = model, nouns, batch_tokens, reading
        self.items = self.words = self.unknown = self.cut = self.unsure = 0
        self.least: float | None = None
        self.usual = 0.0
        self.trouble: str | None = None
        self.tally: Counter[str] = Counter()

    def layout(self, form: str, rows: Sequence[Row[Any]]) -> RecordLayout:
        """How the predictions of rows like these are written down.

        Raises:
            OutputError: HW603, the format cannot hold them.
        """
        return RecordLayout.of(
            form, rows, self.model.labels, self.least, getattr(self.model, "thresholds", None)
        )

    def encode(self, items: Sequence[Any]) -> Sequence[Any]:
        """What the model reads of items."""
        return self.model.encoded(items)

    @abstractmethod
    def said(self, encoded: Sequence[Any]) -> Any:
        """What the model says of encoded items, one prediction for each."""

    @abstractmethod
    def count(self, found: Sequence[Any]) -> None:
        """Note what was predicted."""

    @abstractmethod
    def counted(self) -> list[str]:
        """What there is to say of what was predicted."""

    def say(self, items: Sequence[Any]) -> Said:
        """Predictions of items, which are not yet counted."""
        encoded = self.encode(items)
        found, read = self.said(encoded), [item for item in encoded if hasattr(item, "unknown")]
        unknown, cut = sum(item.unknown for item in read), sum(item.cut > 0 for item in read)
        return Said(found, sum(map(len, read)), unknown, cut, trouble_of(self.model))

    def take(self, said: Said) -> Sequence[Any]:
        """Count what was said; returns the predictions."""
        self.items += len(said.found)
        self.count(said.found)
        self.words += said.words
        self.unknown += said.unknown
        self.cut += said.cut
        self.trouble = said.trouble or self.trouble
        return said.found

    def again(self, items: Sequence[Any]) -> Sequence[Any]:
        """The same without counting."""
        return self.said(self.encode(items))

    def summary(self, seconds: float) -> list[Remark]:
        """What there is to say at the end."""
        if not self.items:
            return [Remark("nothing was left to predict")]
        rate, unknown = self.items / max(seconds, 1e-9), self.unknown / max(self.words, 1)
        words = f"; {100 * unknown:.1f} % of their words are unknown" if self.words else ""
        many = self.nouns.many
        counted = self.nouns.count(self.items)
        first = f"{counted} predicted in {seconds:,.1f} s ({rate:,.0f} {many}/s){words}"
        remarks = [Remark(text) for text in (first, *self.counted())]
        if self.cut:
            remarks.append(
                Remark(
                    f"{self.cut:,} of them have more words than the model reads (--windows.long truncate): "
                    "cut short",
                    warning=True,
                )
            )
        if many_unknown(unknown, self.usual):
            remarks.append(
                Remark(
                    f"the model does not know {100 * unknown:.1f} % of the words; if the {many} are of "
                    "another kind or language than those it was trained on, its predictions mean little",
                    warning=True,
                )
            )
        return remarks


class LabelPredictor(Predictor):
    """A classifier at work: a prediction is the probabilities of all labels, `[labels]`."""

    def said(self, encoded: Sequence[Any]) -> np.ndarray:
        """Calibrated probabilities, `[items, labels]`."""
        return self.model.probabilities(self.model.logits(encoded, batch_tokens=self.batch_tokens))

    def count(self, found: Any) -> None:
        numbers = decide(found, self.model.thresholds)
        self.tally.update(self.model.labels[number] for number in numbers)
        if self.least is not None:
            self.unsure += int((found[np.arange(len(found)), numbers] < self.least).sum())

    def counted(self) -> list[str]:
        shown = [
            f"{label} {n:,} ({100 * n / self.items:.1f} %)" for label, n in self.tally.most_common(LISTED)
        ]
        rest = len(self.tally) - len(shown)
        told = ["predicted " + ", ".join(shown) + (f" and {rest:,} labels more" if rest else "")]
        if self.least is not None:
            share = 100 * self.unsure / self.items
            told.append(
                f"unsure of {self.unsure:,} ({share:.1f} %), with less than {100 * self.least:.1f} %"
            )
        return told
