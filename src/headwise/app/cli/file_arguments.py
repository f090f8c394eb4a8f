"""Types of command-line arguments for files and folders.

Files to read, model folders and recipes are checked as the arguments are parsed, before a command imports
slow libraries.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from headwise.app.cli.deferred_checks import defer_check
from headwise.app.cli.path_checks import check_input, check_model, check_parses, check_recipe, names_text
from headwise.data.files.compression import STANDARD_INPUT


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

OptionalParses = Annotated[Path | None, _FILE, Parameter(validator=_later(check_parses))]
"""An optional file of dependency parses, or two for pairs of texts: `first.heads,second.heads`."""

OptionalRecipe = Annotated[Path | None, _FILE, Parameter(validator=_later(check_recipe))]
"""An optional recipe: a TOML file, or the name of a recipe in headwise."""

ModelFolder = Annotated[Path, Parameter(validator=_later(check_model))]
"""The folder of a model, exported or not."""

OutputFile = Annotated[Path, _FILE]
"""A file to write; "-" is standard output."""

OptionalOutput = Annotated[Path | None, _FILE, Parameter(alias="-o")]
"""An optional file or folder to write; "-" is standard output."""

OptionalOutputFile = Annotated[Path | None, _FILE]
"""An optional picture or page to write; "-" is standard output."""
