"""What the first cells of a column tell of it: a text, a label, a number, a date, the id of a record."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import is_link, is_structured
from headwise.data.columns.column_names import (
    CLEAR_LABEL_NAMES,
    HEADING_NAMES,
    LABEL_NAMES,
    QUESTION_NAMES,
    RARELY_LABEL_NAMES,
    has_usual_name,
    is_never_label,
    is_prediction,
    normal_name,
)
from headwise.data.columns.file_source import DataSource
from headwise.data.errors import DataError
from headwise.data.findings import abbreviate
from headwise.data.items.numeric_labels import parse_number, with_decimal_point

_MANY = 20  # cells from which on a column of many single words can be told from a column of few values


UNSPACED_LETTER = lazy_pattern(
    r"[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
)


def _count_words(value: str) -> float:
    unspaced = 0 if value.isascii() else len(UNSPACED_LETTER.findall(value))
    return len(value.split()) + max(unspaced - 1, 0) / 4


@dataclass(frozen=True)
class Column:
    """A column of the sample, which is the first records of a file."""

    name: str
    values: list[str]
    strings: bool  # at least one value is a string, as none need be in JSON

    @cached_property
    def words(self) -> float:
        """Mean number of words; in scripts without spaces four characters more count as another one."""
        return sum(map(_count_words, self.values)) / len(self.values)

    @property
    def characters(self) -> float:
        """Mean number of characters."""
        return sum(map(len, self.values)) / len(self.values)

    @property
    def is_mostly_filled(self) -> bool:
        """Whether at least half of the cells are not empty: a sparse column of remarks is not the text
        column."""
        return 2 * len(self.filled) >= len(self.values)

    @cached_property
    def distinct(self) -> int:
        return len(set(self.values))

    @property
    def has_letters(self) -> bool:
        return any(character.isalpha() for value in self.values for character in value)

    @cached_property
    def filled(self) -> list[str]:
        """The values without white space at their ends, but for those that are empty."""
        return [stripped for value in self.values if (stripped := value.strip())]

    def _are_all(self, kinds: Sequence[Callable[[str], bool]]) -> bool:
        """Whether all values that are not empty are of one of these kinds; not if there is none."""
        return bool(self.filled) and any(all(map(is_kind, self.filled)) for is_kind in kinds)

    @property
    def varies(self) -> bool:
        """Whether two cells that are not empty differ."""
        return len({value for value in self.values if value.strip()}) > 1

    @property
    def parts_of_data(self) -> list[str]:
        """The names of parts of data, such as train and test, if the values are nothing else."""
        return [*dict.fromkeys(self.filled)] if self._are_all([_is_part_of_data]) else []

    @property
    def has_unique_words(self) -> bool:
        """Whether the values are alphabetic words, most of them unique."""
        plain = [value for value in self.values if value.replace(" ", "").replace("-", "").isalpha()]
        many = len(self.values) >= _MANY and 2 * self.distinct > len(self.values)
        return self.strings and many and 10 * len(plain) >= 9 * len(self.values)

    @cached_property
    def is_categorical(self) -> bool:
        """Whether the values are few, short and recurring, and none is missing."""
        few = 1 if len(self.values) < 4 else len(self.values) // 2
        return self.distinct <= few and self.words <= 3 and all(map(str.strip, self.values))

    @property
    def is_recurring(self) -> bool:
        """Whether the values that are not empty are few, short and recurring, and not too few to tell; of
        many records the few values may be phrases."""
        full = [value for value in self.values if value.strip()]
        filled = 10 * len(full) >= len(self.values) and len(full) > 1
        return filled and (
            replace(self, values=full).is_categorical or (self.has_few_values and self.words <= 8)
        )

    @cached_property
    def identifies(self) -> bool:
        """Whether the values number, date or link the records, or are structures: they are never the
        text."""
        codes = bool(self.filled) and _are_codes(self.filled)
        return codes or self._are_all(_NEVER_TEXTS) or self._holds_languages

    @property
    def is_machine_written(self) -> bool:
        """Whether the values are links, dates, addresses or hashes."""
        return self._are_all(MACHINE_WRITTEN)

    @property
    def names_files(self) -> bool:
        """Whether the values are links or names of files, in which texts may stand."""
        return self._are_all((is_link, _is_file))

    @property
    def is_prose(self) -> bool:
        """Whether most values are distinct and of several words, as those of texts are."""
        many = len(self.values) >= _MANY and 2 * self.distinct > len(self.values)
        return self.strings and many and self.words >= 1.5 and not self.numbers

    @cached_property
    def is_never_label(self) -> bool:
        """Whether the name or the values say that it is no label: dates, links, addresses, files, hashes,
        counts of votes."""
        if self._are_all(_NEVER_LABELS):
            return True
        return is_never_label(self.name, numbers=self.numbers) or self._holds_languages

    @property
    def _holds_languages(self) -> bool:
        named = not _LANGUAGES.isdisjoint(normal_name(self.name).split("_"))
        return named and self._are_all([_is_language_code])

    @property
    def holds_objects(self) -> bool:
        """Whether all values that are not empty are objects or lists of objects, such as spans."""
        objects = any(value.startswith(("{", "[{")) for value in self.filled)
        return objects and all(value == "[]" or _is_structure(value) for value in self.filled)

    @property
    def has_few_values(self) -> bool:
        """Whether many records share few values, such as the titles of the works that texts are from."""
        return len(self.values) >= _MANY and 4 * self.distinct <= len(self.values)

    @property
    def heads(self) -> bool:
        """Whether it is named like a heading or a summary, which is the text column only where there is no
        other."""
        return normal_name(self.name) in HEADING_NAMES

    @property
    def asks(self) -> bool:
        """Whether it is named like a question, which another column may answer."""
        return normal_name(self.name) in QUESTION_NAMES

    @property
    def counts(self) -> bool:
        """Whether all values are whole numbers, some of them of two digits or more."""
        digits = [value.lstrip("-") for value in self.filled]
        return all(map(str.isdecimal, digits)) and max(map(len, digits), default=0) > 1

    @property
    def is_decimal(self) -> bool:
        """Whether all values are decimal fractions: measurements rather than classes."""
        values = [with_decimal_point(value) or value for value in self.values]
        return all("." in value and value.lstrip("-").replace(".", "").isdecimal() for value in values)

    @cached_property
    def numbers(self) -> bool:
        """Whether most of the values are numbers; reading the file reports the others."""
        values = [with_decimal_point(value) or value for value in self.values if value.strip()]
        numeric = [parse_number(value) is not None for value in values]
        return 2 * sum(numeric) > len(numeric)


def _matching(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    """A function that says whether a pattern matches all of a value."""
    compiled = lazy_pattern(pattern, flags)
    return lambda value: compiled.fullmatch(value) is not None


_CLOCK = r"\d\d?:\d\d(:\d\d([.,]\d+)?)?( ?[ap]m)?"
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?"
_ZONE = r"(Z|UTC|(GMT)?[+-]\d\d?(:?\d\d)?)"
is_date = _matching(
    rf"(\d{{4}}[-/]\d\d?[-/]\d\d?|\d\d?[./-]\d\d?[./-]\d{{2,4}})([T ]+{_CLOCK} ?{_ZONE}?)?"
    rf"|{_CLOCK}|((mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?(\d\d? )?{_MONTH} (\d\d?(st|nd|rd|th)?,? )?"
    rf"({_CLOCK} ([A-Z]{{3,4}} |[+-]\d{{4}} )?)?\d{{4}}( {_CLOCK}( [+-]\d{{4}}| GMT| UTC)?)?",
    re.IGNORECASE,
)
"""Whether a value is a date or a time."""
is_address = _matching(
    r"[^@\s]+@(?=[^@\s]+\.[^@\s])[^@\s]+|@\w+|\d{1,3}(\.\d{1,3}){3}|([a-z\d][a-z\d-]*\.)+(com|org|net|edu|gov|info|io|de|uk)"
)
"""Whether a value is the address of a mailbox, a computer or a web site, or the name of an account."""
_is_hash = _matching(r"(?=.*\d)[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_is_file = _matching(
    r"[^\n<>|*?\"]*\.(txt|csv|tsv|jsonl?|xml|html?|pdf|docx?|md|eml|msg|png|jpe?g|gif|tiff?|bmp|webp|wav|mp[34]|zip|gz)",
    re.IGNORECASE,
)
_is_money = _matching(r"[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?[$€£¥]")
_is_serial = _matching(r"(?=.*[A-Z])(?=.*\d)[A-Z\d]{8,}")  # of a product or a customer
_is_unix_time = _matching(r"1[0-9]{9}([0-9]{3})?(\.\d+)?")
_is_code = _matching(r"(?=\D*\d)[\w.:/#{}-]+|[0-9A-Fa-f]{8,}")
_is_language_code = _matching(r"[a-zA-Z]{2,3}([-_][a-zA-Z]{2,4})?")
_LANGUAGES = {"language", "lang", "locale"}


def _has_no_letter(value: str) -> bool:
    return not any(map(str.isalpha, value)) and any(map(str.isdecimal, value))


def _is_part_of_data(value: str) -> bool:
    return value.lower() in _PARTS_OF_DATA


def _is_structure(value: str) -> bool:
    return value[:1] in "[{" and value[-1:] in "]}" and is_structured(value)


def _is_number(value: str) -> bool:
    return parse_number(value) is not None


def _are_codes(values: Sequence[str]) -> bool:
    """Whether values are distinct codes, one of digits and letters for each record."""
    return len(set(values)) == len(values) and all(map(_is_code, values))


_PARTS_OF_DATA = {
    *("train", "training", "dev", "devel", "valid", "validation", "val", "eval", "test", "testing"),
}

MACHINE_WRITTEN = (is_link, is_date, is_address, _is_hash)
"""Kinds of values that no name of a column has."""
_NEVER_LABELS = (
    *(is_link, is_date, is_address, _is_hash, _is_file, _is_money, _is_serial, _is_unix_time),
    *(_is_structure, _is_part_of_data),
)
_NEVER_TEXTS = (is_link, is_date, is_address, _is_number, _is_file, _has_no_letter, _is_structure)
"""Kinds of values of which all those of a column must be."""


def other_labels_notes(columns: Sequence[Column], label: Column) -> Iterator[str]:
    """A note on columns that may be the label as well as the guess, if there are any: those named like
    labels, and unless the name of the guess leaves no doubt, those whose values are names that recur.

    Args:
        columns: The columns that are not used.
        label: The guess.
    """
    clear = normal_name(label.name) in CLEAR_LABEL_NAMES
    labels = [
        repr(c.name)
        for c in columns
        if (has_usual_name(c.name, LABEL_NAMES) or (not clear and _may_be_label(c)))
        and (c.is_recurring and c.varies and not c.is_never_label)
    ]
    if labels:
        yield f"other columns that may be the label: {abbreviate(labels)} - choose with --label-column"


def _may_be_label(column: Column) -> bool:
    """Whether the values are names of which several records have each, and the name does not speak against
    a label."""
    unlikely = normal_name(column.name) in RARELY_LABEL_NAMES or is_prediction(column.name) or column.heads
    return not column.numbers and not unlikely and not column.parts_of_data


def unused_columns_notes(columns: Sequence[Column]) -> Iterator[str]:
    """A note on each column that says which part of the data a row belongs to."""
    for column in columns:
        if len(parts := column.parts_of_data) > 1:
            shown = ", ".join(parts[:4])
            yield f"all rows are read, whatever part of the data {column.name!r} names ({shown})"


# fmt: off
SPAN_OFFSET_NAMES = (
    ("start", "end"), ("begin", "end"), ("from", "to"), ("start_offset", "end_offset"),
    ("start_char", "end_char"), ("span_start", "span_end"), ("start_pos", "end_pos"),
    ("char_start", "char_end"), ("begin_offset", "end_offset"), ("start_index", "end_index"),
    ("start_idx", "end_idx"), ("start_position", "end_position"), ("start_token", "end_token"),
    ("token_start", "token_end"), ("start_word", "end_word"), ("offset", "length"),
)
# fmt: on
"""Usual names of the columns of offsets."""


def span_columns(columns: Sequence[Column], text: Column) -> tuple[str, str] | None:
    """The names of two columns that hold the offsets of a span of each text, or None."""
    by_name = {normal_name(column.name): column for column in columns}
    for names in SPAN_OFFSET_NAMES:
        if (first := by_name.get(names[0])) is None or (second := by_name.get(names[1])) is None:
            continue
        rows = zip(first.values, second.values, text.values, strict=True)
        if all(_is_within(start, end, content) for start, end, content in rows if start.strip()):
            return first.name, second.name
    return None


def _is_within(start: str, end: str, text: str) -> bool:
    start, end = (offset.strip().removesuffix(".0") for offset in (start, end))
    if not (start.isdecimal() and end.isdecimal()):
        return False
    return max(int(start), int(end)) <= len(text)


def span_rows_error(names: tuple[str, str], label: str, source: DataSource) -> DataError:
    """The error that each row of a table may name a span of its text."""
    problem = f"{names[0]!r} and {names[1]!r} cut a part out of each text, to which {label!r} may belong"
    advice = f"give --label-column {label!r} if it is one, --task tag if it is the type of that part"
    return source.error("HW131", problem, expected="a label for the whole text", advice=advice)
