"""Flags from configuration dataclasses: one flag for each field, its help from the field's docstring.

A flag that is not given is None and leaves the field to the recipe file or to the defaults; so what a
command gets is only what its user has said.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from cyclopts import Group, Parameter
from docstring_parser import parse_from_object

from headwise.cli.arguments import whole


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
        name: Of the class that is made, for error messages.
        configs: The dataclasses by the names under which they are chosen. Fields with the same name make
            one flag with the help of the first; where only a few have a field, its help names them.
        prefix: `*` for plain flags (`--epochs`) or what stands before the dot (`--encoder` gives
            `--encoder.layers`).
        group: Heading in the help.
        order: Place of the heading.
        omit: Fields that get no flag.
        hidden: Fields whose flag is not in the help.
        by_data: Fields whose default depends on the data.
    """
    described = describe(configs, omit=omit, by_data=by_data)
    return holder(name, described, prefix=prefix, group=group, order=order, hidden=hidden)


@dataclass(frozen=True)
class Flag:
    """A flag before there is a parser for it.

    Attributes:
        name: The field's.
        kind: The type of its value.
        help: What it is for, with the default.
        owners: The names of the configurations that have it; none where all do.
    """

    name: str
    kind: Any
    help: str
    owners: tuple[str, ...] = ()


def describe(
    configs: Mapping[str, type], *, omit: Collection[str] = (), by_data: Collection[str] = ()
) -> list[Flag]:
    """The flags of configurations; see `flags`."""
    owners: dict[str, dict[str, Any]] = {}  # field -> owner -> field
    for owner, config in configs.items():
        for item in fields(config):
            if item.name not in omit:
                owners.setdefault(item.name, {})[owner] = item
    described = []
    for item, own in owners.items():
        first = configs[next(iter(own))]
        text = " ".join((_help_of(first).get(item) or "").split())
        if len(own) <= len(configs) // 2:
            text += f" ({', '.join(own)})"
        defaults = {_shown(field.default) for field in own.values()}
        default = "by data" if item in by_data else defaults.pop() if len(defaults) == 1 else "by encoder"
        text += f" \\[{default}]" if default else ""
        kinds = [get_type_hints(configs[owner])[item] for owner in own]
        # What fits one of them passes here, and the chosen configuration looks again.
        kind = kinds[0] if all(kind == kinds[0] for kind in kinds) else _any_of(kinds)
        described.append(Flag(item, kind, text, tuple(own) if len(own) < len(configs) else ()))
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
    """The annotation of a command's parameter that holds such flags; see `flags`."""
    made = []
    for flag in described:
        shown = Parameter(
            help=flag.help,
            show_default=False,
            negative_iterable=(),
            consume_multiple=True,
            show=flag.name not in hidden,
            converter=whole if flag.kind in (int, int | None) else None,
        )
        made.append((flag.name, Annotated[flag.kind | None, shown], field(default=None)))
    kind = make_dataclass(name, made, frozen=True)
    # cyclopts takes a class of the module "types" for a built-in; of one of ours it would read the source.
    kind.__module__ = f"{__name__}.made"
    heading = Group(group, sort_key=order)
    return Annotated[kind | None, Parameter(name=prefix, group=heading, show_default=False)]


def given(held: Any) -> dict[str, Any]:
    """The flags that the user gave, by the fields' names."""
    if held is None:
        return {}
    return {name: value for name, value in asdict(held).items() if value is not None}


@cache
def _help_of(config: type) -> dict[str, str | None]:
    """The docstrings of a configuration's fields, those that it inherits too."""
    classes = reversed(config.__mro__[:-1])  # but for object
    return {own.arg_name: own.description for one in classes for own in parse_from_object(one).params}


def _any_of(kinds: list[Any]) -> Any:
    """What fits one of several types: one of all their names, if they are names, else any text."""
    choices = [option for kind in kinds for option in (get_args(kind) or (kind,)) if option is not NoneType]
    if not all(get_origin(option) is Literal for option in choices):
        return str
    return Literal[tuple(dict.fromkeys(name for option in choices for name in get_args(option)))]


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return " ".join(map(str, default))
    return "" if default is None else str(default).lower() if isinstance(default, bool) else f"{default}"
