"""Find and read the label columns of multi-label texts.

Codes: HW120 (null), HW123, HW124.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import (
    as_text,
    holds_choices,
    is_link,
    looks_like_list,
    parse_cell,
    parse_list_cell,
    parse_words_cell,
)
from headwise.data.columns.column_names import (
    LABEL_SET_NAMES,
    SET_NAMES,
    TEXT_NAMES,
    is_never_label,
    joined_column_names,
    name_rank,
    normal_name,
)
from headwise.data.columns.duplicate_names import (
    RepeatedLabelColumns,
    repeated_cells,
    with_repeated_columns,
)
from headwise.data.columns.file_source import DataSource, Record, most_true
from headwise.data.columns.multi_hot_columns import (
    MultiHotColumns,
    choose_multi_hot_columns,
    guess_multi_hot_columns,
    has_other_values,
    multi_hot_labels,
    other_flag_columns,
)
from headwise.data.columns.named_columns import columns_of, find_column, names_in, tabular_names
from headwise.data.columns.reading_options import DEFAULT_LABEL_SEPARATOR, MultiLabelOptions, ReadOptions
from headwise.data.columns.soft_label_columns import WEIGHT_NAMES, choose_weight
from headwise.data.columns.text_columns import (
    Columns,
    ambiguous_columns_error,
    choose_columns,
    named_label_column,
)
from headwise.data.findings import abbreviate
from headwise.data.items.numeric_labels import parse_number

RECURRING = 0.8
"""Least share of the parts of cells that must occur in other cells, too, for the parts to be labels. A part
counts as often as it occurs: in a label set with a long tail most labels occur once, but they fill few
cells."""

_LEAST_TEXTS = 5
"""Number of texts in lists from which on they show whether they recur."""

SEPARATORS = (DEFAULT_LABEL_SEPARATOR, ";", ",", "#", "><", "、", "，", "；", "،")
"""Separators of labels to try if the user gives none, the most reliable first. doccano writes `a#b`, Stack
Overflow `<a><b>`."""

WEAK_SEPARATORS = ("/", "+", "&")
"""Separators that may as well belong to a name (`Sci/Tech`)."""

BLANK = " "
"""The separator of labels without blanks in them, such as arXiv's `cs.CL cs.LG`."""

_PARTED = lazy_pattern(r"\S*[^\W\d][.\d_/#+:-]+\S*")
"""A name of several parts, such as `cs.CL` or `asp.net`."""

_CONJUNCTIONS = {"and", "or", "und", "oder", "et", "ou", "y", "o", "e", "ed"}
"""Words between the labels of a cell."""

_TAG = lazy_pattern("O|[BIESLUM]-.+")
"""A tag of a word, such as `B-PER`."""

_VERBS = ("is", "has", "was", "had")
LIST_SEPARATOR = "[]"
"""The value of the separator where labels are lists."""


@dataclass(frozen=True)
class LabelListColumns(Columns):
    """The chosen columns, where a cell holds all labels of a text, with a separator between them."""

    separator: str = DEFAULT_LABEL_SEPARATOR


def choose_multi_label_columns(
    sample: Sequence[Record], source: DataSource, *, labelled: bool, training_labels: Sequence[str] = ()
) -> Columns:
    """Choose the columns of multi-label texts, like `choose_columns`.

    The label column is the column with a usual name that has several labels in a cell, else any column that
    has, else the column with the surest name. Without one, the columns that hold nothing but 0 and 1 are
    the labels. Another column may be the weights.

    Args:
        training_labels: Labels of a model; if all of them are names of columns, these columns are the
            labels.

    Raises:
        DataError: HW111, HW131.
    """
    columns = _choose(sample, source, labelled=labelled, training_labels=training_labels)
    if labelled:
        columns = with_repeated_columns(columns, sample, source)
    if not labelled or not isinstance(source.options, MultiLabelOptions):
        return columns
    taken = (columns.text, *columns.label_columns, *tabular_names(sample, source))
    weight = choose_weight(sample, source, source.options.weight_column, without=taken)
    return replace(columns, weight=weight)


