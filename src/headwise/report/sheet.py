"""A sheet: the rows of a report, which terminal, model card and later pages draw alike.

A sheet says which of the numbers in the JSON of an evaluation are shown, under which title and in which
format. What is not in the JSON, or is no number, is left out: a sheet is also drawn from saved files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

MISSING = "–"


def _plain(form: str) -> Callable[[float], str]:
    return lambda value: format(value, form)


FORMS: dict[str, Callable[[float], str]] = {
    "percent": lambda value: f"{100 * value:.1f} %",
    "count": lambda value: f"{value:,.0f}",
    "nats": lambda value: f"{value:.3f} nats",
    "label nats": lambda value: f"{value:.3f} nats a label",
    "figure": _plain(".4g"),
    "three": _plain(",.3f"),
    "two": _plain(".2f"),
}
"""How numbers are written."""


@dataclass(frozen=True)
class Line:
    """One number of a report.

    Attributes:
        title: What it is called.
        key: Where it stands in the JSON; a dot goes down one level.
        form: One of `FORMS`.
        interval: Where its 95 % interval stands, if it has one.
        rivals: Whether it is told of rivals too.
        if_any: Whether it is left out where it is 0.
        card: Whether it stands in the model card.
    """

    title: str
    key: str
    form: str = "percent"
    interval: str = ""
    rivals: bool = True
    if_any: bool = False
    card: bool = False

    def shown(self, scores: Mapping[str, Any]) -> str:
        """The number of these scores; "" where there is none."""
        return shown(lookup(scores, self.key), self.form)

    def shown_interval(self, scores: Mapping[str, Any]) -> str:
        """Its 95 % interval; "" where there is none."""
        bounds = bounds_of(lookup(scores, self.interval))
        if bounds is None:
            return ""
        if self.form == "percent":
            return f"{100 * bounds[0]:.1f} – {100 * bounds[1]:.1f} %"
        return " – ".join(FORMS[self.form](bound) for bound in bounds)


@dataclass(frozen=True)
class Each:
    """A table with a row for each label, tag or type.

    Attributes:
        key: Where the rows stand in the JSON: a list of objects.
        title: What each is.
        name: The key of its name.
        count: The key of how many items have it, and the title of that column.
        lines: What else is told of each.
    """

    key: str
    title: str
    name: str
    count: tuple[str, str]
    lines: tuple[Line, ...]

    def rows(self, scores: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The rows in these scores."""
        found = lookup(scores, self.key)
        return [row for row in found if isinstance(row, Mapping)] if isinstance(found, Sequence) else []


@dataclass(frozen=True)
class Ahead:
    """How far a model is ahead of a rival, item by item.

    Attributes:
        key: What the difference is called in the JSON of a rival.
        test: What its p value is of.
        form: `points` of 100, or one of `FORMS`.
    """

    key: str = "score"
    test: str = "randomisation p"
    form: str = "points"

    def gap(self, difference: Any) -> tuple[str, str, str] | None:
        """The difference, its interval and its p value, as they are shown; None where one is missing."""
        bounds = bounds_of(lookup(difference, "interval"))
        if bounds is None or not is_number(difference.get(self.key)):
            return None
        p = difference.get("p_value")
        chance = "" if not is_number(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"
        value = difference[self.key]
        if self.form == "points":
            low, high = (f"{100 * bound:+.1f}" for bound in bounds)
            return f"{100 * value:+.1f} points", f"{low} to {high}", chance
        low, high = (f"{bound:+.4g}" for bound in bounds)
        return f"{value:+.4g}", f"{low} to {high}", chance


@dataclass(frozen=True)
class Sheet:
    """What is told of an evaluation.

    Attributes:
        lines: The scores as a whole; the first is the one that models are compared by.
        of: What was judged: texts, pairs, ...
        each: The labels one by one.
        ahead: What is told of the difference to a rival.
        confusion: Where a matrix stands of what is taken for what, by the rows of `each`.
        lower: Whether a lower value of the first line is better.
    """

    lines: tuple[Line, ...]
    of: str
    each: Each | None = None
    ahead: Ahead = Ahead()
    confusion: str = ""
    lower: bool = False

    @property
    def headline(self) -> Line:
        """The score that models are compared by."""
        return self.lines[0]

    def matrix(self, scores: Mapping[str, Any]) -> Sequence[Sequence[int]] | None:
        """How many items with the label of a row were given that of a column, for the rows of `each`; None
        where that is not told."""
        found = lookup(scores, self.confusion) if self.confusion else None
        if found is None or self.each is None:
            return None
        size = len(self.each.rows(scores))
        try:
            if isinstance(found, Mapping):  # of many labels only the cells that are not 0 are saved
                matrix = [[0] * size for _ in range(size)]
                for row, column, count in found["cells"]:
                    matrix[row][column] = int(count)
            else:
                matrix = [[int(count) for count in row] for row in found]
        except (LookupError, TypeError, ValueError, OverflowError):
            return None
        return matrix if len(matrix) == size and all(len(row) == size for row in matrix) else None


def reading_lines(of: str = "texts") -> tuple[Line, ...]:
    """What a model could read of items."""
    return (
        Line("unknown words", "unknown_words", rivals=False),
        Line(of, "texts", "count", rivals=False),
        Line("  without a word", "empty_texts", "count", rivals=False, if_any=True),
        Line("  cut short", "cut_texts", "count", rivals=False, if_any=True),
    )


RATES = (Line("precision", "precision"), Line("recall", "recall"), Line("F1", "f1"))
"""What is told of a label."""


def lookup(data: Any, key: str) -> Any:
    """What stands in a JSON object under a key, whose dots go down one level; None where nothing does."""
    for name in key.split("."):
        if not isinstance(data, Mapping):
            return None
        data = data.get(name)
    return data


def section(data: Any, key: str) -> Mapping[str, Any]:
    """The JSON object under a key, see `lookup`; empty where there is none."""
    found = lookup(data, key)
    return found if isinstance(found, Mapping) else {}


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value of a JSON file is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any, form: str) -> str:
    """A number in one of `FORMS`; "" for what is none."""
    return FORMS[form](value) if is_number(value) else ""


def bounds_of(bounds: Any) -> tuple[float, float] | None:
    """Two numbers, as they are saved; None for what is something else."""
    if not isinstance(bounds, Sequence) or len(bounds) != 2 or not all(map(is_number, bounds)):
        return None
    return bounds[0], bounds[1]
