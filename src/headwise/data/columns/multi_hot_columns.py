"""Multi-hot label columns: each label has a column, with 1 where a text has the label and 0 where not.

Codes: HW124.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from headwise.core.text_normalization import without_invisible
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import is_never_label, names_person
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.named_columns import find_column, names_in
from headwise.data.columns.text_columns import Columns, choose_text

YES = frozenset({"1", "1.0", "true", "yes", "y", "x", "✓", "✔"})
NO = frozenset({"0", "0.0", "false", "no", "n"})
_UNCLEAR = frozenset({"x", "y"})  # of which either may say yes where the other one says no
_WORDS = frozenset({"true", "false", "yes", "no"})
UNKNOWN = frozenset({"", "-1", "-1.0", "nan", "na", "n/a", "none", "null", "?"})
"""What says that nobody knows whether a text has a label."""


@dataclass(frozen=True)
class MultiHotColumns(Columns):
    """The chosen columns, where each label has a column of its own.

    Attributes:
        flags: The names of the label columns, which are the labels.
        ticked: The label columns in which an empty cell means no, as no cell of the sample says no
            otherwise.
    """

    flags: tuple[str, ...] = ()
    ticked: frozenset[str] = frozenset()

    @property
    def label_columns(self) -> tuple[str, ...]:
        return (*super().label_columns, *self.flags)


def guess_multi_hot_columns(sample: Sequence[Record], without: Collection[str | None] = ()) -> list[str]:
    """The columns that look like multi-hot labels.

    They hold nothing but 0 and 1 (true and false, yes and no, x and nothing), and two or more of them hold
    both. Columns count, too, in which half of the cells or fewer are empty or -1, for unknown, or a few are
    anything else; reading the file reports these cells. Columns in `without` are excluded, and the few that
    are spelt otherwise than most: true and false beside 0 and 1.
    """
    candidates = {name: values for name, values in _values(sample).items() if name not in without}
    candidates = {name: values for name, values in candidates.items() if not is_never_label(name)}
    flags = {name for name, values in candidates.items() if _flags(values)}
    full = {name for name, values in candidates.items() if name in flags or _has_gaps(values)}
    both = [name for name in full if candidates[name].keys() & YES and len(candidates[name]) > 1]
    if len(both) < 2:
        return []
    names = [name for name in candidates if name in full or _nearly(candidates[name])]
    in_words = [name for name in names if any(value in _WORDS for value in candidates[name])]
    in_numbers = [name for name in names if name not in in_words]
    if in_words and len(in_words) != len(in_numbers) and min(len(in_words), len(in_numbers)) > 0:
        names = max(in_words, in_numbers, key=len)
    return [] if all(map(names_person, names)) else names


def other_flag_columns(
    sample: Sequence[Record], flags: Sequence[str], without: Collection[str | None] = ()
) -> list[str]:
    """The columns of yes and no that are none of the guessed ones."""
    return [
        name
        for name, values in _values(sample).items()
        if name not in flags and name not in without and _flags(values) and not is_never_label(name)
    ]


def has_other_values(sample: Sequence[Record], name: str) -> bool:
    """Whether a column holds anything but yes and no, or yes and nothing."""
    return not _flags(_values(sample)[name])


def _flags(values: Mapping[str, int]) -> bool:
    return (values.keys() <= YES | NO or _ticked(values)) and not values.keys() >= _UNCLEAR


def _values(sample: Sequence[Record]) -> dict[str, Counter[str]]:
    return {
        name: Counter(_lower_text(record.fields.get(name)) for record in sample)
        for name in names_in(sample)
    }


def _ticked(values: Mapping[str, int]) -> bool:
    """Whether cells hold yes or nothing."""
    return "" in values and bool(values.keys() & YES) and values.keys() <= YES | {""}


def _has_gaps(values: Counter[str]) -> bool:
    """Whether cells say yes and no, and at most half say that it is not known."""
    gaps = sum(values[value] for value in UNKNOWN)
    both = values.keys() & YES and values.keys() & NO
    return bool(both) and values.keys() <= YES | NO | UNKNOWN and 2 * gaps <= values.total()


def _nearly(values: Counter[str]) -> bool:
    """Whether all but one cell in fifty, or all but one of a short file, say yes and no, or yes and
    nothing."""
    no = NO if values.keys() & NO else frozenset({""})
    odd = sum(count for value, count in values.items() if value not in YES | no)
    both = values.keys() & YES and values.keys() & no
    return bool(both) and 10 * odd <= values.total() and odd <= max(1, values.total() // 50)


def choose_multi_hot_columns(
    sample: Sequence[Record], source: DataSource, requested: Sequence[str]
) -> MultiHotColumns:
    """The label columns with these names or numbers, and the text column; see `columns_named`.

    Raises:
        DataError: HW111, HW131.
    """
    flags = columns_named(requested, sample, source, "--label-columns")
    values_of = {name: values for name, values in _values(sample).items() if name in flags}
    if unclear := [name for name, values in values_of.items() if values.keys() >= _UNCLEAR]:
        problem = f"'x' and 'y' in the column {unclear[0]!r}, each of which may say yes"
        raise source.error("HW124", problem, advice="write 1 where the text has the label, 0 where not")
    ticked = frozenset(name for name, values in values_of.items() if _ticked(values))
    if ticked:  # nobody may have ticked the others
        ticked |= {name for name, values in values_of.items() if {*values} == {""}}
    return MultiHotColumns(choose_text(sample, source, without=flags), None, flags, ticked)


def columns_named(
    requested: Sequence[str], sample: Sequence[Record], source: DataSource, flag: str
) -> tuple[str, ...]:
    """The names of the columns with these names or numbers (from 1; 3-8 is a range), each once.

    Raises:
        DataError: HW111, there is no such column.
    """
    names = names_in(sample)
    places: list[int] = []
    for part in requested:
        first, dash, last = part.partition("-")
        numbers = part not in names and dash and first.isdecimal() and last.isdecimal() and len(part) < 20
        if numbers and int(first) <= int(last):
            parts = map(str, range(int(first), int(last) + 1))
        else:
            parts = iter((part,))
        places += [find_column(column, names, source, flag) for column in parts]
    return tuple(dict.fromkeys(names[place] for place in places))


def multi_hot_labels(record: Record, columns: MultiHotColumns, source: DataSource) -> list[str] | None:
    """The labels whose cells say yes; None, after reporting an error, if a cell says neither yes nor no."""
    labels = []
    for name in columns.flags:
        value = _lower_text(record.fields.get(name))
        if value in YES:
            labels.append(name)
        elif value not in NO and (value or name not in record.fields or name not in columns.ticked):
            if value in UNKNOWN and source.skips_unanswered:
                source.counts.unlabelled += 1
                return None
            what = f"{value[:40]!r}" if value else "nothing" if name in record.fields else "no field"
            unknown = ", for unknown" if value.startswith("-1") else ""
            skip = "; --empty-labels skip leaves such rows out" * hasattr(source.options, "empty_labels")
            error = source.error(
                "HW124",
                f"{what} in the column {name!r}{unknown}",
                record.line,
                expected="1 where the text has the label, 0 where not (or true and false, yes and no)",
                advice=f"fill it in, or name the columns of labels with --label-columns{skip}",
            )
            source.report(error)
            return None
    return labels


def _lower_text(value: object) -> str:
    return without_invisible(as_text(value)).lower()
