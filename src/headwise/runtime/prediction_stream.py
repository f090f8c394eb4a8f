"""What `predict` of a model returns: predictions that are computed as they are read."""

from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import chain
from typing import Any, NoReturn, TypeVar

from headwise.data.items.dataset import in_chunks

T = TypeVar("T")


class PredictionStream(Iterator[T]):
    """Predictions in the order of their items, which may be a stream of any length. They are computed
    `chunk` items at a time and can be read once; `list` has all of them.

    Args:
        items: The texts, pairs or other items.
        predict: The predictions of some items.
        chunk: The number of items that are predicted at once.

    Raises:
        ConfigError: At once, if the items are not a list: one text, a mapping or a data frame, for example.
    """

    def __init__(self, items: Iterable[Any], predict: Callable[[list[Any]], Iterable[T]], chunk: int):
        self._predictions = chain.from_iterable(map(predict, in_chunks(items, chunk)))
        count = len(items) if isinstance(items, Sized) else None
        self._items = "a stream" if count is None else f"{count:,} item{'s' * (count != 1)}"

    def __next__(self) -> T:
        return next(self._predictions)

    def __getitem__(self, place: object) -> NoReturn:
        raise TypeError("predictions are computed as they are read; take list(...)[0]")

    def __repr__(self) -> str:
        return f"<predictions of {self._items}, computed as they are read; list(...) has all of them>"
