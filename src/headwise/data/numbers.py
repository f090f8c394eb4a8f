"""Labels that are numbers: scores, ratings, prices.

Code: HW287 a score is not a number.
"""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from headwise.data.errors import DataError

_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+")
LARGEST = 1e100  # beyond it sums of squares are no numbers
_NOTHING = {"nan", "null", "n/a", "#n/a", "<na>"}
MOST_CLASSES = 20  # different whole numbers that may still be names of classes


def numbers_of(labels: Sequence[str | None], lines: Sequence[int], path: str) -> np.ndarray:
    """The labels as numbers, `[texts]`, float64.

    Args:
        labels: As they are written.
        lines: Where they stand.
        path: The file, for the message.

    Raises:
        DataError: HW287 at the first that is no finite number.
    """
    found = np.zeros(len(labels))
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
        found[place] = value
    return found


def advice_for(labels: Sequence[str]) -> str:
    """What to do about labels that are no numbers."""
    told = []
    if any(pointed(label) is not None for label in labels):
        told.append("write 3.5 for 3,5 (and 3500 for 3,500), in the whole column")
    if any(map(_no_number, labels)):
        told.append("write empty cells for missing numbers, and give --empty-labels skip")
    return "; ".join(told) or "name another column with --label-column, or choose another --task"


def number_of(label: str | None) -> float | None:
    """A label as a finite number whose square is one too; None if it is none."""
    try:
        value = float(label or "")
    except ValueError:
        return None
    return value if abs(value) <= LARGEST and "_" not in (label or "") else None


def stands_for_none(cell: str) -> bool:
    """What programs write for an empty cell: R only `NA` in capitals, as `na` is a word, and a code."""
    return cell == "NA" or cell.casefold() in _NOTHING


def _no_number(label: str) -> bool:
    """Whether a label stands for none, or is infinite, as what was divided by 0."""
    try:
        return stands_for_none(label) or math.isinf(float(label))
    except ValueError:
        return False


def pointed(label: str) -> str | None:
    """A number with a decimal comma, `1.234,5`, as it is written with a point; None of anything else."""
    label = label.strip()
    return label.replace(".", "").replace(",", ".") if _COMMA.fullmatch(label) else None


def _plain(labels: Mapping[str, int]) -> list[str]:
    """Labels, with points for decimal commas where these are no sets of numbers: where half of all have
    one. What stands for none or is infinite is no label: whoever reads the file refuses it."""
    labels = {label: count for label, count in labels.items() if not _no_number(label)}
    commas = {label: own for label in labels if (own := pointed(label)) is not None}
    if 2 * sum(labels[label] for label in commas) < sum(labels.values()):
        commas = {}
    return [commas.get(label, label) for label in labels]


def look_like_scores(labels: Mapping[str, int]) -> bool:
    """Whether labels, with how often each occurs, are numbers on a scale rather than names of classes: all
    are numbers, and either some have decimals or very many are different."""
    values = [number_of(label) for label in _plain(labels)]
    if len(values) < 3 or None in values:
        return False
    return len(values) > MOST_CLASSES or any(value != int(value) for value in values if value is not None)


def look_measured(labels: Mapping[str, int]) -> bool:
    """The same where many classes may be numbered: some numbers have decimals, or most occur once."""
    often = sum(labels.values()) > 2 * len(labels)
    return look_like_scores(labels) and not (
        often and all(float(own).is_integer() for own in _plain(labels))
    )
