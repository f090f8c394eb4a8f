"""LazyTable: a dictionary whose values are made when they are looked up."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TypeVar

Value = TypeVar("Value")


class LazyTable(MutableMapping[str, Value]):
    """A dictionary whose values are made when they are looked up for the first time, so that their modules
    are imported only then."""

    def __init__(self, factories: Mapping[str, Callable[[], Value]]):
        self._makers: dict[str, Callable[[], Value]] = dict(factories)
        self._values: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = self._makers[name]()
        return self._values[name]

    def __setitem__(self, name: str, value: Value) -> None:
        self._makers[name], self._values[name] = lambda: value, value

    def __delitem__(self, name: str) -> None:
        del self._makers[name]
        self._values.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
