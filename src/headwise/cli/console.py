"""Where the commands write to: results to standard output, everything else to standard error."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text


def output() -> Console:
    """The console of results, on standard output; nothing in them is taken for markup."""
    return Console(highlight=False, emoji=False, markup=False)


def messages() -> Console:
    """The console of notes, progress, warnings and errors, on standard error."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False)


def note(text: str) -> None:
    """Something that the user may like to know."""
    _say(Text(f"- {visible(text)}", style="dim"))


def warn(text: str) -> None:
    """Something that the user should know."""
    _say(Text.assemble(("warning ", "bold yellow"), visible(text)))


def fail(text: str) -> None:
    """Why the command stops."""
    _say(Text.assemble(("error ", "bold red"), (visible(text), "red")))


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def telling() -> Iterator[None]:
    """Within this, what the package logs is told to the user."""
    log, handler = logging.getLogger("headwise"), _Notes(logging.INFO)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def _say(text: Text) -> None:
    # The terminal wraps; in a file every message is one line.
    messages().print(text, soft_wrap=True)


def percent(share: float) -> str:
    """A share as a percentage with one decimal."""
    return f"{100 * share:.1f} %"


def visible(text: str) -> str:
    """Text for a terminal: what cannot be printed, such as an escape sequence, is spelt out."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
