"""in_chunks: a stream of texts or pairs of any length, some of them at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from headwise.errors import ConfigError

T = TypeVar("T")


def in_chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in their order, in lists of `size` of them; the last may be shorter.

    Raises:
        ConfigError: They are one text, which would be taken for a list of letters.
    """
    several(items)
    stream = iter(items)
    while part := list(islice(stream, size)):
        yield part


def several(items: Iterable[T]) -> Iterable[T]:
    """The items, if they are not one text.

    Raises:
        ConfigError: They are.
    """
    if isinstance(items, str):
        raise ConfigError(
            f"expected a list of texts, got the one text {items!r:.80}; give a list, also of one: [text]"
        )
    return items
