"""Names for the numbers of labels, as Hugging Face's `datasets` writes them beside the rows."""

from collections.abc import Mapping
from typing import Any

from headwise.data.findings import abbreviate

Legend = Mapping[int, str]
"""The name of each number."""


def class_label_names(feature: Any) -> Legend:
    """The names of a column of class labels, or of lists of them; empty for other columns."""
    while isinstance(feature, dict) and "feature" in feature:
        feature = feature["feature"]
    names = feature.get("names") if isinstance(feature, dict) else None
    are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return dict(enumerate(names)) if are_names else {}


def named_labels(value: Any, legend: Legend) -> Any:
    """A label number (also in a string), or a list of them, replaced by the label name; -1 becomes None if
    it has none."""
    if isinstance(value, list):
        return [named_labels(element, legend) for element in value]
    number = label_number(value)
    if type(number) is not int or not legend:
        return value
    return legend.get(number, None if number == -1 else value)


def label_number(value: Any) -> Any:
    """The number that a string such as `"12"` holds; any other value unchanged."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < _DIGITS else value


_DIGITS = 10  # no label has a number of so many


def legend_note(column: str, legend: Legend) -> str:
    """The note that the numbers of a column are read as names."""
    shown = abbreviate([f"{number} is {name!r}" for number, name in legend.items()])
    return f"the numbers of {column!r} stand for names, which the file gives: {shown}"
