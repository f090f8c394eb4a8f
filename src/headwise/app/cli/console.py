"""The consoles of the commands: results go to standard output, everything else to standard error.

Beside printing there are files of output: pictures and pages are checked before the work starts, and all
are written atomically.
"""

import io
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Container, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.table import Table


class UsageError(Exception):
    """A command line is wrong; the message says how."""


STANDARD_OUTPUT = "-"

_BLANKS_AT_ENDS = re.compile(r" +(?=\n)")
_STRICT_HANDLERS = ("strict", "surrogateescape")
"""Error handlers of streams that raise for characters outside their encoding."""


def standard_output() -> "Console":
    """The console for results, on standard output, without markup."""
    return _console(stderr=False)


def messages() -> "Console":
    """The console for notes, progress, warnings and errors, on standard error."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> "Console":
    from rich.console import Console  # not needed where messages go to a file

    class PipeConsole(Console):
        """A console that raises BrokenPipeError. Rich would exit with code 1, which for `doctor` means that
        an error was found."""

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

        def _render_buffer(self, buffer: Any) -> str:
            """Rich pads lines to the width of the terminal; files and pipes get them without the blanks."""
            text = super()._render_buffer(buffer)
            return text if self.is_terminal else _BLANKS_AT_ENDS.sub("", text)

    return PipeConsole(stderr=stderr, highlight=False, emoji=False, markup=False)


def make_streams_safe() -> None:
    """Make writing to the standard streams never fail: characters outside their encoding are escaped, and
    closed streams are replaced by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
            if name == "stdout":
                warn("standard output is closed: what is printed there is lost")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _STRICT_HANDLERS:
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
    _print_message((f"- {visible(text)}", "dim"))


def warn(text: str) -> None:
    """Print a warning."""
    _print_message(("warning ", "bold yellow"), (visible(text), ""))


def fail(text: str) -> None:
    """Print the error that stops the command."""
    _print_message(("error ", "bold red"), (visible(text), "red"))


_TERMINAL_VARIABLES = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Environment variables that make Rich take any stream for a terminal."""


def may_be_terminal() -> bool:
    """Whether Rich may take standard error for a terminal; if not, it need not be imported."""
    return _is_terminal() or any(os.environ.get(name) for name in _TERMINAL_VARIABLES)


def _is_terminal() -> bool:
    return not sys.stderr.closed and sys.stderr.isatty()


_statuses: "list[Status]" = []
"""The status lines that are on the terminal."""


SILENCE = 60.0
"""Seconds without a line in a log after which a command says what it does."""


@contextmanager
def working(text: str) -> Generator[Callable[[str], None]]:
    """Show a status line on the terminal within this context; messages are printed above it. Logs have
    lines instead (see `_StepLog`), also those with colours, as each frame would be a line there.

    The value of the context is called with the name of each further step.
    """
    if not _is_terminal():
        with _StepLog(text) as log:
            yield log.begin
        return
    from rich.text import Text

    with messages().status(Text(visible(text))) as status:
        _statuses.append(status)
        try:
            yield lambda step: status.update(Text(visible(step)))
        finally:
            _statuses.remove(status)


class _StepLog:
    """The steps of a command in a log: in the first minute none; then each step when it begins, and once a
    minute how long it has taken so far."""

    def __init__(self, step: str):
        self._step, self._named = step, False
        self._started = self._begun = self._printed = time.monotonic()
        self._ended, self._lock = threading.Event(), threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._report, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def begin(self, step: str) -> None:
        with self._lock:
            self._step, self._named, self._begun = step, False, time.monotonic()
            if self._begun - self._started >= SILENCE:
                self._print()

    def _report(self) -> None:
        while not self._ended.wait(max(0, self._printed + SILENCE - time.monotonic())):
            with self._lock:
                if time.monotonic() - self._printed >= SILENCE:
                    self._print()

    def _print(self) -> None:
        self._printed = time.monotonic()
        minutes = max(1, round((self._printed - self._begun) / 60))
        long = f"{self._step}: {minutes:,} minute{'s' * (minutes > 1)} so far"
        _print_message((visible(long if self._named else f"{self._step} ..."), ""))
        self._named = True


def _print_message(*parts: tuple[str, str]) -> None:
    if not may_be_terminal():
        print("".join(text for text, _ in parts), file=sys.stderr, flush=True)
        return
    from rich.text import Text

    for status in _statuses:
        status.stop()
    # The terminal wraps lines; in a file every message is one line.
    messages().print(Text.assemble(*parts), soft_wrap=True)
    for status in _statuses:
        status.start()


def percent(share: float) -> str:
    """A fraction from 0 to 1 as a percentage with one decimal."""
    return f"{100 * share:.1f} %"


def excerpt(text: str, most: int) -> str:
    """A text on one line, cut to `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def columns(*titles: str, texts: Container[str] = ("",)) -> "Table":
    """A table without rules. Columns are right-aligned, except those in `texts`, which are left-aligned and
    wrap."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in titles:
        wide = title in texts
        table.add_column(title, justify="left" if wide else "right", overflow="fold", no_wrap=not wide)
    return table


def visible(text: str) -> str:
    """Text for a terminal: unprintable characters, such as escape sequences, are escaped."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


_KINDS = {".svg": "a picture", ".html": "a page"}
_BEGIN = (b"<svg", b"<!doctype html", b"<?xml")


def check_page_output(path: Path | None, *endings: str) -> None:
    """Check an output file for a picture or a page: only an existing picture or page may be replaced.

    Args:
        path: The file; None for no check.
        endings: Allowed suffixes; all if none is given.

    Raises:
        OutputError: HW601, the file exists and is neither; HW604, its folder does not exist, it is a
            folder, or it cannot be read; HW605, the suffix is not allowed.
    """
    if path is None or str(path) == STANDARD_OUTPUT:
        return
    from headwise.models.output_file import OutputError, reporting_write_errors

    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OutputError(f"{path}: cannot be written: {reason}", code="HW604")
    if path.exists() and not path.is_file():  # a device, whatever its suffix
        return
    if path.is_file():
        with reporting_write_errors(path), path.open("rb") as file:
            begin = file.read(64).lstrip().lower()
        if begin and not begin.startswith(_BEGIN):
            raise OutputError(
                f"{path} exists and is not a picture or page, so it is not replaced; name another file",
                code="HW601",
            )
    if endings and path.suffix.lower() not in endings:
        kinds = " or ".join(_KINDS[ending] for ending in endings)
        raise OutputError(
            f"{path}: expected a file for {kinds}; name it {' or '.join(endings)}", code="HW605"
        )


def write_text(path: Path, text: str) -> None:
    """Write a file atomically: on failure the old file stays. "-" is standard output.

    Raises:
        OutputError: HW604, it cannot be written.
    """
    if str(path) == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    from headwise.core.file_lock import atomic_output
    from headwise.models.output_file import reporting_write_errors  # with it comes torch

    with reporting_write_errors(path), atomic_output(path) as part:
        part.write_text(text, encoding="utf-8", errors="replace")
