"""Values of JSON files that may hold anything."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from headwise.core.config import JsonMapping


def lookup(data: Any, key: str) -> Any:
    """The value under a key of a JSON object, where dots separate levels; None if it is missing."""
    for name in key.split("."):
        if not isinstance(data, Mapping):
            return None
        data = data.get(name)
    return data


def section_of(data: Any, key: str) -> JsonMapping:
    """The JSON object under a key, see `lookup`; empty if it is missing."""
    value = lookup(data, key)
    return value if isinstance(value, Mapping) else {}


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value of a JSON file is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
