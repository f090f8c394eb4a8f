"""Plan batches of texts of similar length within a token budget, shuffled by seed and epoch.

Iterate over items in chunks, by number or by total length, and select items by index.

Overlapping windows over a long text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import islice, pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from headwise.core.errors import ConfigError

_POOL = 50  # batches' worth of texts that are sorted together: similar lengths, yet a random mix


def plan_batches(
    lengths: Sequence[int] | np.ndarray,
    *,
    max_texts: int,
    max_tokens: int,
    seed: int,
    epoch: int,
) -> list[list[int]]:
    """The batches of one epoch, as lists of text indices; every text occurs once.

    Texts are shuffled, sorted by length within pools, cut so that no batch has more than `max_texts` texts
    or `max_tokens` words (a longer text is a batch of its own), and the batches are shuffled. Within a
    batch the longest text comes first. The same arguments give the same batches on every machine.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    random = np.random.Generator(np.random.PCG64([seed, epoch]))
    order = random.permutation(len(lengths))
    batches: list[list[int]] = []
    pool = max_texts * _POOL
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        batches += cut_batches(
            part[np.argsort(-lengths[part], kind="stable")], lengths, max_texts, max_tokens
        )
    return [batches[b] for b in random.permutation(len(batches))]


def cut_batches(
    order: Sequence[int] | np.ndarray, lengths: np.ndarray, max_texts: int, max_tokens: int
) -> list[list[int]]:
    """Cut texts, in this order, into batches of at most `max_texts` texts and `max_tokens` words."""
    batches: list[list[int]] = []
    tokens = 0
    for text in order:
        # A text costs at least one position (its classification node), also when it is empty.
        cost = int(lengths[text]) + 1
        if not batches or len(batches[-1]) >= max_texts or tokens + cost > max_tokens:
            batches.append([])
            tokens = 0
        batches[-1].append(int(text))
        tokens += cost
    return batches


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


def chunks_by_length(texts: Sequence[Text], most: int) -> Iterator[Sequence[Text]]:
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


class TextWindow(NamedTuple):
    """A window over the words `start` to `stop` of a text, whose states are used for the words `first` to
    `last` (ends exclusive)."""

    start: int
    stop: int
    first: int
    last: int


def cut_windows(length: int, words: int, overlap: int) -> list[TextWindow]:
    """The fewest possible windows over a text, of equal size and evenly spread.

    Args:
        length: The number of words of the text.
        words: The largest number of words in a window, at least 1.
        overlap: The least number of words that neighbouring windows share, less than `words`.
    """
    if length <= words:
        return [TextWindow(0, length, 0, length)]
    count = -(-(length - overlap) // (words - overlap))
    size = -(-(length + (count - 1) * overlap) // count)
    starts = [(length - size) * number // (count - 1) for number in range(count)]
    # The middles of the overlaps of neighbouring windows.
    middles = [(left + size + right) // 2 for left, right in pairwise(starts)]
    borders = [0, *middles, length]
    return [
        TextWindow(start, start + size, first, last)
        for start, (first, last) in zip(starts, pairwise(borders), strict=True)
    ]
