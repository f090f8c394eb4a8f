"""JSON Lines: one JSON object per line, blank lines ignored; or a file with one array of objects."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile

from headwise.data.files.file_source import DataSource, Record, look_ahead, most_true
from headwise.data.files.text_lines import Line
from headwise.data.formats import annotation_exports as label_studio
from headwise.data.formats import annotation_exports as spacy
from headwise.data.formats.csv import LONGEST_FIELD, MOST_FIELDS, too_many_fields_error

_ARRAY = re.compile(r"\[\s*(\{|\[\s*\"|$)")
_ELEMENT_SEPARATOR = re.compile(r"[\s,]*")
_MISSING = object()
_SURROGATE = re.compile("[\ud800-\udfff]")


def recognise(texts: Sequence[str]) -> bool:
    """Whether most lines look like JSON objects, or the first one like an array of them."""
    return most_true(text.lstrip().startswith("{") for text in texts) or bool(_ARRAY.match(texts[0]))


def read_records(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per object, with its JSON values; NaN is read as null."""
    return flatten(_objects(lines, source), source)


def flatten(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records with fields for what is inside of their JSON values.

    The requested column `data.text` is the field `text` of the object `data`; a number from 0 selects an
    element of an array. Exports of Label Studio are converted by
    `headwise.data.formats.annotation_exports`, training data of spaCy by
    `headwise.data.formats.annotation_exports`.
    """
    inner = [name for name in source.requested_columns if "." in name]
    records = label_studio.flatten_tasks(records, source)
    if not any(name.startswith("cats.") for name in inner):
        records = spacy.flatten_cats(records, source)
    for record in records:
        for name in inner:
            if name not in record.fields and (value := _value_at_path(record.fields, name)) is not _MISSING:
                record.fields[name] = value
        yield record


def _value_at_path(fields: object, name: str) -> object:
    """The value at a path of keys and indices joined by dots; `_MISSING` if there is none."""
    for step in name.split("."):
        if isinstance(fields, list) and step.isdecimal() and int(step) < len(fields):
            fields = fields[int(step)]
        elif isinstance(fields, dict) and step in fields:
            fields = fields[step]
        else:
            return _MISSING
    return fields


def _objects(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """One record per JSON object; invalid ones are reported and left out."""
    head, lines = look_ahead(lines, count=100)
    if _ARRAY.match(next(filter(str.strip, (text for _, text in head)), "")):
        lines = _elements(dropwhile(lambda line: not line[1].strip(), lines), source)
    for number, text in lines:
        if not text.strip():
            source.blank += 1
            continue
        try:
            row = spacy.fields_of(json.loads(text, parse_constant=_constant))
        except json.JSONDecodeError as error:
            place = number + error.lineno - 1, error.colno
            source.report_error("HW115", f"invalid JSON: {error.msg}", *place, advice=_advice(text))
            continue
        except (RecursionError, ValueError) as error:  # nested too deeply; a number too long
            source.report_error("HW115", f"JSON that cannot be read: {error}", number)
            continue
        if not isinstance(row, dict):
            source.report_error(
                "HW116",
                f"JSON {_json_type(row)}",
                number,
                expected="one object a line",
                advice=_advice(text),
            )
        elif len(row) > MOST_FIELDS:
            source.report(too_many_fields_error(source.path, number))
        elif "\\u" in text and (bad := _SURROGATE.search(written := json.dumps(row, ensure_ascii=False))):
            if source.options.encoding_errors == "strict":
                problem = f"half of a surrogate pair, \\u{ord(bad[0]):04x}"
                advice = "give --encoding-errors replace to read it as U+FFFD"
                source.report_error("HW105", problem, number, advice=advice)
            else:
                yield Record(number, json.loads(_SURROGATE.sub("\ufffd", written)))
        else:
            yield Record(number, row)


def _elements(lines: Iterator[Line], source: DataSource) -> Iterator[Line]:
    """The elements of a JSON array, each with a line number.

    Reading stops after the first invalid element, as the start of the next one is unknown. An incomplete
    element is parsed again once the buffer has doubled.

    The number is the line on which the element begins, or one more than that of the previous element if
    that is larger: so all numbers differ, and the elements of an array on one line are counted."""
    decoder, rest, first, number, place = json.JSONDecoder(), "", 0, 0, 0
    while taken := list(_lines_longer_than(lines, len(rest))):
        number = taken[-1][0]
        texts = [text for _, text in taken]
        if not first:
            texts[0] = texts[0][texts[0].index("[") + 1 :]
        if rest:
            texts.insert(0, rest)
        else:
            first = taken[0][0]
        rest, at = "\n".join(texts), 0
        while (begin := _ELEMENT_SEPARATOR.match(rest, at).end()) < len(rest):  # type: ignore[union-attr]
            first, at = first + rest.count("\n", at, begin), begin
            if rest[at] == "]":
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
    else:
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


def _constant(name: str) -> float | None:
    """The value of a constant that Python writes but JSON lacks: None for NaN, or an infinity."""
    return None if name == "NaN" else float(name)


def as_text(value: object) -> str:
    """A JSON value as a string: strings are unchanged, null is "", other values are their JSON text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _json_type(value: object) -> str:
    """The JSON type of a value, for messages."""
    names = {list: "array", str: "string", bool: "literal", type(None): "literal"}
    return names.get(type(value), "number")


def _advice(text: str) -> str:
    """Advice for a file that looks like one large JSON document; otherwise ""."""
    if text.lstrip().startswith("["):
        return "write one object a line, or one array of objects"
    if text.strip() == "{":
        return (
            "put every object on one line, for example with: jq -c . file.json (of a list in it: jq -c "
            "'.NAME[]' file.json)"
        )
    return ""
