"""Reading of corpus files of any size as passages of a few sentences."""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from headwise.core.config import from_dict
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS, ReadOptions
from headwise.data.files.tables import TABLES
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.labelled_files import read_rows

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
        for text in map(str.strip, _texts(file, options, note)):
            if not text:
                continue
            if cut:
                yield from _cut(text, longest, choose)
            else:
                yield text


def _texts(file: str, options: ReadOptions, note: Callable[[str], None]) -> Iterator[str]:
    """The texts of a file: lines, cells of the text column, or the words of tagged sentences."""
    decoding = {"encoding": options.encoding, "encoding_errors": options.encoding_errors}
    item_type = (
        None
        if options.text_column
        else ITEM_TYPES_BY_TASK[infer_task(file, {"encoding": options.encoding})[0]]
    )
    if item_type is not None and item_type.has_tags:
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


def _cut(text: str, longest: int, choose: random.Random) -> Iterator[str]:
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
