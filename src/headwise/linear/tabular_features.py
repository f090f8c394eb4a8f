"""Numeric features of the columns beside the text: the tabular block of a linear model.

Every feature has mean 0 on the training texts, so a text whose columns are not known is read as an average
one. Numbers and the trend of dates are standardised, and clipped at `FARTHEST` deviations; a number that is
far from symmetric is also read as a logarithm. Categories, and year, month, weekday and hour of dates, are
indicators minus their frequency. Values of fewer than `LEAST_ROWS` rows share one indicator, which values
that training lacks have, too. A missing cell has the mean, and an indicator of its own.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.data.columns.tabular_columns import (
    DATES,
    NUMBERS,
    CellValue,
    ColumnEncoding,
    TabularColumn,
    TabularRow,
    value_keys,
)

LEAST_ROWS = 2
"""Least number of rows of a category that has an indicator of its own."""
MOST_VALUES, MOST_VALUES_IN_ALL = 1_000, 2_000
"""Most indicators of a column, and of all columns; further categories count as rare."""
MOST_CELLS = 50_000_000
"""Most cells of all indicators of a column on the training texts: with very many texts, a column has fewer
indicators."""
FARTHEST = 5.0
"""Deviations from the mean at which numbers are clipped."""
_SKEWED = 2.0  # skewness from which on a number is also read as a logarithm


def fit_encodings(rows: Sequence[TabularRow]) -> tuple[ColumnEncoding, ...]:
    """The encodings of the columns beside training texts; none for no rows."""
    if not rows:
        return ()
    most = min(MOST_VALUES, MOST_VALUES_IN_ALL // len(rows[0].columns), MOST_CELLS // len(rows))
    return tuple(
        _fit_column(column, [row.values[place] for row in rows], max(most, 20))
        for place, column in enumerate(rows[0].columns)
    )


def _fit_column(column: TabularColumn, values: Sequence[CellValue], most: int) -> ColumnEncoding:
    filled = [value for value in values if value is not None]
    kind = column.type or "category"
    missing = 1 - len(filled) / len(values)
    numeric = bool(filled) and kind != "category"
    scale: JsonObject = _scale(np.array(filled, dtype=np.float64), kind) if numeric else {}
    if not filled or kind in NUMBERS:
        return ColumnEncoding(column.name, kind, missing=missing, **scale)
    hours = _has_hours(filled)
    counts = Counter(key for value in filled for key in value_keys(kind, value, hours=hours))
    frequent = [(key, count) for key, count in counts.most_common(most) if count >= LEAST_ROWS]
    if len(counts) == 1:  # a constant
        frequent = []
    frequent.sort()
    shares = tuple(count / len(filled) for _, count in frequent)
    rare = max(1 - sum(shares), 0.0) if kind == "category" and len(frequent) < len(counts) > 1 else 0.0
    return ColumnEncoding(
        column.name,
        kind,
        values=tuple(key for key, _ in frequent),
        shares=shares,
        rare=rare,
        missing=missing,
        **scale,
    )


def _has_hours(values: Sequence[CellValue]) -> bool:
    """Whether some dates have a time of the day."""
    return any(isinstance(value, float) and value % 86_400 for value in values)


def _scale(numbers: NDArray[np.float64], kind: str) -> JsonObject:
    """Mean and deviation of numbers, and of their logarithms if they are skewed; none of a constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(numbers.mean()), float(numbers.std())
        if not np.isfinite(deviation) or deviation <= 1e-12 * max(abs(mean), 1e-300):
            return {}
        scale: JsonObject = {"mean": mean, "deviation": deviation}
        skewness = float(np.mean(((numbers - mean) / deviation) ** 3))
    sizes = np.abs(numbers[numbers != 0])
    if kind in DATES or abs(skewness) <= _SKEWED or not len(sizes):
        return scale
    unit = float(np.median(sizes))
    logs = _logarithm(numbers, unit)
    return scale | {"log_unit": unit, "log_mean": float(logs.mean()), "log_deviation": float(logs.std())}


