"""Intents with their examples, as builders of assistants export them:

    {"intents": [{"intent": "greet", "examples": [{"text": "hello"}]}]}                   Watson
    {"name": "greet", "sampleUtterances": ["hello"]}                   Lex; Alexa, Botpress, chat bots
    {"greet": {"utterances": [{"data": [{"text": "I am "}, {"text": "Ann", "entity": "name"}]}]}}  Snips
    [{"data": [{"text": "I am "}, {"text": "Ann", "alias": "name"}]}]                 Dialogflow
    {"greet": ["hello", "good day"]}

An example becomes a record with its text, its intent and its entities (start, end, entity), numbered on
from the line of the record. Dialogflow's intent is the name of the file, `greet_usersays_en.json`.
"""

import os
from collections.abc import Iterator

from headwise.core.config import JsonObject
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, Record, most_true
from headwise.data.formats.record_fields import Flatten, Rows, list_of
from headwise.data.formats.table_header import has_usual_name_in

_NAMES = ("intent", "tag", "name", "displayName", "category", "label")
_EXAMPLES = (
    *("examples", "utterances", "sampleUtterances", "samples", "patterns", "phrases"),
    *("trainingPhrases", "userSays"),
)
_TEXTS = ("text", "utterance")
_PARTS = ("data", "parts")
_ENTITIES = ("slot_name", "entity", "alias", "parameterId")
_FILE_END = lazy_pattern(r"(_usersays_[\w-]+)?\.jsonl?$")
_DEPTH = 10  # objects and lists within each other


def recognise(rows: Rows) -> Flatten | None:
    """The reader of intents, or of examples in parts, or of one document of intents."""
    if not rows or any(isinstance(row.get(name), str) for row in rows for name in _TEXTS):
        return None
    if any(_parts(row) and has_usual_name_in([*row]) for row in rows):
        return None  # a text in parts beside its label
    are_intents = all(_examples_of(row) or _parts(row) for row in rows)
    is_document = len(rows) == 1 and next(_intents(rows[0]), None) is not None
    return _examples if are_intents or is_document else None


def _examples(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """A record for each example."""
    source.notes.append("the examples of intents are the records, with the fields 'text' and 'intent'")
    # Only the guess of a task reads lines without a file.
    file_name = _FILE_END.sub("", os.path.basename(source.path)) or "the file"
    line = 0
    for record in records:
        is_example = _parts(record.fields)
        for intent, items in [(file_name, [record.fields])] if is_example else _intents(record.fields):
            for item in items:
                line = max(record.line, line + 1)
                if (example := _example(item)) is None:
                    source.report_error("HW118", "an example without a text", line, expected="a text")
                else:
                    yield Record(line, {**example, "intent": intent})


def _intents(value: object, depth: int = _DEPTH) -> Iterator[tuple[str, list[object]]]:
    """The names of the intents within a JSON value, and their examples."""
    if not depth:
        return
    if isinstance(value, list):
        for item in value:
            yield from _intents(item, depth - 1)
    elif isinstance(value, dict):
        name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
        items = _examples_of(value)
        if name and items:
            yield name, items
        elif value and all(map(_are_examples, value.values())):
            yield from ((key, _examples_of(inner) or inner) for key, inner in value.items())
        else:
            for inner in value.values():
                yield from _intents(inner, depth - 1)


def _examples_of(value: object) -> list[object] | None:
    """The examples in an object, also by language; None without any."""
    if not isinstance(value, dict):
        return None
    for key in _EXAMPLES:
        items = value.get(key)
        if isinstance(items, dict):
            items = [item for inner in items.values() if isinstance(inner, list) for item in inner]
        if isinstance(items, list) and items and _example(items[0]):
            return items
    return None


def _are_examples(value: object) -> bool:
    """Whether a value is all that an object says of an intent: texts of several words, or examples in
    parts."""
    if _examples_of(value):
        return True
    return most_true(
        len(item.split()) > 1 if isinstance(item, str) else bool(_parts(item)) for item in list_of(value)
    )


def _parts(value: object) -> list[JsonObject]:
    """The parts of a text in parts; none of another value."""
    if not isinstance(value, dict):
        return []
    for key in _PARTS:
        parts = value.get(key)
        if not isinstance(parts, list) or not parts:
            continue
        if all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts):
            return parts
    return []


def _example(value: object) -> JsonObject | None:
    """The text of an example, and the entities of one in parts; None of another value."""
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict):
        return None
    if not (parts := _parts(value)):
        text = next((value[key] for key in _TEXTS if isinstance(value.get(key), str)), None)
        return None if text is None else {"text": text}
    text, entities = "", list[JsonObject]()
    for part in parts:
        entity = next((part[key] for key in _ENTITIES if isinstance(part.get(key), str)), None)
        if entity:
            entities.append({"start": len(text), "end": len(text) + len(part["text"]), "entity": entity})
        text += part["text"]
    return {"text": text, "entities": entities}
