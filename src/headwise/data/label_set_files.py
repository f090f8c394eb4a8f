"""Read files of texts with any number of labels: tables, jsonl with lists, fastText."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from headwise.data.answers import check_known
from headwise.data.dataset import Dataset
from headwise.data.errors import OnError, stop
from headwise.data.options import LabelSetOptions
from headwise.data.read import read_examples

__all__ = ["check_label_sets", "read_label_sets"]

DEFAULT = LabelSetOptions()


def read_label_sets(
    path: str | PathLike[str],
    options: LabelSetOptions = DEFAULT,
    on_error: OnError = stop,
    *,
    known: Sequence[str] = (),
) -> Dataset[Any]:
    """See `read_examples`."""
    return read_examples(path, options, on_error, known=known)


def check_label_sets(train: Dataset[Any], other: Dataset[Any]) -> None:
    """See `check_known`."""
    check_known(train.labels, other, train.path)
