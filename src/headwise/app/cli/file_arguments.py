"""Types of command-line arguments for files and folders.

Files to read, model folders and recipes are checked as the arguments are parsed, before a command imports
slow libraries.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from headwise.app.cli.deferred_checks import defer_check
from headwise.artifacts.model_folder import VerifiedFolder, is_headwise_folder
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import EXPORTED
from headwise.data.files.archives import split_member
from headwise.data.files.compression import STANDARD_INPUT
from headwise.data.files.file_checks import check_input_file, parse_file_names
from headwise.data.files.file_lists import list_files, paths_of


def _path(type_: object, tokens: Sequence[Token]) -> Path:
    """Convert a file argument; accept "-", but reject a misspelt option."""
    value = tokens[0].value
    if value.startswith("-") and value != STANDARD_INPUT:
        raise ValueError(f"unknown option {value} (write ./{value} for a file of this name)")
    return Path(value)


def is_standard(path: Path | None) -> bool:
    """Whether a path is "-": standard input, or standard output for a file to write."""
    return str(path) == STANDARD_INPUT


def _later(check: Callable[[Path], None]) -> Callable[[object, Path | None], None]:
    """A validator of an argument that defers the check."""

    def validate(type_: object, path: Path | None) -> None:
        if path is not None:
            defer_check(check, path)

    return validate


def _check_input(path: Path) -> None:
    """Check a file, or the files that match a pattern."""
    for file in paths_of(list_files(path)):
        check_input_file(file)


def _check_parses(path: Path) -> None:
    """Check a file of parses, or the two files of pairs with a comma between them."""
    for name in parse_file_names(path):
        _check_input(Path(name))


def names_text(path: Path) -> bool:
    """Whether an argument is a text itself in the place of a file: it has white space, and there is no such
    file."""
    return any(map(str.isspace, str(path))) and not Path(split_member(str(path))[0]).exists()


def _defer_texts(type_: object, path: Path | None) -> None:
    """The validator of a file of texts; a text in its place is reported by the command, with advice."""
    if path is not None:
        defer_check(None if names_text(path) else _check_input, path)


def _check_model(folder: Path) -> None:
    if not is_headwise_folder(folder, EXPORTED):
        VerifiedFolder(folder)


def _check_recipe(path: Path) -> None:
    if is_standard(path) or path.is_file():
        return
    if path.is_dir() or path.suffix:  # without a suffix, a recipe of headwise
        problem = "it is a folder" if path.is_dir() else "no such file"
        raise ConfigError(f"{path}: cannot read the recipe: {problem}")


def _later_each(type_: object, paths: tuple[Path, ...] | None) -> None:
    for path in paths or ():
        defer_check(_check_input, path)


def _paths(type_: object, tokens: Sequence[Token]) -> tuple[Path, ...]:
    return tuple(_path(type_, [token]) for token in tokens)


_FILES = Parameter(allow_leading_hyphen=True, converter=_paths)
_FILE = Parameter(allow_leading_hyphen=True, converter=_path)

UncheckedFile = Annotated[Path, _FILE]
"""A file to read that the command itself checks."""

FileArgument = Annotated[Path, _FILE, Parameter(validator=_later(_check_input))]
"""A file to read; an argument that looks like an option is rejected."""

TextsArgument = Annotated[Path, _FILE, Parameter(validator=_defer_texts)]
"""A file of texts, in whose place a user may give a text."""

OptionalFiles = Annotated[tuple[Path, ...], _FILES, Parameter(negative=(), validator=_later_each)]
"""Any number of files to read as one, each with the flag."""

OptionalFile = Annotated[Path | None, _FILE, Parameter(validator=_later(_check_input))]
"""An optional file to read."""

OptionalParses = Annotated[Path | None, _FILE, Parameter(validator=_later(_check_parses))]
"""An optional file of dependency parses, or two for pairs of texts: `first.heads,second.heads`."""

OptionalRecipe = Annotated[Path | None, _FILE, Parameter(validator=_later(_check_recipe))]
"""An optional recipe: a TOML file, or the name of a recipe in headwise."""

ModelFolder = Annotated[Path, Parameter(validator=_later(_check_model))]
"""The folder of a model, exported or not."""

OutputFile = Annotated[Path, _FILE]
"""A file to write; "-" is standard output."""

OptionalOutput = Annotated[Path | None, _FILE, Parameter(alias="-o")]
"""An optional file or folder to write; "-" is standard output."""

OptionalOutputFile = Annotated[Path | None, _FILE]
"""An optional picture or page to write; "-" is standard output."""


def _names_standard(path: Path | tuple[Path, ...] | None) -> bool:
    return any(map(is_standard, path)) if isinstance(path, tuple) else is_standard(path)


def check_output_is_folder(output: Path | None, flag: str = "--output") -> None:
    """Check that a folder to write is not given as "-".

    Raises:
        ConfigError: It is.
    """
    if is_standard(output):
        raise ConfigError(f"{flag} -: this command writes a folder, which standard output cannot take")


def check_one_standard_input(inputs: Mapping[str, Path | tuple[Path, ...] | None]) -> None:
    """Check that standard input is given once at most; `inputs` are arguments by the names in messages.

    Raises:
        ConfigError: It is given to several arguments.
    """
    names = [name for name, path in inputs.items() if _names_standard(path)]
    if len(names) > 1:
        raise ConfigError(f"- (standard input) is given for {' and '.join(names)}; it can be read once")
