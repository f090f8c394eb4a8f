"""Labels that are numbers: scores, ratings, prices.

Code: HW287 a score is not a number.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from headwise.data.errors import DataError

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
            advice = "write 3.5 for 3,5" if label and number_of(label.replace(",", ".")) is not None else ""
            raise DataError(
                "HW287",
                f"the label {(label or '')[:40]!r}",
                expected="a number",
                advice=advice or "name another column with --label-column, or choose another --task",
                path=path,
                line=lines[place],
            )
        found[place] = value
    return found


def number_of(label: str | None) -> float | None:
    """A label as a finite number; None if it is none."""
    try:
        value = float(label or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in (label or "") else None


def look_like_scores(labels: Mapping[str, int]) -> bool:
    """Whether labels, with how often each occurs, are numbers on a scale rather than names of classes: all
    are numbers, and either some have decimals or very many are different."""
    values = [number_of(label) for label in labels]
    if len(values) < 3 or None in values:
        return False
    return len(values) > MOST_CLASSES or any(value != int(value) for value in values if value is not None)


def look_measured(labels: Mapping[str, int]) -> bool:
    """The same where many classes may be numbered: some numbers have decimals, or most occur once."""
    often = sum(labels.values()) > 2 * len(labels)
    return look_like_scores(labels) and not (often and all(float(label).is_integer() for label in labels))
