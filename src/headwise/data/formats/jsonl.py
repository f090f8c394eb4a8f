"""JSON Lines: one JSON object per line, blank lines ignored; or a file with one array of objects."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import inf
from typing import Any

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource, Record, look_ahead, most_true
from headwise.data.files.text_lines import Line
from headwise.data.formats.annotation_exports import flatten_exports
from headwise.data.formats.csv_records import MOST_FIELDS, too_many_fields_error
from headwise.data.formats.json_documents import (
    TRAINING,
    ObjectsStart,
    begins_with_array,
    cells_within,
    elements,
    find_objects,
    is_indented_object,
    pairs_of,
    schema_names,
)
from headwise.data.formats.label_legends import with_label_names
from headwise.data.formats.record_envelopes import MISSING, lift_envelopes, untyped_records, value_at_path
from headwise.data.formats.spacy_training import fields_of
from headwise.data.formats.table_header import is_text_name
from headwise.data.formats.table_rows import records_from_rows
from headwise.data.formats.word_tag_pairs import sentence_object

_ROWS = 20  # records that tell whether they are rows of a table
_STRING = lazy_pattern(r'\s*"(?:[^"\\]|\\.)*"\s*')
_ENDS_WITH_COMMA = lazy_pattern(r"\},\s*\Z")
_SCRIPT = lazy_pattern(r"\s*(?:(?:var|let|const|window\.)\s*\S+\s*=|[\w.$]+\s*=|[\w.$]+\()\s*[\[{]")
_NOT_JSON = lazy_pattern(r"\s*(?://|/\*|#|[\[{]?\s*[{]?\s*(?:[A-Za-z_$][\w$]*\s*:|'))")
_PYTHON = lazy_pattern(r"\s*\{'[^']*'\s*:")
_SURROGATE = lazy_pattern("[\ud800-\udfff]")


def recognise(texts: Sequence[str]) -> bool:
    """Whether most lines look like JSON objects, or the first ones like an array of them or an object of
    several lines, or all lines are JSON strings and none is a name of a column."""
    if begins_with_array(texts[0]) or is_indented_object([*enumerate(texts[:2])]):
        return True
    if all(map(_STRING.fullmatch, texts)):
        return not is_text_name(texts[0].strip().strip('"'))
    return most_true(text.lstrip().startswith("{") for text in texts)


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per object, with its JSON values; NaN is read as null."""
    return flatten(_objects(lines, source), source)


