"""The consoles of the commands: results go to standard output, everything else to standard error."""

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
"""Error handlers of streams that raise for characters outside their encoding."""


class _Console(Console):
    """A console that raises BrokenPipeError. Rich would exit with code 1, which for `doctor` means that an
    error was found."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output() -> Console:
    """The console for results, on standard output, without markup."""
    return _Console(highlight=False, emoji=False, markup=False)


def messages() -> Console:
    """The console for notes, progress, warnings and errors, on standard error."""
    return _Console(stderr=True, highlight=False, emoji=False, markup=False)


def make_streams_safe() -> None:
    """Make writing to the standard streams never fail: characters outside their encoding are escaped, and
    closed streams are replaced by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
            if name == "stdout":
                warn("standard output is closed: what is printed there is lost")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _LOSES:
            with suppress(OSError):  # some pipes cannot be reconfigured
                stream.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """Redirect standard output and error to the null device, so that the flush at exit cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a stream without a file descriptor
            os.dup2(nowhere, stream.fileno())


def print_json(data: Any, indent: int | None = 2) -> None:
    """Print JSON, escaped for the encoding of standard output; on one line if `indent` is None. NaN and
    infinities become null."""
    data = json.loads(json.dumps(data), parse_constant=lambda _: None)
    wide = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(data, ensure_ascii=not wide, indent=indent))


def note(text: str) -> None:
    """Print a note for the user."""
    _say(Text(f"- {visible(text)}", style="dim"))


def warn(text: str) -> None:
    """Print a warning."""
    _say(Text.assemble(("warning ", "bold yellow"), visible(text)))


def fail(text: str) -> None:
    """Print the error that stops the command."""
    _say(Text.assemble(("error ", "bold red"), (visible(text), "red")))


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def telling() -> Iterator[None]:
    """Within this context, log records of the package are printed as notes."""
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
    # The terminal wraps lines; in a file every message is one line.
    messages().print(text, soft_wrap=True)


def percent(share: float) -> str:
    """A fraction from 0 to 1 as a percentage with one decimal."""
    return f"{100 * share:.1f} %"


def excerpt(text: str, most: int) -> str:
    """A text on one line, cut to `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def columns(*titles: str, texts: Container[str] = ("",)) -> Table:
    """A table without rules. Columns are right-aligned, except those in `texts`, which are left-aligned and
    wrap."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in titles:
        wide = title in texts
        table.add_column(title, justify="left" if wide else "right", overflow="fold", no_wrap=not wide)
    return table


def visible(text: str) -> str:
    """Text for a terminal: unprintable characters, such as escape sequences, are escaped."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
