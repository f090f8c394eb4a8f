"""The `headwise` command. Everything is imported when it is needed: the libraries of the command line after
a first check of the files, and those of a subcommand when it is called."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from headwise.core.garbage import pause_collection

_TWO_FILES = frozenset({"predict", "explain", "evaluate"})
"""Commands whose first arguments are a model and a file."""
_USAGE = 2  # exit code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process; returns the exit code.

    An error that the user can fix is one message on standard error, with exit code 2. With
    HEADWISE_TRACEBACK=1 in the environment, errors show a traceback.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if arguments is None:
        pause_collection()
    if (problem := _missing_path(words)) is not None:
        print(f"error {problem}", file=sys.stderr)
        return _USAGE
    from headwise.app.cli.command_line import run

    return run(words)


def _missing_path(words: Sequence[str]) -> str | None:
    """The error about a model or a file that does not exist, in command lines whose usage is right at a
    glance; None leaves the command line to the complete check."""
    if len(words) < 3 or words[0] not in _TWO_FILES or sys.stderr is None or sys.stderr.isatty():
        return None
    plain = words[3:5] if words[3:4] in (["-o"], ["--output"]) else []
    if len(words) != 3 + len(plain) or any(word.startswith("-") for word in words[1:3]):
        return None
    model, file = words[1:3]
    missing = [path for path in (model, file) if not os.path.exists(path)]
    if not missing or any(map(str.isspace, file)) or os.environ.get("HEADWISE_TRACEBACK"):
        return None
    problem = _problem_of(model, file, missing[0])
    return problem if problem is not None and problem.isprintable() else None


def _problem_of(model: str, file: str, missing: str) -> str | None:
    from headwise.core.errors import HeadwiseError

    try:
        if missing == model:
            from headwise.artifacts.model_folder import VerifiedFolder

            VerifiedFolder(model)
        else:
            from headwise.data.files.file_checks import check_input_file
            from headwise.data.files.file_lists import list_files, paths_of

            for path in paths_of(list_files(file)):
                check_input_file(path)
    except HeadwiseError as error:
        return str(error)
    return None


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("headwise.app.cli.command_line"), name)
