"""Data files in, examples out: readers, guesses that explain themselves, splits and the doctor.

Nothing here imports torch; the names below are imported when they are first used, and numpy with them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwise.data.dataset import Dataset
    from headwise.data.errors import DataError
    from headwise.data.example import Example
    from headwise.data.options import ReadOptions
    from headwise.data.read import read_examples, read_rows
    from headwise.data.rows import Row, Rows
    from headwise.data.split import Split, split_examples

_HOMES = {
    "DataError": "errors",
    "Dataset": "dataset",
    "Example": "example",
    "ReadOptions": "options",
    "Row": "rows",
    "Rows": "rows",
    "Split": "split",
    "read_examples": "read",
    "read_rows": "read",
    "split_examples": "split",
}

__all__ = [
    "DataError",
    "Dataset",
    "Example",
    "ReadOptions",
    "Row",
    "Rows",
    "Split",
    "read_examples",
    "read_rows",
    "split_examples",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