def _choose(
    sample: Sequence[Record], source: DataSource, *, labelled: bool, training_labels: Sequence[str]
) -> Columns:
    options = source.options
    if labelled and isinstance(options, MultiLabelOptions) and options.flags:
        return choose_multi_hot_columns(sample, source, options.flags)
    if options.label_column or not labelled:
        return _with_separator(choose_columns(sample, source, labelled=labelled), sample, source)
    names = names_in(sample)
    if training_labels and set(training_labels) <= set(names):
        return choose_multi_hot_columns(sample, source, training_labels)
    weights = _weight_columns(names, sample, source)
    tabular = tabular_names(sample, source)
    excluded = {*joined_column_names(options.text_column or "", names), *weights, *tabular}
    flags = guess_multi_hot_columns(sample, excluded)
    named_label = named_label_column(sample, without={*flags, *excluded}) if flags else None
    if named_label and all(normal_name(flag).split("_")[0] in _VERBS for flag in flags):  # as `is_vip`
        flags = []
    values_of = {name: [record.fields.get(name) for record in sample] for name in names}
    open_names = [name for name in names if name_rank(name, TEXT_NAMES) is None and name not in excluded]
    open_names = [name for name in open_names if not lists_words_of_text(sample, name)]
    open_names = [name for name in open_names if not _never_labels(name, values_of[name])]
    set_columns = [name for name in open_names if separator_of(values_of[name], options, name)]
    ranks = {name: name_rank(name, LABEL_SET_NAMES) for name in open_names if name not in flags}
    usual = [(rank, name) for name, rank in ranks.items() if rank is not None]
    named = [name for _, name in sorted(usual, key=itemgetter(0))]  # of equal ones the first
    candidates = [name for name in named if name in set_columns] or set_columns or named
    if not candidates and flags:
        shown = ", ".join(map(repr, flags))
        source.notes.append(f"labels guessed to be the columns {shown} - override with --label-columns")
        if unlike := [repr(name) for name in other_flag_columns(sample, flags, excluded)]:
            message = f"columns of yes and no of another spelling, not read: {abbreviate(unlike)}"
            source.notes.append(message)
        if named_label:
            source.notes.append(f"{named_label!r} may be the label - choose with --label-column")
        if lacking := [repr(label) for label in training_labels if label not in flags]:
            message = f"labels without a column, which therefore no text has: {abbreviate(lacking)}"
            source.notes.append(message)
        return choose_multi_hot_columns(sample, source, flags)
    if not candidates:
        return _with_separator(choose_columns(sample, source, labelled=True), sample, source)
    label = candidates[0]
    if label not in named and len(candidates) > 1:
        columns = [column for column in columns_of(sample) if column.name in candidates]
        raise ambiguous_columns_error("the column of labels", "--label-column", columns, source)
    source.notes.append(f"labels guessed to be in the column {label!r} - override with --label-column")
    named_source = replace(source, options=replace(options, label_column=label))
    return _with_separator(choose_columns(sample, named_source, labelled=True), sample, source)


def _never_labels(name: str, values: Sequence[object]) -> bool:
    """Whether a column's name, or what its lists hold, says that it has no label sets: measured numbers,
    links, texts that do not recur, or the tags of words."""
    if name_rank(name, LABEL_SET_NAMES) is None and is_never_label(name):
        return True
    lists = (value for value in map(parse_words_cell, values) if isinstance(value, list))
    items = [as_text(item) for value in lists for item in value]
    if not items:
        return False
    measured = all(parse_number(item) is not None for item in items) and any("." in item for item in items)
    tags = sum(_TAG.fullmatch(item) is not None for item in items)
    prose = len(items) >= _LEAST_TEXTS and sum(len(item.split()) for item in items) >= 3 * len(items)
    if measured or (prose and len({*items}) > RECURRING * len(items)):
        return True
    return all(map(is_link, items)) or ("O" in items and tags == len(items))


def lists_words_of_text(sample: Sequence[Record], name: str) -> bool:
    """Whether the lists of a column are the words of the text in another column, and so no labels."""
    rows = [(parse_words_cell(record.fields.get(name)), record.fields) for record in sample]
    lists = [(words, fields) for words, fields in rows if isinstance(words, list) and words]
    columns = [column for column in names_in(sample) if column != name]
    return bool(lists) and any(
        most_true(_covers(words, fields.get(column)) for words, fields in lists) for column in columns
    )


def _covers(words: Sequence[object], text: object) -> bool:
    """Whether a list holds most of the words of a text, all of which are in it."""
    if not isinstance(text, str) or len(words) < 2:
        return False
    return 5 * len(words) >= 4 * len(text.split()) and all(as_text(word) in text for word in words)


