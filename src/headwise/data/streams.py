"""Texts for language modelling: one long row of characters, words or bytes, as numbers.

Characters are those of the file, but for a byte order mark at the start and the "\\r" of Windows line ends.
Words stand between spaces or tabs, with `<eos>` at the end of each line. Files are read piece by piece, and
the numbers can be kept on disk, so that memory need not grow with the text.

Code: HW282 a file that does not have the size of enwik8 or text8, or that is too short for its parts.
"""

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike, fspath
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.data.archives import lines_of, open_file
from headwise.data.compression import DAMAGED, STANDARD_INPUT
from headwise.data.errors import DataError
from headwise.data.files import Line, without_returns
from headwise.data.symbols import END_OF_LINE, Symbols, Unit, choose_symbols, code_points

PIECE = 1 << 18
"""Bytes read at a time; words are taken in portions of a sixteenth of that."""

HUTTER_PARTS = (90_000_000, 5_000_000, 5_000_000)
"""The bytes of enwik8 and text8 for training, development and test."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A text as numbers.

    Attributes:
        ids: The numbers of its symbols, `[symbols]`, in the vocabulary's `dtype`; may lie on disk.
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


class Parts(NamedTuple):
    """The parts of a text, one after the other."""

    train: Stream
    dev: Stream
    test: Stream


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
    *,
    store: str | PathLike[str] | None = None,
) -> Stream:
    """Read a text as numbers.

    Args:
        path: The file, as in `count_symbols`.
        symbols: The vocabulary.
        encoding: The character encoding.
        errors: As in `count_symbols`.
        store: A file to write the numbers to (it is overwritten), from where they are read when needed;
            without, they are held in memory.

    Raises:
        DataError: HW101 to HW106; HW280, if a symbol has no number and there is none for unknown ones.
    """
    path, length, unknown, kept = fspath(path), 0, 0, []
    with _created(store) if store is not None else nullcontext() as file:
        for piece in _pieces(path, symbols.unit, encoding, errors):
            try:
                ids = symbols.encode(piece)
            except DataError as error:
                raise DataError(error.code, error.found, advice=error.advice, path=path) from None
            length += len(ids)
            if symbols.unknown is not None:
                unknown += int(np.count_nonzero(ids == symbols.unknown))
            if file:
                file.write(ids.tobytes())
            else:
                kept.append(ids)
    if not length:
        raise DataError("HW103", "the file is empty", path=path)
    if store is not None:
        return Stream(np.memmap(store, symbols.dtype, "r", shape=(length,)), path, symbols, unknown)
    return Stream(np.concatenate(kept), path, symbols, unknown)


def _created(store: str | PathLike[str]) -> BinaryIO:
    try:
        return open(store, "wb")
    except OSError as error:
        found = f"cannot be written: {error.strerror or error}"
        raise DataError("HW101", found, path=fspath(store)) from None


def split_stream(stream: Stream, parts: Sequence[int]) -> list[Stream]:
    """Cut a text into parts of so many symbols each, without copying.

    Raises:
        DataError: HW282, if the parts are not together the text.
    """
    _check_length(len(stream), parts, stream.symbols.unit, stream.path)
    ends = np.cumsum(parts)[:-1]
    number = stream.symbols.unknown
    return [
        replace(stream, ids=ids, unknown=0 if number is None else int(np.count_nonzero(ids == number)))
        for ids in np.split(stream.ids, ends)
    ]


def read_hutter(
    path: str | PathLike[str],
    *,
    store: str | PathLike[str] | None = None,
    parts: tuple[int, int, int] = HUTTER_PARTS,
) -> Parts:
    """Read enwik8 or text8 (also as the zip that is published) as bytes, in the usual three parts.

    The vocabulary is all bytes of the file: 205 of enwik8, 27 of text8.

    Args:
        path: The file.
        store: As in `read_stream`.
        parts: The bytes for training, development and test; others for other files.

    Raises:
        DataError: HW101, HW102, HW104; HW282, if the file is of another size.
    """
    counts = count_symbols(path, "bytes")
    _check_length(sum(counts.values()), parts, "bytes", fspath(path))
    stream = read_stream(path, choose_symbols("bytes", counts), store=store)
    return Parts(*split_stream(stream, parts))


def _check_length(length: int, parts: Sequence[int], unit: Unit, path: str) -> None:
    if sum(parts) != length:
        expected = f"{sum(parts):,} ({' + '.join(f'{part:,}' for part in parts)})"
        raise DataError("HW282", f"{length:,} {unit}", expected=expected, path=path)


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
        while piece := _read(stream, path):
            yield piece
            empty = False
    if empty:
        raise DataError("HW103", "the file is empty", path=path)


def _read(stream: BinaryIO, path: str) -> bytes:
    try:
        return stream.read(PIECE)
    except DAMAGED as error:
        advice = "copy or compress it again"
        found = f"the compressed file is damaged or cut short ({error})"
        raise DataError("HW102", found, advice=advice, path=path) from None


def _characters(path: str, encoding: str, errors: str) -> Iterator[str]:
    """The characters of a file; "\\r\\n" becomes "\\n", also where a piece ends between them."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    start, rest = True, ""
    for piece in chain(_bytes(path), [b""]):
        try:
            text = rest + decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            found = f"bytes that are not valid {encoding}"
            raise _not_text("HW105", found, path, encoding, errors) from error
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
    if path != STANDARD_INPUT:
        try:
            for _ in lines_of(path, encoding, errors):
                pass
        except DataError as error:
            return error
    return DataError(code, found, advice="give the file's own --encoding", path=path)
