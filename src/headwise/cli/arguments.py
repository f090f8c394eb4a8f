"""Arguments that several commands have: files, "-" for standard input among them, and switches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token


def _path(type_: object, tokens: Sequence[Token]) -> Path:
    """Let "-" pass, but no misspelt option."""
    value = tokens[0].value
    if value.startswith("-") and value != "-":
        raise ValueError(f"unknown option {value} (write ./{value} for a file of this name)")
    return Path(value)


def whole(type_: object, tokens: Sequence[Token]) -> int | tuple[int, ...]:
    """Whole numbers; what has a fraction is not rounded."""
    several, found = "tuple" in str(type_), []
    for token in tokens:
        try:
            found.append(int(token.value))
        except ValueError:
            flag = f"{token.keyword}: " if several and token.keyword else ""  # of one the library names it
            raise ValueError(f"{flag}{token.value!r} is no whole number") from None
    return tuple(found) if several else found[0]


Whole = Annotated[int, Parameter(converter=whole)]
"""A whole number."""

WholeOrNone = Annotated[int | None, Parameter(converter=whole)]
"""The same, which need not be given."""

Wholes = Annotated[tuple[int, ...], Parameter(converter=whole)]
"""Whole numbers."""

FileArgument = Annotated[Path, Parameter(allow_leading_hyphen=True, converter=_path)]
"""A file to read; an argument that looks like an option is refused."""

FileOrNone = Annotated[Path | None, Parameter(allow_leading_hyphen=True, converter=_path)]
"""The same, which need not be given."""

Output = Annotated[Path | None, Parameter(alias="-o")]
"""A file or folder to write."""

Switch = Annotated[bool, Parameter(negative=(), show_default=False)]
"""A flag without a value, which is off where it is not given."""
