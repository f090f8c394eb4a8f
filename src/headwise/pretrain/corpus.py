"""Files of any size, of text or with a column of it, as passages: a few sentences each."""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from headwise.config import from_dict
from headwise.data.kinds import KINDS, infer_task
from headwise.data.kinds.sentence import SentenceKind
from headwise.data.options import DEFAULT, ReadOptions
from headwise.data.read import read_rows
from headwise.data.tables import TABLES

BUFFER = 1 << 16
"""Passages among which the order is shuffled while files are read."""

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[^\W_a-z])|(?<=[。！？])")
_SENTENCES = (1, 2, 3)
_SHARES = (0.72, 0.2, 0.08)


def read_passages(
    files: Sequence[str],
    *,
    cut: bool,
    longest: int,
    seed: int,
    options: ReadOptions = DEFAULT,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[str]:
    """The passages of files, plain or compressed, in order.

    Args:
        files: Lines of text, tables, of which one column is text, or sentences with a tag for each word.
        cut: Cut texts into passages of one to three sentences; else each text is one.
        longest: Most words of a passage; a longer one is cut, wherever that may be.
        seed: Decides how many sentences are taken together.
        options: How files are read.
        note: Told of each file that is no plain text, and what is read of it.

    Raises:
        DataError: A file cannot be read.
    """
    choose = random.Random(seed)
    for file in files:
        for text in map(str.strip, _texts(file, options, note)):
            if not text:
                continue
            if cut:
                yield from _cut(text, longest, choose)
            else:
                yield text


def _texts(file: str, options: ReadOptions, note: Callable[[str], None]) -> Iterator[str]:
    """The texts of a file: lines, what stands in a column, or sentences whose words are tagged."""
    decoding = {"encoding": options.encoding, "encoding_errors": options.encoding_errors}
    kind = None if options.text_column else KINDS[infer_task(file, {"encoding": options.encoding})[0]]
    if isinstance(kind, SentenceKind):
        note(f"{file}: tagged sentences, of which the words are read")
        for row in kind.rows(file, from_dict(kind.options, decoding)):
            yield " ".join(row.item.tokens)
        return
    rows = read_rows(file, options)
    if rows.format != "text":
        note(f"{file}: {rows.format}, of which the texts are read (column {rows.columns.text!r})")
    if rows.format in TABLES:  # of which a part may be read, such as one sheet
        for told in rows.notes:
            note(f"{file}: {told}")
    for row in rows:
        yield row.item.text


def _cut(text: str, longest: int, choose: random.Random) -> Iterator[str]:
    sentences = [own.strip() for own in _SENTENCE_END.split(text) if own.strip()]
    place = 0
    while place < len(sentences):
        count = choose.choices(_SENTENCES, _SHARES)[0]
        words = " ".join(sentences[place : place + count]).split()
        place += count
        for start in range(0, len(words), longest):
            yield " ".join(words[start : start + longest])


def shuffled(items: Iterable[str], seed: int, buffer: int = BUFFER) -> Iterator[str]:
    """The same items in an order that is random within a buffer, for what is larger than memory."""
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


class Sample:
    """A random sample of a stream, without repetitions among what is held at a time (Vitter's reservoir).

    Args:
        most: Items of the sample; 0 = all.
        seed: Of the choice.
    """

    def __init__(self, most: int, seed: int):
        self._most, self._choose = most, random.Random(seed)
        self._seen, self._held, self._keys = 0, list[str](), set[int]()

    def add(self, item: str) -> None:
        """The next item of the stream."""
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
