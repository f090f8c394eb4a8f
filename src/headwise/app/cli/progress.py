"""Progress bars on a terminal."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from headwise.app.cli.console import messages


class WithProgressBar:
    """A context manager that shows `bar` while it is active."""

    bar: Progress

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.bar.disable:  # Rich before 15 writes an empty line for a disabled bar
            self.bar.stop()


class TextProgress(WithProgressBar):
    """A progress bar on standard error, if that is a terminal.

    Args:
        file: The file that is read; if its lines can be counted quickly, they are the total. None if
            `update_of` gives the total.
        resumed: Number of texts done by an interrupted run.
    """

    def __init__(self, file: Path | None, *, resumed: int = 0):
        console = messages()
        self.bar = Progress(
            BarColumn(bar_width=None),
            TextColumn("{task.fields[texts]:,} texts  {task.fields[rate]:,.0f} texts/s "),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        total = count_lines(file) if console.is_terminal and file else None
        self._task = self.bar.add_task("", total=total, texts=0, rate=0.0)
        self._started, self._resumed = time.perf_counter(), resumed

    def update(self, texts: int, line: int) -> None:
        """Set the number of finished texts, and the line of the last."""
        rate = (texts - self._resumed) / max(time.perf_counter() - self._started, 1e-9)
        self.bar.update(self._task, completed=line, texts=texts, rate=rate)

    def update_of(self, texts: int, total: int) -> None:
        """Set the number of finished texts, and the total."""
        self.bar.update(self._task, total=total)
        self.update(texts, texts)


def count_lines(path: Path) -> int | None:
    """The number of lines of a file; None if it is not a plain text file."""
    from headwise.data.files.compression import SUFFIXES
    from headwise.data.files.tables import table_kind  # which `--help` does not need

    if path.suffix.lower() in SUFFIXES or not path.is_file() or table_kind(str(path)):
        return None
    with open(path, "rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))
