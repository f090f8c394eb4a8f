"""Read text files of any compression as numbered lines, in constant memory."""

import codecs
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from typing import BinaryIO

from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.errors import DataError
from headwise.data.files.compression import SIGNATURES, foreign_error, open_bytes, size_on_disk
from headwise.data.files.file_signatures import (
    BEGINNING,
    PARQUET,
    binary_file_error,
    foreign_kind,
    is_binary,
)

CHUNK = 1 << 18  # bytes read at a time
LONGEST_LINE = 1 << 24  # characters: two million words and more; what is longer could fill the memory
# An archive that unpacks to more than this, and to so many times its own size, is a bomb.
BOMB_SIZE, BOMB_RATIO = 1 << 30, 200
_PACKED = (SIGNATURES["zip"], PARQUET)  # what no text begins with
_MARKED = {
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
}
"""The encodings whose byte order marks no text in UTF-8 begins with."""

Line = tuple[int, str]
"""A line's number, from 1, and its text."""


def file_name(file: object) -> str:
    """The name of a file that is given as a string or a path.

    Raises:
        ConfigError: It is something else, such as texts themselves.
    """
    if isinstance(file, str):
        return file
    if isinstance(file, PathLike):
        return str(file)
    raise ConfigError(
        f"expected the name of a file, got a {type(file).__name__}; texts themselves are given to "
        "model.predict or to an estimator, and a table is written to a file first"
    )


def read_lines(path: str, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Line]:
    """The lines of a text file, which may be compressed (gzip, xz, bzip2, zip).

    Lines end with "\\n" and nothing else: a form feed, NEL (0x85) or U+2028 stays inside its line.
    The "\\n" is taken away, a "\\r" before it is not (see `without_returns`). A byte order mark at
    the start is dropped; that of UTF-16 or UTF-32 goes before UTF-8.

    Args:
        encoding: Any of Python's text encodings.
        errors: "strict", or "replace" to read what cannot be decoded, and a stray NUL, as U+FFFD.

    Raises:
        DataError: HW101 to HW108.
        ConfigError: The encoding or `errors` is unknown.
    """
    if errors not in ("strict", "replace"):
        raise ConfigError(f"encoding errors: {errors!r}; expected 'strict' or 'replace'")
    return _lines_of_file(path, encoding, decoder_of(encoding, errors))


def decoded_lines(
    stream: BinaryIO, path: str, encoding: str = "utf-8", errors: str = "strict"
) -> Iterator[Line]:
    """Like `read_lines`, for an open stream, which `path` names in messages.

    Raises:
        DataError: HW101 to HW108.
    """
    return _lines(stream, path, encoding, decoder_of(encoding, errors))


def decoder_of(encoding: str, errors: str) -> codecs.IncrementalDecoder:
    """An incremental decoder of an encoding.

    Raises:
        ConfigError: The encoding is unknown, or makes no text.
    """
    try:
        b"a".decode(encoding, "replace")  # refuses codecs that do not make text, such as zlib
        return codecs.getincrementaldecoder(encoding)(errors)
    except (LookupError, ValueError):  # the latter for a NUL, and what cannot be read in pieces
        message = f"unknown encoding {encoding!r}; try utf-8, utf-16, latin-1 or cp1252"
        raise ConfigError(message) from None


def without_returns(lines: Iterator[Line]) -> Iterator[Line]:
    """Lines without the "\\r" of Windows line ends."""
    for number, text in lines:
        yield number, text.removesuffix("\r")


def _lines_of_file(path: str, encoding: str, decoder: codecs.IncrementalDecoder) -> Iterator[Line]:
    with open_bytes(path) as stream:
        yield from _lines(stream, path, encoding, decoder)


