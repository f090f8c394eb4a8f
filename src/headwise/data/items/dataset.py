"""Data in memory and in streams: the items of a file, and how they are cut into batches, chunks and
windows.

- `Dataset`: the items of a file in memory. `InputRows`: the records of a file to predict, as a stream.
- `plan_batches`: batches of texts of similar length within a token budget, shuffled by seed and epoch.
- `in_chunks`, `items_at` and others: items by number, length or index, also where memory cannot hold them.
- `cut_windows`: overlapping windows over a long text.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from headwise.core.errors import ConfigError
from headwise.data.files.file_lists import place
from headwise.data.findings import SHOWN, Finding, with_remainder

Item = TypeVar("Item")


@dataclass(frozen=True)
class Dataset(Generic[Item]):
    """The items of one file, and how they were read.

    Attributes:
        items: Texts, pairs, sentences or bags in the file's order; empty ones are among them.
        path: The file as the user named it; of aligned files the first.
        format: The name of its format.
        columns: The chosen columns, in the form that the item type uses.
        notes: What was guessed or left out, for the user, one sentence each.
        empty: How many items have a text that is empty or white space only.
        skipped: How many records were left out (trees with a neutral label, pairs without one).
        findings: Usable records that look like mistakes, for the doctor.
        unlabelled: How many of the skipped records are texts with an empty label.
    """

    items: list[Item]
    path: str
    format: str
    columns: Any
    notes: tuple[str, ...] = ()
    empty: int = 0
    skipped: int = 0
    findings: tuple[Finding, ...] = ()
    unlabelled: int = 0

    def __repr__(self) -> str:
        return f"<Dataset of {len(self.items):,} items from {self.path} (format {self.format})>"

    @cached_property
    def labels(self) -> dict[str, int]:
        """How often each label (or tag) occurs, the most frequent first, then by name."""
        items: list[Any] = self.items
        counts = Counter(chain.from_iterable(item.labels for item in items))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def with_items(self, items: list[Item]) -> Self:
        """The same file with other items."""
        return replace(self, items=items)

    def where(self, item: int) -> str:
        """`path:line` of the item with this index."""
        example: Any = self.items[item]
        return place(self.path, example.line)

    def places(self, items: Sequence[int]) -> tuple[str, ...]:
        """`path:line` of the first few of these items, and how many more there are."""
        return with_remainder([self.where(item) for item in items[:SHOWN]], len(items))


@dataclass(frozen=True, slots=True)
class InputRow(Generic[Item]):
    """One record of a file to predict.

    Attributes:
        line: The line of the file, from 1, on which the record starts.
        fields: All fields in the file's order: strings, or JSON values in a jsonl file.
        item: The item that the model reads, with its label if the record has one.
    """

    line: int
    fields: dict[str, object]
    item: Item


@dataclass(frozen=True)
class InputRows(Generic[Item]):
    """The records of a file as a stream, which can be iterated once, with its format and columns.

    `notes` and `columns` are complete as soon as the object exists, `closing_notes` after the last row.

    Attributes:
        headings: The names of the fields as they stand in the file, where these are others: "" for a column
            without a name.
        empty_header: The names of the fields of a table that has a header and no rows.
    """

    rows: Iterator[InputRow[Item]]
    path: str
    format: str
    columns: Any
    notes: tuple[str, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)
    empty_header: tuple[str, ...] = ()
    closing_notes: Sequence[str] = ()

    def __iter__(self) -> Iterator[InputRow[Item]]:
        return self.rows


_POOL = 50  # batches' worth of texts that are sorted together: similar lengths, yet a random mix


def plan_batches(
    lengths: Sequence[int] | np.ndarray, *, max_texts: int, max_tokens: int, seed: int, epoch: int
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
    return iter(lambda: list(islice(stream, size)), [])


def chunks_by_length(texts: Sequence[Text], most: int) -> Iterator[Sequence[Text]]:
    """Slices of the texts with about `most` words or characters in total each, which bounds the memory
    needed."""
    start = size = 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= most:
            yield texts[start : number + 1]
            start, size = number + 1, 0
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


class ComputedItems(Sequence[T]):
    """Items that are computed each time that they are needed, several at once.

    Attributes:
        lengths: The length of each item, int64 `[items]`.
    """

    lengths: np.ndarray

    def take(self, numbers: Sequence[int]) -> list[T]:
        """The items with these indices."""
        raise NotImplementedError

    def subset(self, numbers: Sequence[int] | np.ndarray) -> Sequence[T]:
        """A sequence of the items with these indices, which computes them when they are needed."""
        raise NotImplementedError

    def with_items(self, items: Sequence[T]) -> Sequence[T]:
        """The same sequence with items at its end."""
        raise NotImplementedError


def items_at(items: Sequence[T], numbers: Iterable[int]) -> list[T]:
    """The items at these indices."""
    if isinstance(items, ComputedItems):
        return items.take([*numbers])
    return [items[number] for number in numbers]


def subset_of(items: Sequence[T], numbers: Sequence[int] | np.ndarray) -> Sequence[T]:
    """The items at these indices; they may be more than fit into memory."""
    return items.subset(numbers) if isinstance(items, ComputedItems) else items_at(items, numbers)


def joined_items(items: Sequence[T], further: Sequence[T]) -> Sequence[T]:
    """The items and further ones at their end."""
    return items.with_items(further) if isinstance(items, ComputedItems) else [*items, *further]


def lengths_of(items: Sequence[Any]) -> np.ndarray:
    """The length of each item, int64 `[items]`."""
    if isinstance(items, ComputedItems):
        return items.lengths
    return np.array([len(item) for item in items], dtype=np.int64)


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
