"""Find and read the column that holds the labels of texts with any number of labels.

Codes: HW120 (null), HW123, HW124.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwise.data.columns import Columns, choose_columns, find_column, names_in
from headwise.data.diagnosis import some
from headwise.data.formats.jsonl import as_text
from headwise.data.joint import named_in
from headwise.data.label_flags import FlagColumns, choose_flags, flagged, guess_flags, says_more
from headwise.data.names import LABEL_NAMES, TEXT_NAMES, normal_name, rank
from headwise.data.options import SEPARATOR, LabelSetOptions, ReadOptions
from headwise.data.soft_columns import WEIGHT_NAMES, choose_weight
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
"""Share of the parts of cells that must occur in other cells too, for the parts to be labels. A part counts
as often as it occurs: of labels with a long tail most occur once, but few of what the cells hold."""

SEPARATORS = (SEPARATOR, ";", ",")
"""What separates the labels of a cell where the user does not say it, the surest first."""

LISTS = "[]"
"""Stands for the separator where the labels are lists."""

_UNDIVIDED = re.compile(r"""(?<=['"])\s+(?=['"])""")  # between the items of a NumPy array as a text


@dataclass(frozen=True)
class CellColumns(Columns):
    """The same where the labels of a text stand in one cell, with a separator between them."""

    separator: str = SEPARATOR


def choose_label_set_columns(
    sample: Sequence[Record], source: Source, *, labelled: bool, known: Sequence[str] = ()
) -> Columns:
    """Choose as `choose_columns` does, but for labels: of columns with a usual name the one that holds
    several in a cell, else any column that does, else the one with the surest name; else those that hold
    nothing but 0 and 1, each a label. What is left may be the column of how much texts count.

    Args:
        sample: The first records.
        source: The file and its options.
        labelled: Whether labels are needed.
        known: Labels; where columns have their names, all of them, these are the labels.

    Raises:
        DataError: HW111, HW131.
    """
    found = _choose(sample, source, labelled=labelled, known=known)
    if not labelled or not isinstance(source.options, LabelSetOptions):
        return found
    taken = (found.text, found.label, *getattr(found, "flags", ()))
    return replace(found, weight=choose_weight(sample, source, source.options.weight_column, without=taken))


def _choose(sample: Sequence[Record], source: Source, *, labelled: bool, known: Sequence[str]) -> Columns:
    options = source.options
    if labelled and isinstance(options, LabelSetOptions) and options.flags:
        return choose_flags(sample, source, options.flags)
    if options.label_column or not labelled:
        return _with_separator(choose_columns(sample, source, labelled=labelled), sample, source)
    names = names_in(sample)
    if known and set(known) <= set(names):
        return choose_flags(sample, source, known)
    weights = _weights(names, sample, source)
    others = {*named_in(options.text_column or "", names), *weights}
    flags = guess_flags(sample, others)
    own = {name: [record.fields.get(name) for record in sample] for name in names}
    open_names = [name for name in names if rank(name, TEXT_NAMES) is None and name not in others]
    several = [name for name in open_names if separator_of(own[name], options)]
    usual = [name for name in open_names if rank(name, NAMES) is not None and name not in flags]
    named = sorted(usual, key=_rank)
    found = [name for name in named if name in several] or several or named
    if not found and flags:
        shown = ", ".join(map(repr, flags))
        source.notes.append(f"labels guessed to be the columns {shown} - override with --label-columns")
        if lacking := [repr(label) for label in known if label not in flags]:
            told = f"labels without a column, which therefore no text has: {some(lacking)}"
            source.notes.append(told)
        return choose_flags(sample, source, flags)
    if not found:
        return _with_separator(choose_columns(sample, source, labelled=True), sample, source)
    label = found[0]
    source.notes.append(f"labels guessed to be in the column {label!r} - override with --label-column")
    named_source = replace(source, options=replace(options, label_column=label))
    return _with_separator(choose_columns(sample, named_source, labelled=True), sample, source)


def _weights(names: Sequence[str], sample: Sequence[Record], source: Source) -> list[str]:
    """The columns that say how much texts count: the one that is asked for, or those of a usual name, where
    they hold more than yes and no, as a label does."""
    asked = getattr(source.options, "weight_column", None)
    if asked == "none":
        return []
    if asked:
        return [names[find_column(asked, names, source, "--weight-column")]]
    return [name for name in names if normal_name(name) in WEIGHT_NAMES and says_more(sample, name)]


def _with_separator(columns: Columns, sample: Sequence[Record], source: Source) -> Columns:
    """The columns, and what separates the labels; a guess that is not the usual one is told, and so is a
    mark that may separate them."""
    if columns.label is None:
        return columns
    asked = getattr(source.options, "label_separator", None)
    cells = [record.fields.get(columns.label) for record in sample]
    found = separator_of(cells, source.options)
    if found == LISTS and not asked:
        return columns
    if not asked and found not in (None, SEPARATOR):
        source.notes.append(f"labels are separated by {found!r} - override with --label-separator")
    separator = asked.strip() if asked else found or SEPARATOR
    held = [mark for mark in SEPARATORS for cell in cells if isinstance(cell, str) and mark in cell]
    if held and found is None and not any(isinstance(cell, str) and separator in cell for cell in cells):
        told = f"labels are taken to hold {held[0]!r} themselves"
        source.notes.append(f"{told} - give --label-separator {held[0]!r} if it separates them")
    return CellColumns(columns.text, columns.label, separator)


def separator_of(values: Sequence[object], options: ReadOptions) -> str | None:
    """What separates the labels if fields look like sets of them: `LISTS`, or what stands between the parts
    of cells, which recur; None if they do not."""
    asked = getattr(options, "label_separator", None)
    full = [listed(value) for value in values if value is not None]
    lists = [value for value in full if isinstance(value, list)]
    if lists:
        flat = not any(isinstance(item, list | dict) for own in lists for item in own)
        return LISTS if flat and len(lists) * 2 > len(full) and any(lists) else None
    cells = [value for value in full if isinstance(value, str)]
    marks = (asked.strip(),) if asked else SEPARATORS
    return next((mark for mark in marks if _recur(cells, mark, bool(asked))), None)


def listed(cell: object) -> object:
    """The list that a cell holds as a text, as JSON or as Python writes it (`["a", "b"]`, `['a', 'b']`,
    `('a', 'b')`, `{'b', 'a'}`); what is no list as it is."""
    text = cell.strip() if isinstance(cell, str) else ""
    if text[:1] + text[-1:] not in ("[]", "()", "{}") and text != "set()":
        return cell
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(_UNDIVIDED.sub(", ", text))
        except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, tuple | set):
            return sorted(found, key=str) if isinstance(found, set) else [*found]
        return found if isinstance(found, list) else cell
    return cell


