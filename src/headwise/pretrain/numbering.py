"""Passages as word ids, on disk, for texts larger than memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.spelling import other_spelling, parts
from headwise.features.tokenize import get_tokenizer
from headwise.pretrain.vocabulary import plain
from headwise.pretrain.work import atomic_path, write_array

_AT_ONCE = 1 << 14
_CACHED = 1 << 20


@dataclass(frozen=True)
class Numbers:
    """Passages as word ids.

    Attributes:
        flat: Word ids, passage after passage, int32 `[total]`.
        starts: Start of each passage in `flat`, and the end, int64 `[passages + 1]`.
    """

    flat: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of words of each passage, `[passages]`."""
        return np.diff(self.starts)

    def take(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Word ids of the passages `rows`, passage after passage, and their lengths."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(lengths)
        inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        return self.flat[np.repeat(self.starts[rows], lengths) + inside], lengths


class Numbering:
    """Mapping from words to ids, with the lookup rules of a base: a spelling variant has the id of its
    listed word, a compound the ids of its parts.

    Args:
        types: Words with ids, the listed ones first; other words are skipped.
        listed: Number of listed words.
        tokenizer: Name of the tokeniser.
    """

    def __init__(self, types: Sequence[str], listed: int, tokenizer: str = "penn"):
        self._types = {word: number for number, word in enumerate(types)}
        self._listed = {word: number for number, word in enumerate(types[:listed])}
        self._words = get_tokenizer(tokenizer).words
        self._cache: dict[str, tuple[int, ...]] = {}

    def passage(self, text: str) -> list[int]:
        """Word ids of a passage."""
        passage_numbers = []
        for word in self._words(text):
            numbers = self._cache.get(word)
            if numbers is None:
                numbers = self._numbers(plain(word))
                if len(self._cache) < _CACHED:
                    self._cache[word] = numbers
            passage_numbers.extend(numbers)
        return passage_numbers

    def passages(self, texts: Iterable[str]) -> Numbers:
        """Word ids of passages that fit into memory."""
        rows = [np.array(self.passage(text), np.int32) for text in texts]
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        return Numbers(np.concatenate([np.zeros(0, np.int32), *rows]), starts)

    def write(self, texts: Iterable[str], path: Path) -> Iterator[int]:
        """Write the word ids of a stream of passages; yields the number of passages done. The file of
        lengths comes last, so an incomplete file is never read by `read_numbers`."""
        lengths: list[NDArray[np.int32]] = []
        rows: list[list[int]] = []
        done = 0
        with atomic_path(path) as partial, open(partial, "wb") as file:

            def flush() -> None:
                # Not by tofile, which does not always report a full disk.
                file.write(np.array([number for row in rows for number in row], np.int32).tobytes())
                lengths.append(np.array([len(row) for row in rows], np.int32))
                rows.clear()

            for text in texts:
                rows.append(self.passage(text))
                if len(rows) == _AT_ONCE:
                    done += len(rows)
                    flush()
                    yield done
            done += len(rows)
            flush()
        write_array(np.concatenate(lengths), _lengths(path))
        yield done

    def _numbers(self, word: str) -> tuple[int, ...]:
        number = self._listed.get(word)
        if number is None:
            number = other_spelling(word, self._listed)
        if number is not None:
            return (number,)
        if compound := parts(word, self._listed):
            return tuple(compound)
        number = self._types.get(word)
        return () if number is None else (number,)


def have_numbers(path: Path) -> bool:
    """Whether `Numbering.write` has completed this file."""
    return path.exists() and _lengths(path).exists()


def read_numbers(path: Path) -> Numbers:
    """Open a file of `Numbering.write`; the word ids are memory-mapped."""
    lengths = np.load(_lengths(path))
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    flat = np.memmap(path, np.int32, "r") if starts[-1] else np.zeros(0, np.int32)
    return Numbers(flat, starts)


def _lengths(path: Path) -> Path:
    return path.with_suffix(".lengths.npy")
