"""JSON that holds a whole data frame in one object, as `DataFrame.to_json` of pandas writes it:

    {"text": {"0": "no sound", "1": "hello"}, "label": {"0": "hardware", "1": "other"}}
    {"0": {"text": "no sound", "label": "hardware"}, "1": {"text": "hello", "label": "other"}}
    {"columns": ["text", "label"], "index": [0, 1], "data": [["no sound", "hardware"], ["hello", "other"]]}

or with a list for each column, as `to_dict("list")` and Polars write it; or texts with their labels,
`{"no sound at all": "hardware", "how do you do": "other"}`. Each row becomes a line with an
object. JSON within a JSON string, as `json.dump(frame.to_json())` writes it, is read as what it holds.

Codes: HW110 a row of other width; HW116 a frame that is too large, or whose rows cannot be told from its
columns; HW117 a column without a cell for a row.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeGuard

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import LABEL_NAMES, TEXT_NAMES, has_usual_name
from headwise.data.columns.file_source import most_true, values_recur
from headwise.data.errors import DataError
from headwise.data.files.text_lines import LONGEST_LINE, Line
from headwise.data.formats.json_documents import are_records

_STRING = r'"(?:[^"\\]|\\.)*"\s*'
_BEGIN = lazy_pattern(
    rf'\{{\s*{_STRING}:\s*(?:\{{\s*"|\[\s*(?:["\[\d-]|null|true|false|\{{\s*"name")|{_STRING},\s*"1")'
    r'|\{\s*"(?:[^"\\\s]|\\.)+(?:\s+(?:[^"\\\s]|\\.)+){2,}"\s*:\s*["\dtf]'
)
"""The beginning of an object around objects or lists, of a series of texts, or of texts with labels."""
_NUMBERED = lazy_pattern(rf'\{{\s*(?:{_STRING}:\s*\{{\s*"0"\s*:|"0"\s*:\s*\{{)')
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_HEAD = 200  # characters that tell whether an object may be a frame
_SPLIT = {"columns", "data"}
ADVICE = "write it with to_json(PATH, orient='records', lines=True)"


class _Frame(NamedTuple):
    """The names of the columns and the rows of a frame; `shape` says how its JSON is made."""

    shape: str
    names: Sequence[object]
    rows: Sequence[Sequence[object]]


def lines_of_frame(lines: Iterator[Line], path: str, notes: list[str]) -> Iterator[Line]:
    """The lines of a file; of a frame in one object, a line of JSON for each row, numbered from 1.

    Raises:
        DataError: HW110, HW116, HW117; as `lines` does.
    """
    taken = [*_first_value(lines, path)]
    text = "\n".join(line for _, line in taken).strip()
    if not text.startswith(('"{', '"[')) and not _BEGIN.match(text):
        return chain(taken, lines)
    taken += _up_to_content(lines)
    try:
        value = json.loads("\n".join(line for _, line in taken))
    except (ValueError, RecursionError):  # also of several objects
        return chain(taken, lines)
    if isinstance(value, str):
        return lines_of_frame(iter([*enumerate(value.split("\n"), start=1)]), path, notes)
    frame = _frame_of(value, path)
    if frame is None:
        return iter(taken)
    notes.append(
        f"a data frame in one JSON object ({frame.shape}), whose rows are counted: {len(frame.rows):,}; "
        "to_json(PATH, orient='records', lines=True) writes files of any size"
    )
    names = [json.dumps("" if name is None else as_text(name)) for name in frame.names]
    return ((number, _object_line(names, row)) for number, row in enumerate(frame.rows, start=1))


def _first_value(lines: Iterator[Line], path: str) -> Iterator[Line]:
    """The first lines: down to one that is not blank, or ends an object which may be a frame."""
    begin, length = "", 0
    for line in lines:
        yield line
        text, length = line[1].rstrip(), length + len(line[1])
        begin += f"{text}\n" if len(begin) < _HEAD else ""
        is_open = begin.lstrip().startswith("{") and (len(begin) < _HEAD or _BEGIN.match(begin.lstrip()))
        is_first = begin.strip() == text.strip()
        if text and (not is_open or text == "}" or (is_first and text.endswith("}"))):
            return
        if length > LONGEST_LINE:
            if _NUMBERED.match(begin.lstrip()):
                problem = f"a data frame in one object of more than {LONGEST_LINE:,} characters"
                raise DataError("HW116", problem, expected="one object a line", advice=ADVICE, path=path)
            return


def _up_to_content(lines: Iterator[Line]) -> Iterator[Line]:
    """The lines down to the next one that is not blank."""
    for line in lines:
        yield line
        if line[1].strip():
            return


def _object_line(names: Sequence[str], cells: Sequence[object]) -> str:
    """A row as JSON. A name that occurs twice does so there, too."""
    fields = zip(names, (json.dumps(cell, ensure_ascii=False) for cell in cells), strict=True)
    line = f"{{{', '.join(f'{name}: {cell}' for name, cell in fields)}}}"
    return json.dumps(json.loads(line)) if _SURROGATE.search(line) else line


def _frame_of(value: object, path: str) -> _Frame | None:
    """The frame that a JSON value is; None if it is none."""
    if not isinstance(value, dict) or not value:
        return None
    columns = value.get("columns")
    if value.keys() >= _SPLIT and isinstance(columns, list) and isinstance(value["data"], list):
        return _split_frame(columns, value["data"], path)
    if len(value) == 1 and isinstance(columns, list) and all(map(_is_series, columns)):
        cells = {str(column["name"]): column["values"] for column in columns}
        return _frame_of_lists(cells, path)
    if all(isinstance(column, list) for column in value.values()):
        return _frame_of_lists(value, path) if _are_columns(value) else None
    if all(isinstance(column, dict) for column in value.values()):
        return _frame_of_objects(value, path)
    if len(value) > 1 and _counts(value) and all(isinstance(text, str) for text in value.values()):
        return _Frame("a series", ["text"], [[text] for text in value.values()])
    labels = [as_text(label) for label in value.values() if isinstance(label, str | int)]
    texts = most_true(len(text.split()) > 2 for text in value)
    if texts and len(labels) == len(value) > 2 and values_recur(labels):
        return _Frame("texts with their labels", ["text", "label"], [*value.items()])
    return None


def _split_frame(names: Sequence[object], data: Sequence[object], path: str) -> _Frame | None:
    if not all(isinstance(row, list) for row in data):
        return None
    rows: list[list[object]] = [row for row in data if isinstance(row, list)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            problem = f"row {number} of 'data' has {len(row)} cells"
            raise DataError(
                "HW110", problem, expected=f"{len(names)}, one for each of 'columns'", path=path
            )
    return _Frame("names in 'columns', rows in 'data'", names, rows)


def _is_series(column: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is a column as Polars writes it, with name and values."""
    return isinstance(column, dict) and "name" in column and isinstance(column.get("values"), list)