def _weight_columns(names: Sequence[str], sample: Sequence[Record], source: DataSource) -> list[str]:
    """The weight columns: the requested one, or those with a usual name that hold more than yes and no, as
    labels do."""
    requested = getattr(source.options, "weight_column", None)
    if requested == "none":
        return []
    if requested:
        return [names[find_column(requested, names, source, "--weight-column")]]
    return [name for name in names if normal_name(name) in WEIGHT_NAMES and has_other_values(sample, name)]


def _with_separator(columns: Columns, sample: Sequence[Record], source: DataSource) -> Columns:
    """The columns, with the label separator. A guess other than the usual one is noted, and so is a mark
    that may be the separator."""
    if columns.label is None:
        return columns
    requested = getattr(source.options, "label_separator", None)
    cells = [record.fields.get(columns.label) for record in sample]
    detected = separator_of(cells, source.options, columns.label)
    if detected == LIST_SEPARATOR and not requested:
        if _are_vectors(cells):
            raise source.error(
                "HW123",
                f"lists of 0 and 1 in {columns.label!r}, which say of each label whether a text has it",
                expected="lists of the names of labels",
                advice="write the names, or a column of 0 and 1 with the name of each label",
            )
        return columns
    if not requested and detected not in (None, DEFAULT_LABEL_SEPARATOR):
        source.notes.append(f"labels are separated by {detected!r} - override with --label-separator")
    separator = _trimmed(requested) if requested else detected or DEFAULT_LABEL_SEPARATOR
    held = [mark for mark in SEPARATORS for cell in cells if isinstance(cell, str) and mark in cell]
    if held and detected is None and not any(isinstance(cell, str) and separator in cell for cell in cells):
        message = f"labels are taken to hold {held[0]!r} themselves"
        source.notes.append(f"{message} - give --label-separator {held[0]!r} if it separates them")
    return LabelListColumns(columns.text, columns.label, separator)


def _are_vectors(cells: Sequence[object]) -> bool:
    """Whether cells are lists of 0 and 1 of one length, with repetitions, as no sets of numbers are."""
    lists = [value for value in map(parse_list_cell, cells) if isinstance(value, list)]
    values = {as_text(item).lower() for items in lists for item in items}
    vectors = values <= {"0", "0.0", "false", "1", "1.0", "true"} and len({*map(len, lists)}) == 1
    return vectors and any(len({*map(as_text, items)}) < len(items) for items in lists)


def _trimmed(separator: str) -> str:
    """A requested separator without blanks around it, unless it is a blank."""
    return separator.strip() or BLANK


def separator_of(values: Sequence[object], options: ReadOptions, name: str) -> str | None:
    """The separator of the labels if the cells of the column `name` look like sets of labels, whose parts
    recur; `LIST_SEPARATOR` if they are lists; None if they do not look like sets."""
    requested = getattr(options, "label_separator", None)
    full = [parse_list_cell(value) for value in values if value is not None and str(value).strip()]
    words = [value for value in map(parse_words_cell, full) if isinstance(value, list)]
    if len(words) == len(full) and any(len(labels) > 1 for labels in words):
        full = words
    lists = [value for value in full if isinstance(value, list)]
    if any(map(holds_choices, values)):
        return LIST_SEPARATOR
    if lists:
        flat = not any(isinstance(item, list | dict) for labels in lists for item in labels)
        return LIST_SEPARATOR if flat and len(lists) * 2 > len(full) and any(lists) else None
    cells = [value for value in full if isinstance(value, str)]
    marks = (_trimmed(requested),) if requested else SEPARATORS
    mark = next((mark for mark in marks if _parts_recur(cells, mark, bool(requested))), None)
    if mark is not None or requested:
        return mark
    for mark in WEAK_SEPARATORS:
        if _parts_recur(cells, mark, requested=False) and _stand_alone(cells, mark):
            return mark
    return BLANK if _blanks_separate(cells, name) else None


def _stand_alone(cells: Sequence[str], separator: str) -> bool:
    """Whether most labels of sets also stand alone in other cells."""
    sets = {frozenset(parts_of(cell, separator)) for cell in cells}
    alone = {label for labels in sets if len(labels) == 1 for label in labels}
    joint = [labels for labels in sets if len(labels) > 1]
    return len(joint) > 1 and most_true(label in alone for labels in joint for label in labels)


