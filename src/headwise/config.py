"""Configurations: frozen dataclasses, filled from JSON, TOML or flags; what does not fit is an error."""

import json
import math
import re
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from headwise.errors import ConfigError

C = TypeVar("C")

_LARGEST = sys.float_info.max
_TOLD = 6  # differences
_FINGERPRINT = re.compile("[0-9a-f]{64}")


_hints = cache(get_type_hints)
"""Types of the fields of a dataclass, which take longer to find out than all else here."""


def unknown(kind: str, name: str, known: list[str]) -> ConfigError:
    """The error for a name that is not known, naming the nearest that is."""
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
    return ConfigError(f"unknown {kind} {name!r}; {hint}")


def from_dict(cls: type[C], data: Mapping[str, Any], where: str = "") -> C:
    """A configuration from plain data.

    Args:
        cls: A dataclass; fields may be dataclasses themselves.
        data: Names and values; what is left out takes its default.
        where: What to call the place in messages (`model.json: encoder`).

    Raises:
        ConfigError: A key is unknown (the nearest known one is named), is missing, or its value has the
            wrong type or is out of range.
    """
    at = f"{where}: " if where else ""
    if not isinstance(data, Mapping):
        raise ConfigError(f"{at}expected a table of settings, got {data!r}")
    hints = _hints(cls)
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    values = {}
    for key, value in data.items():
        name = key.replace("-", "_")
        if name not in known:
            error = unknown("setting", key, [field.replace("_", "-") for field in known])
            raise ConfigError(at + error.args[0])
        values[name] = _convert(hints[name], value, f"{where}: {key}" if where else key)
    for name, field in known.items():
        if name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise ConfigError(f"{at}the setting {name!r} is missing")
    try:
        return cls(**values)
    except ConfigError as error:  # of __post_init__, which does not know the place
        raise ConfigError(at + error.args[0], code=error.code) from None


def check_range(
    config: Any, *names: str, low: float, high: float = float("inf"), open: bool = False
) -> None:
    """Check numbers of a configuration, usually in its `__post_init__`; None is passed over.

    Args:
        config: The configuration.
        names: Of the fields to check.
        low: The least that is allowed.
        high: The most that is allowed; infinity itself and NaN never are.
        open: `high` itself is not allowed.

    Raises:
        ConfigError: A number is out of range, or of another type than its field; names the setting, what
            it is and what is expected.
    """
    for name in names:
        value: Any = getattr(config, name)
        whole = getattr(type(config), "__dataclass_fields__", {}).get(name)
        whole = whole is not None and whole.type in (int, int | None)
        kind: Any = Integral if whole else Real
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise ConfigError(f"{name} must be a {'whole ' * whole}number, got {value!r:.80}")
        if value is None or (
            low <= value <= high and not (open and value == high) and math.isfinite(value)
        ):
            continue
        wanted = f"at least {low:g}"
        if math.isfinite(high):
            wanted += f" and less than {high:g}" if open else f" and at most {high:g}"
        raise ConfigError(f"{name} must be {wanted}, got {value}")


def check_choice(config: Any, name: str, known: Sequence[str]) -> None:
    """Check that a text of a configuration is one of those known.

    Raises:
        ConfigError: It is not; the nearest known one is named.
    """
    value = getattr(config, name)
    if value not in known:
        raise ConfigError(f"{name}: {unknown('value', str(value), list(known)).args[0]}")


def to_dict(config: Any) -> dict[str, Any]:
    """Plain data (for JSON) of a configuration; tuples become lists."""
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in asdict(config).items()
    }


def _convert(kind: Any, value: Any, where: str) -> Any:
    """`value` as the annotated type, or a ConfigError."""
    if getattr(value, "shape", None) == ():
        value = value.item()  # a number of NumPy's
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


def _name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    return names.get(kind, "a list" if get_origin(kind) is tuple else str(kind))


def differences(saved: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """What is not as it was, for a message: the task first, then the data, and of all else, most of which
    may follow from these, only some; empty where all is."""
    before, now = _flat(saved), _flat(json.loads(json.dumps(asked)))
    found = [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]
    found.sort(key=lambda key: (key.rpartition(".")[2] != "task", not key.startswith("texts"), key))
    told = [f"{key} was {_brief(before.get(key))} and is now {_brief(now.get(key))}" for key in found]
    more = len(told) - _TOLD
    return "; ".join(told[:_TOLD] + ([f"and {more} more"] if more > 0 else []))


def _brief(value: Any) -> str:
    """A value for a message; of a fingerprint, its beginning."""
    if isinstance(value, list):
        return f"[{', '.join(map(_brief, value))}]"
    return repr(f"{value[:8]}..." if isinstance(value, str) and _FINGERPRINT.fullmatch(value) else value)


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A table without tables in it: `{"train": {"epochs": 4}}` -> `{"train.epochs": 4}`."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat
