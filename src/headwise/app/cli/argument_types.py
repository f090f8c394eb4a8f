"""Types of arguments that any command may have."""

from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import Parameter, Token


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


def parse_workers(type_: object, tokens: Sequence[Token]) -> int | str:
    """Convert a token to a number of processes, or `auto`."""
    value = tokens[0].value
    if value == "auto":
        return value
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"{value!r} is neither a whole number nor auto") from None


Workers = Annotated[int | Literal["auto"], Parameter(converter=parse_workers)]
"""A number of processes, or `auto`."""

Integer = Annotated[int, Parameter(converter=parse_integers)]
"""An integer."""

OptionalInteger = Annotated[int | None, Parameter(converter=parse_integers)]
"""An optional integer."""

Integers = Annotated[tuple[int, ...], Parameter(converter=parse_integers)]
"""Integers."""

Switch = Annotated[bool, Parameter(negative=(), show_default=False)]
"""A flag without a value, off by default."""
