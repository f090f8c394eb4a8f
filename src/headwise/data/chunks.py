"""Iterate over items in chunks, by number or by total length, and select items by index."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import islice
from typing import TypeVar

from headwise.errors import ConfigError

T = TypeVar("T")
Text = TypeVar("Text", bound=Sized)


def in_chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in their order, in lists of `size`; the last may be shorter.

    Raises:
        ConfigError: The items are not a list, see `require_list`; or the size is less than 1.
    """
    require_list(items)
    if size < 1:
        raise ConfigError(f"chunks of {size} have no items; give 1 or more")
    stream = iter(items)
    while part := list(islice(stream, size)):
        yield part


def portions(texts: Sequence[Text], most: int) -> Iterator[Sequence[Text]]:
    """Slices of the texts with about `most` words or characters in total each, which bounds the memory
    needed."""
    start = size = 0
    for place, text in enumerate(texts):
        size += len(text)
        if size >= most:
            yield texts[start : place + 1]
            start, size = place + 1, 0
    if start < len(texts):
        yield texts[start:]


def require_list(items: Iterable[T], called: str = "texts") -> Iterable[T]:
    """Return the items if they are an ordered collection of items.

    Raises:
        ConfigError: They are one text, None, a set (which has no order), a mapping or a data frame (whose
            keys or columns would be taken for items). `called` is the word for items in the message.
    """
    if isinstance(items, str):
        raise ConfigError(
            f"expected a list of {called}, got the one text {items!r:.80}; give a list, also of one: [text]"
        )
    if isinstance(items, Mapping):
        names = [*map(repr, items)]
        raise ConfigError(
            f"expected a list of {called}, got a {type(items).__name__} of {', '.join(names)}; give a list"
            + (f", such as [{names[0]}] of it" if names else "")
        )
    if isinstance(items, set | frozenset):
        raise ConfigError(f"expected a list of {called}, got a {type(items).__name__}, which has no order")
    if not hasattr(items, "__iter__") and not hasattr(items, "__getitem__"):
        raise ConfigError(f"expected a list of {called}, got {items!r:.80}")
    columns = getattr(items, "columns", None)
    if columns is not None and hasattr(items, "dtypes"):
        names = [*map(repr, columns)]
        raise ConfigError(
            f"expected a list of {called}, got a {type(items).__name__} with the columns {', '.join(names)}"
            "; give one of them, or of pairs a list of tuples"
        )
    return items


def items_at(items: Sequence[T], numbers: Iterable[int]) -> list[T]:
    """The items at these indices."""
    return [items[number] for number in numbers]
