"""Open files decompressed; the first bytes of a file, not its name, tell the compression."""

import os
import stat
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

from headwise.core.errors import close_names
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.errors import DataError
from headwise.data.files.file_signatures import (
    BEGINNING,
    TABLE_DOCUMENTS,
    archive_kind,
    check_folder,
    foreign_kind,
)

STANDARD_INPUT = "-"

_peeked_pipes: dict[object, BufferedReader] = {}
"""Pipes whose first bytes were looked at, by path (standard input itself); reading continues with them."""

_BEGINNING = 1 << 22  # bytes of a pipe from which its format is guessed

SIGNATURES = {"gzip": b"\x1f\x8b\x08", "xz": b"\xfd7zXZ\x00", "bzip2": b"BZh", "zip": b"PK\x03\x04"}
SUFFIXES = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2", ".zip": "zip"}


def size_on_disk(path: str) -> int | None:
    """The size in bytes of a file, or of the zip that a member is in; None for a pipe and the like."""
    place = path
    while place and not os.path.isfile(place):
        place = place.rpartition("!")[0]
    return os.path.getsize(place) or None if place else None


def plain_name(path: str) -> str:
    """The name of a file without the suffix of its compression, in lower case."""
    name = Path(path).name.lower()
    suffix = Path(name).suffix
    return name.removesuffix(suffix) if suffix in SUFFIXES else name


def read_once(path: str) -> bool:
    """Whether a file can be read only once: standard input, a pipe."""
    if path == STANDARD_INPUT:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def peek_arrived(path: str) -> bytes:
    """The bytes that have arrived from standard input or a pipe; they are not consumed.

    Raises:
        DataError: HW101.
    """
    try:
        return _pipe(path).peek()
    except (OSError, ValueError):  # closed
        return b""


@contextmanager
def open_beginning(path: str) -> Generator[BinaryIO]:
    """The first bytes of standard input or a pipe, decompressed, as soon as they have arrived; they are not
    consumed.

    Raises:
        DataError: HW101, HW102, HW104.
    """
    with ExitStack() as stack:
        pipe, beginning = _pipe(path), b""
        with suppress(OSError, ValueError):  # closed
            beginning = pipe.read(_BEGINNING)
            key = sys.stdin.buffer if path == STANDARD_INPUT else path
            _peeked_pipes[key] = BufferedReader(_Rejoined(beginning, pipe, closes=path != STANDARD_INPUT))
        yield _decompressed(BufferedReader(cast(RawIOBase, BytesIO(beginning))), path, stack)


