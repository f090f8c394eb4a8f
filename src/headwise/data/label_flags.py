"""Labels in columns of their own: 1 where a text has the label, 0 where it has not.

Codes: HW124.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from headwise.data.columns import Columns, choose_text, find_column, names_in
from headwise.data.formats.jsonl import as_text
from headwise.data.source import Record, Source

YES = frozenset({"1", "1.0", "true", "yes", "y", "x", "✓", "✔"})
NO = frozenset({"0", "0.0", "false", "no", "n"})


@dataclass(frozen=True)
class FlagColumns(Columns):
    """The same where each label has a column of its own.

    Attributes:
        flags: The names of these columns, which are the labels.
        ticked: Those in which an empty cell says no, as no cell of the first ones says it otherwise.
    """

    flags: tuple[str, ...] = ()
    ticked: frozenset[str] = frozenset()


def labelled(columns: Columns) -> bool:
    """Whether there are labels."""
    return columns.label is not None or (isinstance(columns, FlagColumns) and bool(columns.flags))


def guess_flags(sample: Sequence[Record], without: Collection[str | None] = ()) -> list[str]:
    """The columns that hold nothing but 0 and 1 (true and false, yes and no, x and nothing), if two or more
    of them hold both, and those in which few cells are anything else, which is then told where they are
    read; none of those of which it is known that they hold something else."""
    own = {name: values for name, values in _values(sample).items() if name not in without}
    found = {name for name, values in own.items() if _flags(values)}
    both = [name for name in found if own[name].keys() & YES and len(own[name]) > 1]
    return [name for name in own if name in found or _nearly(own[name])] if len(both) > 1 else []


def says_more(sample: Sequence[Record], name: str) -> bool:
    """Whether a column holds anything but yes and no, or yes and nothing."""
    return not _flags(_values(sample)[name])


def _flags(values: Mapping[str, int]) -> bool:
    return values.keys() <= YES | NO or _ticked(values)


def _values(sample: Sequence[Record]) -> dict[str, Counter[str]]:
    return {
        name: Counter(_plain(record.fields.get(name)) for record in sample) for name in names_in(sample)
    }


def _ticked(values: Mapping[str, int]) -> bool:
    """Whether cells hold yes or nothing."""
    return "" in values and bool(values.keys() & YES) and values.keys() <= YES | {""}


def _nearly(values: Counter[str]) -> bool:
    """Whether all but one cell in fifty, or one of a short file, say yes and no, or yes and nothing."""
    no = NO if values.keys() & NO else frozenset({""})
    odd = sum(count for value, count in values.items() if value not in YES | no)
    both = values.keys() & YES and values.keys() & no
    return bool(both) and 10 * odd <= values.total() and odd <= max(1, values.total() // 50)


def choose_flags(sample: Sequence[Record], source: Source, asked: Sequence[str]) -> FlagColumns:
    """The columns with these names or numbers, and that of the texts; see `columns_named`.

    Raises:
        DataError: HW111, HW131.
    """
    flags = columns_named(asked, sample, source, "--label-columns")
    ticked = frozenset(
        name for name, values in _values(sample).items() if name in flags and _ticked(values)
    )
    return FlagColumns(choose_text(sample, source, without=flags), None, flags, ticked)


def columns_named(
    asked: Sequence[str], sample: Sequence[Record], source: Source, flag: str
) -> tuple[str, ...]:
    """The columns with these names or numbers (from 1; 3-8 is several), each once.

    Raises:
        DataError: HW111, there is no such column.
    """
    names = names_in(sample)
    places: list[int] = []
    for part in asked:
        first, dash, last = part.partition("-")
        numbers = part not in names and dash and first.isdecimal() and last.isdecimal() and len(part) < 20
        if numbers and int(first) <= int(last):
            parts = map(str, range(int(first), int(last) + 1))
        else:
            parts = iter((part,))
        places += [find_column(own, names, source, flag) for own in parts]
    return tuple(dict.fromkeys(names[place] for place in places))


def flagged(record: Record, columns: FlagColumns, source: Source) -> list[str] | None:
    """The labels whose cells say yes; None, and reported, where a cell says neither yes nor no."""
    found = []
    for name in columns.flags:
        value = _plain(record.fields.get(name))
        if value in YES:
            found.append(name)
        elif value not in NO and (value or name not in record.fields or name not in columns.ticked):
            what = f"{value[:40]!r}" if value else "nothing" if name in record.fields else "no field"
            error = source.error(
                "HW124",
                f"{what} in the column {name!r}",
                record.line,
                expected="1 where the text has the label, 0 where not (or true and false, yes and no)",
                advice="mend it, or name the columns of labels with --label-columns",
            )
            source.report(error)
            return None
    return found


def _plain(value: object) -> str:
    return as_text(value).strip().lower()
