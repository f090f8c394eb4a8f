"""Plain texts without an answer: what a model may learn of their own words."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from headwise.data.answers import OWN_WORDS, Answer
from headwise.data.dataset import Dataset
from headwise.data.errors import OnError, stop
from headwise.data.example import Example
from headwise.data.fingerprint import heads_field
from headwise.data.head import Head
from headwise.data.kinds.text import TextKind
from headwise.data.options import ReadOptions
from headwise.data.read import read_rows
from headwise.data.rows import Rows
from headwise.data.split import Split
from headwise.errors import ConfigError

MOST_HELD = 2_000
"""Texts at most that are split off for dev, and for the test: all others are worth learning from."""
NO_ANSWERS = (
    "a model of masked words gives texts no labels; headwise train FILE --base MODEL goes on from it"
)


class PlainTextKind(TextKind):
    """Texts, of whose words some are to be told from the others; labels are not looked at."""

    def __init__(self, answer: Answer = OWN_WORDS):
        super().__init__(answer)
        self.options = ReadOptions

    def read(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> Dataset:
        rows = read_rows(path, options or ReadOptions(), on_error)
        texts = [Example(row.item.text, line=row.line) for row in rows]
        empty = sum(not own.text.strip() for own in texts)
        columns = replace(rows.columns, label=None)
        return Dataset(texts, rows.path, rows.format, columns, rows.notes, empty)

    def rows(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> Rows[Example]:
        raise ConfigError(NO_ANSWERS)

    def split(
        self,
        items: Sequence[Example],
        dev: float | int,
        test: float | int = 0,
        seed: int = 0,
        path: str = "",
    ) -> Split[list[Example]]:
        """Split texts, `MOST_HELD` of them at most for dev, and for the test.

        Raises:
            DataError: HW141, there are too few.
        """
        most = MOST_HELD / max(len(items), 1)
        dev, test = (own if own >= 1 else min(own, most) for own in (dev, test))
        return super().split(items, dev, test, seed, path)

    def fields(self, item: Example) -> Iterable[str | None]:
        return item.text, *heads_field(item.heads)

    def asked(self, reading: Any) -> str | None:
        return None

    def recognise(self, head: Head, reading: Any) -> str | None:
        return None
