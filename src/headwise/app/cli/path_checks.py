"""Checks of the paths of a command line, before a command imports slow libraries."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from headwise.core.errors import ConfigError
from headwise.data.files.archives import split_member
from headwise.data.files.compression import STANDARD_INPUT
from headwise.data.files.file_lists import check_input_file, list_files, parse_file_names, paths_of


def is_standard(path: Path | None) -> bool:
    """Whether a path is "-": standard input, or standard output for a file to write."""
    return str(path) == STANDARD_INPUT


def check_input(path: Path) -> None:
    """Check a file, or the files that match a pattern."""
    for file in paths_of(list_files(path)):
        check_input_file(file)


def check_parse_files(path: Path) -> None:
    """Check a file of parses, or the two files of pairs with a comma between them."""
    for name in parse_file_names(path):
        check_input(Path(name))


def names_text(path: Path) -> bool:
    """Whether an argument is a text itself in the place of a file: it has white space, and there is no such
    file."""
    return any(map(str.isspace, str(path))) and not Path(split_member(str(path))[0]).exists()


def check_model(folder: Path) -> None:
    """Check the folder of a model, exported or not."""
    from headwise.artifacts.model_folder import VerifiedFolder, is_headwise_folder
    from headwise.core.folder_layout import EXPORTED

    if not is_headwise_folder(folder, EXPORTED):
        VerifiedFolder(folder)


_MODEL_FIRST = frozenset(("calibrate", "evaluate", "explain", "heads", "predict", "suggest"))
"""Commands whose arguments are a model and files."""


def check_argument_order(words: Sequence[str]) -> None:
    """Check that the model of a command line stands before the files.

    Args:
        words: The command line, from the name of the command.

    Raises:
        StoreError: HW501, it stands behind them.
    """
    if not words or words[0] not in _MODEL_FIRST:
        return
    paths = list(takewhile(lambda word: word == STANDARD_INPUT or not word.startswith("-"), words[1:]))
    if not any(map(os.path.isdir, paths[1:])):  # before the imports
        return
    from headwise.artifacts.model_folder import StoreError, is_headwise_folder
    from headwise.core.folder_layout import EXPORTED, MODEL

    models = [
        path for path in paths if any(is_headwise_folder(Path(path), form) for form in (MODEL, EXPORTED))
    ]
    if models and models[0] != paths[0]:
        files, options = [path for path in paths if path != models[0]], words[1 + len(paths) :]
        line = shlex.join(["headwise", words[0], models[0], *files, *options])
        raise StoreError(f"{models[0]} is a model folder; the model comes first: {line}", code="HW501")


def check_recipe(path: Path) -> None:
    """Check a recipe that is named as a file or as the folder of a model."""
    if is_standard(path) or path.is_file():
        return
    if path.is_dir():
        from headwise.artifacts.model_folder import VerifiedFolder

        VerifiedFolder(path)
    elif path.suffix:  # without a suffix, a recipe of headwise
        raise ConfigError(f"{path}: cannot read the recipe: no such file")


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


_checks: list[tuple[Callable[[Path], None] | None, Path]] = []


def defer_check(check: Callable[[Path], None] | None, path: Path) -> None:
    """Add a check; None leaves all checks of this command line to the command."""
    _checks.append((check, path))


def forget_checks() -> None:
    """Remove the checks of a command line that could not be parsed."""
    _checks.clear()


def run_checks() -> None:
    """Run the checks, in the order of the arguments.

    Raises:
        HeadwiseError: A file or folder cannot be used.
    """
    checks = _checks.copy()
    _checks.clear()
    if any(check is None for check, _ in checks):
        return
    for check, path in checks:
        if check is not None:
            check(path)
