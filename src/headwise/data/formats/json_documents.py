"""Find where the objects of a JSON file begin: in an array, in an array within one object, as in Rasa's
training data and the annotations of NER Annotator, or one after the other, each over several lines."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import dropwhile, islice
from typing import NamedTuple

from headwise.core.config import JsonMapping
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import TEXT_NAMES, name_rank
from headwise.data.columns.file_source import DataSource
from headwise.data.files.text_lines import Line
from headwise.data.formats.csv_records import LONGEST_FIELD
from headwise.data.formats.record_envelopes import holds_text, plain_value
from headwise.data.formats.word_tag_pairs import are_sentences

LIST_NAMES = (
    *("common_examples", "annotations", "data", "examples", "records", "rows"),
    *("documents", "docs", "items"),
)
"""Names of the list of records in a file that is one object."""

_ARRAY = lazy_pattern(r"\[\s*(\{|\[\s*(?:[\"{]|\[\s*\")|\]?\s*$)")
_LIST = lazy_pattern(r"\[\s*(\{|\[\s*\"|null|$)")
_SPACE = lazy_pattern(r"\s*")
TRAINING = "train"
"""The name of the list that is read where it stands beside others."""
_AROUND_LIST = {"rasa_nlu_data", "assets"}
"""Names of objects around a list of records, of Rasa and of Azure's language service."""
_BESIDE_LIST = {*_AROUND_LIST, "meta", "metadata", "info", "includes", "links", "schema"}
"""Names of objects beside a list of records."""
_RECORD_LISTS = {"sampleUtterances", "paragraphs"}
"""Names of lists within a record: paragraphs; examples of an intent of Lex, whose label stands beside."""
_DEPTH = 4  # objects around the list of records
_ELEMENTS = 5  # of a list that are looked at
_VALUES = 20  # of an object that are looked at
_DECODER = json.JSONDecoder()
_ELEMENT_SEPARATOR = lazy_pattern(r"[\s,]*")
_SCHEMA = lazy_pattern(r'"schema"\s*:\s*(?=\{)')
_KEY = lazy_pattern(r'[\s,]*(?:"(?:[^"\\]|\\.)*"\s*:\s*)?')


class ObjectsStart(NamedTuple):
    """Where the objects of a file begin.

    Attributes:
        line: The number of the line.
        column: The index in the line, after the bracket of an array.
        name: The name of the list within an object; "" for other files.
        in_array: Whether the objects are the elements of an array, or the values of an object, which a
            bracket ends.
        has_keys: Whether they are the values of an object: `{"id1": {...}, "id2": {...}}`.
    """

    line: int
    column: int
    name: str = ""
    in_array: bool = True
    has_keys: bool = False


def begins_with_array(text: str) -> bool:
    """Whether a first line looks like that of an array of objects."""
    return _ARRAY.match(text) is not None


def is_indented_object(head: Sequence[Line]) -> bool:
    """Whether the first lines begin an object of several lines, of its fields or of the elements of a list
    within it."""
    first, second = ([text.strip() for _, text in head if text.strip()] + ["", ""])[:2]
    return first.startswith("{") and (second.startswith('"') or first.endswith("["))


def find_objects(head: Sequence[Line]) -> ObjectsStart | None:
    """Where the objects of a file begin that does not have one on each line; None for JSON Lines."""
    lines = [(number, text) for number, text in head if text.strip()]
    if not lines:
        return None
    number, first = lines[0]
    if begins_with_array(first):
        if _are_sentences([text for _, text in lines[:_ELEMENTS]]):
            return None
        return ObjectsStart(number, first.index("[") + 1)
    if not is_indented_object(lines) and not (len(lines) == 1 and lines[0][1].lstrip().startswith("{")):
        return None
    text = "\n".join(text for _, text in head)
    if place := _list_inside(text):
        at, name = place
        line = text.count("\n", 0, at)
        return ObjectsStart(
            head[line][0], at - text.rfind("\n", 0, at), name, has_keys=text.startswith("{", at)
        )
    return ObjectsStart(number, 0, in_array=False) if len(lines) > 1 or _is_followed(first) else None


def _are_sentences(lines: Sequence[str]) -> bool:
    """Whether most lines are lists of words with tags."""
    rows = list[object]()
    for line in lines:
        with suppress(ValueError, RecursionError):
            rows.append(_DECODER.decode(line.strip()))
    return 2 * len(rows) > len(lines) and are_sentences(rows)


def _is_followed(text: str) -> bool:
    """Whether an object follows another one on a line."""
    try:
        _, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return text.lstrip()[end:].lstrip().startswith("{")


