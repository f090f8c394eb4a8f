"""Recognise data frames that pandas wrote as one JSON object, which holds columns instead of records."""

import json
from collections.abc import Sequence

from headwise.core.lazy_pattern import lazy_pattern

ADVICE = "write it with to_json(PATH, orient='records', lines=True)"

_NAME = r'"(?:[^"\\]|\\.)*"\s*:\s*'
_INDENTED = lazy_pattern(rf'\{{\s*(?:{_NAME}\{{\s*"0"\s*:|"0"\s*:\s*\{{|"schema"\s*:\s*\{{\s*"fields"\s*:)')
_SPLIT = {"columns", "data"}


def is_frame(head: Sequence[str]) -> bool:
    """Whether the first lines are the beginning of a frame in one object (the orients columns, index, split
    and table of `DataFrame.to_json`, or a list for each column)."""
    lines = [text for text in head if text.strip()]
    if not lines or not lines[0].lstrip().startswith("{"):
        return False
    if lines[0].strip() == "{":
        text = "\n".join(lines)
        return bool(_INDENTED.match(text)) or all(f'"{key}"' in text for key in _SPLIT)
    return len(lines) == 1 and _holds_columns(lines[0])


def _has_spaces(text: str) -> bool:
    return len(text.split()) > 1


def _holds_columns(line: str) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or not value:
        return False
    if value.keys() >= _SPLIT and all(isinstance(value[key], list) for key in _SPLIT):
        return True
    if isinstance(value.get("schema"), dict) and isinstance(value.get("data"), list):
        return True
    columns = [*value.values()]
    if all(isinstance(column, list) for column in columns):
        texts = (cell for column in columns for cell in column if isinstance(cell, str))
        # One record with lists of words and tags has no text of several words.
        return len({len(column) for column in columns}) == 1 and any(map(_has_spaces, texts))
    if not all(isinstance(column, dict) and len(column) > 1 for column in columns):
        return False
    return all(column.keys() == columns[0].keys() for column in columns) and (
        len(columns) > 1 or all(key.isdecimal() for key in columns[0])
    )
