"""Choose the column of the texts and the column of the labels, and say why."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from headwise.data.errors import DataError
from headwise.data.formats.jsonl import as_text
from headwise.data.joint import JOINT, join, named_in
from headwise.data.names import HEADING_NAMES, LABEL_NAMES, TEXT_NAMES, is_like, normal_name, rank, surest
from headwise.data.numbers import number_of, pointed
from headwise.data.source import Record, Source
from headwise.errors import ConfigError


@dataclass(frozen=True)
class Columns:
    """The names of the chosen columns; no label column, or none of weights, where there is none."""

    text: str
    label: str | None = None
    weight: str | None = field(default=None, kw_only=True)


_MANY = 20  # cells from which on a column of single words is told from one of a few values


@dataclass(frozen=True)
class Column:
    """What stands in a column of the first records."""

    name: str
    values: list[str]
    strings: bool  # at least one value is a string, as none need be in JSON

    @property
    def words(self) -> float:
        """Mean number of words."""
        return sum(len(value.split()) for value in self.values) / len(self.values)

    @property
    def filled(self) -> bool:
        """At least half of the cells hold something: remarks that few have made are no texts."""
        return 2 * sum(map(bool, map(str.strip, self.values))) >= len(self.values)

    @property
    def distinct(self) -> int:
        return len(set(self.values))

    @property
    def worded(self) -> bool:
        """Words of letters, most of them in no other cell."""
        plain = [value for value in self.values if value.replace(" ", "").replace("-", "").isalpha()]
        many = len(self.values) >= _MANY and 2 * self.distinct > len(self.values)
        return self.strings and many and 10 * len(plain) >= 9 * len(self.values)

    @property
    def categorical(self) -> bool:
        """Few, short, recurring values, none missing."""
        few = 1 if len(self.values) < 4 else len(self.values) // 2
        return self.distinct <= few and self.words <= 3 and all(map(str.strip, self.values))

    @property
    def recurs(self) -> bool:
        """Many records and few values: a title, say, of what many of the texts are from."""
        return len(self.values) >= _MANY and 4 * self.distinct <= len(self.values)

    @property
    def heads(self) -> bool:
        """Named as what stands above a text, or sums it up, and is a text itself where nothing else is."""
        return normal_name(self.name) in HEADING_NAMES

    @property
    def measured(self) -> bool:
        """Decimal fractions: a measurement rather than a class."""
        values = [pointed(value) or value for value in self.values]
        return all("." in value and value.lstrip("-").replace(".", "").isdecimal() for value in values)

    @property
    def numbers(self) -> bool:
        """More numbers than other things, which whoever reads the file refuses."""
        values = [pointed(value) or value for value in self.values if value.strip()]
        given = [number_of(value) is not None for value in values]
        return 2 * sum(given) > len(given)


def choose_columns(
    sample: Sequence[Record], source: Source, *, labelled: bool, numbers: bool = False
) -> Columns:
    """Choose by the options, else by the columns' names, else by what is in them.

    What was guessed is added to `source.notes`.

    Args:
        sample: The first records.
        source: The file and its options.
        labelled: Whether a label column is needed; if not, it is None when in doubt, and a guess is not
            told: who needs no labels does not go by them.
        numbers: Whether labels are numbers.

    Raises:
        DataError: HW111 (no such column), HW131 (cannot be guessed).
        ConfigError: Text and label are to be the same column.
    """
    options = source.options
    columns = columns_of(sample)
    names = [column.name for column in columns]
    label, asked = None, list[Column]()
    if options.text_column:
        asked = _columns_of_text(options.text_column, columns, source)
    if options.label_column and labelled:
        label = columns[find_column(options.label_column, names, source, "--label-column")]
    for part in asked or [None]:
        check_apart(text_column=part and part.name, label_column=label and label.name)
    text, guessed = _joint(asked), list[str]()
    if text is None:
        text = _text_column([c for c in columns if c is not label])
        if text is None:
            flags = "--text-column (for pairs of texts --first-column and --second-column)"
            raise unsure("the text column", flags, columns, source)
        guessed.append(f"text={text.name!r}")
    choose, read = _number_column if numbers else _label_column, asked or [text]
    if label is None:
        label = choose([c for c in columns if c not in read], needed=labelled)
    if label is not None and labelled and not options.label_column:
        guessed.append(f"label={label.name!r}")
    if label is None and labelled:
        raise unsure("the label column", "--label-column", columns, source)
    if guessed:
        flags = "--text-column/--label-column" if labelled else "--text-column"
        source.notes.append(f"columns guessed: {', '.join(guessed)} - override with {flags}")
    others = [column for column in columns if column not in (*read, label)]
    if unused := [own for own in others if (own.strings and own.words >= 3) or own.worded]:
        note = f"columns of text that are not used: {', '.join(repr(own.name) for own in unused)}"
        if len(unused) == 1 and guessed and label is not None:
            both = JOINT.join(own.name for own in columns if own in (text, *unused))
            flags = f"--task pair --first-column {unused[0].name!r} --second-column {text.name!r}"
            note += f" (to read both as one text: --text-column {both!r}; to compare them: {flags})"
        source.notes.append(note)
    return Columns(text.name, label.name if label else None)


def choose_text(sample: Sequence[Record], source: Source, *, without: Sequence[str] = ()) -> str:
    """Choose the column of the texts alone, likewise, and none of those in `without`.

    Raises:
        DataError: HW111, HW131.
    """
    columns = columns_of(sample)
    asked = source.options.text_column
    if asked and (own := _joint(_columns_of_text(asked, columns, source))):
        return own.name
    text = _text_column([column for column in columns if column.name not in without])
    if text is None:
        raise unsure("the text column", "--text-column", columns, source)
    source.notes.append(f"columns guessed: text={text.name!r} - override with --text-column")
    return text.name


def check_apart(**columns: object) -> None:
    """Check that no column was asked for under two names.

    Args:
        columns: What was asked for, by the names of the options; None for nothing.

    Raises:
        ConfigError: Two are the same.
    """
    known: dict[object, str] = {}
    for option, column in columns.items():
        if column is not None and (other := known.setdefault(column, option)) != option:
            flags = (f"--{name.replace('_', '-')}" for name in (other, option))
            raise ConfigError(f"{' and '.join(flags)} name the same column; each needs its own")


def find_column(asked: str, names: Sequence[str], source: Source, flag: str) -> int:
    """The index of a column given by name (spelling of spaces and case aside) or number from 1.

    Raises:
        DataError: HW111.
    """
    if asked in names:
        return list(names).index(asked)
    normal = [normal_name(name) for name in names]
    if normal.count(normal_name(asked)) == 1:
        return normal.index(normal_name(asked))
    if asked.isdecimal() and len(asked) < 10 and 1 <= int(asked) <= len(names):
        return int(asked) - 1
    close = difflib.get_close_matches(asked, names, n=1)
    advice = f"did you mean {flag} {close[0]!r}?" if close else f"give another {flag}"
    if len(several := [normal_name(part) for part in asked.split(",")]) > 1 and {*several} <= {*normal}:
        advice = f"{flag} names one column"
        if flag == "--text-column":
            together = JOINT.join(part.strip() for part in asked.split(","))
            advice = f"give {flag} {together!r} to read several as one text"
    raise DataError(
        "HW111",
        f"there is no column {asked!r}",
        expected=f"one of {', '.join(map(repr, names))}, or a number from 1 to {len(names)}",
        advice=advice,
        path=source.path,
    )


def names_in(sample: Sequence[Record]) -> list[str]:
    """The names of the columns of the first records, in their order."""
    return list(dict.fromkeys(name for record in sample for name in record.fields))


def columns_of(sample: Sequence[Record]) -> list[Column]:
    """The columns of the first records, in their order."""
    columns = []
    for name in names_in(sample):
        values = [record.fields.get(name) for record in sample]
        strings = any(isinstance(value, str) for value in values)
        columns.append(Column(name, [as_text(value) for value in values], strings))
    return columns


def _columns_of_text(asked: str, columns: Sequence[Column], source: Source) -> list[Column]:
    """The column of the texts that is asked for, or those which it is made of.

    Raises:
        DataError: HW111.
        ConfigError: One of several is named twice.
    """
    names = [column.name for column in columns]
    found = [columns[find_column(part, names, source, "--text-column")] for part in named_in(asked, names)]
    if twice := [column.name for n, column in enumerate(found) if column in found[:n]]:
        raise ConfigError(f"--text-column {asked} names the column {twice[0]!r} twice")
    return found


def _joint(columns: Sequence[Column]) -> Column | None:
    """What stands in several columns as one; None of none."""
    if len(columns) < 2:
        return columns[0] if columns else None
    values = [join(row) for row in zip(*(column.values for column in columns), strict=True)]
    name = JOINT.join(column.name for column in columns)
    return Column(name, values, any(column.strings for column in columns))


def _text_column(columns: list[Column]) -> Column | None:
    columns = [column for column in columns if column.strings]
    columns = [column for column in columns if column.filled] or columns
    varied = [column for column in columns if not column.recurs]
    if any(column.words >= 3 for column in varied):
        columns = varied
    others = [c for c in columns if rank(c.name, LABEL_NAMES) is None]
    named = _by_name(columns, TEXT_NAMES)
    if named and not (named.heads and any(c.words >= 2 * named.words for c in others)):
        return named
    longest = sorted(others, key=lambda column: column.words, reverse=True)
    if len(longest) < 2 or longest[0].words >= 1.5 * longest[1].words:
        return longest[0] if longest else None
    varied = [column for column in others if not column.categorical]
    return varied[0] if len(varied) == 1 else None


def _label_column(columns: list[Column], *, needed: bool) -> Column | None:
    if named := _by_name(columns, LABEL_NAMES):
        return named
    found = [column for column in columns if column.categorical]
    if needed and not found:
        found = [column for column in columns if column.measured]
    for better in (
        lambda c: c.distinct > 1,
        lambda c: not c.measured,
        lambda c: is_like(c.name, LABEL_NAMES),
    ):
        found = [column for column in found if better(column)] or found
    return found[0] if len(found) == 1 else None


def _number_column(columns: list[Column], *, needed: bool) -> Column | None:
    """The column of numbers by its name, else the only one of decimals; whole numbers, which may as well
    count the texts, only where nothing is named as labels are."""
    numbers = [column for column in columns if column.numbers]
    if named := _by_name(numbers, LABEL_NAMES):
        return named
    numbers = [column for column in numbers if column.distinct > 1] or numbers
    measured = [column for column in numbers if column.measured]
    if needed and len(measured) == 1:
        return measured[0]
    if named := _by_name(columns, LABEL_NAMES):
        return named
    return numbers[0] if needed and not measured and len(numbers) == 1 else None


def _by_name(columns: list[Column], names: tuple[str, ...]) -> Column | None:
    found = surest((column.name for column in columns), names)
    return None if found is None else columns[found]


def unsure(
    what: str, flags: str, columns: Sequence[Column], source: Source, code: str = "HW131"
) -> DataError:
    """The error that columns cannot be guessed, with what there is to choose from."""
    shown = []
    for number, column in enumerate(columns, start=1):
        some = [_short(value) for value in dict.fromkeys(column.values)][:3]
        shown.append(f"\n  {number} {column.name!r}: {', '.join(some)}")
    for column in columns:
        inner = (
            json.loads(column.values[0]) if column.values[0].startswith("{") and not column.strings else {}
        )
        shown += [f"\n  {column.name}.{key}: {_short(as_text(own))}" for key, own in inner.items()]
    advice = f"give {flags} with one of these names or numbers:{''.join(shown)}"
    return source.error(code, f"{what} cannot be guessed", advice=advice)


def _short(value: str) -> str:
    value = " ".join(value.split())
    return repr(value if len(value) <= 40 else value[:39] + "…")