def _list_inside(text: str) -> tuple[int, str] | None:
    """The index of the bracket of the records within an object that is the whole file, and the name of
    their list or object; None if there is none."""
    start = text.index("{")
    if are_records((name, value) for name, _, value in pairs_of(text, start + 1)):
        return start, ""
    try:
        document, end = _DECODER.raw_decode(text, start)
        if text[end:].strip() or _is_record(document):
            return None
    except (ValueError, RecursionError):
        pass  # the object goes on after the first lines
    try:
        place = _find_list(text, start + 1)
    except (IndexError, ValueError, RecursionError):
        return None
    return _training_list(text, place) if place and text.startswith("[", place[0]) else place


def _training_list(text: str, place: tuple[int, str]) -> tuple[int, str]:
    """The list named `train` that stands behind another one; this one if there is none."""
    at = place[0]
    with suppress(IndexError, ValueError, RecursionError):
        while True:
            _, end = _DECODER.raw_decode(text, at)
            key, at = _DECODER.raw_decode(text, _ELEMENT_SEPARATOR.match(text, end).end())  # type: ignore[union-attr]
            at = _SPACE.match(text, text.index(":", at) + 1).end()  # type: ignore[union-attr]
            if key == TRAINING and _LIST.match(text, at) and _begins_with_text(text, at + 1):
                return at, key
    return place


def pairs_of(text: str, at: int) -> Iterator[tuple[str, int, object]]:
    """The names of the object that begins before an index, with the indices of their values and with the
    values, as far as the text goes."""
    with suppress(IndexError, ValueError, RecursionError):
        while text[at := _ELEMENT_SEPARATOR.match(text, at).end()] != "}":  # type: ignore[union-attr]
            name, at = _DECODER.raw_decode(text, at)
            at = _SPACE.match(text, text.index(":", at) + 1).end()  # type: ignore[union-attr]
            value, end = _DECODER.raw_decode(text, at)
            yield str(name), at, value
            at = end


def _find_list(text: str, at: int, depth: int = 0) -> tuple[int, str] | None:
    """The list of records within the object that begins before an index, or in objects within it."""
    while text[at := _ELEMENT_SEPARATOR.match(text, at).end()] != "}":  # type: ignore[union-attr]
        key, at = _DECODER.raw_decode(text, at)
        if not isinstance(key, str) or key in _RECORD_LISTS:
            return None
        at = text.index(":", at) + 1
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if _LIST.match(text, at) and (key in LIST_NAMES or _begins_with_text(text, at + 1)):
            return at, key
        value, end = _decoded(text, at)
        if text.startswith("{", at) and depth < _DEPTH and key not in _BESIDE_LIST - _AROUND_LIST:
            if are_records((name, part) for name, _, part in pairs_of(text, at + 1)):
                return at, key
            if text.find("[", at, end) >= 0 and (place := _find_list(text, at + 1, depth + 1)):
                return place
        if value is None or _is_record({key: value[0]}):
            return None
        at = end
    return None


