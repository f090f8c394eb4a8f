"""Predictors: predict the rows of a file, choose the record layout, and count the predictions."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headwise.core.config import JsonMapping
from headwise.data.findings import count
from headwise.data.items.dataset import InputRow
from headwise.data.items.examples import DisplayNames
from headwise.linear.tabular_features import unseen_notes, unseen_values
from headwise.metrics.thresholds import predict_labels
from headwise.models.output_file import FORMATS
from headwise.models.prediction_file import RecordLayout
from headwise.models.report_parts import ReportMessage

_MANY_UNKNOWN = 0.2
"""The fraction of unknown words up to which predictions are never doubtful."""
MAX_LISTED = 6  # labels in a summary


def many_unknown(share: float, usual: float) -> bool:
    """Whether the fraction of unknown words `share` makes predictions doubtful, given that of the test
    texts.

    Texts in several languages, or full of names and numbers, always have many unknown words, and the test
    scores already reflect that.
    """
    return share > max(_MANY_UNKNOWN, min(1.5 * usual, (1 + usual) / 2))


class PredictionBatch(NamedTuple):
    """The predictions of a batch of items, also across processes.

    Attributes:
        predictions: A prediction for each item.
        words: The number of words of the items; 0 for items without words.
        unknown: The number of words that are not in the vocabulary.
        cut: The number of truncated items.
        parse_cache_warning: Why the parses could not be cached; None if they were.
        unseen: The number of items with a category that training did not have, by column.
    """

    predictions: Sequence[object]
    words: int
    unknown: int
    cut: int
    parse_cache_warning: str | None
    unseen: Counter[str]


class Predictor(ABC):
    """Predicts items with a model and counts the predictions.

    Args:
        model: The model, in eval mode.
        nouns: The display names of its items.
        batch_tokens: The number of words per batch.
        reading: The options of reading files that the user gave.

    Attributes:
        least: The confidence threshold of selective prediction; set by the caller, None without it.
        usual: The fraction of unknown words in the test texts; set by the caller.
        parse_cache_warning: Why parses could not be cached; None if they were.
    """

    formats: ClassVar[Mapping[str, str]] = FORMATS
    """The formats of the predictions, by file suffix."""
    form: ClassVar[str] = "csv"
    """The format for standard output."""

    def __init__(self, model: Any, nouns: DisplayNames, batch_tokens: int, reading: JsonMapping):
        self.model, self.nouns, self.batch_tokens, self.reading = model, nouns, batch_tokens, reading
        self.items = self.words = self.unknown = self.cut = self.unsure = 0
        self.least: float | None = None
        self.usual = 0.0
        self.parse_cache_warning: str | None = None
        self.counts: Counter[str] = Counter()
        self.unseen: Counter[str] = Counter()

    def layout(self, form: str, rows: Sequence[InputRow[Any]]) -> RecordLayout:
        """The record layout of the predictions of rows like these.

        Raises:
            OutputError: HW603, the format cannot hold them.
        """
        return RecordLayout.of(
            form,
            rows,
            self.model.labels,
            least=self.least,
            thresholds=getattr(self.model, "thresholds", None),
            novelty_threshold=self.novelty_threshold,
        )

    @property
    def novelty_threshold(self) -> float | None:
        """The novelty score above which a text is unknown; None for a model without a detector."""
        detector = getattr(self.model, "novelty", None)
        return None if detector is None else detector.threshold

    def encode(self, items: Sequence[object]) -> Sequence[Any]:
        """The items as the model encodes them."""
        return self.model.encoded(items)

    @abstractmethod
    def predict_encoded(self, encoded: Sequence[object]) -> Any:
        """Predict encoded items: one prediction for each."""

    @abstractmethod
    def count(self, predictions: Sequence[Any]) -> None:
        """Add predictions to the counts."""

    @abstractmethod
    def count_messages(self) -> list[str]:
        """Messages that summarise the counts."""

    def predict(self, items: Sequence[object]) -> PredictionBatch:
        """Predict items without counting them."""
        encoded = self.encode(items)
        predictions = self.predict_encoded(encoded)
        read = [item for item in encoded if hasattr(item, "unknown")]
        unknown, cut = sum(item.unknown for item in read), sum(item.cut > 0 for item in read)
        encodings = self.model.config.linear_model.tabular if hasattr(self.model, "config") else None
        unseen = unseen_values(encodings or (), items)
        trouble = self._parse_cache_warning()
        return PredictionBatch(predictions, sum(map(len, read)), unknown, cut, trouble, unseen)

    def _parse_cache_warning(self) -> str | None:
        if getattr(getattr(self.model, "features", None), "parser", None) is None:
            return None
        from headwise.text.parsing import cache_warning

        return cache_warning(self.model)

    def take(self, batch: PredictionBatch) -> Sequence[Any]:
        """Add a batch to the counts; returns its predictions."""
        self.items += len(batch.predictions)
        self.count(batch.predictions)
        self.words += batch.words
        self.unknown += batch.unknown
        self.cut += batch.cut
        self.parse_cache_warning = batch.parse_cache_warning or self.parse_cache_warning
        self.unseen += batch.unseen
        return batch.predictions

    def predict_uncounted(self, items: Sequence[object]) -> Sequence[Any]:
        """The predictions of items, without counting them."""
        return self.predict_encoded(self.encode(items))

    def summary(self, seconds: float) -> list[ReportMessage]:
        """The messages at the end of a prediction run of `seconds`."""
        if not self.items:
            return [ReportMessage("nothing was left to predict")]
        rate, unknown = self.items / max(seconds, 1e-9), self.unknown / max(self.words, 1)
        words = f"; {100 * unknown:.1f} % of their words are unknown" if self.words else ""
        many = self.nouns.many
        counted = self.nouns.count(self.items)
        first = f"{counted} predicted in {seconds:,.1f} s ({rate:,.0f} {many}/s){words}"
        messages = [ReportMessage(text) for text in (first, *self.count_messages())]
        messages += [ReportMessage(note) for note in unseen_notes(self.unseen, self.items)]
        if self.cut:
            messages.append(
                ReportMessage(
                    f"{self.cut:,} of them have more words than the model reads (--windows.long truncate): "
                    "cut short",
                    warning=True,
                )
            )
        if many_unknown(unknown, self.usual):
            messages.append(
                ReportMessage(
                    f"the model does not know {100 * unknown:.1f} % of the words; if the {many} are of "
                    "another kind or language than those it was trained on, its predictions mean little",
                    warning=True,
                )
            )
        return messages


class LabelPredictor(Predictor):
    """The predictor of a single-label classifier. A prediction is an array of the label probabilities,
    `[labels]`; a novelty detector appends its score."""

    outside = 0
    """The number of unknown items."""

    def predict_encoded(self, encoded: Sequence[object]) -> np.ndarray:
        """Calibrated probabilities, `[items, labels]`, or with the novelty score `[items, labels + 1]`."""
        logits = self.model.logits(encoded, batch_tokens=self.batch_tokens)
        probabilities = self.model.probabilities(logits)
        if self.novelty_threshold is None:
            return probabilities
        return np.column_stack([probabilities, self.model.novelty_scores(encoded, logits)])

    def count_unknown(self, predictions: np.ndarray) -> np.ndarray:
        """Count the unknown items; returns the probabilities alone, `[items, labels]`."""
        if self.novelty_threshold is None:
            return predictions
        self.outside += int((predictions[:, -1] > self.novelty_threshold).sum())
        return predictions[:, :-1]

    def unknown_messages(self) -> list[str]:
        """A message about the number of unknown items, if the model has a novelty detector."""
        if self.novelty_threshold is None:
            return []
        share = f"{100 * self.outside / self.items:.1f} %"
        return [f"unknown {self.outside:,} ({share}), unlike the training {self.nouns.many}"]

    def count(self, predictions: Any) -> None:
        predictions = self.count_unknown(predictions)
        numbers = predict_labels(predictions, self.model.thresholds)
        self.counts.update(self.model.labels[number] for number in numbers)
        if self.least is not None:
            self.unsure += int((predictions[np.arange(len(predictions)), numbers] < self.least).sum())

    def count_messages(self) -> list[str]:
        shown = [
            f"{label} {n:,} ({100 * n / self.items:.1f} %)"
            for label, n in self.counts.most_common(MAX_LISTED)
        ]
        rest = len(self.counts) - len(shown)
        lines = ["predicted " + ", ".join(shown) + (f" and {count(rest, 'more label')}" if rest else "")]
        if self.least is not None:
            share = 100 * self.unsure / self.items
            lines.append(
                f"unsure of {self.unsure:,} ({share:.1f} %), with less than {100 * self.least:.1f} %"
            )
        return [*lines, *self.unknown_messages()]