def _lines(
    stream: BinaryIO, path: str, encoding: str, decoder: codecs.IncrementalDecoder
) -> Iterator[Line]:
    number, parts, length, start = 1, list[str](), 0, True  # parts: the pieces so far of the line `number`
    heading = ""  # the first line
    packed, unpacked, first = size_on_disk(path), 0, b""
    more = True
    while more:
        chunk = read_piece(stream, path, number)
        if not unpacked:
            _check_start(chunk, path)
            _check_escapes(chunk, path, encoding)
            first = chunk[:BEGINNING]
            marked = next((name for mark, name in _MARKED.items() if chunk.startswith(mark)), "")
            if marked and codecs.lookup(encoding).name == "utf-8":
                encoding, decoder = marked, decoder_of(marked, decoder.errors)
        more, unpacked = bool(chunk), unpacked + len(chunk)
        _check_size(packed, unpacked, path)
        if unpacked == len(chunk) and codecs.lookup(encoding).name in _ORDERED:
            while more and len(chunk) < 256:
                more_bytes = read_piece(stream, path, number)
                chunk, more = chunk + more_bytes, bool(more_bytes)
            if order := byte_order(chunk, encoding):
                decoder = decoder_of(f"{encoding}-{order}", decoder.errors)
        try:
            text, failure = _decode(decoder, chunk, final=not more)
        except UnicodeError as error:  # of codecs that do not say where
            problem = f"what is not valid {encoding} ({error!s:.80})"
            raise DataError("HW105", problem, path=path, line=number) from None
        if start and text:
            text, start = text.removeprefix("\ufeff"), False
        *ended, rest = text.split("\n")
        for piece in ended:
            parts.append(piece)
            line = _checked("".join(parts), path, number, decoder.errors, first)
            heading = line if number == 1 else heading
            yield number, _without_mark(line, heading) if line[:1] == "\ufeff" else line
            number, parts, length = number + 1, [], 0
        parts.append(rest)
        if failure:
            column = sum(map(len, parts)) + 1
            if is_binary(first):
                raise binary_file_error(path)
            raise _undecodable(failure, encoding, path, number, column)
        length += len(rest)
        if length > LONGEST_LINE:
            raise DataError(
                "HW107",
                f"a line of more than {LONGEST_LINE:,} characters",
                expected="one record per line",
                advice="a longer text can take several lines, quoted in csv",
                path=path,
                line=number,
            )
    if last := "".join(parts):
        if number == 1 and (returns := last.rstrip("\r").count("\r")) > 1:
            raise _carriage_returns_error(returns, path)
        yield number, _checked(last, path, number, decoder.errors, first)
    elif number == 1:
        raise DataError("HW103", "the file is empty", expected="one text per line", path=path)


def _check_start(chunk: bytes, path: str) -> None:
    """Check that the first bytes of a file, once it is unpacked, are those of a text."""
    if chunk.startswith(_PACKED):
        problem = "a workbook, Parquet file or archive inside of an archive"
        raise DataError("HW104", problem, advice="unpack it and give what is in it", path=path)
    if kind := foreign_kind(chunk):
        raise foreign_error(kind, path)


def _check_size(packed: int | None, unpacked: int, path: str) -> None:
    """Check that so far no more bytes came out of an archive than a text compresses to."""
    if packed is not None and unpacked > max(BOMB_SIZE, BOMB_RATIO * packed):
        problem = f"an archive of {packed:,} bytes that holds more than {unpacked:,}, as no text does"
        raise DataError("HW104", problem, advice="unpack it yourself if it is meant so", path=path)


def _decode(
    decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool
) -> tuple[str, UnicodeDecodeError | None]:
    """The text of a chunk up to the first bytes that cannot be decoded, and their error."""
    state = decoder.getstate()
    try:
        return decoder.decode(chunk, final=final), None
    except UnicodeDecodeError as error:
        decoder.setstate(state)
        return decoder.decode(chunk[: max(error.start - len(state[0]), 0)]), error


def _carriage_returns_error(returns: int, path: str) -> DataError:
    return DataError(
        "HW108",
        f"one line with {returns:,} carriage returns in it, which old Macintoshes and Excel's 'CSV "
        "(Macintosh)' end lines with",
        expected="lines that end with \\n or \\r\\n",
        advice="save it as 'CSV UTF-8', or convert it: tr '\\r' '\\n' < FILE > NEW",
        path=path,
    )


def _without_mark(line: str, heading: str) -> str:
    """A line without a byte order mark, where that begins the second of two files that were put together:
    before the first line again, a quoted field, an object or a label of fastText."""
    rest = line[1:]
    return rest if rest == heading or rest.startswith(('"', '{"', "__label__")) else line


_ESCAPES = lazy_pattern(rb"\x1b\$(?:\)C|[@B])")
"""What switches to Korean or Japanese characters in the 7-bit encodings of mail."""


def _check_escapes(chunk: bytes, path: str, encoding: str) -> None:
    """Check that the first bytes of a file are not of such an encoding, unless it is the requested one."""
    escape = _ESCAPES.search(chunk)
    if escape and not codecs.lookup(encoding).name.startswith(("iso2022", *_ORDERED)):
        better = "iso2022_kr" if escape[0] == b"\x1b$)C" else "iso2022_jp"
        raise DataError(
            "HW105",
            f"escape sequences of {better}",
            expected=f"{encoding} text",
            advice=f"give --encoding {better}",
            path=path,
            line=1 + chunk.count(b"\n", 0, escape.start()),
        )


_ORDERED = {"utf-16": 2, "utf-32": 4}
"""Encodings with two possible byte orders, and the number of bytes in a unit."""