def flatten(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records with fields for what is inside of their JSON values.

    The requested column `data.text` is the field `text` of the object `data`; a number from 0 selects an
    element of an array. Exports of annotation tools are flattened, see
    `headwise.data.formats.annotation_exports`.
    """
    inner = [name for name in source.requested_columns if "." in name]
    for record in lift_envelopes(flatten_exports(untyped_records(records), source), source):
        for name in inner:
            if name not in record.fields and (value := value_at_path(record.fields, name)) is not MISSING:
                record.fields[name] = value
        yield record


def _objects(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per JSON object; invalid ones are reported and left out."""
    head, lines = look_ahead(lines, count=100)
    start = find_objects(head)
    if is_indented_object(head):
        head, lines = look_ahead(lines)
        start = find_objects(head)
    if start is not None:
        if start.name:
            alone = ", and no others" if start.name == TRAINING else ""
            source.notes.append(f"the objects of {start.name!r} are the records{alone}")
        elif start.has_keys:
            source.notes.append("the values of the object are the records")
        lines = elements(lines, start, source)
    first, lines = look_ahead(lines, count=_ROWS)
    if columns := _row_size([text for _, text in first if text.strip()]):
        rows = ((number, _cells_of(text) or [text]) for number, text in lines if text.strip())
        names = schema_names("\n".join(text for _, text in head))
        if len(names) == columns:
            rows = chain([(first[0][0], names)], rows)
            source = replace(source, options=replace(source.options, header=True))
        yield from records_from_rows(rows, source)
    else:
        records = _object_records(lines, source, start)
        if start is not None and start.name:
            text = "\n".join(text for _, text in head)
            pairs = ((name, value) for name, _, value in pairs_of(text, text.index("{") + 1))
            records = with_label_names(records, source, pairs)
        yield from records


def _object_records(
    lines: Iterator[Line], source: DataSource, start: ObjectsStart | None
) -> Iterator[Record]:
    """The record of each line; `start` says where the objects begin in the JSON of the file, None that each
    line is JSON of its own."""
    notes = Counter[str]()
    for number, text in lines:
        if not text.strip():
            source.counts.blank += 1
            continue
        if start is None and _ENDS_WITH_COMMA.search(text):
            text = text.rstrip().removesuffix(",")
            notes["lines with a comma behind the object, which is left out"] += 1
        row = _decoded(number, text, source)
        if isinstance(row, _RepeatedFields):
            for name in row.names:
                notes[f"objects with two values of {name!r}, of which the last is read"] += 1
            source.layout.header_line = source.layout.header_line if source.layout.duplicates else number
            source.layout.duplicates |= {name: name for name in row.names}
        if row is None and start is not None and start.name:
            notes["elements that are null, left out"] += 1
        elif row is not MISSING and (record := _record(number, text, row, source)) is not None:
            yield record
    source.notes += [f"{note}: {count:,}" for note, count in notes.items()]


def _decoded(number: int, text: str, source: DataSource) -> Any:
    """The JSON value of a line; MISSING if it is invalid, which is reported."""
    try:
        return sentence_object(fields_of(_DECODER.decode(text)))
    except json.JSONDecodeError as error:
        place = number + error.lineno - 1, error.colno
        source.report_error("HW115", f"invalid JSON: {error.msg}", *place, advice=_advice(text))
    except (RecursionError, ValueError) as error:
        deep = "values too deep within others" if isinstance(error, RecursionError) else "too many digits"
        source.report_error("HW115", f"JSON that cannot be read: {deep}", number)
    return MISSING


def _record(number: int, text: str, row: object, source: DataSource) -> Record | None:
    """The record of a JSON value; None if it is no usable object, which is reported."""
    if not isinstance(row, dict):
        problem, expected = f"JSON {_json_type(row)}", "one object a line"
        source.report_error("HW116", problem, number, expected=expected, advice=_advice(text))
        return None
    if len(row) > MOST_FIELDS:
        source.report(too_many_fields_error(source.path, number))
        return None
    written = json.dumps(row, ensure_ascii=False) if "\\u" in text else ""
    if not (bad := _SURROGATE.search(written)):
        return Record(number, row)
    if source.options.encoding_errors == "strict":
        problem = f"half of a surrogate pair, \\u{ord(bad[0]):04x}"
        advice = "give --encoding-errors replace to read it as U+FFFD"
        source.report_error("HW105", problem, number, advice=advice)
        return None
    return Record(number, json.loads(_SURROGATE.sub("\ufffd", written)))


def _row_size(texts: Sequence[str]) -> int:
    """The number of cells of the first row, if the first records are rows of a table; else 0."""
    sizes = [len(_cells_of(text) or ()) for text in texts]
    return sizes[0] if sizes and (len({*sizes}) == 1 or texts[0].lstrip().startswith("[")) else 0


def _cells_of(text: str) -> list[str] | None:
    """The cells of a row that is an array of texts and numbers, or of objects around them; None of another
    line."""
    try:
        row = cells_within(_DECODER.decode(text))
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, list) or len(row) < 2 or any(isinstance(cell, list | dict) for cell in row):
        return None
    return [*map(as_text, row)]


class _RepeatedFields(dict[str, object]):
    """An object in which names occur twice with different values; `names` are these."""

    names: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs) and (names := [name for name, value in pairs if value != fields[name]]):
        fields = _RepeatedFields(pairs)
        fields.names = tuple(dict.fromkeys(names))
    return fields


_CONSTANTS = {"NaN": None, "Infinity": inf, "-Infinity": -inf}  # which Python writes but JSON lacks
_DECODER = json.JSONDecoder(parse_constant=_CONSTANTS.get, object_pairs_hook=_object)
"""Made once, as `json.loads` makes a decoder for each call that has such arguments."""


def _json_type(value: object) -> str:
    names: dict[type, str] = {list: "array", str: "string", bool: "literal", type(None): "literal"}
    return names.get(type(value), "number")


def _advice(text: str) -> str:
    """Advice for a file that looks like one large JSON document; otherwise ""."""
    if text.lstrip().startswith("["):
        return "write one object a line, or one array of objects"
    if text.startswith("\x1e"):
        return "remove the record separators: tr -d '\\036' < FILE > NEW"
    if _SCRIPT.match(text):
        return "it is JavaScript: keep only what is between the outermost brackets, with these"
    if _PYTHON.match(text):
        return "Python wrote it, not JSON: write each record with json.dumps(RECORD)"
    if text.strip() == "{":
        return (
            "put every object on one line, for example with: jq -c . file.json (of a list in it: jq -c "
            "'.NAME[]' file.json)"
        )
    if _NOT_JSON.match(text):
        return "JSON has no comments, and double quotation marks around names and texts"
    return ""
