"""Flags from configuration dataclasses: one flag for each field, its help from the field's docstring.

A flag that is not given is None and leaves the field to the recipe file or to the defaults; so what a
command gets is only what its user has said.
"""

from collections.abc import Sequence
from dataclasses import asdict, field, fields, make_dataclass
from typing import Annotated, Any, get_type_hints

from cyclopts import Group, Parameter
from docstring_parser import parse_from_object


def flags(name: str, configs: Sequence[type], *, prefix: str, group: str, order: int) -> Any:
    """The annotation of a command's parameter that holds a configuration's flags.

    Args:
        name: Of the class that is made, for error messages.
        configs: The dataclasses; of fields with the same name the first counts.
        prefix: `*` for plain flags (`--epochs`) or what stands before the dot (`--encoder` gives
            `--encoder.layers`).
        group: Heading in the help.
        order: Place of the heading.
    """
    made: dict[str, tuple[str, Any, Any]] = {}
    for config in configs:
        hints = get_type_hints(config)
        help_of = {param.arg_name: param.description for param in parse_from_object(config).params}
        for item in fields(config):
            if item.name in made:
                continue
            text = " ".join((help_of.get(item.name) or "").split())
            default = _shown(item.default)
            text += f" \\[{default}]" if default else ""
            made[item.name] = (
                item.name,
                Annotated[hints[item.name] | None, Parameter(help=text, show_default=False)],
                field(default=None),
            )
    holder = make_dataclass(name, list(made.values()), frozen=True)
    holder.__module__ = __name__  # cyclopts takes a class of the module "types" for a built-in
    heading = Group(group, sort_key=order)
    return Annotated[holder | None, Parameter(name=prefix, group=heading, show_default=False)]


def given(holder: Any) -> dict[str, Any]:
    """The flags that the user gave, by the fields' names."""
    if holder is None:
        return {}
    return {name: value for name, value in asdict(holder).items() if value is not None}


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return " ".join(map(str, default))
    return "" if default is None else str(default).lower() if isinstance(default, bool) else f"{default}"
