"""Read files of texts with any number of labels: tables, jsonl with lists, fastText."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from headwise.data.answers import check_known
from headwise.data.dataset import Dataset
from headwise.data.errors import DataError, OnError, stop
from headwise.data.label_flags import FlagColumns
from headwise.data.label_set_columns import choose_label_set_columns, hold_several
from headwise.data.options import SEPARATOR, LabelSetOptions
from headwise.data.read import open_records, read_examples
from headwise.data.source import Record, Source, look_ahead

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


def looks_like_label_sets(path: str, options: LabelSetOptions) -> str:
    """Why a training file is taken for one of texts with several labels; empty where it is not."""
    source = Source(path, options, report=lambda error: None)
    try:
        form, columns, records = open_records(source, labelled=False)
        sample, _ = look_ahead(records)
    except DataError:
        return ""  # whoever reads the file says what is wrong with it
    if form == "fasttext":
        several = any(len(_listed(record, "label")) > 1 for record in sample)
        return "lines begin with several __label__" if several else ""
    label = columns.label
    if label is None and sample and form in ("csv", "tsv", "jsonl"):
        quiet = Source(path, options, report=lambda error: None)
        try:
            chosen = choose_label_set_columns(sample, quiet, labelled=True)
        except DataError:
            return ""
        if isinstance(chosen, FlagColumns):
            return f"the columns {', '.join(map(repr, chosen.flags))} say yes or no"
        label = chosen.label
    if label is None or not hold_several(
        [record.fields.get(label) for record in sample], options.separator
    ):
        return ""
    if any(isinstance(record.fields.get(label), list) for record in sample):
        return f"the field {label!r} holds lists"
    return f"the labels are separated by {options.separator!r} and recur"


def _listed(record: Record, name: str) -> list[object]:
    value = record.fields.get(name)
    return value if isinstance(value, list) else []


def check_label_sets(train: Dataset[Any], other: Dataset[Any]) -> None:
    """See `check_known`."""
    check_known(train.labels, other, train.path)


def separator_for(options: LabelSetOptions, data: Dataset[Any]) -> str:
    """What a model writes between labels: what separates them in its training file, or, where that is
    not asked for and stands within a label, the first of a few others that do not."""
    asked = options.label_separator
    others = [asked] if asked else [SEPARATOR, ";", ",", "||", ";;"]
    free = [mark for mark in others if not any(mark in label for label in data.labels)]
    return (free or others)[0]
