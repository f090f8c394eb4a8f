"""Flags from configuration dataclasses: one flag per field, with the field's docstring as help.

A flag that is not given is None; its field then comes from the recipe file or the defaults.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import Group, Parameter
from docstring_parser import parse_from_object

from headwise.cli.arguments import parse_integers


def flags(
    name: str,
    configs: Mapping[str, type],
    *,
    prefix: str,
    group: str,
    order: int,
    omit: Collection[str] = (),
    hidden: Collection[str] = (),
    by_data: Collection[str] = (),
) -> Any:
    """The annotation of a command's parameter that holds a configuration's flags.

    Args:
        name: Name of the created class, for error messages.
        configs: The dataclasses, by the names under which they are selected. Fields with the same name
            share one flag, with the help of the first; if few have the field, the help names them.
        prefix: `*` for plain flags (`--epochs`), or a prefix (`--encoder` gives `--encoder.layers`).
        group: Heading in the help.
        order: Sort key of the heading.
        omit: Fields without a flag.
        hidden: Fields whose flag is not in the help.
        by_data: Fields whose default depends on the data.
    """
    described = describe(configs, omit=omit, by_data=by_data)
    return holder(name, described, prefix=prefix, group=group, order=order, hidden=hidden)


@dataclass(frozen=True)
class Flag:
    """The description of a flag.

    Attributes:
        name: Name of the field.
        kind: Type of the value.
        help: Help text, with the default.
        owners: Names of the configurations that have the field; empty if all do.
    """

    name: str
    kind: Any
    help: str
    owners: tuple[str, ...] = ()


def describe(
    configs: Mapping[str, type], *, omit: Collection[str] = (), by_data: Collection[str] = ()
) -> list[Flag]:
    """The flags of the fields of configurations; see `flags` for the arguments."""
    owners: dict[str, dict[str, Any]] = {}  # field -> owner -> field
    for owner, config in configs.items():
        for item in fields(config):
            if item.name not in omit:
                owners.setdefault(item.name, {})[owner] = item
    described = []
    for item, fields_by_owner in owners.items():
        first = configs[next(iter(fields_by_owner))]
        text = " ".join((_help_of(first).get(item) or "").split())
        if len(fields_by_owner) <= len(configs) // 2:
            text += f" ({', '.join(fields_by_owner)})"
        defaults = {_shown(field.default) for field in fields_by_owner.values()}
        default = "by data" if item in by_data else defaults.pop() if len(defaults) == 1 else "by encoder"
        text += f" \\[{default}]" if default else ""
        kinds = [get_type_hints(configs[owner])[item] for owner in fields_by_owner]
        # A value that fits any of them is accepted here; the selected configuration checks it again.
        kind = kinds[0] if all(kind == kinds[0] for kind in kinds) else _any_of(kinds)
        described.append(
            Flag(item, kind, text, tuple(fields_by_owner) if len(fields_by_owner) < len(configs) else ())
        )
    return described


def holder(
    name: str,
    described: Sequence[Flag],
    *,
    prefix: str,
    group: str,
    order: int,
    hidden: Collection[str] = (),
) -> Any:
    """The annotation of a command's parameter that holds the described flags; see `flags`."""
    made = []
    for flag in described:
        shown = Parameter(
            help=flag.help,
            show_default=False,
            negative_iterable=(),
            consume_multiple=True,
            show=flag.name not in hidden,
            converter=parse_integers if flag.kind in (int, int | None) else None,
        )
        made.append((flag.name, Annotated[flag.kind | None, shown], field(default=None)))
    kind = make_dataclass(name, made, frozen=True)
    # cyclopts treats a class of the module "types" as built-in, and reads the source of a headwise module.
    kind.__module__ = f"{__name__}.made"
    heading = Group(group, sort_key=order)
    return Annotated[kind | None, Parameter(name=prefix, group=heading, show_default=False)]


def flag_values(held: Any) -> dict[str, Any]:
    """The values of the flags that the user gave, by field name."""
    if held is None:
        return {}
    return {name: value for name, value in asdict(held).items() if value is not None}


@cache
def _help_of(config: type) -> dict[str, str | None]:
    """The docstrings of a configuration's fields, also of inherited ones."""
    classes = reversed(config.__mro__[:-1])  # but for object
    return {
        parameter.arg_name: parameter.description
        for one in classes
        for parameter in parse_from_object(one).params
    }


def _any_of(kinds: list[Any]) -> Any:
    """A type for values of any of several types: the union of their choices if all are Literals, else
    str."""
    choices = [option for kind in kinds for option in (get_args(kind) or (kind,)) if option is not NoneType]
    if not all(get_origin(option) is Literal for option in choices):
        return str
    return Literal[tuple(dict.fromkeys(name for option in choices for name in get_args(option)))]


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return " ".join(map(str, default))
    return "" if default is None else str(default).lower() if isinstance(default, bool) else f"{default}"
