"""Read a member of a zip as a file (`data.zip!train.txt`), or several (`data.zip!folder/*.mrg`)."""

import fnmatch
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from headwise.core.errors import close_names
from headwise.data.errors import DataError
from headwise.data.files.compression import open_bytes
from headwise.data.files.text_lines import Line, decoded_lines, read_lines

if TYPE_CHECKING:
    from zipfile import ZipFile

SEPARATOR = "!"


def split_member(path: str) -> tuple[str, str | None]:
    """The archive and the member (or pattern) that `path` names; the member is None for any other path.

    An existing file whose name contains "!" is taken as a plain file.
    """
    # Functions of `os`, because those of paths raise for names that are too long.
    at = -1 if os.path.exists(path) else path.find(SEPARATOR)
    while at > 0:
        if os.path.isfile(path[:at]):
            return path[:at], path[at + 1 :]
        at = path.find(SEPARATOR, at + 1)
    return path, None


def read_files(
    path: str, encoding: str = "utf-8", errors: str = "strict"
) -> Iterator[tuple[str, Iterator[Line]]]:
    """The files that `path` stands for, by name, and the lines of each.

    These are the file itself, or all members of a zip that match a pattern. In a pattern `*`, `?` and
    `[...]` are as in a shell, and `*` also matches slashes. Read a file's lines before advancing to the
    next file.

    Raises:
        DataError: HW101 to HW106.
        ConfigError: The encoding or `errors` is unknown.
    """
    archive, pattern = split_member(path)
    lines = read_lines(path, encoding, errors)  # refuses an unknown encoding; opens nothing yet
    if pattern is None:
        yield path, lines
        return
    with _opened(archive) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
        members = (
            [pattern] if pattern in names else sorted(n for n in names if fnmatch.fnmatchcase(n, pattern))
        )
        if not members:
            raise _missing(archive, pattern, names)
        for name in members:
            member = f"{archive}{SEPARATOR}{name}"
            yield member, _member_lines(file, name, member, encoding, errors)


def read_member_lines(path: str, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Line]:
    """Like `headwise.data.files.text_lines.read_lines`, but also reads a member of a zip, or all that
    match a pattern.

    Raises:
        DataError: HW101 to HW106.
        ConfigError: The encoding or `errors` is unknown.
    """
    lines = read_lines(path, encoding, errors)  # refuses an unknown encoding; opens nothing yet
    if split_member(path)[1] is None:
        return lines
    return chain.from_iterable(lines for _, lines in read_files(path, encoding, errors))


@contextmanager
def open_file(path: str) -> Generator[BinaryIO]:
    """Like `headwise.data.files.compression.open_bytes`, but also opens a member of a zip.

    Raises:
        DataError: HW101, HW102, HW104.
    """
    archive, member = split_member(path)
    if member is None:
        with open_bytes(path) as stream:
            yield stream
        return
    with _opened(archive) as file, _member(file, member, path) as stream:
        yield cast(BinaryIO, stream)


@contextmanager
def _opened(archive: str) -> "Generator[ZipFile]":
    from zipfile import ZipFile

    from headwise.data.files.unpacking import ZIP_TROUBLE

    try:
        file = ZipFile(archive)
    except OSError as error:
        problem = f"cannot be opened: {error.strerror or error}"
        raise DataError("HW101", problem, path=archive) from None
    except ZIP_TROUBLE:
        advice = f"leave out what follows the {SEPARATOR!r}"
        raise DataError("HW104", "not a zip, or a damaged one", advice=advice, path=archive) from None
    with file:
        yield file


def _member(file: "ZipFile", name: str, path: str) -> IO[bytes]:
    from headwise.data.files.unpacking import ZIP_TROUBLE

    try:
        return file.open(name)
    except KeyError:
        raise _missing(split_member(path)[0], name, file.namelist()) from None
    except ZIP_TROUBLE as error:  # such as a password
        raise DataError("HW104", f"a zip: {error}", advice="unpack it yourself", path=path) from None


def _missing(archive: str, member: str, names: list[str]) -> DataError:
    close = close_names(member, names)
    listing = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    advice = f"did you mean {archive}{SEPARATOR}{close[0]}?" if close else f"it holds {listing}"
    return DataError("HW101", f"the zip holds no {member!r}", advice=advice, path=archive)


def _member_lines(file: "ZipFile", name: str, path: str, encoding: str, errors: str) -> Iterator[Line]:
    with _member(file, name, path) as stream:
        yield from decoded_lines(cast(BinaryIO, stream), path, encoding, errors)