def _logarithm(numbers: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    return np.sign(numbers) * np.log1p(np.abs(numbers) / unit)


def encode_rows(encodings: Sequence[ColumnEncoding], rows: Sequence[TabularRow]) -> NDArray[np.float32]:
    """The features of the columns beside texts, `[rows, width]`."""
    blocks = [
        _encode_column(encoding, [row.values[place] for row in rows])
        for place, encoding in enumerate(encodings)
    ]
    return np.hstack([np.zeros((len(rows), 0), dtype=np.float32), *blocks])


def tabular_rows(encodings: Sequence[ColumnEncoding], items: Sequence[object]) -> list[TabularRow]:
    """The columns beside items, checked to be those of the encodings.

    Raises:
        ConfigError: HW147, an item has no such columns, or others.
    """
    columns, rows = tuple(encoding.column for encoding in encodings), list[TabularRow]()
    for item in items:
        row = getattr(item, "tabular", None)
        if row is None or (row.columns is not columns and row.columns != columns):
            needed = ", ".join(repr(column.name) for column in columns)
            item_columns = [] if row is None else [repr(column.name) for column in row.columns]
            raise ConfigError(
                f"this model reads the columns {needed} beside the text; an item has "
                f"{', '.join(item_columns) or 'none'}; give a table or records with these fields (in "
                "Python: TextClassifier.load, or Example.tabular)",
                code="HW147",
            )
        rows.append(row)
    return rows


def tabular_features_of(items: Sequence[Any]) -> NDArray[np.float32] | None:
    """The features of the columns beside training items, `[items, features]`; None without such columns."""
    rows = [item.tabular for item in items if getattr(item, "tabular", None) is not None]
    return encode_rows(fit_encodings(rows), rows) if rows and len(rows) == len(items) else None


def tabular_features(encoded: Sequence[Any], width: int) -> NDArray[np.float32]:
    """The features of the columns beside encoded texts, `[texts, width]`; 0 where they are not known."""
    features = np.zeros((len(encoded), width), dtype=np.float32)
    for row, text in zip(features, encoded, strict=True):
        if text.tabular is not None:
            row[:] = text.tabular
    return features


def unseen_values(encodings: Sequence[ColumnEncoding], items: Sequence[Any]) -> Counter[str]:
    """How many items have a category without an indicator, by column: training did not have it, or in too
    few rows."""
    unseen: Counter[str] = Counter()
    for place, encoding in enumerate(encodings):
        frequent = set(encoding.values)
        if encoding.type == "category":
            values = (item.tabular.values[place] for item in items)
            unseen[encoding.name] += sum(value is not None and value not in frequent for value in values)
    return +unseen


def unseen_notes(unseen: Counter[str], items: int) -> list[str]:
    """How many items have categories that training did not have, for the user."""
    return [
        f"column {name!r}: {count:,} of {items:,} values are unknown (training had them in no row or one)"
        for name, count in unseen.items()
    ]


def column_slices(encodings: Sequence[ColumnEncoding]) -> list[slice]:
    """The features of each column."""
    ends = np.cumsum([0, *(encoding.width for encoding in encodings)]).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def _encode_column(encoding: ColumnEncoding, values: Sequence[CellValue]) -> NDArray[np.float32]:
    block = np.zeros((len(values), encoding.width), dtype=np.float32)
    filled = np.array([value is not None for value in values], dtype=np.bool_)
    if encoding.numbers:
        numbers = np.array([value for value in values if isinstance(value, float)], dtype=np.float64)
        scaled = [(numbers - encoding.mean) / encoding.deviation]
        if encoding.log_deviation > 0:
            logs = _logarithm(numbers, encoding.log_unit)
            scaled.append((logs - encoding.log_mean) / encoding.log_deviation)
        block[filled, : encoding.numbers] = np.stack(scaled, axis=1).clip(-FARTHEST, FARTHEST)
    first = encoding.numbers
    place_of = {value: first + place for place, value in enumerate(encoding.values)}
    rare = first + len(encoding.values) if encoding.rare else None
    shares = np.array([*encoding.shares, *([encoding.rare] if encoding.rare else [])], dtype=np.float32)
    groups = _groups(encoding)
    for row, value in enumerate(values):
        for key in value_keys(encoding.type, value) if len(shares) else ():
            place = place_of.get(key, rare)
            if place is not None:  # else it is unseen, and read as an average one
                group = groups["" if encoding.type == "category" else key.partition(" ")[0]]
                block[row, first + group] -= shares[group]
                block[row, place] += 1
    if encoding.missing:
        block[:, -1] = ~filled - np.float32(encoding.missing)
    return block


def _groups(encoding: ColumnEncoding) -> dict[str, NDArray[np.int64]]:
    """The indicators of which a value has one: all of a category, or those of a part of dates."""
    if encoding.type == "category":
        return {"": np.arange(len(encoding.values) + (encoding.rare > 0))}
    parts: dict[str, list[int]] = {}
    for place, value in enumerate(encoding.values):
        parts.setdefault(value.partition(" ")[0], []).append(place)
    return {part: np.array(places) for part, places in parts.items()}
