"""How far a long reading of texts is, shown on a terminal."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from headwise.cli.console import messages
from headwise.data.compression import SUFFIXES
from headwise.data.tables import table_kind


class Shown:
    """What has a bar that is shown as long as it is in use."""

    bar: Progress

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.bar.disable:  # else Rich before 15 writes an empty line
            self.bar.stop()


class TextProgress(Shown):
    """A progress bar on standard error, if that is a terminal.

    Args:
        file: The file that is read; where its lines can be counted quickly, the bar has an end. None where
            `update_of` tells it.
        kept: Texts that an earlier run has done.
        show: False for none.
    """

    def __init__(self, file: Path | None, *, kept: int = 0, show: bool = True):
        console = messages()
        show = show and console.is_terminal
        self.bar = Progress(
            BarColumn(bar_width=None),
            TextColumn("{task.fields[texts]:,} texts  {task.fields[rate]:,.0f} texts/s "),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not show,
        )
        total = count_lines(file) if show and file else None
        self._task = self.bar.add_task("", total=total, texts=0, rate=0.0)
        self._started, self._kept = time.perf_counter(), kept

    def update(self, texts: int, line: int) -> None:
        """Tell how many texts are done, and the line of the last."""
        rate = (texts - self._kept) / max(time.perf_counter() - self._started, 1e-9)
        self.bar.update(self._task, completed=line, texts=texts, rate=rate)

    def update_of(self, texts: int, total: int) -> None:
        """Tell how many texts are done, and how many there are."""
        self.bar.update(self._task, total=total)
        self.update(texts, texts)


def count_lines(path: Path) -> int | None:
    """The line ends of a file; None where counting them would take long or cannot be done."""
    if path.suffix.lower() in SUFFIXES or not path.is_file() or table_kind(str(path)):
        return None
    with open(path, "rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))