def _blanks_separate(cells: Sequence[str], name: str) -> bool:
    """Whether blanks separate labels, rather than the words of a label (`very good`). They do if the column
    is named in the plural or most labels are names of several parts, and if most labels of sets are also
    the only label of a cell, as `very` is not."""
    joint = [label for cell in {*cells} if len(labels := cell.split()) > 1 for label in labels]
    if not all(any(map(str.isalnum, label)) for label in joint):  # a mark between labels
        return False
    if not _CONJUNCTIONS.isdisjoint(map(str.lower, joint)):
        return False
    parted = most_true(_PARTED.fullmatch(label) is not None for label in joint)
    return (parted or name_rank(name, SET_NAMES) is not None) and _stand_alone(cells, BLANK)


def _parts_recur(cells: Sequence[str], separator: str, requested: bool) -> bool:
    """Whether the parts of cells recur in other cells. A comma, semicolon, hash or weak separator may
    belong to a name (`Toys, games`), whose parts recur only with each other: for these equal sets count
    once, unless the user gave the separator."""
    parted = [parts_of(cell, separator) for cell in cells]
    if not requested and separator not in (DEFAULT_LABEL_SEPARATOR, "><"):
        parted = list({frozenset(parts): parts for parts in parted}.values())
    multiple = [parts for parts in parted if len(parts) > 1]
    if len(multiple) < 2:
        return False
    counts = Counter(part for parts in parted for part in set(parts))
    parts = [part for cell_parts in multiple for part in cell_parts]
    short = sum(len(part.split()) for part in parts) <= 3 * len(parts)
    recurring = sum(counts[part] > 1 for part in parts)
    return short and recurring >= RECURRING * len(parts)


def parts_of(cell: str, separator: str) -> list[str]:
    """The parts of a cell, trimmed, without empty ones."""
    return [part for part in _split(cell, separator) if part]


def _split(cell: str, separator: str) -> list[str]:
    """The trimmed parts of a cell, which line ends separate, too; labels in angle brackets are written
    without them."""
    cell = cell.strip()
    if separator == BLANK:
        return cell.split()
    if separator == "><" and cell.startswith("<") and cell.endswith(">"):
        cell = cell[1:-1]
    return [part.strip() for line in cell.split("\n") for part in line.split(separator)]


def is_unlabelled(record: Record, columns: Columns) -> bool:
    """Whether a record is unlabelled: the cell of the labels, or each of their columns, is null or empty.
    An empty cell among multi-hot columns where it means "no" does not count."""
    names = columns.flags if isinstance(columns, MultiHotColumns) else (columns.label or "",)
    names = columns.repeated if isinstance(columns, RepeatedLabelColumns) else names
    ticked = isinstance(columns, MultiHotColumns) and columns.ticked
    return not ticked and not any(as_text(record.fields.get(name)).strip() for name in names)


def cells_of(record: Record, columns: Columns, source: DataSource) -> list[str] | None:
    """The labels of a record as its cells have them; None, after reporting an error, if they cannot be
    read."""
    if isinstance(columns, MultiHotColumns):
        return multi_hot_labels(record, columns, source)
    if isinstance(columns, RepeatedLabelColumns):
        return repeated_cells(record, columns)
    name = columns.label
    if name is None:
        return []
    separator = columns.separator if isinstance(columns, LabelListColumns) else DEFAULT_LABEL_SEPARATOR
    cell = record.fields.get(name)
    value = (parse_list_cell if isinstance(columns, LabelListColumns) else parse_words_cell)(cell)
    advice = "give --empty-labels skip to leave out texts that nobody has labelled"
    if name not in record.fields:
        problem, expected = f"no field {name!r}", "a list of labels"
        source.report_error("HW117", problem, record.line, expected=expected, advice=advice)
    elif value is None:
        source.report_error("HW120", "a null in the place of labels", record.line, advice=advice)
    elif isinstance(value, list):
        bad = [item for item in value if isinstance(item, list | dict) or item is None]
        if not bad:
            return [as_text(item).strip() for item in value]
        problem = f"the label {as_text(bad[0])[:40] or 'null'}"
        source.report_error("HW123", problem, record.line, expected="a text")
    elif isinstance(parse_cell(value), dict) or (
        looks_like_list(value) and not isinstance(columns, LabelListColumns)
    ):
        problem = f"the labels {as_text(value)[:40]}"
        source.report_error("HW123", problem, record.line, expected="a list of texts")
    else:
        written = as_text(value)
        return _split(written, separator) if written.strip() else []
    return None
