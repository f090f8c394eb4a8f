"""Find and read the column that holds the labels of texts with any number of labels.

Codes: HW120 (null), HW123, HW124.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from headwise.data.columns import Columns, choose_columns, names_in
from headwise.data.formats.jsonl import as_text
from headwise.data.label_flags import FlagColumns, choose_flags, flagged, guess_flags
from headwise.data.names import LABEL_NAMES, TEXT_NAMES, rank
from headwise.data.options import SEPARATOR, LabelSetOptions
from headwise.data.source import Record, Source

NAMES = (
    "labels",
    "tags",
    "topics",
    "genres",
    "categories",
    "classes",
    "keywords",
    "emotions",
    *LABEL_NAMES,
)
"""Names that people give to the column of labels, the surest first."""

RECURRING = 0.8
"""Share of the parts of cells that must occur in other cells too, for the parts to be labels."""


def choose_label_set_columns(
    sample: Sequence[Record], source: Source, *, labelled: bool, known: Sequence[str] = ()
) -> Columns:
    """Choose as `choose_columns` does, but for labels: of columns with a usual name the one that holds
    several in a cell, else any column that does, else the one with the surest name; else those that hold
    nothing but 0 and 1, each a label.

    Args:
        sample: The first records.
        source: The file and its options.
        labelled: Whether labels are needed.
        known: Labels; where columns have their names, all of them, these are the labels.

    Raises:
        DataError: HW111, HW131.
    """
    options = source.options
    if labelled and isinstance(options, LabelSetOptions) and options.flags:
        return choose_flags(sample, source, options.flags)
    if options.label_column or not labelled:
        return choose_columns(sample, source, labelled=labelled)
    names = names_in(sample)
    if known and set(known) <= set(names):
        return choose_flags(sample, source, known)
    flags = guess_flags(sample, options.text_column)
    own = {name: [record.fields.get(name) for record in sample] for name in names}
    open_names = [name for name in names if rank(name, TEXT_NAMES) is None and name != options.text_column]
    separator = options.separator if isinstance(options, LabelSetOptions) else SEPARATOR
    several = [name for name in open_names if hold_several(own[name], separator)]
    usual = [name for name in open_names if rank(name, NAMES) is not None and name not in flags]
    named = sorted(usual, key=_rank)
    found = [name for name in named if name in several] or several or named
    if not found and flags:
        shown = ", ".join(map(repr, flags))
        source.notes.append(f"labels guessed to be the columns {shown} - override with --label-columns")
        return choose_flags(sample, source, flags)
    if not found:
        return choose_columns(sample, source, labelled=True)
    label = found[0]
    source.notes.append(f"labels guessed to be in the column {label!r} - override with --label-column")
    named_source = replace(source, options=replace(options, label_column=label))
    return choose_columns(sample, named_source, labelled=True)


def hold_several(values: Sequence[object], separator: str) -> bool:
    """Whether fields look like sets of labels: lists, or cells of which the parts recur."""
    full = [value for value in values if value is not None]
    lists = [value for value in full if isinstance(value, list)]
    if lists:
        flat = not any(isinstance(item, list | dict) for own in lists for item in own)
        return flat and len(lists) * 2 > len(full) and any(lists)
    cells = [parts_of(value, separator) for value in full if isinstance(value, str)]
    several = [parts for parts in cells if len(parts) > 1]
    if len(several) < 2:
        return False
    counts = Counter(part for parts in cells for part in set(parts))
    parts = {part for own in several for part in own}
    short = sum(len(part.split()) for part in parts) <= 3 * len(parts)
    recurring = sum(counts[part] > 1 for part in parts)
    return short and recurring >= RECURRING * len(parts)


def parts_of(cell: str, separator: str) -> list[str]:
    """The parts of a cell, trimmed, without empty ones."""
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _rank(name: str) -> int:
    place = rank(name, NAMES)
    return len(NAMES) if place is None else place


def cells_of(record: Record, columns: Columns, source: Source, separator: str) -> list[str] | None:
    """What stands in the place of each label of a record; None, and reported, where it cannot be read."""
    if isinstance(columns, FlagColumns):
        return flagged(record, columns.flags, source)
    name = columns.label
    if name is None:
        return []
    value = record.fields.get(name)
    if name not in record.fields:
        source.refuse("HW117", f"no field {name!r}", record.line, expected="a list of labels")
    elif value is None:
        advice = "write [] for a text without labels"
        source.refuse("HW120", "a null in the place of labels", record.line, advice=advice)
    elif isinstance(value, list):
        bad = [item for item in value if isinstance(item, list | dict) or item is None]
        if not bad:
            return [as_text(item).strip() for item in value]
        found = f"the label {as_text(bad[0])[:40] or 'null'}"
        source.refuse("HW123", found, record.line, expected="a text")
    elif isinstance(value, dict):
        found = f"the labels {as_text(value)[:40]}"
        source.refuse("HW123", found, record.line, expected="a list of texts")
    else:
        cell = as_text(value)
        return [part.strip() for part in cell.split(separator)] if cell.strip() else []
    return None
