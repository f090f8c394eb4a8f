"""Configurations: frozen dataclasses, filled from JSON, TOML or flags, with validation."""

import json
import math
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from headwise.core.errors import ConfigError, close_names
from headwise.core.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


ConfigType = TypeVar("ConfigType")

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
"""A value as a JSON file holds it."""

JsonObject = dict[str, Any]
"""A JSON object of names and values; whoever reads an untrusted one checks the values."""
JsonMapping = Mapping[str, Any]
"""A JSON object that is only read."""

_LARGEST = sys.float_info.max
_MAX_DIFFERENCES = 6  # differences listed in a message
_FINGERPRINT = lazy_pattern("[0-9a-f]{64}")


field_types = cache(get_type_hints)
"""The types of the fields of a dataclass, by name; cached, since resolving them takes long."""


def unknown_name_error(kind: str, name: str, choices: list[str]) -> ConfigError:
    """The error for an unknown name; it suggests the nearest of `choices`."""
    matches = close_names(name, choices)
    hint = f"did you mean {matches[0]!r}?" if matches else f"expected one of {', '.join(choices)}"
    return ConfigError(f"unknown {kind} {name!r}; {hint}")


def from_dict(cls: type[ConfigType], data: Mapping[str, object], where: str = "") -> ConfigType:
    """Make a configuration from plain data.

    Args:
        cls: A dataclass; fields may be dataclasses themselves.
        data: Names and values; missing settings take their defaults.
        where: Name of the place in messages (`model.json: encoder`).

    Raises:
        ConfigError: A key is unknown (the nearest one is suggested) or missing, or its value has the wrong
            type or is out of range.
    """
    at = f"{where}: " if where else ""
    if not isinstance(data, Mapping):
        raise ConfigError(f"{at}expected a table of settings, got {data!r}")
    hints = field_types(cls)
    fields_by_name = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    values = {}
    for key, value in data.items():
        name = key.replace("-", "_")
        if name not in fields_by_name:
            names = [field.replace("_", "-") if "-" in key else field for field in fields_by_name]
            error = unknown_name_error("setting", key, names)
            raise ConfigError(at + error.args[0])
        values[name] = _convert(hints[name], value, f"{where}: {key}" if where else key)
    for name, field in fields_by_name.items():
        if name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise ConfigError(f"{at}the setting {name!r} is missing")
    try:
        return cls(**values)
    except ConfigError as error:  # from __post_init__, which does not know `where`
        raise ConfigError(at + error.args[0], code=error.code) from None


def check_range(
    config: object, *names: str, low: float, high: float = float("inf"), open: bool = False
) -> None:
    """Check numbers of a configuration, usually in its `__post_init__`; None is skipped.

    Args:
        low: Lower bound, inclusive.
        high: Upper bound, inclusive. Infinity and NaN are never allowed.
        open: Whether `high` is exclusive.

    Raises:
        ConfigError: A number is out of range or has the wrong type; the message names the setting, its
            value and what is expected.
    """
    for name in names:
        value = getattr(config, name)
        field = getattr(type(config), "__dataclass_fields__", {}).get(name)
        is_integer = field is not None and field.type in (int, int | None)
        kind: type = Integral if is_integer else Real
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise ConfigError(f"{name} must be a {'whole ' * is_integer}number, got {value!r:.80}")
        if value is None or (
            low <= value <= high and not (open and value == high) and math.isfinite(value)
        ):
            continue
        bounds = f"at least {low:g}"
        if math.isfinite(high):
            bounds += f" and less than {high:g}" if open else f" and at most {high:g}"
        raise ConfigError(f"{name} must be {bounds}, got {value}")


def check_choice(config: object, name: str, choices: Sequence[str]) -> None:
    """Check that a string of a configuration is one of `choices`.

    Raises:
        ConfigError: It is not; the message suggests the nearest one.
    """
    value = getattr(config, name)
    if value not in choices:
        raise ConfigError(f"{name}: {unknown_name_error('value', str(value), list(choices)).args[0]}")


def to_dict(config: "DataclassInstance") -> dict[str, object]:
    """A configuration as plain data for JSON; tuples become lists."""
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in asdict(config).items()
    }


def _convert(kind: Any, value: Any, where: str) -> object:
    """`value` as the annotated type, or a ConfigError."""
    if getattr(value, "shape", None) == ():
        value = value.item()  # a NumPy scalar
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in get_args(kind):
            return None
        options = [option for option in get_args(kind) if option is not type(None)]
        if len(options) == 1:
            return _convert(options[0], value, where)
    elif is_dataclass(kind):
        return from_dict(kind, value, where)  # type: ignore[arg-type]
    elif origin is tuple:
        if isinstance(value, list | tuple):
            return tuple(_convert(get_args(kind)[0], item, where) for item in value)
    elif origin is Literal:
        if value in get_args(kind):
            return value
    elif kind is float:
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST:
            return float(value)
    elif kind is int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    elif isinstance(value, origin or kind):
        return value
    raise ConfigError(f"{where}: expected {_name(kind)}, got {value!r}")


def _name(kind: object) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    names: dict[object, str] = {int: "a whole number", float: "a number"}
    names |= {bool: "true or false", str: "a text"}
    return names.get(kind, "a list" if get_origin(kind) is tuple else str(kind))


def differences(saved: Mapping[str, object], requested: Mapping[str, object]) -> str:
    """The settings that differ, for a message: the task first, then the data, then a few of the others,
    which often follow from these. Empty if nothing differs."""
    before, now = _flat(saved), _flat(json.loads(json.dumps(requested)))
    changed = [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]
    changed.sort(key=lambda key: (key.rpartition(".")[2] != "task", not key.startswith("texts"), key))
    messages = [f"{key} was {_brief(before.get(key))} and is now {_brief(now.get(key))}" for key in changed]
    more = len(messages) - _MAX_DIFFERENCES
    return "; ".join(messages[:_MAX_DIFFERENCES] + ([f"and {more} more"] if more > 0 else []))


def _brief(value: object) -> str:
    """A value for a message; a fingerprint is shortened to 8 characters."""
    if isinstance(value, list):
        return f"[{', '.join(map(_brief, value))}]"
    return repr(f"{value[:8]}..." if isinstance(value, str) and _FINGERPRINT.fullmatch(value) else value)


def _flat(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Flatten a nested table: `{"train": {"epochs": 4}}` -> `{"train.epochs": 4}`."""
    flat: dict[str, object] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


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
