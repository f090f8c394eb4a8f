"""Find where the objects of a JSON file begin: in an array, in an array within one object, as in Rasa's
training data and the annotations of NER Annotator, or one after the other, each over several lines."""

import json
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import NamedTuple

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import TEXT_NAMES, name_rank
from headwise.data.columns.file_source import DataSource
from headwise.data.files.text_lines import Line
from headwise.data.formats.csv_records import LONGEST_FIELD

LIST_NAMES = ("common_examples", "annotations", "data", "examples", "records", "rows", "documents", "items")
"""Names of the list of records in a file that is one object."""

_ARRAY = lazy_pattern(r"\[\s*(\{|\[\s*\"|\]?\s*$)")
_LIST = lazy_pattern(r"\[\s*(\{|\[\s*\"|null|$)")
_SPACE = lazy_pattern(r"\s*")
_AROUND_LIST = {"rasa_nlu_data", "assets"}
"""Names of objects around a list of records, of Rasa and of Azure's language service."""
_BESIDE_LIST = {*_AROUND_LIST, "meta", "metadata", "info", "includes", "links", "schema"}
"""Names of objects beside a list of records."""
_INTENT_LIST = "sampleUtterances"
"""The name of a list of examples whose label stands beside it, in an intent of Lex."""
_ELEMENT_SEPARATOR = lazy_pattern(r"[\s,]*")


class ObjectsStart(NamedTuple):
    """Where the objects of a file begin.

    Attributes:
        line: The number of the line.
        column: The index in the line, after the bracket of an array.
        name: The name of the list within an object; "" for other files.
        in_array: Whether the objects are the elements of an array, which a bracket ends.
    """

    line: int
    column: int
    name: str = ""
    in_array: bool = True


def begins_with_array(text: str) -> bool:
    """Whether a first line looks like that of an array of objects."""
    return _ARRAY.match(text) is not None


def is_indented_object(head: Sequence[Line]) -> bool:
    """Whether the first lines begin an object of several lines."""
    first, second = ([text.strip() for _, text in head if text.strip()] + ["", ""])[:2]
    return first.startswith("{") and second.startswith('"')


def find_objects(head: Sequence[Line]) -> ObjectsStart | None:
    """Where the objects of a file begin that does not have one on each line; None for JSON Lines."""
    lines = [(number, text) for number, text in head if text.strip()]
    if not lines:
        return None
    number, first = lines[0]
    if begins_with_array(first):
        return ObjectsStart(number, first.index("[") + 1)
    if not is_indented_object(lines) and not (first.lstrip().startswith("{") and len(lines) == 1):
        return None
    text = "\n".join(text for _, text in head)
    if place := _list_inside(text):
        at, name = place
        line = text.count("\n", 0, at)
        return ObjectsStart(head[line][0], at - text.rfind("\n", 0, at), name)
    return ObjectsStart(number, 0, in_array=False) if len(lines) > 1 or _is_followed(first) else None


def _is_followed(text: str) -> bool:
    """Whether an object follows another one on a line."""
    try:
        _, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return text.lstrip()[end:].lstrip().startswith("{")


def _list_inside(text: str) -> tuple[int, str] | None:
    """The index of the bracket of the list of records within an object that is the whole file, and the name
    of the list; None if there is none."""
    decoder = json.JSONDecoder()
    try:
        document, end = decoder.raw_decode(text, _SPACE.match(text).end())  # type: ignore[union-attr]
        if text[end:].strip() or _is_record(document):
            return None
    except (ValueError, RecursionError):
        pass  # the object goes on after the first lines
    at = text.index("{") + 1
    while True:
        try:
            key, at = decoder.raw_decode(text, _ELEMENT_SEPARATOR.match(text, at).end())  # type: ignore[union-attr]
            if not isinstance(key, str):
                return None
            at = text.index(":", at) + 1
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
            if key == _INTENT_LIST:
                return None
            if _LIST.match(text, at) and (key in LIST_NAMES or _begins_with_text(text, at + 1)):
                return at, key
            if key in _AROUND_LIST and text.startswith("{", at):
                at += 1
                continue
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        if _is_record({key: value}):
            return None


def _begins_with_text(text: str, at: int) -> bool:
    """Whether the first element of a list is an object with a text."""
    try:
        element, _ = json.JSONDecoder().raw_decode(text, _SPACE.match(text, at).end())  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return False
    return isinstance(element, dict) and any(
        isinstance(value, str) and name_rank(name, TEXT_NAMES) is not None
        for name, value in element.items()
    )


def _is_record(fields: dict[str, object]) -> bool:
    """Whether an object has a text or inner objects, and so is a record itself."""
    return any(
        isinstance(value, dict) if not isinstance(value, str) else name_rank(name, TEXT_NAMES) is not None
        for name, value in fields.items()
        if name not in _BESIDE_LIST
    )


def elements(lines: Iterator[Line], start: ObjectsStart, source: DataSource) -> Iterator[Line]:
    """The objects of a file, each with a line number.

    Reading stops after the first invalid one, as the start of the next one is unknown. An incomplete
    element is parsed again once the buffer has doubled.

    The number is the line on which the element begins, or one more than that of the previous element if
    that is larger: so all numbers differ, and the elements of an array on one line are counted."""
    lines = dropwhile(lambda line: line[0] < start.line, lines)
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
        while (begin := _ELEMENT_SEPARATOR.match(rest, at).end()) < len(rest):  # type: ignore[union-attr]
            first, at = first + rest.count("\n", at, begin), begin
            if start.in_array and rest[at] == "]":
                if not start.name and (rest[at + 1 :].strip() or any(text.strip() for _, text in lines)):
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
        source.report_error(
            "HW115", "an array that is not closed", number, advice="copy or export the file again"
        )


def _lines_longer_than(lines: Iterator[Line], length: int) -> Iterator[Line]:
    """The fewest lines that together have more than `length` characters, at least one."""
    for line in lines:
        yield line
        length -= len(line[1]) + 1
        if length < 0:
            return
