"""Errors of predicted spans, one for each span that is wrong, with its kind.

Word by word, a missed name of five words would be five errors. Here a true span and a predicted one that
overlap are one error: of type, of ends, or of both. A true span without an overlap is missed, a predicted
one is spurious. These are the kinds of the MUC scorer (Chinchor & Sundheim 1993).
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from headwise.metrics.tag_schemes import TagSpan

KINDS = {
    "missed": "missed",
    "spurious": "spurious",
    "type": "other type",
    "ends": "other ends",
    "type and ends": "other type and ends",
}
"""The title of each kind. The ends of a span are its first and its last word."""


class SpanError(NamedTuple):
    """An error: the true span, the predicted span, or both if they overlap."""

    true: TagSpan | None
    predicted: TagSpan | None

    @property
    def kind(self) -> str:
        """The kind, a key of `KINDS`."""
        if self.predicted is None:
            return "missed"
        if self.true is None:
            return "spurious"
        if self.true[:2] == self.predicted[:2]:
            return "type"
        return "ends" if self.true.type == self.predicted.type else "type and ends"

    @property
    def words(self) -> tuple[int, int]:
        """The first word of the error, and the one after its last."""
        spans = [span for span in self if span is not None]
        return min(span.start for span in spans), max(span.end for span in spans)


def span_errors(predicted: Sequence[TagSpan], targets: Sequence[TagSpan]) -> list[SpanError]:
    """The errors of the predicted spans of a text, in the order of their words.

    Spans that overlap are paired, those with the most common words first.
    """
    right = set(predicted) & set(targets)
    true_spans = [span for span in targets if span not in right]
    guesses = [span for span in predicted if span not in right]
    overlaps = sorted(
        (-common, first, second)
        for first, truth in enumerate(true_spans)
        for second, guess in enumerate(guesses)
        if (common := min(truth.end, guess.end) - max(truth.start, guess.start)) > 0
    )
    pairs: dict[int, int] = {}
    for _, first, second in overlaps:
        if first not in pairs and second not in pairs.values():
            pairs[first] = second
    errors = [SpanError(true_spans[first], guesses[second]) for first, second in pairs.items()]
    errors += [SpanError(truth, None) for first, truth in enumerate(true_spans) if first not in pairs]
    paired = set(pairs.values())
    errors += [SpanError(None, guess) for second, guess in enumerate(guesses) if second not in paired]
    return sorted(errors, key=lambda error: error.words)


def count_span_errors(
    predicted: Sequence[Sequence[TagSpan]], targets: Sequence[Sequence[TagSpan]]
) -> dict[str, int]:
    """The number of errors of each kind in several texts."""
    counts = Counter(
        error.kind for pair in zip(predicted, targets, strict=True) for error in span_errors(*pair)
    )
    return {kind: counts[kind] for kind in KINDS}
