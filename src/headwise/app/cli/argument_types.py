"""Types of arguments that any command may have."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, Token

from headwise.app.cli.path_checks import (
    check_input,
    check_model,
    check_parse_files,
    check_recipe,
    defer_check,
    names_text,
)
from headwise.data.files.compression import STANDARD_INPUT


def parse_integers(type_: object, tokens: Sequence[Token]) -> int | tuple[int, ...]:
    """Convert tokens to an integer, or to a tuple of integers; a fraction is an error."""
    is_tuple, integers = "tuple" in str(type_), []
    for token in tokens:
        try:
            integers.append(int(token.value))
        except ValueError:
            flag = f"{token.keyword}: " if is_tuple and token.keyword else ""  # cyclopts adds it else
            raise ValueError(f"{flag}{token.value!r} is not a whole number") from None
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


def _path(type_: object, tokens: Sequence[Token]) -> Path:
    """Convert a file argument; accept "-", but reject a misspelt option."""
    value = tokens[0].value
    if value.startswith("-") and value != STANDARD_INPUT:
        raise ValueError(f"unknown option {value} (write ./{value} for a file of this name)")
    return Path(value)


def _later(check: Callable[[Path], None]) -> Callable[[object, Path | None], None]:
    """A validator of an argument that defers the check."""

    def validate(type_: object, path: Path | None) -> None:
        if path is not None:
            defer_check(check, path)

    return validate


def _defer_texts(type_: object, path: Path | None) -> None:
    """The validator of a file of texts; a text in its place is reported by the command, with advice."""
    if path is not None:
        defer_check(None if names_text(path) else check_input, path)


def _later_each(type_: object, paths: tuple[Path, ...] | None) -> None:
    for path in paths or ():
        defer_check(check_input, path)


def _paths(type_: object, tokens: Sequence[Token]) -> tuple[Path, ...]:
    return tuple(_path(type_, [token]) for token in tokens)


_FILES = Parameter(allow_leading_hyphen=True, converter=_paths)
_FILE = Parameter(allow_leading_hyphen=True, converter=_path)

UncheckedFile = Annotated[Path, _FILE]
"""A file to read that the command itself checks."""

FileArgument = Annotated[Path, _FILE, Parameter(validator=_later(check_input))]
"""A file to read; an argument that looks like an option is rejected."""

TextsArgument = Annotated[Path, _FILE, Parameter(validator=_defer_texts)]
"""A file of texts, in whose place a user may give a text."""

OptionalFiles = Annotated[tuple[Path, ...], _FILES, Parameter(negative=(), validator=_later_each)]
"""Any number of files to read as one, each with the flag."""

OptionalFile = Annotated[Path | None, _FILE, Parameter(validator=_later(check_input))]
"""An optional file to read."""

OptionalParses = Annotated[Path | None, _FILE, Parameter(validator=_later(check_parse_files))]
"""An optional file of dependency parses, or two for pairs of texts: `first.heads,second.heads`."""

OptionalRecipe = Annotated[Path | None, _FILE, Parameter(validator=_later(check_recipe))]
"""An optional recipe: a TOML file, the name of a recipe in headwise, or a model folder."""

ModelFolder = Annotated[Path, Parameter(validator=_later(check_model))]
"""The folder of a model, exported or not."""

OutputFile = Annotated[Path, _FILE]
"""A file to write; "-" is standard output."""

OptionalOutput = Annotated[Path | None, _FILE, Parameter(alias="-o")]
"""An optional file or folder to write; "-" is standard output."""

OptionalOutputFile = Annotated[Path | None, _FILE]
"""An optional picture or page to write; "-" is standard output."""
