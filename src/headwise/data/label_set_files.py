"""Read files of texts with any number of labels: tables, jsonl with lists, fastText.

Codes: HW120 (null), HW123, HW124.
"""

import difflib
from collections.abc import Sequence
from functools import partial
from os import PathLike, fspath

from headwise.data.columns import Columns
from headwise.data.errors import DataError, OnError, stop
from headwise.data.formats.jsonl import as_text
from headwise.data.label_flags import FlagColumns, flagged, labelled
from headwise.data.label_set import LabelSetData, LabelSetExample, label_sets
from headwise.data.label_set_columns import choose_label_set_columns, hold_several
from headwise.data.options import SEPARATOR, LabelSetOptions
from headwise.data.read import open_records, text_of
from headwise.data.source import Record, Source, look_ahead

DEFAULT = LabelSetOptions()


def read_label_sets(
    path: str | PathLike[str],
    options: LabelSetOptions = DEFAULT,
    report: OnError = stop,
    *,
    known: Sequence[str] = (),
) -> LabelSetData:
    """Read a labelled file into memory.

    Labels are trimmed, and each counts once; an empty cell or list is a text without labels.

    Args:
        path: The file, plain or compressed; "-" is standard input.
        options: What is not to be guessed.
        report: Is given the `DataError` of a record that cannot be used. By default it raises; if it
            returns, the record is left out and reading goes on.
        known: Labels that the file may have as columns, 1 where a text has the label and 0 where not.

    Raises:
        DataError: As `read_examples`; HW123, HW124.
    """
    source = Source(fspath(path), options, report)
    choose = partial(choose_label_set_columns, known=known)
    form, columns, records = open_records(source, labelled=True, choose=choose)
    examples: list[LabelSetExample] = []
    repeated: list[int] = []
    for record in records:
        text = text_of(record, columns, source)
        if isinstance(columns, FlagColumns):
            parts = flagged(record, columns.flags, source)
        else:
            parts = _parts(record, columns, source, options.separator) if columns.label else []
        if text is None or parts is None:
            continue
        labels = tuple(dict.fromkeys(filter(None, parts)))
        if len(labels) < len(parts):
            repeated.append(record.line)
        examples.append(LabelSetExample(text, None, record.line, labels=labels))
    bare = sum(not labels for labels in label_sets(examples))
    if labelled(columns) and bare:
        source.notes.append(f"texts without a label, which is an answer like others: {bare:,}")
    if source.blank:
        source.notes.append(f"blank lines passed over: {source.blank:,}")
    if isinstance(columns, FlagColumns):
        given = {label for own in label_sets(examples) for label in own}
        if idle := [name for name in columns.flags if name not in given]:
            source.notes.append(f"labels that no text has: {', '.join(map(repr, idle))}")
    empty = sum(not example.text.strip() for example in examples)
    notes = tuple(source.notes)
    return LabelSetData([*examples], source.path, form, columns, notes, empty, repeated=tuple(repeated))


def _parts(record: Record, columns: Columns, source: Source, separator: str) -> list[str] | None:
    """What stands in the place of each label of a record; None, and reported, where it cannot be read."""
    name = columns.label or ""
    value = record.fields.get(name)
    if name not in record.fields:
        source.report(source.error("HW117", f"no field {name!r}", record.line, expected="a list of labels"))
    elif value is None:
        advice = "write [] for a text without labels"
        source.report(source.error("HW120", "a null in the place of labels", record.line, advice=advice))
    elif isinstance(value, list):
        bad = [item for item in value if isinstance(item, list | dict) or item is None]
        if not bad:
            return [as_text(item).strip() for item in value]
        found = f"the label {as_text(bad[0])[:40] or 'null'}"
        source.report(source.error("HW123", found, record.line, expected="a text"))
    elif isinstance(value, dict):
        found = f"the labels {as_text(value)[:40]}"
        source.report(source.error("HW123", found, record.line, expected="a list of texts"))
    else:
        cell = as_text(value)
        return [part.strip() for part in cell.split(separator)] if cell.strip() else []
    return None


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


def check_label_sets(train: LabelSetData, other: LabelSetData) -> None:
    """Check that every label of `other` occurs in `train`.

    Raises:
        DataError: HW140 at the first text with one that does not.
    """
    known = train.labels
    pairs = zip(other.examples, label_sets(other.examples), strict=True)
    strange = [(example, [name for name in own if name not in known]) for example, own in pairs]
    strange = [(example, names) for example, names in strange if names]
    if not strange:
        return
    example, names = strange[0]
    close = difflib.get_close_matches(names[0], known, n=1, cutoff=0.4)
    some = ", ".join(map(repr, list(known)[:10])) + (", ..." if len(known) > 10 else "")
    more = f" (nor do those of {len(strange) - 1} more texts)" if len(strange) > 1 else ""
    raise DataError(
        "HW140",
        f"the label {names[0]!r} does not occur in {train.path}{more}",
        expected=f"some of {some}",
        advice=f"did you mean {close[0]!r}?" if close else "",
        path=other.path,
        line=example.line,
    )


def separator_for(options: LabelSetOptions, data: LabelSetData) -> str:
    """What a model writes between labels: what separates them in its training file, or, where that is
    not asked for and stands within a label, the first of a few others that do not."""
    asked = options.label_separator
    others = [asked] if asked else [SEPARATOR, ";", ",", "||", ";;"]
    free = [mark for mark in others if not any(mark in label for label in data.labels)]
    return (free or others)[0]
