"""JSON Lines: one JSON object a line, blank lines left out; or a file that is one array of objects."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile

from headwise.data.files import Line
from headwise.data.formats import label_studio, spacy
from headwise.data.formats.csv import LONGEST_FIELD, MOST_FIELDS, too_many
from headwise.data.formats.shares import most
from headwise.data.source import Record, Source, look_ahead

_ARRAY = re.compile(r"\[\s*(\{|\[\s*\"|$)")
_BETWEEN = re.compile(r"[\s,]*")
_NOTHING = object()
_SURROGATE = re.compile("[\ud800-\udfff]")


def recognise(texts: Sequence[str]) -> bool:
    """Whether lines look like JSON objects, or an array of them."""
    return most(text.lstrip().startswith("{") for text in texts) or bool(_ARRAY.match(texts[0]))


def read_records(lines: Iterator[Line], source: Source) -> Iterator[Record]:
    """One record an object; its values are left as JSON gives them, but for NaN, which is null.

    A column that is asked for as `data.text` is the field `text` of an object `data`; of a list a number
    from 0 names the element. Tasks of Label Studio are read as `headwise.data.formats.label_studio` says,
    training data of spaCy as `headwise.data.formats.spacy` does.
    """
    inner = [name for name in source.asked if "." in name]
    records = label_studio.flat(_objects(lines, source), source)
    if not any(name.startswith("cats.") for name in inner):
        records = spacy.flat(records, source)
    for record in records:
        for name in inner:
            if name not in record.fields and (value := _reach(record.fields, name)) is not _NOTHING:
                record.fields[name] = value
        yield record


def _reach(fields: object, name: str) -> object:
    """What a name with points leads to."""
    for step in name.split("."):
        if isinstance(fields, list) and step.isdecimal() and int(step) < len(fields):
            fields = fields[int(step)]
        elif isinstance(fields, dict) and step in fields:
            fields = fields[step]
        else:
            return _NOTHING
    return fields


def _objects(lines: Iterator[Line], source: Source) -> Iterator[Record]:
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
            source.refuse("HW115", f"invalid JSON: {error.msg}", *place, advice=_advice(text))
            continue
        except (RecursionError, ValueError) as error:  # nested too deeply; a number too long
            source.refuse("HW115", f"JSON that cannot be read: {error}", number)
            continue
        if not isinstance(row, dict):
            source.refuse(
                "HW116", f"JSON {_kind(row)}", number, expected="one object a line", advice=_advice(text)
            )
        elif len(row) > MOST_FIELDS:
            source.report(too_many(source.path, number))
        elif "\\u" in text and (bad := _SURROGATE.search(written := json.dumps(row, ensure_ascii=False))):
            if source.options.encoding_errors == "strict":
                found = f"half of a surrogate pair, \\u{ord(bad[0]):04x}"
                advice = "give --encoding-errors replace to read it as U+FFFD"
                source.refuse("HW105", found, number, advice=advice)
            else:
                yield Record(number, json.loads(_SURROGATE.sub("\ufffd", written)))
        else:
            yield Record(number, row)


def _elements(lines: Iterator[Line], source: Source) -> Iterator[Line]:
    """The elements of an array, each with its place; the last where one is not valid, as nobody knows where
    the next begins. What is not whole is tried again when it has twice the length.

    A place is the line on which an element begins. Where another one has that already, it is the number
    after the other's: so no two have the same, by which reports and lists of lines would mix them up, and
    in an array on one line they are counted."""
    decoder, rest, first, number, place = json.JSONDecoder(), "", 0, 0, 0
    while taken := list(_as_much_as(lines, len(rest))):
        number = taken[-1][0]
        texts = [text for _, text in taken]
        if not first:
            texts[0] = texts[0][texts[0].index("[") + 1 :]
        if rest:
            texts.insert(0, rest)
        else:
            first = taken[0][0]
        rest, at = "\n".join(texts), 0
        while (begin := _BETWEEN.match(rest, at).end()) < len(rest):  # type: ignore[union-attr]
            first, at = first + rest.count("\n", at, begin), begin
            if rest[at] == "]":
                return
            own = max(first, place + 1)
            try:
                _, end = decoder.raw_decode(rest, at)
            except (ValueError, RecursionError) as error:
                reached = getattr(error, "pos", 0)
                if reached >= len(rest.rstrip()) and len(rest) < LONGEST_FIELD:
                    break  # it goes on in the next line
                yield own, rest[at:]
                return
            yield own, rest[at:end]
            place = own
            first, at = first + rest.count("\n", at, end), end
        else:
            at = len(rest)
        rest = rest[at:]
    if rest:
        yield max(first, place + 1), rest
    else:
        source.refuse(
            "HW115", "an array that is not closed", number, advice="copy or export the file again"
        )


def _as_much_as(lines: Iterator[Line], length: int) -> Iterator[Line]:
    """One line, or as many as have more characters than `length`."""
    for line in lines:
        yield line
        length -= len(line[1]) + 1
        if length < 0:
            return


def _constant(name: str) -> float | None:
    """What Python writes though JSON has no such thing, as NaN for what is missing."""
    return None if name == "NaN" else float(name)


def as_text(value: object) -> str:
    """A JSON value as a string: a string is itself, null is empty, all else its JSON text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _kind(value: object) -> str:
    names = {list: "array", str: "string", bool: "literal", type(None): "literal"}
    return names.get(type(value), "number")


def _advice(text: str) -> str:
    """What to do about a file that looks like one large JSON document."""
    if text.lstrip().startswith("["):
        return "write one object a line, or one array of objects"
    if text.strip() == "{":
        return (
            "put every object on one line, for example with: jq -c . file.json (of a list in it: jq -c "
            "'.NAME[]' file.json)"
        )
    return ""
