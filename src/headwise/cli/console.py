"""Where the commands write to: results to standard output, everything else to standard error."""

import io
import json
import logging
import os
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

_LOSES = ("strict", "surrogateescape")
"""How streams treat letters that their encoding has not, where that is an error."""


class _Console(Console):
    """A console that leaves it to the command what happens when its reader has gone: rich ends the process
    with 1, which says of `doctor` that an error was found."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output() -> Console:
    """The console of results, on standard output; nothing in them is taken for markup."""
    return _Console(highlight=False, emoji=False, markup=False)


def messages() -> Console:
    """The console of notes, progress, warnings and errors, on standard error."""
    return _Console(stderr=True, highlight=False, emoji=False, markup=False)


def make_streams_safe() -> None:
    """Whoever started us may have closed the standard streams, or chosen an encoding without the letters of
    a label: what cannot be said is spelt out, and what goes to a closed stream goes nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
            if name == "stdout":
                warn("standard output is closed: what is printed there is lost")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _LOSES:
            with suppress(OSError):  # some pipes cannot be changed any more
                stream.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """What is still to be flushed at exit goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a stream that has no file
            os.dup2(nowhere, stream.fileno())


def print_json(data: Any, indent: int | None = 2) -> None:
    """Print JSON, in the letters that standard output has; without `indent` on one line. Numbers that JSON
    cannot say (NaN, infinities) are null."""
    data = json.loads(json.dumps(data), parse_constant=lambda _: None)
    wide = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(data, ensure_ascii=not wide, indent=indent))


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


def excerpt(text: str, most: int) -> str:
    """A text on one line, cut to so many characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def columns(*titles: str, texts: Container[str] = ("",)) -> Table:
    """A table without lines, of columns with these titles: numbers on the right, but for those of `texts`,
    which may take several lines."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in titles:
        wide = title in texts
        table.add_column(title, justify="left" if wide else "right", overflow="fold", no_wrap=not wide)
    return table


def visible(text: str) -> str:
    """Text for a terminal: what cannot be printed, such as an escape sequence, is spelt out."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
