"""The item type of unlabelled texts for masked-word pretraining."""

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
"""Largest number of texts split off for dev and for test each; the rest is for training."""
NO_ANSWERS = (
    "a model of masked words gives texts no labels; headwise train FILE --base MODEL goes on from it"
)


class PlainTextKind(TextKind):
    """Texts whose masked words are predicted from the rest; labels are ignored."""

    def __init__(self, answer: Answer = OWN_WORDS):
        super().__init__(answer)
        self.options = ReadOptions

    def read(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> Dataset:
        rows = read_rows(path, options or ReadOptions(), on_error)
        texts = [Example(row.item.text, line=row.line) for row in rows]
        empty = sum(not example.text.strip() for example in texts)
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
        """Split texts, with at most `MOST_HELD` of them for dev and for test each.

        Raises:
            DataError: HW141, there are too few texts.
        """
        most = MOST_HELD / max(len(items), 1)
        dev, test = (size if size >= 1 else min(size, most) for size in (dev, test))
        return super().split(items, dev, test, seed, path)

    def fields(self, item: Example) -> Iterable[str | None]:
        return item.text, *heads_field(item.heads)

    def implied_by(self, reading: Any) -> str | None:
        return None

    def recognise(self, head: Head, reading: Any) -> str | None:
        return None
