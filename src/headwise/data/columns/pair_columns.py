"""Choose the text, label and weight columns of a table of text pairs.

Code: HW285, if they cannot be guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headwise.data.columns.column_contents import Column, other_labels_notes
from headwise.data.columns.column_names import (
    PAIR_LABEL_NAMES,
    PAIR_NAMES,
    TEXT_NAMES,
    name_rank,
    normal_name,
    parallel_name,
)
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.item_options import PairOptions
from headwise.data.columns.named_columns import check_distinct_columns, columns_of, find_column
from headwise.data.columns.soft_label_columns import WEIGHT_NAMES, choose_weight
from headwise.data.columns.text_columns import ambiguous_columns_error
from headwise.data.errors import DataError


@dataclass(frozen=True)
class PairColumns:
    """The names of the chosen columns; `label` and `weight` are None if there is no such column."""

    first: str
    second: str
    label: str | None = None
    weight: str | None = None


def choose_pair_columns(
    sample: Sequence[Record],
    source: DataSource,
    *,
    labelled: bool,
    options: PairOptions,
    numbers: bool = False,
) -> PairColumns:
    """Choose the columns by the options, otherwise by their names, otherwise by their contents.

    A note on each guess is added to `source.notes`.

    Args:
        labelled: Whether a label column is required; if not, it is None when in doubt.
        options: The columns that the user named.

    Raises:
        DataError: HW111 (no such column), HW285 (cannot be guessed).
        ConfigError: Two options name the same column.
    """
    columns = columns_of(sample)
    names = [column.name for column in columns]

    def find(requested: str | None, flag: str) -> str | None:
        return names[find_column(requested, names, source, flag)] if requested else None

    first = find(options.first_column, "--first-column")
    second = find(options.second_column, "--second-column")
    try:
        label = find(options.label_column, "--label-column")
    except DataError:
        if labelled:
            raise
        label = None
    weight, taken = None, [first, second, label]
    if labelled:
        weight = choose_weight(sample, source, options.weight_column, without=taken, many="pairs")
    check_distinct_columns(
        first_column=first, second_column=second, label_column=label, weight_column=weight
    )
    columns = [column for column in columns if column.name != weight]
    guessed = []
    if first is None or second is None:
        texts = _text_columns([column for column in columns if column.name != label], alone=not labelled)
        if first is None and second is None and texts:
            first, second = texts
            guessed += [f"first={first!r}", f"second={second!r}"]
        elif texts and (first or second) in texts:
            counterpart = texts[1 - texts.index(first or second or "")]
            guessed.append(f"{'second' if first else 'first'}={counterpart!r}")
            first, second = first or counterpart, second or counterpart
    if first is None or second is None:
        flags = "--first-column and --second-column"
        raise ambiguous_columns_error("the columns of the texts", flags, columns, source, "HW285")
    if options.label_column is None:
        remaining = [column for column in columns if column.name not in (first, second)]
        if numbers:
            remaining = [column for column in remaining if column.numbers] or remaining
        label = _label_column(remaining)
        if labelled:  # prediction does not use labels
            if label is None:
                raise ambiguous_columns_error(
                    "the column of the labels", "--label-column", columns, source, "HW285"
                )
            unread = [column for column in remaining if column.name != label]
            scale = next(column for column in remaining if column.name == label)
            source.notes += _unread_notes(unread, scale, numbers=numbers)
            if not numbers and scale.numbers and scale.distinct > 2:
                source.notes.append(
                    f"the numbers in {label!r} are learnt as labels (--task pair-score learns a scale)"
                )
            guessed.append(f"label={label!r}")
    if guessed:
        flags = "--first-column/--second-column" + "/--label-column" * labelled
        source.notes.append(f"columns guessed: {', '.join(guessed)} - override with {flags}")
    return PairColumns(first, second, label, weight)


def _unread_notes(unread: Sequence[Column], label: Column, *, numbers: bool) -> list[str]:
    """Notes on columns that are not read although they may be labels, or scores where labels are no
    `numbers`."""
    notes = list(other_labels_notes(unread, label))
    if not numbers and (scores := [repr(column.name) for column in unread if column.is_decimal]):
        notes.append(f"numbers that are not used: {', '.join(scores)} (--task pair-score learns them)")
    return notes


def _text_columns(columns: Sequence[Column], *, alone: bool) -> tuple[str, str] | None:
    """The two text columns, or None if they are not clear.

    These are the columns with usual names that may hold texts, otherwise the only two columns whose cells
    have several words.
    If no label is required (`alone`), also the two columns of a table that has no others, unless one is
    named like a label or holds numbers."""
    if usual := named_texts(columns) or parallel_texts(columns):
        return usual
    columns = [column for column in columns if not column.identifies]
    texts = [column.name for column in columns if column.words >= 2 and not column.is_categorical]
    normal = {normal_name(column.name) for column in columns}
    if alone and len(columns) == 2 and normal.isdisjoint(PAIR_LABEL_NAMES):
        texts = [column.name for column in columns]
    return (texts[0], texts[1]) if len(texts) == 2 else None


def named_texts(columns: Sequence[Column]) -> tuple[str, str] | None:
    """The columns with usual names of two texts, unless they hold lists, or the answers to a questionnaire:
    numbers, or few short answers beside a column of texts."""
    by_name = {normal_name(column.name): column for column in reversed(columns)}
    for names in PAIR_NAMES:
        if not all(name in by_name for name in names):
            continue
        pair = [by_name[name] for name in names]
        prose_beside = any(column.is_prose for column in columns if column not in pair)
        if all(column.strings or not any(column.values) for column in pair) and not any(
            column.numbers or (prose_beside and column.is_categorical) for column in pair
        ):
            return pair[0].name, pair[1].name
    return None


def parallel_texts(columns: Sequence[Column]) -> tuple[str, str] | None:
    """The columns named `source` and `target`, or the like, or named by numbers (`Satz A`, `Satz B`), if
    both hold texts and no column is named like a text."""
    texts = [column.name for column in columns if column.is_prose]
    by_name = {normal_name(name): name for name in reversed(texts)}
    for first in texts:
        if second := by_name.get(parallel_name(first) or ""):
            named = any(name_rank(column.name, TEXT_NAMES) is not None for column in columns)
            return None if named else (first, second)
    return None


def _label_column(columns: Sequence[Column]) -> str | None:
    """The column with a usual name for labels, otherwise the only column with recurring values."""
    normal = {normal_name(column.name): column.name for column in reversed(columns)}
    for name in PAIR_LABEL_NAMES:
        if name in normal:
            return normal[name]
    candidates = [column for column in columns if normal_name(column.name) not in WEIGHT_NAMES]
    candidates = [column for column in candidates if not column.is_never_label]
    categorical = [column.name for column in candidates if column.is_recurring and column.varies]
    return categorical[0] if len(categorical) == 1 else None