def byte_order(first: bytes, encoding: str) -> str:
    """The byte order, `le` or `be`, guessed from the first bytes of a file; "" where a byte order mark or
    the encoding tells it.

    White space and Latin letters have a zero for their high byte; other alphabets have fewer different high
    bytes than low ones.
    """
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
    size = _ORDERED.get(codecs.lookup(encoding).name)
    if not size or not first or first.startswith(marks[:2] if size == 2 else marks[2:]):
        return ""
    head, tail = first[::size], first[size - 1 :: size]  # the high bytes, if "be" and if "le"
    zeros = head.count(0) - tail.count(0)
    return "be" if zeros > 0 or (not zeros and len(set(head)) < len(set(tail))) else "le"


def read_piece(stream: BinaryIO, path: str, number: int | None = None) -> bytes:
    """The next bytes of a stream: what a pipe has at hand rather than a full chunk.

    Raises:
        DataError: HW101, HW102.
    """
    try:
        return stream.read1(CHUNK)  # type: ignore[attr-defined]
    except Exception as error:
        from headwise.data.files.unpacking import DAMAGED, ZIP_TROUBLE

        if isinstance(error, OSError) and not isinstance(error, DAMAGED):
            raise DataError("HW101", f"reading failed: {error.strerror or error}", path=path) from None
        if not isinstance(error, (*DAMAGED, *ZIP_TROUBLE)):
            raise
        raise _cut_short(error, path, number) from None


def _cut_short(error: Exception, path: str, number: int | None) -> DataError:
    problem = f"the compressed file is damaged or cut short here ({error})"
    return DataError("HW102", problem, advice="copy or compress it again", path=path, line=number)


def without_nuls(text: str, errors: str) -> str:
    """The text, with NULs replaced by U+FFFD if errors are "replace" and NULs are few: in text of two bytes
    a character every other one is a NUL."""
    if errors == "replace" and 4 * text.count("\0") <= len(text):
        return text.replace("\0", "\ufffd")
    return text


def _checked(text: str, path: str, number: int, errors: str, first: bytes) -> str:
    """The line `text` of a file that begins with the bytes `first`."""
    text = without_nuls(text, errors)
    if "\0" in text:
        if is_binary(first):
            raise binary_file_error(path)
        advice = "if the file was saved as 'Unicode' give --encoding utf-16, else it is no text file or "
        advice += "is damaged; --encoding-errors replace reads a few of them as U+FFFD"
        if number > 1 and not text.strip("\0"):
            advice = "a line of NULs is left where writing the file was cut short: remove it"
        raise DataError(
            "HW106",
            "a NUL character",
            expected="text",
            advice=advice,
            path=path,
            line=number,
            column=text.index("\0") + 1,
        )
    return text


_OLD_ENCODINGS = (
    *("cp1252", "cp1250", "iso8859-2", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256", "cp874"),
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "mac_roman", "cp850"),
)
_WORD_END = lazy_pattern(rb"[\s,;|\"]")


def _readings(error: UnicodeDecodeError) -> str:
    """What the word around a byte is in older encodings, each reading once."""
    before = _WORD_END.split(error.object[: error.start][-12:])[-1]
    word = before + _WORD_END.split(error.object[error.start :][:12])[0]
    readings = dict[str, str]()
    for encoding in _OLD_ENCODINGS:
        with suppress(UnicodeDecodeError):  # the last character may be cut
            reading = codecs.getincrementaldecoder(encoding)().decode(word)
            if reading and all(char.isprintable() or char in "\xa0\xad" for char in reading):
                readings.setdefault(reading, encoding)
    return ", ".join(f"{encoding} {reading!r}" for reading, encoding in readings.items()) or "cp1252"


def _is_mostly_utf_8(part: bytes) -> bool:
    """Whether most bytes beyond ASCII in a part of a file are UTF-8."""
    text = part.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    right = sum(not char.isascii() for char in text) - wrong
    return right > max(2, 2 * wrong)


def _undecodable(error: UnicodeDecodeError, encoding: str, path: str, line: int, column: int) -> DataError:
    byte = error.object[error.start]
    start = error.object
    if line == column == 1 and start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        better = "its byte order mark shows utf-32: give --encoding utf-32"
    elif line == column == 1 and start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        better = "its byte order mark shows utf-16: give --encoding utf-16"
    elif codecs.lookup(encoding).name == "utf-8" and _is_mostly_utf_8(start):
        better = "the rest is utf-8, so other encodings would spoil it: correct this line, where text of "
        better += "another file was pasted, or give --encoding-errors replace to read such bytes as U+FFFD"
    elif codecs.lookup(encoding).name == "utf-8":
        better = (
            f"give the --encoding that reads the word rightly: {_readings(error)}; or --encoding-errors "
        )
        better += "replace to read such bytes as U+FFFD"
    else:
        better = "give the file's own --encoding, or --encoding-errors replace"
    problem = f"byte 0x{byte:02x}, which is not valid {encoding}"
    return DataError("HW105", problem, advice=better, path=path, line=line, column=column)
