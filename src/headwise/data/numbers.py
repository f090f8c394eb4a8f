"""Labels that are numbers: scores, ratings, prices.

Code: HW287 a score is not a number.
"""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from headwise.data.errors import DataError

_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+")
LARGEST = 1e100  # larger numbers overflow in sums of squares
_NOTHING = {"nan", "null", "n/a", "#n/a", "<na>"}
MOST_CLASSES = 20  # distinct whole numbers; more than these are scores, not class names


def numbers_of(labels: Sequence[str | None], lines: Sequence[int], path: str) -> np.ndarray:
    """The labels as numbers, `[texts]`, float64.

    Args:
        labels: The labels, as written in the file.
        lines: The line of each label.
        path: The file, for the message.

    Raises:
        DataError: HW287, the first label that is not a finite number.
    """
    values = np.zeros(len(labels))
    for place, label in enumerate(labels):
        value = number_of(label)
        if value is None:
            raise DataError(
                "HW287",
                f"the label {(label or '')[:40]!r}",
                expected="a number (to 1e100)",
                advice=advice_for([label or ""]),
                path=path,
                line=lines[place],
            )
        values[place] = value
    return values


def advice_for(labels: Sequence[str]) -> str:
    """Advice for labels that are not numbers."""
    advice = []
    if any(pointed(label) is not None for label in labels):
        advice.append("write 3.5 for 3,5 (and 3500 for 3,500), in the whole column")
    if any(map(_no_number, labels)):
        advice.append("write empty cells for missing numbers, and give --empty-labels skip")
    return "; ".join(advice) or "name another column with --label-column, or choose another --task"


def number_of(label: str | None) -> float | None:
    """A label as a number of at most 1e100 in magnitude; None if it is not one."""
    try:
        value = float(label or "")
    except ValueError:
        return None
    return value if abs(value) <= LARGEST and "_" not in (label or "") else None


def stands_for_none(cell: str) -> bool:
    """Whether a cell holds a marker of a missing value (`NaN`, `null`, `n/a`).

    `NA` counts in capitals only (as R writes it), since `na` is a word and a code."""
    return cell == "NA" or cell.casefold() in _NOTHING


def _no_number(label: str) -> bool:
    """Whether a label is a missing value or an infinite number (from a division by 0)."""
    try:
        return stands_for_none(label) or math.isinf(float(label))
    except ValueError:
        return False


def pointed(label: str) -> str | None:
    """A number with a decimal comma (`1.234,5`), rewritten with a decimal point; None for anything else."""
    label = label.strip()
    return label.replace(".", "").replace(",", ".") if _COMMA.fullmatch(label) else None


def _plain(labels: Mapping[str, int]) -> list[str]:
    """The labels that are not missing values, with decimal points.

    Decimal commas are rewritten if at least half of the labels have one; otherwise the comma separates
    labels. Missing and infinite values are left out here; the reader of the file rejects them."""
    labels = {label: count for label, count in labels.items() if not _no_number(label)}
    commas = {label: decimal for label in labels if (decimal := pointed(label)) is not None}
    if 2 * sum(labels[label] for label in commas) < sum(labels.values()):
        commas = {}
    return [commas.get(label, label) for label in labels]


def look_like_scores(labels: Mapping[str, int]) -> bool:
    """Whether labels (with their counts) are scores rather than class names.

    They are if all are numbers, and either some have decimals or more than 20 are distinct."""
    values = [number_of(label) for label in _plain(labels)]
    if len(values) < 3 or None in values:
        return False
    return len(values) > MOST_CLASSES or any(value != int(value) for value in values if value is not None)


def look_measured(labels: Mapping[str, int]) -> bool:
    """Whether labels (with their counts) are measurements rather than numbered classes.

    They are scores (see `look_like_scores`), and some have decimals or most occur only once."""
    often = sum(labels.values()) > 2 * len(labels)
    return look_like_scores(labels) and not (
        often and all(float(label).is_integer() for label in _plain(labels))
    )
