"""Passages as numbers of words, on disk, for texts larger than memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headwise.features.bases.spelling import other_spelling, parts
from headwise.features.tokenize import get_tokenizer
from headwise.pretrain.vocabulary import plain
from headwise.pretrain.work import whole, write_array

_AT_ONCE = 1 << 14
_CACHED = 1 << 20


@dataclass(frozen=True)
class Numbers:
    """Passages as numbers of words.

    Attributes:
        flat: The numbers of all passages, one behind the other.
        starts: Where each begins, and the end of the last, `[passages + 1]`.
    """

    flat: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words of each passage."""
        return np.diff(self.starts)

    def take(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The numbers of some passages, one behind the other, and their lengths."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(lengths)
        inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        return self.flat[np.repeat(self.starts[rows], lengths) + inside], lengths


class Numbering:
    """Words to numbers, as a base will see them: a word that is listed under another spelling is that
    word, a compound is its parts.

    Args:
        types: The words that have numbers, the listed ones first; others have none.
        listed: How many of them are listed.
        tokenizer: Cuts passages into words.
    """

    def __init__(self, types: Sequence[str], listed: int, tokenizer: str = "penn"):
        self._types = {word: number for number, word in enumerate(types)}
        self._listed = {word: number for number, word in enumerate(types[:listed])}
        self._words = get_tokenizer(tokenizer).words
        self._cache: dict[str, tuple[int, ...]] = {}

    def passage(self, text: str) -> list[int]:
        """The numbers of a passage."""
        found = []
        for word in self._words(text):
            numbers = self._cache.get(word)
            if numbers is None:
                numbers = self._numbers(plain(word))
                if len(self._cache) < _CACHED:
                    self._cache[word] = numbers
            found.extend(numbers)
        return found

    def passages(self, texts: Iterable[str]) -> Numbers:
        """The numbers of passages that fit into memory."""
        rows = [np.array(self.passage(text), np.int32) for text in texts]
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        return Numbers(np.concatenate([np.zeros(0, np.int32), *rows]), starts)

    def write(self, texts: Iterable[str], path: Path) -> Iterator[int]:
        """Write the numbers of any number of passages; yields how many are done. What `read_numbers` gives
        is whole or not there: the second file takes its name last."""
        lengths: list[NDArray[np.int32]] = []
        own: list[list[int]] = []
        done = 0
        with whole(path) as partial, open(partial, "wb") as file:

            def flush() -> None:
                # Not by tofile, which says nothing of a disk that is full before the last bytes.
                file.write(np.array([number for row in own for number in row], np.int32).tobytes())
                lengths.append(np.array([len(row) for row in own], np.int32))
                own.clear()

            for text in texts:
                own.append(self.passage(text))
                if len(own) == _AT_ONCE:
                    done += len(own)
                    flush()
                    yield done
            done += len(own)
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
    """Whether `Numbering.write` has come to its end here."""
    return path.exists() and _lengths(path).exists()


def read_numbers(path: Path) -> Numbers:
    """What `Numbering.write` wrote; the numbers stay on disk until they are used."""
    lengths = np.load(_lengths(path))
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    flat = np.memmap(path, np.int32, "r") if starts[-1] else np.zeros(0, np.int32)
    return Numbers(flat, starts)


def _lengths(path: Path) -> Path:
    return path.with_suffix(".lengths.npy")