def _decoded(text: str, at: int) -> tuple[tuple[object] | None, int]:
    """The value that begins at an index, and where it ends; None if the text ends before it does."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, len(text)
    return (value,), end


def are_records(pairs: Iterable[tuple[str, object]]) -> bool:
    """Whether the first values of an object, with their names, are objects with texts and common names."""
    names = list[set[str]]()
    for name, value in islice(pairs, _VALUES):
        fields = plain_value(value)
        if name_rank(name, TEXT_NAMES) is not None or not holds_text(fields):
            return False  # a column, or no record
        names.append({*fields})
    return len(names) > 1 and any(not name.isdecimal() for name in set.intersection(*names))


def _begins_with_text(text: str, at: int) -> bool:
    """Whether one of the first elements of a list is an object with a text, or a row of cells."""
    with suppress(ValueError, RecursionError):
        for _ in range(_ELEMENTS):
            at = _ELEMENT_SEPARATOR.match(text, at).end()  # type: ignore[union-attr]
            element, at = _DECODER.raw_decode(text, at)
            cells = cells_within(element)
            if holds_text(plain_value(element)) or (isinstance(cells, list) and len(cells) > 1):
                return True
    return False


def cells_within(row: object) -> object:
    """The cells of a row whose cells are objects of one field, as in `{"f": [{"v": "a"}, {"v": "b"}]}`;
    another value itself. (Objects of a text are turns, or the texts of a record.)"""
    cells = next(iter(row.values())) if isinstance(row, dict) and len(row) == 1 else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) and len(cell) < 2 for cell in cells):
        return row
    names = [*{name for cell in cells for name in cell}]
    if len(names) != 1 or name_rank(names[0], TEXT_NAMES) is not None:
        return row
    return [next(iter(cell.values()), None) for cell in cells]


def schema_names(text: str) -> list[str]:
    """The names of the columns in a `schema` that stands before the rows; none if there is none."""
    with suppress(ValueError, RecursionError, TypeError, KeyError):
        if place := _SCHEMA.search(text):
            schema, _ = _DECODER.raw_decode(text, place.end())
            return [str(column["name"]) for column in schema["fields"]]
    return []


def _is_record(fields: JsonMapping) -> bool:
    """Whether an object has a text, or one in inner objects, and so is a record itself."""
    return any(
        name_rank(name, TEXT_NAMES) is not None
        if isinstance(value, str)
        else holds_text(value) and not _holds_records(value)
        for name, value in fields.items()
        if name not in _BESIDE_LIST
    )


def _holds_records(value: object, depth: int = 0) -> bool:
    """Whether the values of an object, or of objects within it, are records."""
    return isinstance(value, dict) and (
        are_records(value.items())
        or (
            depth < _DEPTH
            and any(_holds_records(part, depth + 1) for part in islice(value.values(), _VALUES))
        )
    )


def elements(lines: Iterator[Line], start: ObjectsStart, source: DataSource) -> Iterator[Line]:
    """The objects of a file, each with a line number.

    Reading stops after the first invalid one, as the start of the next one is unknown. An incomplete
    element is parsed again once the buffer has doubled.

    The number is the line on which the element begins, or one more than that of the previous element if
    that is larger: so all numbers differ, and the elements of an array on one line are counted."""
    lines = dropwhile(lambda line: line[0] < start.line, lines)
    separator, bracket = (_KEY, "}") if start.has_keys else (_ELEMENT_SEPARATOR, "]")
    decoder, rest, first, number, place = json.JSONDecoder(), "", 0, 0, 0
    while taken := list(_lines_longer_than(lines, len(rest))):
        number = taken[-1][0]
        texts = [text for _, text in taken]
        if not first:
            texts[0] = texts[0][start.column :]
        if rest:
            texts.insert(0, rest)
        else:
            first = taken[0][0]
        rest, at = "\n".join(texts), 0
        while (begin := separator.match(rest, at).end()) < len(rest):  # type: ignore[union-attr]
            first, at = first + rest.count("\n", at, begin), begin
            if start.in_array and rest[at] == bracket:
                if start.name:
                    source.notes += _other_lists(rest[at + 1 :], lines)
                elif rest[at + 1 :].strip() or any(text.strip() for _, text in lines):
                    source.report_error(
                        "HW115",
                        "more text after the end of the array",
                        first,
                        expected="one array",
                        advice="put all objects into one array, or one on each line",
                    )
                return
            line = max(first, place + 1)
            try:
                _, end = decoder.raw_decode(rest, at)
            except (ValueError, RecursionError) as error:
                reached = getattr(error, "pos", 0)
                if reached >= len(rest.rstrip()) and len(rest) < LONGEST_FIELD:
                    break  # the element continues on the next line
                yield line, rest[at:]
                return
            yield line, rest[at:end]
            place = line
            first, at = first + rest.count("\n", at, end), end
        else:
            at = len(rest)
        rest = rest[at:]
    if rest:
        yield max(first, place + 1), rest
    elif start.in_array:
        problem = f"an {'object' if start.has_keys else 'array'} that is not closed"
        source.report_error("HW115", problem, number, advice="copy or export the file again")


def _other_lists(rest: str, lines: Iterator[Line]) -> list[str]:
    """A note on the lists of records that stand beside the one that was read, such as the test data."""
    pieces, length = [rest], len(rest)
    for _, text in lines:
        pieces.append(text)
        length += len(text)
        if length > LONGEST_FIELD:
            return []
    text = "\n".join(pieces)
    names = [
        f"{name!r} ({len(value):,})"
        for name, at, value in pairs_of(text, 0)
        if isinstance(value, list) and name not in _BESIDE_LIST and _begins_with_text(text, at + 1)
    ]
    advice = "write each list to a file of its own"
    return [f"lists that are not read: {', '.join(names)}; {advice}"] if names else []


def _lines_longer_than(lines: Iterator[Line], length: int) -> Iterator[Line]:
    """The fewest lines that together have more than `length` characters, at least one."""
    for line in lines:
        yield line
        length -= len(line[1]) + 1
        if length < 0:
            return
