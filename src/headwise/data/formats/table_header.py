"""Guess whether the first row of a table is a header.

Titles above the header of a table in a spreadsheet, in the first cell of a separate row. A column for which
the header has no name.

The two rows below the header of a table written by Orange: the types and the roles of the columns. The rows
below the header of a survey that are no answers.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from unicodedata import category

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_contents import MACHINE_WRITTEN
from headwise.data.columns.column_names import (
    LABEL_NAMES,
    TEXT_NAMES,
    clean_name,
    has_usual_name,
    is_pair_header,
    joined_column_names,
    normal_name,
)
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.items.numeric_labels import is_missing_value


def has_header(rows: Sequence[Sequence[str]], options: ReadOptions) -> bool:
    """Guess whether the first row is a header.

    It is if the options name a column; if it numbers the columns, of which one is text, as pandas does; if
    one of its cells is a usual column name and none but numbers recurs below; if it has no number but a
    column below it has only numbers, or only dates or links where it has none; if its cells are short and a
    column below it is running text; or if they look like names and all values of a column below one of them
    recur; or if rows below it describe the questions of a survey. A header may come again as a whole, where
    files were put together.
    """
    if caption_rows(rows):
        return True
    tabular = (column.name for column in options.tabular_columns)
    requested = [name for name in (options.text_column, options.label_column, *tabular) if name]
    if any(not part.isdecimal() for name in requested for part in joined_column_names(name)):
        return True
    first = [clean_name(cell) for cell in rows[0]]
    below = [row for row in rows[1:] if len(row) == len(first)]
    usual = has_usual_name_in(first)
    names_apart = below and not any(map(is_numeric_cell, first))
    if usual or names_apart:
        below = [row for row in below if not is_same_header(first, row)]
    columns = [[row[i] for row in below if row[i].strip()] for i in range(len(first))]
    if _numbers_columns(first, columns):
        return True
    if any(
        cell in column and not (usual and is_numeric_cell(cell))
        for cell, column in zip(first, columns, strict=True)
    ):
        return False
    if usual:
        return True
    if not names_apart:
        return False
    full = [cell for cell in first if cell]
    pairs = [pair for pair in zip(first, columns, strict=True) if pair[0] and pair[1]]
    distinct = len(set(full)) == len(full)
    if distinct and any(all(map(is_numeric_cell, column)) for _, column in pairs):
        return True
    if distinct and any(
        not fits(cell) and len(column) > 1 and all(map(fits, column))
        for cell, column in pairs
        for fits in MACHINE_WRITTEN
    ):
        return True
    short = all(len(cell.split()) <= 3 for cell in first)
    if short and all(first) and _is_name_above_labels(first, columns):
        return True
    return short and any(len(cell.split()) <= 2 and _mean_words(column) >= 5 for cell, column in pairs)


def _is_name_above_labels(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the cells of the first row look like names, each another one, and one of them stands above
    values of which all but it recur."""
    names = ["".join(char for char in cell if not category(char).startswith("M")) for cell in first]
    if len({*first}) < len(first) or not all(map(_NAME.fullmatch, names)):
        return False
    counts = [Counter(column) for column in columns if len(column) >= _MANY_ROWS]
    return any(1 < len(values) * 4 <= values.total() and min(values.values()) > 1 for values in counts)


_NAME = lazy_pattern(r"[^\W\d][\w .-]*")
_MANY_ROWS = 10  # below which values that recur tell nothing
_DIGITS = 5  # of the number of a column
_NAME_START = 64  # characters of a cell


