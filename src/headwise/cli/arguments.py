"""Types of command-line arguments: files (also "-" for standard input), integers and switches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token


def _path(type_: object, tokens: Sequence[Token]) -> Path:
    """Convert a file argument; accept "-", but reject a misspelt option."""
    value = tokens[0].value
    if value.startswith("-") and value != "-":
        raise ValueError(f"unknown option {value} (write ./{value} for a file of this name)")
    return Path(value)


def parse_integers(type_: object, tokens: Sequence[Token]) -> int | tuple[int, ...]:
    """Convert tokens to an integer, or to a tuple of integers; a fraction is an error."""
    is_tuple, integers = "tuple" in str(type_), []
    for token in tokens:
        try:
            integers.append(int(token.value))
        except ValueError:
            flag = f"{token.keyword}: " if is_tuple and token.keyword else ""  # cyclopts adds it else
            raise ValueError(f"{flag}{token.value!r} is no whole number") from None
    return tuple(integers) if is_tuple else integers[0]


Whole = Annotated[int, Parameter(converter=parse_integers)]
"""An integer."""

WholeOrNone = Annotated[int | None, Parameter(converter=parse_integers)]
"""An optional integer."""

Wholes = Annotated[tuple[int, ...], Parameter(converter=parse_integers)]
"""Integers."""

FileArgument = Annotated[Path, Parameter(allow_leading_hyphen=True, converter=_path)]
"""A file to read; an argument that looks like an option is rejected."""

FileOrNone = Annotated[Path | None, Parameter(allow_leading_hyphen=True, converter=_path)]
"""An optional file to read."""

Output = Annotated[Path | None, Parameter(alias="-o")]
"""An optional file or folder to write."""

Switch = Annotated[bool, Parameter(negative=(), show_default=False)]
"""A flag without a value, off by default."""
