"""Texts for language modelling: one long sequence of characters, words or bytes, as symbol ids.

Characters are those of the file, except a byte order mark at the start and the "\\r" of Windows line ends.
Words are separated by spaces or tabs, and `<eos>` ends each line. Files are read piece by piece, so memory
holds only the ids, of one byte each for vocabularies of at most 256 symbols.

Code: HW282 a text that does not have the size of its parts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from headwise.data.columns.item_options import StreamOptions
from headwise.data.errors import DataError
from headwise.data.files.archives import open_file, read_member_lines
from headwise.data.files.compression import read_once
from headwise.data.files.file_signatures import BEGINNING
from headwise.data.files.text_lines import (
    Line,
    byte_order,
    decoder_of,
    read_piece,
    without_nuls,
    without_returns,
)
from headwise.data.findings import Finding
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.data.items.symbols import END_OF_LINE, SymbolVocabulary, code_points
from headwise.metrics.perplexity import Unit

PIECE = 1 << 18
"""Bytes read at a time; words are yielded in lists of a sixteenth of that number."""


@dataclass(frozen=True, eq=False)
class SymbolStream:
    """A text as symbol ids.

    Attributes:
        ids: The ids of its symbols, `[symbols]`, in the vocabulary's `dtype`.
        path: The file as the user named it.
        symbols: The vocabulary.
        unknown: The number of symbols that are not in the vocabulary.
    """

    ids: NDArray[np.integer]
    path: str
    symbols: SymbolVocabulary
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> "SymbolStream":
        """A slice of the text, as a view."""
        ids = self.ids[part]
        return replace(self, ids=ids, unknown=_unknown(ids, self.symbols))


@dataclass(frozen=True)
class SymbolStreamData:
    """A data set of one text, whose items are its symbols."""

    items: SymbolStream
    path: str
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    skipped: int = 0

    def with_items(self, items: SymbolStream) -> "SymbolStreamData":
        """This data set with a part of its text."""
        return replace(self, items=items)

    @property
    def labels(self) -> dict[str, int]:
        """Empty, as the target of each symbol is the next one."""
        return {}


@dataclass(frozen=True)
class LineData(Dataset[Example]):
    """A data set of the lines of a plain text, without labels.

    Attributes:
        characters: The count of each character.
    """

    characters: Counter[str] = field(default_factory=Counter)


def read_line_data(path: str, options: StreamOptions) -> LineData:
    """The lines of a plain text, with the counts of its characters.

    Raises:
        DataError: HW101 to HW106.
    """
    lines: list[Example] = []
    characters: Counter[str] = Counter()
    for number, text in without_returns(read_member_lines(path, options.encoding, options.encoding_errors)):
        lines.append(Example(text, None, number))
        characters.update(text)
        characters["\n"] += 1
    notes = (f"{characters.total():,} characters, {len(characters):,} different",)
    empty = sum(not line.text.strip() for line in lines)
    return LineData(lines, path, "plain text", None, notes, empty, characters=characters)


def count_symbols(
    path: str | PathLike[str], unit: Unit, encoding: str = "utf-8", errors: str = "strict"
) -> Counter[str]:
    """The count of each character, word or byte of a file.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` a member of a zip.
        unit: The unit of symbols; for bytes the encoding does not matter.
        errors: "strict", or "replace" to read invalid bytes as U+FFFD.

    Raises:
        DataError: HW101 to HW106.
    """
    counts: Counter[str] = Counter()
    for piece in _read_pieces(fspath(path), unit, encoding, errors):
        if isinstance(piece, list):
            counts.update(piece)
            continue
        codes = code_points(piece) if isinstance(piece, str) else np.frombuffer(piece, dtype=np.uint8)
        distinct, times = np.unique(codes, return_counts=True)
        counts.update(dict(zip(map(chr, distinct.tolist()), times.tolist(), strict=True)))
    return counts


def read_stream(
    path: str | PathLike[str], symbols: SymbolVocabulary, encoding: str = "utf-8", errors: str = "strict"
) -> SymbolStream:
    """Read a text as symbol ids.

    Args:
        errors: As in `count_symbols`.

    Raises:
        DataError: HW101 to HW106; HW280, a symbol is not in the vocabulary, which has no unknown symbol.
    """
    path, chunks = fspath(path), []
    for piece in _read_pieces(path, symbols.unit, encoding, errors):
        try:
            chunks.append(symbols.encode(piece))
        except DataError as error:
            raise DataError(error.code, error.problem, advice=error.advice, path=path) from None
    if not chunks:
        raise DataError("HW103", "the file is empty", path=path)
    return SymbolStream(
        np.concatenate(chunks), path, symbols, sum(_unknown(ids, symbols) for ids in chunks)
    )


def _unknown(ids: NDArray[np.integer], symbols: SymbolVocabulary) -> int:
    return 0 if symbols.unknown is None else int(np.count_nonzero(ids == symbols.unknown))


def split_stream(stream: SymbolStream, parts: Sequence[int]) -> list[SymbolStream]:
    """Cut a text into consecutive parts with the given numbers of symbols, as views.

    Raises:
        DataError: HW282, the sizes do not sum to the length of the text.
    """
    if sum(parts) != len(stream):
        expected = f"{sum(parts):,} ({' + '.join(f'{part:,}' for part in parts)})"
        raise DataError(
            "HW282", f"{len(stream):,} {stream.symbols.unit}", expected=expected, path=stream.path
        )
    return [stream[start:end] for start, end in pairwise(accumulate(parts, initial=0))]


def _read_pieces(path: str, unit: Unit, encoding: str, errors: str) -> Iterator[str | list[str] | bytes]:
    if unit == "bytes":
        return _read_bytes(path)
    lines = read_member_lines(path, encoding, errors)  # refuses an unknown encoding; opens nothing yet
    return _read_characters(path, encoding, errors) if unit == "characters" else _read_words(lines)


def _read_words(lines: Iterator[Line]) -> Iterator[list[str]]:
    words: list[str] = []
    for _, text in without_returns(lines):
        words += filter(None, text.replace("\t", " ").split(" "))
        words.append(END_OF_LINE)
        if len(words) >= PIECE >> 4:
            yield words
            words = []
    if words:
        yield words


def _read_bytes(path: str) -> Iterator[bytes]:
    empty = True
    with open_file(path) as stream:
        while piece := read_piece(stream, path):
            # A slow pipe gives a byte at a time; the byte order is guessed from more of them.
            while empty and len(piece) < BEGINNING and (more := read_piece(stream, path)):
                piece += more
            yield piece
            empty = False
    if empty:
        raise DataError("HW103", "the file is empty", path=path)


def _read_characters(path: str, encoding: str, errors: str) -> Iterator[str]:
    """The characters of a file; "\\r\\n" becomes "\\n", also where a piece ends between them."""
    decoder = decoder_of(encoding, errors)
    start, rest = True, ""
    for piece in chain(_read_bytes(path), [b""]):
        if start and (order := byte_order(piece, encoding)):
            decoder = decoder_of(f"{encoding}-{order}", errors)
        try:
            text = rest + decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            problem = f"bytes that are not valid {encoding}"
            raise _not_text("HW105", problem, path, encoding, errors) from error
        text = without_nuls(text, errors)
        if "\0" in text:
            raise _not_text("HW106", "a NUL character", path, encoding, errors)
        if start and text:
            text, start = text.removeprefix("\ufeff"), False
        rest = "\r" if piece and text.endswith("\r") else ""
        text = text.removesuffix(rest).replace("\r\n", "\n")
        if text:
            yield text


def _not_text(code: str, problem: str, path: str, encoding: str, errors: str) -> DataError:
    """The error that the line reader raises, with the position, if the file can be read a second time."""
    if not read_once(path):
        try:
            for _ in read_member_lines(path, encoding, errors):
                pass
        except DataError as error:
            return error
    return DataError(code, problem, advice="give the file's own --encoding", path=path)