def is_same_header(header: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row below the header repeats it."""
    if len(row) != len(header):
        return False
    for name, cell in zip(map(clean_name, header), row, strict=True):
        # The beginning of a long text tells, and cleaning all of it takes time.
        if not name.startswith(clean_name(cell[:_NAME_START])) or clean_name(cell) != name:
            return False
    return True


def is_text_name(cell: str) -> bool:
    """Whether a cell is a usual name of a column of texts, also at the end of a name in several parts."""
    name = normal_name(clean_name(cell))
    return name in TEXT_NAMES or ("_" in cell.strip() and has_usual_name(name, TEXT_NAMES))


def has_usual_name_in(first: Sequence[str]) -> bool:
    """Whether a row has a usual name of a column."""
    names = [clean_name(cell) for cell in first]
    if len(names) == 1 and is_text_name(names[0]):
        return True
    return any(normal_name(cell) in (*TEXT_NAMES, *LABEL_NAMES) for cell in names) or is_pair_header(names)


def _numbers_columns(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the first row numbers the columns from 0 or 1, in any order, or some of them, others
    (such as an index) perhaps without a number, and one of the numbered columns is text."""
    names = [cell.strip() for cell in first]
    counted = [name.removesuffix(".0") for name in names if name]
    texts = [column for name, column in zip(names, columns, strict=True) if name and _is_text(column)]
    if all({*counted} != {str(start + n) for n in range(len(counted))} for start in (0, 1)):
        if not all(name.isdecimal() and len(name) < _DIGITS for name in counted) or len(counted) < 2:
            return False
        rises = all(int(name) < int(after) for name, after in pairwise(counted))  # some of the columns
        texts = [c for c in texts if rises and len(c) >= _MANY_ROWS and not any(map(is_numeric_cell, c))]
    return any(not {*counted, *names} & {*column} for column in texts)


def _is_text(column: Sequence[str]) -> bool:
    return bool(column) and _mean_words(column) >= 2 and not all(map(is_numeric_cell, column))


def is_numeric_cell(cell: str) -> bool:
    """Whether a cell is a number as Python writes it."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _mean_words(column: Sequence[str]) -> float:
    return sum(len(cell.split()) for cell in column) / len(column)


_MOST = 10  # rows above the header


def names_text_and_label(row: Sequence[str]) -> bool:
    """Whether a row has usual names of a text and of a label."""
    names = {*map(normal_name, row)}
    return not names.isdisjoint(TEXT_NAMES) and not names.isdisjoint(LABEL_NAMES)


def title_rows(rows: Sequence[Sequence[str]], options: ReadOptions) -> int:
    """The number of title rows above the header of a table.

    A comment begins with `# ` above a header. At most the first cell of a title row is
    filled; or one of its cells is empty, as where a cell covers several columns, and the first row without
    an empty cell has usual names. The row after them must look like a header, with a distinct name for
    every column.
    """
    comments = next((i for i, row in enumerate(rows[: _MOST + 1]) if not row[0].startswith("# ")), 0)
    if comments and options.header is not False and has_header(rows[comments:], options):
        return comments
    start = next((i for i, row in enumerate(rows[: _MOST + 1]) if any(map(str.strip, row[1:]))), 0)
    full = next((i for i, row in enumerate(rows[: _MOST + 1]) if all(map(str.strip, row))), 0)
    if full > start and (
        names_text_and_label(rows[full])
        or (has_usual_name_in(rows[full]) and not has_usual_name_in(rows[start]))
    ):
        start = full
    if not start or options.header is False:
        return 0
    requested = (options.text_column, options.label_column)
    if any(row[0].strip() in requested for row in rows[:start]):
        return 0
    names = {name.strip() for name in rows[start]} - {""}
    if len(names) < sum(any(map(str.strip, column)) for column in zip_longest(*rows[start:], fillvalue="")):
        return 0
    return start if has_header(rows[start:], options) else 0


def nameless_column(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    """Which column the header has no name for, where all rows have one cell more: the "first", which
    numbers the rows (R and pandas write it so), or the "last", which is empty; or None."""
    if {*map(len, rows)} != {len(header) + 1} or len(rows) < 2:
        return None
    if not any(row[-1].strip() for row in rows):
        return "last"
    first = [row[0].strip() for row in rows]
    if not all(cell.isascii() and cell.isdecimal() and len(cell) < 10 for cell in first):
        return None
    return "first" if all(int(cell) < int(below) for cell, below in pairwise(first)) else None


_RULE = lazy_pattern(r":?-{2,}:?|-+(?:\+-+)+|")


def is_rule(row: Sequence[str]) -> bool:
    """Whether a row is the line below the header of a table in Markdown or of a database console."""
    cells = [cell.strip() for cell in row]
    return any(cells) and all(map(_RULE.fullmatch, cells))


_ANSWER_TYPE = lazy_pattern(r"(?:open-ended )?response", re.IGNORECASE)
_QUESTION_ID = lazy_pattern(r"""\{["']ImportId["']\s*:.*\}""", re.DOTALL)


def caption_rows(rows: Sequence[Sequence[str]]) -> int:
    """The number of rows below the header that describe the questions of a survey.

    SurveyMonkey writes one, with the kinds of answers (`Response`, `Open-Ended Response`, in the survey's
    language) and without the id of a respondent; Qualtrics writes two, the wordings and the ids of the
    questions.
    """
    if len(rows) < 3 or len({*map(len, rows[:3])}) > 1:
        return 0
    first, second = ([cell.strip() for cell in row] for row in rows[1:3])
    if any(second) and all(map(_QUESTION_ID.fullmatch, filter(None, second))):
        return 2
    if first[0] or not second[0]:
        return 0
    return int(any(map(_ANSWER_TYPE.fullmatch, first)) or _lacks_id(first, rows[2:]))


def _lacks_id(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether all rows below have ids, and dates or addresses, where a row has none, and none of its cells
    recurs, but as the only answer in its column (a box that is ticked)."""
    columns = [[cells[i].strip() for cells in below if len(cells) == len(row)] for i in range(len(row))]
    if len(columns[0]) < _MANY_ROWS or not all(map(_RESPONDENT.fullmatch, columns[0])):
        return False
    if any(
        cell in column and {*column} - {"", cell} for cell, column in zip(row, columns, strict=True) if cell
    ):
        return False
    machine_written = [
        cell
        for cell, column in zip(row, columns, strict=True)
        if any(all(map(fits, column)) for fits in MACHINE_WRITTEN)
    ]
    return len({*columns[0]}) == len(columns[0]) and bool(machine_written) and not any(machine_written)


_RESPONDENT = lazy_pattern(r"\d{8,}")

_KINDS = {
    *("string", "str", "text", "free text", "varchar", "char", "object", "unicode", "utf8", "id", "key"),
    *("category", "categorical", "class", "label", "factor", "nominal", "ordinal", "enum", "tag", "target"),
    *("int", "integer", "int32", "int64", "bigint", "float", "float32", "float64", "double", "decimal"),
    *("numeric", "number", "date", "datetime", "timestamp", "time", "bool", "boolean", "url", "%"),
    "percent",
    *("characters", "words", "count", "seconds", "minutes", "days", "eur", "usd", "€", "$", "none", "unit"),
}
"""What stands below the names of columns to say what they hold, in lower case."""
_LONGEST_KIND = 4  # words
_ENOUGH = 5  # rows that show what a column holds


def is_second_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the row below the header says again what the columns hold: usual names of a text and a label
    (in another language), nothing but kinds and units, or words above a column of numbers. Nothing in it
    recurs below."""
    second = [cell.strip() for cell in rows[1]] if len(rows) > 2 else []
    below = [row for row in rows[2:] if len(row) == len(second)]
    filled = [(cell, [row[i].strip() for row in below]) for i, cell in enumerate(second) if cell]
    if len(second) != len(rows[0]) or len(filled) < 2 or any(cell in column for cell, column in filled):
        return False
    if [*map(normal_name, second)] == [*map(normal_name, rows[0])]:
        return False  # the header again
    if all(cell.lower().strip("()[]<>") in _KINDS for cell, _ in filled) or names_text_and_label(second):
        return True
    if any(len(cell.split()) > _LONGEST_KIND or any(map(str.isdecimal, cell)) for cell, _ in filled):
        return False
    return any(
        sum(map(bool, column)) >= _ENOUGH
        and all(is_numeric_cell(value) for value in column if value)
        and not is_missing_value(cell)
        for cell, column in filled
    )


_TYPES = {
    *("c", "continuous", "numeric", "n", "d", "discrete", "categorical", "s", "string", "text"),
    *("t", "time", "basket"),
}
_ROLES = {"class", "c", "meta", "m", "ignore", "i", "skip", "weight", "w"}


def has_type_rows(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second and third row of a table declare types and roles as Orange does."""
    if len(rows) < 3 or not 1 < len(rows[0]) == len(rows[1]) == len(rows[2]):
        return False
    kinds = [cell.strip() for cell in rows[1]]
    roles = [part for cell in rows[2] for part in cell.split()]
    if not roles and all(len(kind) == 1 for kind in kinds):  # may be letters of a text
        return False
    return all(kind in _TYPES for kind in kinds) and all(
        part in _ROLES or "=" in part[1:] for part in roles
    )
