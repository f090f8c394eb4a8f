"""Leave items out of training, or let them count less, by the lines of a list, such as the one that
`headwise noise` writes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headwise.data.errors import DataError
from headwise.data.formats.csv import read_cells
from headwise.data.label_set import LabelSetExample, separator_in
from headwise.data.parts import Parts
from headwise.data.source import Source
from headwise.errors import ConfigError

WEIGHTS = ("weight", "probability of label")
"""The columns of a list that may say how much an item counts; the first that is there."""


def without_lines(parts: Parts[Any], listed: str) -> tuple[Parts[Any], int]:
    """Parts without the items of the training file that a list names, and how many these are.

    Items of the test part stay, whatever the list says: what is hard to judge is not to make its scores
    better.

    Args:
        parts: Of files.
        listed: A csv file with a column `line`, and perhaps the `label` that is thought to be wrong.

    Raises:
        ConfigError: The data have no lines.
        DataError: HW111 it has no such column, HW127 it is not about this file.
    """
    if not parts.kind.has_keys:
        raise ConfigError("--drop is for items on lines of their own, which a running text does not have")
    lines = {item.line for item, _, _ in _rows(parts, listed)}
    kept = [item for item in parts.train if item.line not in lines]
    dev = parts.dev if "dev" in parts.files else [item for item in parts.dev if item.line not in lines]
    return replace(parts, train=kept, dev=dev), len(parts.train) + len(parts.dev) - len(kept) - len(dev)


def with_weights(parts: Parts[Any], listed: str) -> tuple[Parts[Any], int]:
    """Parts in which the items of the training file that a list names count as much as it says, and how
    many these are. Those of the test part count as they did.

    Args:
        parts: Of files, of items with a `weight`.
        listed: As for `without_lines`, with a column of `WEIGHTS`.

    Raises:
        DataError: HW111, HW127 likewise; HW126 a weight is no number, 0 or more.
    """
    weights = dict[int, float]()
    for item, row, line in _rows(parts, listed):
        name = next((name for name in WEIGHTS if name in row), None)
        if name is None:
            raise DataError("HW111", f"no column {WEIGHTS[0]!r} or {WEIGHTS[1]!r}", path=listed)
        try:
            weights[item.line] = weight = float(row[name])
        except ValueError:
            weight = -1.0
        if not 0 <= weight < float("inf"):
            problem = f"the weight is {row[name][:40]!r}"
            raise DataError("HW126", problem, expected="a number, 0 or more", path=listed, line=line)

    def weighed(items: Any) -> list[Any]:
        return [
            replace(item, weight=weights[item.line]) if item.line in weights else item for item in items
        ]

    parts = replace(
        parts,
        train=weighed(parts.train),
        dev=parts.dev if "dev" in parts.files else weighed(parts.dev),
    )
    own = parts.train if "dev" in parts.files else [*parts.train, *parts.dev]
    return parts, sum(item.line in weights for item in own)


def _rows(parts: Parts[Any], listed: str) -> Iterator[tuple[Any, dict[str, str], int]]:
    """The items of the training file that a list names, with its row on each and the row's line."""
    data = parts.files["train"]
    items = {item.line: item for item in data.items}
    separator = separator_in(data) if any(isinstance(own, LabelSetExample) for own in data.items) else None
    source = Source(listed)
    rows = read_cells(source.open(), source)
    names = [name.strip() for name in next(rows, (0, []))[1]]
    if "line" not in names:
        raise source.error("HW111", "no column 'line'", expected="a list of headwise noise")
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        number, label = row.get("line", "").strip(), row.get("label")
        own = items.get(int(number)) if number.isdecimal() and len(number) < 12 else None
        labels = () if own is None else own.labels if separator is None else (separator.join(own.labels),)
        if own is None or (label is not None and label not in labels):
            what = f"line {number[:40]}" + (f" with the label {label!r}" if label else "")
            advice = "make the list of this very file"
            raise source.error("HW127", f"the training file has no {what}", line, advice=advice)
        yield own, row, line
