"""Data files in, examples out: readers, guesses that explain themselves, splits and the doctor.

Nothing here imports torch; the names below are imported when they are first used, and numpy with them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwise.data.columns.reading_options import ReadOptions
    from headwise.data.errors import DataError
    from headwise.data.items.dataset import Dataset, InputRow, InputRows
    from headwise.data.items.examples import Example
    from headwise.data.readers.labelled_files import read_examples, read_rows
    from headwise.data.splits.splitting import Split, split_examples

_HOMES = {
    "DataError": "errors",
    "Dataset": "items.dataset",
    "Example": "items.examples",
    "ReadOptions": "columns.reading_options",
    "InputRow": "items.dataset",
    "InputRows": "items.dataset",
    "Split": "splits.splitting",
    "read_examples": "readers.labelled_files",
    "read_rows": "readers.labelled_files",
    "split_examples": "splits.splitting",
}

__all__ = [
    "DataError",
    "Dataset",
    "Example",
    "InputRow",
    "InputRows",
    "ReadOptions",
    "Split",
    "read_examples",
    "read_rows",
    "split_examples",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
