"""Labels that are numbers: their spellings in files, and whether they are scores or the numbers of classes.

Code: HW287 a score is not a number.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.errors import DataError
from headwise.data.items.labels import rename_labels

T = TypeVar("T")

_COMMA = lazy_pattern(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+")
_THOUSANDS = lazy_pattern(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_PLAIN_COMMA = lazy_pattern(r"-?\d+(?:,(\d+))?")
_MEASURED = lazy_pattern(r"(?P<number>[-+]?\d+(?:[.,]\d+)?) ?(?:%|/ ?\d+)")
_PERCENTAGE = lazy_pattern(r"([-+]?\d+(?:\.\d+)?) ?%")
LARGEST_LABEL = 1e100  # larger numbers overflow in sums of squares
_MISSING_VALUES = {
    *("nan", "null", "n/a", "<na>"),
    *("#n/a", "#name?", "#ref!", "#value!", "#div/0!", "#num!", "#null!"),  # errors of spreadsheets
}
MOST_CLASSES = 20  # distinct whole numbers; more than these are scores, not class names


def parse_numeric_labels(labels: Sequence[str | None], lines: Sequence[int], path: str) -> np.ndarray:
    """The labels as numbers, `[texts]`, float64.

    Raises:
        DataError: HW287, the first label that is not a finite number.
    """
    values = np.zeros(len(labels))
    for place, label in enumerate(labels):
        value = parse_number(label)
        if value is None:
            problem = f"the label {(label or '')[:40]!r}"
            expected = "a number (to 1e100)"
            advice = number_advice([label or ""])
            raise DataError(
                "HW287", problem, expected=expected, advice=advice, path=path, line=lines[place]
            )
        values[place] = value
    return values


def number_advice(labels: Sequence[str]) -> str:
    """Advice for labels that are not numbers."""
    advice = []
    if any(with_decimal_point(label) is not None for label in labels):
        advice.append("write 3.5 for 3,5 (and 3500 for 3,500), in the whole column")
    if any(map(_MEASURED.fullmatch, labels)):
        advice.append("write 46 for 46%, and 7 for 7/10")
    if any(map(_is_missing_or_infinite, labels)):
        advice.append("write empty cells for missing numbers, and give --empty-labels skip")
    return "; ".join(advice) or "name another column with --label-column, or choose another --task"


def parse_number(label: str | None) -> float | None:
    """A label as a number of at most 1e100 in magnitude; None if it is not one."""
    try:
        value = float(label or "")
    except ValueError:
        return None
    return value if abs(value) <= LARGEST_LABEL and "_" not in (label or "") else None


def is_missing_value(cell: str) -> bool:
    """Whether a cell holds a marker of a missing value (`NaN`, `null`, `n/a`, and `\\N` of databases).

    `NA` counts in capitals only (as R writes it), since `na` is a word and a code."""
    return cell in ("NA", "\\N") or cell.casefold() in _MISSING_VALUES


def _is_missing_or_infinite(label: str) -> bool:
    """Whether a label is a missing value or an infinite number (from a division by 0)."""
    try:
        return is_missing_value(label) or math.isinf(float(label))
    except ValueError:
        return False


def with_decimal_point(label: str) -> str | None:
    """A number with a decimal comma (`1.234,5`), rewritten with a decimal point; None for anything else."""
    label = label.strip()
    return label.replace(".", "").replace(",", ".") if _COMMA.fullmatch(label) else None


def _labels_with_decimal_points(labels: Mapping[str, int]) -> list[str]:
    """The labels that are not missing values, with decimal points.

    Decimal commas are rewritten if at least half of the labels have one; otherwise the comma separates
    labels. Missing and infinite values are left out here; the reader of the file rejects them. Percentages
    are those that `percentages` reads."""
    labels = {label: count for label, count in labels.items() if not _is_missing_or_infinite(label)}
    commas = {label: decimal for label in labels if (decimal := with_decimal_point(label)) is not None}
    if 2 * sum(labels[label] for label in commas) < sum(labels.values()):
        commas = {}
    commas |= percentages(labels) or without_thousands(labels)
    return [commas.get(label, label) for label in labels]


def percentages(labels: Iterable[str]) -> dict[str, str]:
    """The number of each label, if all are percentages (`46 %` is 46, not 0.46); else nothing."""
    matches = {label: _PERCENTAGE.fullmatch(label) for label in labels}
    return {label: match[1] for label, match in matches.items() if match and all(matches.values())}


def without_thousands(labels: Iterable[str]) -> dict[str, str]:
    """The number of each label without commas between thousands (`1,234.5`), if all are numbers and one has
    such a comma before a decimal point, which shows what commas are; else nothing."""
    matches = {label: _THOUSANDS.fullmatch(label) for label in labels}
    if not all(matches.values()) or not any("," in label and "." in label for label in matches):
        return {}
    return {label: label.replace(",", "") for label in matches}


def decimal_commas(labels: Iterable[str], delimiter: str) -> dict[str, str]:
    """The number with a decimal point of each label, if semicolons separate the fields, some labels have a
    decimal comma, and all others are whole numbers; else nothing. With three digits after every comma, the
    commas may separate thousands: these are not read."""
    matches = {label: _PLAIN_COMMA.fullmatch(label) for label in labels}
    digits = {len(match[1] or "") for match in matches.values() if match}
    if delimiter != ";" or not all(matches.values()) or digits <= {0, 3}:
        return {}
    return {label: label.replace(",", ".") for label in matches}


def with_plain_numbers(items: list[T], delimiter: str) -> tuple[list[T], tuple[str, ...]]:
    """Items of one file whose labels are numbers, and a note for the user: percentages and decimal commas
    are rewritten as plain numbers, if all labels are of the kind.

    Args:
        delimiter: What separates the fields of the file; "" without such a separator.
    """
    labelled: list[Any] = items
    labels = dict.fromkeys(label for item in labelled for label in item.labels)
    for what, numbers in (
        ("percentages", percentages(labels)),
        ("commas between thousands", without_thousands(labels)),
        ("decimal commas", decimal_commas(labels, delimiter)),
    ):
        if changed := [label for label in numbers if label != numbers[label]]:
            note = f"{what} are read as numbers: {changed[0]!r} is {numbers[changed[0]]}"
            return [rename_labels(item, numbers) for item in items], (note,)
    return items, ()


def look_like_scores(labels: Mapping[str, int]) -> bool:
    """Whether labels (with their counts) are scores rather than class names.

    They are if all are numbers, and either some have decimals or more than 20 are distinct."""
    values = [parse_number(label) for label in _labels_with_decimal_points(labels)]
    if len(values) < 3 or None in values:
        return False
    return len(values) > MOST_CLASSES or any(value != int(value) for value in values if value is not None)


def look_like_measurements(labels: Mapping[str, int]) -> bool:
    """Whether labels (with their counts) are measurements rather than numbered classes.

    They are scores (see `look_like_scores`), and some have decimals or most occur only once."""
    often = sum(labels.values()) > 2 * len(labels)
    return look_like_scores(labels) and not (
        often and all(float(label).is_integer() for label in _labels_with_decimal_points(labels))
    )


def measured_labels_notes(labels: Iterable[str]) -> tuple[str, ...]:
    """A note where labels are percentages or marks such as 7/10, but classes of their own."""
    names = {*labels}
    measured = [match for name in sorted(names) if (match := _MEASURED.fullmatch(name))]
    if not measured or len(measured) < len(names):
        return ()
    numbers = {match["number"]: 1 for match in measured}
    if not look_like_scores(numbers):
        return ()
    first = measured[0]
    how = "" if percentages(names) else f"write {first['number']!r} for {first[0]!r} and "
    return (
        f"{len(names)} labels such as {first[0]!r} are classes of their own; to learn how much, {how}give "
        "--task regress",
    )