def _recur(cells: Sequence[str], separator: str, asked: bool) -> bool:
    """Whether the parts of cells recur in other cells. A comma or semicolon may belong to a name (`Toys,
    games`), whose parts recur only where it does: there equal sets count once, unless it was asked for."""
    parted = [parts_of(cell, separator) for cell in cells]
    if not asked and separator != SEPARATOR:
        parted = list({frozenset(parts): parts for parts in parted}.values())
    several = [parts for parts in parted if len(parts) > 1]
    if len(several) < 2:
        return False
    counts = Counter(part for parts in parted for part in set(parts))
    parts = [part for own in several for part in own]
    short = sum(len(part.split()) for part in parts) <= 3 * len(parts)
    recurring = sum(counts[part] > 1 for part in parts)
    return short and recurring >= RECURRING * len(parts)


def parts_of(cell: str, separator: str) -> list[str]:
    """The parts of a cell, trimmed, without empty ones."""
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _rank(name: str) -> int:
    place = rank(name, NAMES)
    return len(NAMES) if place is None else place


def cells_of(record: Record, columns: Columns, source: Source) -> list[str] | None:
    """What stands in the place of each label of a record; None, and reported, where it cannot be read."""
    if isinstance(columns, FlagColumns):
        return flagged(record, columns, source)
    name = columns.label
    if name is None:
        return []
    separator = columns.separator if isinstance(columns, CellColumns) else SEPARATOR
    value = listed(record.fields.get(name))
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
