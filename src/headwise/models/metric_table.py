"""Metric tables: which scores of an evaluation the terminal, the model card and the HTML report show.

A metric table lists the keys in the JSON of an evaluation, with their titles and formats. A key that is
missing, or whose value is no number, is left out, as tables are also made from saved files.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwise.core.config import JsonMapping, is_number, lookup

MISSING = "–"


FORMATS: dict[str, Callable[[float], str]] = {
    "percent": lambda value: f"{100 * value:.1f} %",
    "count": "{:,.0f}".format,
    "nats": "{:.3f} nats".format,
    "label nats": "{:.3f} nats per label".format,
    "figure": "{:.4g}".format,
    "three": "{:,.3f}".format,
    "two": "{:.2f}".format,
}
"""The formats of numbers, by name."""


@dataclass(frozen=True)
class MetricRow:
    """A row of a metric table: one metric.

    Attributes:
        title: The title of the row.
        key: The key in the JSON; dots separate the levels.
        form: A key of `FORMATS`.
        interval: The key of its 95 % interval; empty if it has none.
        compared: Whether it is also shown for comparison systems.
        if_any: Whether it is left out if it is 0.
        card: Whether it is in the model card.
    """

    title: str
    key: str
    form: str = "percent"
    interval: str = ""
    compared: bool = True
    if_any: bool = False
    card: bool = False

    def shown(self, scores: JsonMapping) -> str:
        """The formatted value; "" if the scores do not have it."""
        return format_number(lookup(scores, self.key), self.form)

    def shown_interval(self, scores: JsonMapping) -> str:
        """The formatted 95 % interval; "" if the scores do not have it."""
        bounds = parse_interval(lookup(scores, self.interval))
        if bounds is None:
            return ""
        if self.form == "percent":
            return f"{100 * bounds[0]:.1f} – {100 * bounds[1]:.1f} %"
        return " – ".join(FORMATS[self.form](bound) for bound in bounds)


@dataclass(frozen=True)
class PerClassTable:
    """A per-class table: a row for each label, tag or entity type.

    Attributes:
        key: The key of the rows in the JSON, a list of objects.
        title: The title of the first column, such as `label`.
        name: The key of the class name in a row.
        count: The key of the number of items of the class, and the title of that column.
        lines: The metrics of each class.
    """

    key: str
    title: str
    name: str
    count: tuple[str, str]
    lines: tuple[MetricRow, ...]

    def rows(self, scores: JsonMapping) -> list[JsonMapping]:
        """The rows of the table in the scores; empty if they have none."""
        rows = lookup(scores, self.key)
        return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, Sequence) else []


@dataclass(frozen=True)
class DifferenceFormat:
    """The format of the paired difference between a model and a comparison system.

    Attributes:
        key: The key of the difference in the JSON of the comparison system.
        test: The statistical test of its p value.
        form: `points` (percentage points), or a key of `FORMATS`.
    """

    key: str = "score"
    test: str = "randomisation p"
    form: str = "points"

    def formatted(self, difference: Any) -> tuple[str, str, str] | None:
        """The formatted difference, interval and p value; None if the difference or interval is missing."""
        bounds = parse_interval(lookup(difference, "interval"))
        if bounds is None or not is_number(difference.get(self.key)):
            return None
        p = difference.get("p_value")
        chance = "" if not is_number(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"
        value = difference[self.key]
        scale, form, unit = (100, "+.1f", " points") if self.form == "points" else (1, "+.4g", "")
        shown, low, high = (_signed(scale * number, form) for number in (value, *bounds))
        between = "no difference" if float(low) == float(high) == 0 else f"{low} to {high}"
        return f"{shown}{unit}", between, chance


def _signed(number: float, form: str) -> str:
    """A number with its sign; what rounds to 0 has none."""
    text = format(number, form)
    return text if float(text) else text.lstrip("+-")


@dataclass(frozen=True)
class MetricTable:
    """The metric table of a task.

    Attributes:
        lines: The rows; the first is the primary metric.
        of: The plural noun of the items: texts, pairs, ...
        per_class: The table of per-class scores; None if there are no classes.
        ahead: The format of the difference to a comparison system.
        confusion: The key of the confusion matrix, whose rows are those of `per_class`; empty if none.
        lower: Whether a lower value of the primary metric is better.
    """

    lines: tuple[MetricRow, ...]
    of: str
    per_class: PerClassTable | None = None
    ahead: DifferenceFormat = DifferenceFormat()
    confusion: str = ""
    lower: bool = False

    @property
    def primary_metric(self) -> MetricRow:
        """The primary metric."""
        return self.lines[0]

    def summary(self, scores: JsonMapping) -> str:
        """The primary metric with its interval, as one line."""
        line = self.primary_metric
        bounds = line.shown_interval(scores)
        between = f" (95 % interval {bounds})" if bounds else ""
        return f"{line.title} {line.shown(scores) or MISSING}{between}"

    def matrix(self, scores: JsonMapping) -> Sequence[Sequence[int]] | None:
        """The confusion matrix: entry `[i][j]` counts items of class i that were predicted as class j, in
        the order of the rows of `per_class`; None if the scores have none."""
        saved = lookup(scores, self.confusion) if self.confusion else None
        if saved is None or self.per_class is None:
            return None
        size = len(self.per_class.rows(scores))
        try:
            if isinstance(saved, Mapping):  # with many labels only the nonzero cells are saved
                matrix = [[0] * size for _ in range(size)]
                for row, column, count in saved["cells"]:
                    matrix[row][column] = int(count)
            else:
                matrix = [[int(count) for count in row] for row in saved]
        except (LookupError, TypeError, ValueError, OverflowError):
            return None
        return matrix if len(matrix) == size and all(len(row) == size for row in matrix) else None


def coverage_rows(of: str = "texts") -> tuple[MetricRow, ...]:
    """The rows of vocabulary coverage, see
    `headwise.models.label_evaluation.VocabularyCoverage`."""
    return (
        MetricRow("unknown words", "unknown_words", compared=False),
        MetricRow(of, "texts", "count", compared=False),
        MetricRow("  without a word", "empty_texts", "count", compared=False, if_any=True),
        MetricRow("  cut short", "cut_texts", "count", compared=False, if_any=True),
    )


NOVELTY_ROWS = (
    MetricRow("out-of-scope AUROC", "novelty.auroc", "three", compared=False),
    MetricRow(
        "  out of scope, caught", "novelty.detected", interval="novelty.detected_interval", compared=False
    ),
    MetricRow("  in scope, kept", "novelty.retained", interval="novelty.retained_interval", compared=False),
    MetricRow("  right, unknown or label", "novelty.accuracy", compared=False),
)
"""The rows of novelty detection, see `headwise.metrics.novelty.NoveltyScores`."""
PER_CLASS_METRICS = (
    MetricRow("precision", "precision"),
    MetricRow("recall", "recall"),
    MetricRow("F1", "f1"),
)
"""The per-class metrics."""


def format_number(value: Any, form: str) -> str:
    """A number in one of `FORMATS`; "" if `value` is no number."""
    return FORMATS[form](value) if is_number(value) else ""


def parse_interval(bounds: Any) -> tuple[float, float] | None:
    """The two bounds of a saved interval; None if `bounds` is not two numbers."""
    if not isinstance(bounds, Sequence) or len(bounds) != 2 or not all(map(is_number, bounds)):
        return None
    return bounds[0], bounds[1]


MEANINGS = {
    "accuracy": "share of right predictions",
    "model ahead by": "difference from the comparison system on the same texts, with its interval; if that "
    "holds 0, the texts do not tell which is better",
    "macro F1": "mean of the F1 of all labels: rare ones count as much as frequent ones",
    "micro F1": "F1 of all pairs of a text and a label: frequent labels count most",
    "F1 of spans": "a span counts if its type and both ends are right",
    "all labels right": "share of texts with exactly the right set of labels",
    "missed": "true spans without a predicted span in their place",
    "spurious": "predicted spans without a true span in their place",
    "other ends": "spans of the right type that begin or end at another word",
    "log loss": "mean of -log of the probability that the truth was given; lower is better",
    "calibration error": "mean distance of probabilities from the share of right predictions",
    "answered": "share of the predictions that --unsure does not mark",
    "unknown words": "share of words that neither the training texts nor the pretrained vectors have",
}
"""The meaning of a row by its title."""


def meanings_of(titles: Iterable[str]) -> str:
    """A line for each title that has a meaning; "" if none has."""
    return "\n".join(f"{title}: {MEANINGS[title]}" for title in titles if title in MEANINGS)