def _frame_of_lists(columns: Mapping[str, Sequence[object]], path: str) -> _Frame:
    sizes = {name: len(cells) for name, cells in columns.items()}
    if len({*sizes.values()}) > 1:
        shown = ", ".join(f"{name!r} {size:,}" for name, size in [*sizes.items()][:8])
        problem = f"columns with different numbers of cells: {shown}"
        raise DataError("HW117", problem, expected="a cell for each row in every column", path=path)
    return _Frame("a list for each column", [*columns], [*zip(*columns.values(), strict=True)])


def _are_columns(value: Mapping[str, Sequence[object]]) -> bool:
    """Whether lists are the columns of a frame: no words and tags of one sentence, which have no text of
    several words, and no examples of intents, which are nothing else."""
    texts = [[cell for cell in column if isinstance(cell, str)] for column in value.values()]
    prose = [len(cell.split()) > 1 for cells in texts for cell in cells]
    if any(has_usual_name(name, TEXT_NAMES) for name in value) and len(value) > 1:
        labelled = any(has_usual_name(name, LABEL_NAMES) for name in value)
        if labelled and any(prose):
            return True
    named = _names_columns(value)
    equal = len({len(column) for column in value.values()}) == 1
    return equal and any(prose) and (named or not all(prose))


def _counts(keys: Mapping[str, object]) -> bool:
    """Whether keys are numbers, as those of a frame without names of rows are."""
    return all(key.isdecimal() for key in keys)


def _frame_of_objects(value: Mapping[str, Mapping[str, object]], path: str) -> _Frame | None:
    """The frame of objects for its columns, or for its rows; None if it is neither."""
    inner = [*value.values()]
    if are_records(value.items()):  # which are read line by line
        return None
    same = all(cells.keys() == inner[0].keys() for cells in inner)
    outer_named, inner_named = _names_columns(value), any(map(_names_columns, inner))
    if inner_named and not outer_named:
        return _frame_of_rows(value) if _counts(value) or same else None
    numbered = all(cells and _counts(cells) for cells in inner)
    if numbered and (not _counts(value) or len(value) < len(inner[0])):
        return _frame_of_columns(value, path)
    if len(inner) < 2 or (not same and not outer_named) or len(inner[0]) < 2:
        return None
    if outer_named and not inner_named:
        scalars = all(not isinstance(cell, dict) for cells in inner for cell in cells.values())
        return _frame_of_columns(value, path) if scalars else None
    if _counts(value) and len(value) != len(inner[0]):
        return _frame_of_rows(value)
    kinds = [[*map(type, cells.values())] for cells in inner]
    if same and len({*kinds[0]}) > 1 and all(kind == kinds[0] for kind in kinds):
        return _frame_of_rows(value)
    problem = "a data frame in one object, whose rows and columns cannot be told apart"
    raise DataError("HW116", problem, expected="a column called 'text'", advice=ADVICE, path=path)


def _names_columns(keys: Mapping[str, object]) -> bool:
    return any(has_usual_name(key, (*TEXT_NAMES, *LABEL_NAMES)) for key in keys)


def _frame_of_columns(value: Mapping[str, Mapping[str, object]], path: str) -> _Frame:
    keys = dict.fromkeys(key for cells in value.values() for key in cells)
    for name, cells in value.items():
        if missing := next((key for key in keys if key not in cells), None):
            problem = f"the column {name!r} has no cell for the row {missing!r}"
            expected = "the same rows in all columns, with null for an empty cell"
            raise DataError("HW117", problem, expected=expected, advice=ADVICE, path=path)
    rows = [[cells[key] for cells in value.values()] for key in keys]
    return _Frame("an object for each column", [*value], rows)


def _frame_of_rows(value: Mapping[str, Mapping[str, object]]) -> _Frame:
    names = [*dict.fromkeys(name for fields in value.values() for name in fields)]
    rows = [[fields.get(name) for name in names] for fields in value.values()]
    return _Frame("an object for each row", names, rows)
