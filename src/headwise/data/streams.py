"""Texts for language modelling: one long row of characters, words or bytes, as numbers.

Characters are those of the file, but for a byte order mark at the start and the "\\r" of Windows line ends.
Words stand between spaces or tabs, with `<eos>` at the end of each line. Files are read piece by piece,
so that memory holds the numbers alone: a byte each, where there are at most 256 different ones.

Code: HW282 a text that does not have the size of its parts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.archives import lines_of, open_file
from headwise.data.compression import read_once
from headwise.data.dataset import Dataset
from headwise.data.diagnosis import Finding
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.files import Line, byte_order, decoder_of, read_piece, without_nuls, without_returns
from headwise.data.stream_options import StreamOptions
from headwise.data.symbols import END_OF_LINE, Symbols, Unit, code_points

PIECE = 1 << 18
"""Bytes read at a time; words are taken in portions of a sixteenth of that."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A text as numbers.

    Attributes:
        ids: The numbers of its symbols, `[symbols]`, in the vocabulary's `dtype`.
        path: The file as the user named it.
        symbols: The vocabulary.
        unknown: How many symbols were not in the vocabulary.
    """

    ids: NDArray[Any]
    path: str
    symbols: Symbols
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> "Stream":
        """A part of the text, without copying."""
        ids = self.ids[part]
        return replace(self, ids=ids, unknown=_unknown(ids, self.symbols))


@dataclass(frozen=True)
class StreamData:
    """A text, as a data set of its symbols."""

    items: Stream
    path: str
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    skipped: int = 0

    def with_items(self, items: Stream) -> "StreamData":
        """A part of the text."""
        return replace(self, items=items)

    @property
    def labels(self) -> dict[str, int]:
        """None: the answer to a symbol is the next one."""
        return {}


@dataclass(frozen=True)
class LineData(Dataset[Example]):
    """The lines of a plain text, as items without labels.

    Attributes:
        characters: How often each character occurs.
    """

    characters: Counter[str] = field(default_factory=Counter)


def read_line_data(path: str, options: StreamOptions) -> LineData:
    """The lines of a plain text, and its characters.

    Raises:
        DataError: HW101 to HW106.
    """
    lines: list[Example] = []
    characters: Counter[str] = Counter()
    for number, text in without_returns(lines_of(path, options.encoding, options.encoding_errors)):
        lines.append(Example(text, None, number))
        characters.update(text)
        characters["\n"] += 1
    notes = (f"{characters.total():,} characters, {len(characters):,} different",)
    empty = sum(not line.text.strip() for line in lines)
    return LineData(lines, path, "plain text", None, notes, empty, characters=characters)


def count_symbols(
    path: str | PathLike[str], unit: Unit, encoding: str = "utf-8", errors: str = "strict"
) -> Counter[str]:
    """How often each character, word or byte occurs in a file.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` a member of a zip.
        unit: What a symbol is; the encoding of bytes does not matter.
        encoding: The character encoding.
        errors: "strict", or "replace" to read what cannot be decoded as U+FFFD.

    Raises:
        DataError: HW101 to HW106.
    """
    counts: Counter[str] = Counter()
    for piece in _pieces(fspath(path), unit, encoding, errors):
        if isinstance(piece, list):
            counts.update(piece)
            continue
        codes = code_points(piece) if isinstance(piece, str) else np.frombuffer(piece, dtype=np.uint8)
        found, times = np.unique(codes, return_counts=True)
        counts.update(dict(zip(map(chr, found.tolist()), times.tolist(), strict=True)))
    return counts


def read_stream(
    path: str | PathLike[str],
    symbols: Symbols,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> Stream:
    """Read a text as numbers.

    Args:
        path: The file, as in `count_symbols`.
        symbols: The vocabulary.
        encoding: The character encoding.
        errors: As in `count_symbols`.

    Raises:
        DataError: HW101 to HW106; HW280, if a symbol has no number and there is none for unknown ones.
    """
    path, kept = fspath(path), []
    for piece in _pieces(path, symbols.unit, encoding, errors):
        try:
            kept.append(symbols.encode(piece))
        except DataError as error:
            raise DataError(error.code, error.found, advice=error.advice, path=path) from None
    if not kept:
        raise DataError("HW103", "the file is empty", path=path)
    return Stream(np.concatenate(kept), path, symbols, sum(_unknown(ids, symbols) for ids in kept))


def _unknown(ids: NDArray[Any], symbols: Symbols) -> int:
    return 0 if symbols.unknown is None else int(np.count_nonzero(ids == symbols.unknown))


def split_stream(stream: Stream, parts: Sequence[int]) -> list[Stream]:
    """Cut a text into parts of so many symbols each, without copying.

    Raises:
        DataError: HW282, if the parts are not together the text.
    """
    if sum(parts) != len(stream):
        expected = f"{sum(parts):,} ({' + '.join(f'{part:,}' for part in parts)})"
        raise DataError(
            "HW282", f"{len(stream):,} {stream.symbols.unit}", expected=expected, path=stream.path
        )
    return [
        replace(stream, ids=ids, unknown=_unknown(ids, stream.symbols))
        for ids in np.split(stream.ids, np.cumsum(parts)[:-1])
    ]


def _pieces(path: str, unit: Unit, encoding: str, errors: str) -> Iterator[str | list[str] | bytes]:
    if unit == "bytes":
        return _bytes(path)
    lines = lines_of(path, encoding, errors)  # refuses an unknown encoding; opens nothing yet
    return _characters(path, encoding, errors) if unit == "characters" else _words(lines)


def _words(lines: Iterator[Line]) -> Iterator[list[str]]:
    words: list[str] = []
    for _, text in without_returns(lines):
        words += filter(None, text.replace("\t", " ").split(" "))
        words.append(END_OF_LINE)
        if len(words) >= PIECE >> 4:
            yield words
            words = []
    if words:
        yield words


def _bytes(path: str) -> Iterator[bytes]:
    empty = True
    with open_file(path) as stream:
        while piece := read_piece(stream, path):
            yield piece
            empty = False
    if empty:
        raise DataError("HW103", "the file is empty", path=path)


def _characters(path: str, encoding: str, errors: str) -> Iterator[str]:
    """The characters of a file; "\\r\\n" becomes "\\n", also where a piece ends between them."""
    decoder = decoder_of(encoding, errors)
    start, rest = True, ""
    for piece in chain(_bytes(path), [b""]):
        if start and (order := byte_order(piece, encoding)):
            decoder = decoder_of(f"{encoding}-{order}", errors)
        try:
            text = rest + decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            found = f"bytes that are not valid {encoding}"
            raise _not_text("HW105", found, path, encoding, errors) from error
        text = without_nuls(text, errors)
        if "\0" in text:
            raise _not_text("HW106", "a NUL character", path, encoding, errors)
        if start and text:
            text, start = text.removeprefix("\ufeff"), False
        rest = "\r" if piece and text.endswith("\r") else ""
        text = text.removesuffix(rest).replace("\r\n", "\n")
        if text:
            yield text


def _not_text(code: str, found: str, path: str, encoding: str, errors: str) -> DataError:
    """The error of the reader of lines, which tells the place, if the file can be read again."""
    if not read_once(path):
        try:
            for _ in lines_of(path, encoding, errors):
                pass
        except DataError as error:
            return error
    return DataError(code, found, advice="give the file's own --encoding", path=path)
