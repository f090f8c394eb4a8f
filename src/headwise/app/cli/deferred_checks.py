"""Checks of files and folders that wait until the whole command line has been parsed: wrong usage is
reported first."""

from collections.abc import Callable
from pathlib import Path

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
