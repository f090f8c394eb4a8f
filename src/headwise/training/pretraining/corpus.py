"""Reading of corpus files of any size as passages of a few sentences, and passages as word numbers."""

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import from_dict
from headwise.core.tokenizer import get_tokenizer, normalize_spelling
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS, ReadOptions
from headwise.data.files.tables import TABLES
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.labelled_files import read_rows
from headwise.text.static_embeddings.word_groups import compound_parts, find_spelling_variant
from headwise.training.pretraining.work_folder import atomic_path, write_array

BUFFER = 1 << 16
"""Size of the shuffle buffer, in passages."""

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[^\W_a-z])|(?<=[。！？])")
_SENTENCES = (1, 2, 3)
_SHARES = (0.72, 0.2, 0.08)


def read_passages(
    files: Sequence[str],
    *,
    cut: bool,
    longest: int,
    seed: int,
    options: ReadOptions = DEFAULT_READ_OPTIONS,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[str]:
    """The passages of files, plain or compressed, in order.

    Args:
        files: Files with lines of text, tables with a text column, or tagged sentences.
        cut: Cut texts into passages of one to three sentences; else each text is a passage.
        longest: Maximum number of words of a passage; longer ones are cut between words.
        seed: Seed of the number of sentences of each passage.
        options: How files are read.
        note: Called with a message about each file that is not plain text.

    Raises:
        DataError: A file cannot be read.
    """
    choose = random.Random(seed)
    for file in files:
        for text in map(str.strip, _read_texts(file, options, note)):
            if not text:
                continue
            if cut:
                yield from _cut_passages(text, longest, choose)
            else:
                yield text


def _read_texts(file: str, options: ReadOptions, note: Callable[[str], None]) -> Iterator[str]:
    """The texts of a file: lines, cells of the text column, or the words of tagged sentences."""
    decoding = {"encoding": options.encoding, "encoding_errors": options.encoding_errors}
    if not options.text_column:
        item_type = ITEM_TYPES_BY_TASK[infer_task(file, {"encoding": options.encoding})[0]]
        if item_type.has_tags:
            note(f"{file}: tagged sentences, of which the words are read")
            for row in item_type.rows(file, from_dict(item_type.options, decoding)):
                yield " ".join(row.item.tokens)
            return
    rows = read_rows(file, options)
    if rows.format != "text":
        note(f"{file}: {rows.format}, of which the texts are read (column {rows.columns.text!r})")
    if rows.format in TABLES:  # notes say which part is read, such as one sheet
        for message in rows.notes:
            note(f"{file}: {message}")
    for row in rows:
        yield row.item.text


def _cut_passages(text: str, longest: int, choose: random.Random) -> Iterator[str]:
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    place = 0
    while place < len(sentences):
        count = choose.choices(_SENTENCES, _SHARES)[0]
        words = " ".join(sentences[place : place + count]).split()
        place += count
        for start in range(0, len(words), longest):
            yield " ".join(words[start : start + longest])


def shuffled(items: Iterable[str], seed: int, buffer: int = BUFFER) -> Iterator[str]:
    """Shuffle a stream with a buffer, for streams larger than memory."""
    choose = random.Random(seed)
    held: list[str] = []
    for item in items:
        if len(held) < buffer:
            held.append(item)
            continue
        place = choose.randrange(buffer)
        yield held[place]
        held[place] = item
    choose.shuffle(held)
    yield from held


class CorpusSample:
    """A random sample of a stream by reservoir sampling (Vitter), without duplicates in the reservoir.

    Args:
        most: Size of the sample; 0 = all items.
        seed: Seed of the choice.
    """

    def __init__(self, most: int, seed: int):
        self._most, self._choose = most, random.Random(seed)
        self._seen, self._held, self._keys = 0, list[str](), set[int]()

    def add(self, item: str) -> None:
        """Add the next item of the stream."""
        key = hash(item.lower())
        if key in self._keys:
            return
        self._seen += 1
        if not self._most or len(self._held) < self._most:
            self._held.append(item)
            self._keys.add(key)
            return
        place = self._choose.randrange(self._seen)
        if place < self._most:
            self._keys.discard(hash(self._held[place].lower()))
            self._keys.add(key)
            self._held[place] = item

    def items(self) -> list[str]:
        """The sample, in random order."""
        self._choose.shuffle(self._held)
        return self._held


MOST_TYPES = 1 << 22
"""Maximum number of distinct words in the counts; beyond it, the rarest are dropped."""


def normalize_word(word: str) -> str:
    """The spelling under which a base lists a word."""
    return normalize_spelling(word.lower())


class WordCounts:
    """Word counts in bounded memory."""

    def __init__(self, most: int = MOST_TYPES):
        self.counts: Counter[str] = Counter()
        self._most, self._below = most, 1
        self._plain: dict[str, str] = {}

    def add(self, words: Sequence[str]) -> None:
        """Count words; their spelling is normalised."""
        spellings = self._plain
        for word in words:
            spelling = spellings.get(word)
            if spelling is None:
                spelling = normalize_word(word)
                if len(spellings) < self._most:
                    spellings[word] = spelling
            self.counts[spelling] += 1
        if len(self.counts) > self._most:
            self._below += 1
            self.counts = Counter({w: n for w, n in self.counts.items() if n >= self._below})


def choose_words(
    counts: Mapping[str, int], most: int, *, rarest: int = 1, listed: Sequence[str] = ()
) -> list[str]:
    """The words that a base lists, the most important first.

    Words are sorted by the geometric mean of two ranks, that of their count and that in an external word
    list (if given), but at most three times the better rank. Numbers and punctuation are ranked lower, as
    few of them are informative.

    Args:
        counts: Counts of words in their plain spelling.
        most: Number of words to choose.
        rarest: Minimum count of a word that is not in the list.
        listed: An external word list, by falling frequency.
    """
    by_count = sorted(counts, key=lambda word: (-counts[word], word))
    ranks = {word: rank for rank, word in enumerate(by_count) if counts[word] >= rarest}
    list_ranks: dict[str, int] = {}
    cut = get_tokenizer("penn").words
    for word in listed:
        if len(cut(word)) == 1:
            list_ranks.setdefault(normalize_word(word), len(list_ranks))
    missing, missing_other = 2 * len(ranks) + 1, 3 * len(list_ranks) // 2 + 1

    def place(word: str) -> tuple[float, str]:
        count_rank, list_rank = ranks.get(word, missing), list_ranks.get(word, missing_other)
        if not any(letter.isalpha() for letter in word):
            return (1.3 if count_rank < 4000 else 3) * count_rank, word
        if not list_ranks:
            return count_rank, word
        return min(math.sqrt(count_rank * list_rank), 3 * min(count_rank, list_rank)), word

    return sorted({*ranks, *list_ranks}, key=place)[:most]


_AT_ONCE = 1 << 14
_CACHED = 1 << 20


@dataclass(frozen=True)
class EncodedPassages:
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


class PassageEncoder:
    """Mapping from words to ids, with the lookup rules of a base: a spelling variant has the id of its
    listed word, a compound the ids of its parts.

    Args:
        types: Words with ids, the listed ones first; other words are skipped.
        listed: Number of listed words.
        tokenizer: Name of the tokenizer.
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
                numbers = self._numbers(normalize_word(word))
                if len(self._cache) < _CACHED:
                    self._cache[word] = numbers
            passage_numbers.extend(numbers)
        return passage_numbers

    def passages(self, texts: Iterable[str]) -> EncodedPassages:
        """Word ids of passages that fit into memory."""
        rows = [np.array(self.passage(text), np.int32) for text in texts]
        starts = np.cumsum([0, *map(len, rows)])
        return EncodedPassages(np.concatenate([np.zeros(0, np.int32), *rows]), starts)

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

            for done, text in enumerate(texts, start=1):
                rows.append(self.passage(text))
                if len(rows) == _AT_ONCE:
                    flush()
                    yield done
            flush()
        write_array(np.concatenate(lengths), _lengths(path))
        yield done

    def _numbers(self, word: str) -> tuple[int, ...]:
        number = self._listed.get(word)
        if number is None:
            number = find_spelling_variant(word, self._listed)
        if number is not None:
            return (number,)
        if compound := compound_parts(word, self._listed):
            return tuple(compound)
        number = self._types.get(word)
        return () if number is None else (number,)


def has_encoded_passages(path: Path) -> bool:
    """Whether `PassageEncoder.write` has completed this file."""
    return path.exists() and _lengths(path).exists()


def read_numbers(path: Path) -> EncodedPassages:
    """Open a file of `PassageEncoder.write`; the word ids are memory-mapped."""
    starts = np.append(0, np.load(_lengths(path)).cumsum(dtype=np.int64))
    flat = np.memmap(path, np.int32, "r") if starts[-1] else np.zeros(0, np.int32)
    return EncodedPassages(flat, starts)


def _lengths(path: Path) -> Path:
    return path.with_suffix(".lengths.npy")
