"""Reading untrusted files: regular files of limited size, strict JSON."""

import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

from headwise.store.errors import StoreError
from headwise.store.layout import LIMITS


@contextmanager
def open_plain(path: Path) -> Iterator[tuple[BufferedReader, int]]:
    """Open a regular file for reading; yields the file and its size in bytes.

    Raises:
        StoreError: HW503 there is none; HW505 it is a link, a folder, a pipe or the like, or unreadable.
    """
    flags = os.O_RDONLY
    # Where the system has these flags, a file that becomes a link or a pipe between the check and the
    # opening is neither followed nor waited for.
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        _check_plain(path, path.lstat().st_mode)
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise StoreError(
            f"{path}: this file of the model is missing; copy the whole folder again", code="HW503"
        ) from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened ({error.strerror})", code="HW505") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _check_plain(path, status.st_mode)
        yield file, status.st_size


def _check_plain(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "not a plain file"
        raise StoreError(
            f"{path}: this is {kind}; put the file itself there, a model folder has plain files only",
            code="HW505",
        )


def read_limited(path: Path) -> bytes:
    """The content of one of the files in `layout.LIMITS`.

    Raises:
        StoreError: HW506 the file exceeds its limit; see also `open_plain`.
    """
    limit = LIMITS[path.name]
    with open_plain(path) as (file, size):
        if size > limit:
            raise StoreError(f"{path}: {size} bytes; at most {limit} are read of it", code="HW506")
        return file.read(limit)


def parse_json(content: bytes, where: str) -> dict[str, Any]:
    """Parse a JSON object strictly: no duplicate keys, no NaN, no numbers too large for a float.

    Raises:
        StoreError: HW507 it is not such JSON.
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(items)
        if len(table) < len(items):
            raise ValueError("a key occurs twice")
        return table

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"the number {text[:40]} is too large")
        return value

    def refuse(text: str) -> NoReturn:
        raise ValueError(f"{text} is not a number")

    try:
        data = json.loads(
            content.decode("utf-8"), object_pairs_hook=pairs, parse_float=number, parse_constant=refuse
        )
    except RecursionError:
        raise StoreError(f"{where}: nested too deeply", code="HW507") from None
    except ValueError as error:
        raise StoreError(f"{where}: cannot be read as JSON: {error!s:.300}", code="HW507") from None
    if not isinstance(data, dict):
        raise StoreError(f"{where}: expected a JSON object, found {data!r:.80}", code="HW507")
    return data


def to_json(value: dict[str, Any], *, indent: int | None = 2) -> bytes:
    """Serialise plain data as JSON: the inverse of `parse_json`."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # an unpaired surrogate, which JSON can escape but UTF-8 cannot encode
        return json.dumps(value, allow_nan=False, indent=indent).encode("ascii") + b"\n"
