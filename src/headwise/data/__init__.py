"""Data files in, examples out: readers, guesses that explain themselves, splits and the doctor.

Nothing here imports torch.
"""

from headwise.data.dataset import Dataset
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.options import ReadOptions
from headwise.data.read import read_examples, read_rows
from headwise.data.rows import Row, Rows
from headwise.data.split import Split, split_examples

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
