"""The `headwise` command. Everything is imported when it is needed: the libraries of the command line after
a first check of the files, and those of a subcommand when it is called."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from headwise.core.allocator import pause_collection

_LEADING_PATHS = {
    **dict.fromkeys(("predict", "explain", "evaluate"), ("model", "file")),
    **dict.fromkeys(("train", "noise", "tune", "curve"), ("file",)),
}
"""Paths that a command line begins with, by command."""
_OUTPUT_FLAGS = {"predict": ("-o", "--output"), "train": ("--output",)}
"""Flags for the output, by command."""
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
    from headwise.app.cli.command_run import run_command

    return run_command(words)


def _missing_path(words: Sequence[str]) -> str | None:
    """The error about a model or a file that does not exist, in command lines whose usage is right at a
    glance; None leaves the command line to the complete check."""
    if not words or words[0] not in _LEADING_PATHS or sys.stderr is None or sys.stderr.isatty():
        return None
    roles = _LEADING_PATHS[words[0]]
    paths, rest = words[1 : 1 + len(roles)], words[1 + len(roles) :]
    if len(paths) < len(roles) or any(not path or path.startswith("-") for path in paths):
        return None
    if rest and (
        len(rest) != 2 or rest[0] not in _OUTPUT_FLAGS.get(words[0], ()) or rest[1].startswith("-")
    ):
        return None
    missing = [(role, path) for role, path in zip(roles, paths, strict=True) if not os.path.exists(path)]
    if not missing or any(map(str.isspace, paths[-1])) or os.environ.get("HEADWISE_TRACEBACK"):
        return None
    problem = _problem_of(words, *missing[0])
    return problem if problem is not None and problem.isprintable() else None


def _problem_of(words: Sequence[str], role: str, path: str) -> str | None:
    """The error about a path of a command line that does not exist: that of the complete check."""
    from pathlib import Path

    from headwise.app.cli.path_checks import check_argument_order, check_input, check_model
    from headwise.core.errors import HeadwiseError

    try:
        check_argument_order(words)
        check = check_model if role == "model" else check_input
        check(Path(path))
    except HeadwiseError as error:
        return str(error)
    return None


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("headwise.app.cli.command_line"), name)