class _Rejoined(RawIOBase):
    """A pipe together with the bytes that were read from it."""

    def __init__(self, beginning: bytes, pipe: BufferedReader, *, closes: bool):
        super().__init__()
        self._beginning, self._pipe, self._closes = memoryview(beginning), pipe, closes

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if self._closes:
            self._pipe.close()
        super().close()

    def readinto(self, buffer) -> int:
        piece = self._beginning[: len(buffer)]
        self._beginning = self._beginning[len(piece) :]
        piece = piece or memoryview(self._pipe.read1(len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


def _pipe(path: str) -> BufferedReader:
    """Standard input or a pipe, open, with the bytes that were looked at."""
    if path == STANDARD_INPUT:
        standard_input = cast(BufferedReader, sys.stdin.buffer)
        return _peeked_pipes.get(standard_input, standard_input)
    if path not in _peeked_pipes:
        _peeked_pipes[path] = open_raw(path)
    return _peeked_pipes[path]


@contextmanager
def open_bytes(path: str) -> Generator[BinaryIO]:
    """Open `path` ("-" is standard input, which is left open afterwards), decompressed.

    The stream has `read1`. The contents decide; a suffix only helps to recognise a damaged archive.

    Raises:
        DataError: HW101 (missing, a directory, no permission), HW102, HW104.
    """
    with ExitStack() as stack:
        if path == STANDARD_INPUT:
            raw = _pipe(path)
        else:
            raw = stack.enter_context(_peeked_pipes.pop(path, None) or open_raw(path))
        yield _decompressed(raw, path, stack)


class NamedFile(str):
    """A path that stands for a file elsewhere: the name in messages of a temporary file.

    Attributes:
        file: The path of the file itself.
    """

    file: str

    def __new__(cls, name: str, file: str = "") -> "NamedFile":
        named = super().__new__(cls, name)
        named.file = file
        return named


def open_raw(path: str) -> BufferedReader:
    """Open a file without decompressing it.

    Raises:
        DataError: HW101.
    """
    try:
        return open(path.file if isinstance(path, NamedFile) else path, "rb")
    except FileNotFoundError:
        raise DataError("HW101", "no such file", advice=_similar(path), path=path) from None
    except IsADirectoryError:
        check_folder(path)
        advice = "give a file in it"
        raise DataError("HW101", "a directory, not a file", advice=advice, path=path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError("HW101", f"cannot be opened: {reason}", path=path) from None


_CLUTTER = lazy_pattern(r"(?s:.*/|__MACOSX/.*|(?:.*/)?(?:\.DS_Store|Thumbs\.db))")  # and folders
_ADDRESS = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]+://")


def _similar(path: str) -> str:
    if _ADDRESS.match(path):
        return "files of this machine are read, not addresses: download it first"
    if path.startswith("~"):
        return "~ is not expanded here: give the whole path"
    try:
        names = [entry.name for entry in Path(path).parent.iterdir() if entry.is_file()]
    except OSError:
        return "its folder does not exist either"
    close = close_names(Path(path).name, names)
    return f"did you mean {Path(path).with_name(close[0])}?" if close else ""


def _decompressed(raw: BufferedReader, path: str, stack: ExitStack) -> BinaryIO:
    try:
        first = raw.peek(BEGINNING)
    except (OSError, ValueError) as error:  # ValueError: standard input that is closed
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError("HW101", f"reading failed: {reason}", path=path) from None
    if kind := foreign_kind(first):
        raise foreign_error(kind, path)
    kind = next((k for k, signature in SIGNATURES.items() if first.startswith(signature)), "")
    if kind == "gzip":
        from gzip import GzipFile

        return cast(BinaryIO, stack.enter_context(GzipFile(fileobj=raw)))
    if kind == "xz":
        from headwise.data.files.unpacking import XzFile

        return cast(BinaryIO, stack.enter_context(BufferedReader(XzFile(raw))))
    if kind == "bzip2" and _is_bzip2(first):
        from headwise.data.files.unpacking import Bzip2File

        return cast(BinaryIO, stack.enter_context(Bzip2File(raw)))
    if kind == "zip":
        return _only_member(raw, path, stack)
    promised = SUFFIXES.get(Path(path).suffix.lower())
    if promised and any(byte < 9 for byte in first):  # neither compressed nor text
        problem = f"the name promises {promised} but the file does not begin like one"
        raise DataError("HW102", problem, advice="copy or compress it again", path=path)
    return raw


def foreign_error(kind: tuple[str, str], path: str) -> DataError:
    """The error for a file that is not text, where text is expected."""
    what, advice = kind
    if what in TABLE_DOCUMENTS:
        named = "name the file itself: it cannot be read from a pipe"
        advice = named if read_once(path) else "save it as csv or plain text (UTF-8) first"
    return DataError("HW104", what, expected="text", advice=advice, path=path)


def _is_bzip2(first: bytes) -> bool:
    """Whether the bytes are a bzip2 header, not just the letters "BZh"; a slow pipe may show a few bytes
    only."""
    magic = first[4:10]
    return first[3:4].isdigit() and (b"1AY&SY".startswith(magic) or magic == b"\x17rE8P\x90")


def _only_member(raw: BufferedReader, path: str, stack: ExitStack) -> BinaryIO:
    import zipfile

    from headwise.data.files.unpacking import ZIP_TROUBLE

    if read_once(path):  # the list of a zip's members stands at its end
        import shutil
        import tempfile

        copy = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        shutil.copyfileobj(raw, copy)
        raw = cast(BufferedReader, copy)
    try:
        archive = stack.enter_context(zipfile.ZipFile(raw))
    except ZIP_TROUBLE as error:
        advice = "copy or compress it again"
        raise DataError("HW102", f"a damaged zip: {error}", advice=advice, path=path) from None
    members = [member for member in archive.infolist() if not _CLUTTER.fullmatch(member.filename)]
    names = [member.filename for member in members]
    if document := archive_kind(names):
        raise foreign_error(document, path)
    if len(members) != 1:
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        problem = f"a zip of {len(members)} files" + (f" ({shown})" if names else "")
        advice = f"name one, as {path}!{names[0]}, or unpack it" if names else "unpack it"
        raise DataError("HW104", problem, expected="exactly one file", advice=advice, path=path)
    try:
        return cast(BinaryIO, stack.enter_context(archive.open(members[0])))
    except ZIP_TROUBLE as error:  # such as a password
        advice = "unpack it yourself"
        raise DataError("HW104", f"a zip: {error}", advice=advice, path=path) from None
