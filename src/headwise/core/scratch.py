"""ScratchFile: arrays in a file without a name, which needs no memory and vanishes with the process.

A killed run leaves nothing: the file has no entry in any folder (or, on Windows, is removed when it is
closed).
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import HeadwiseError

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)


@contextmanager
def scratch_folder(folder: Path) -> Generator[None]:
    """Put scratch files on the disk of this folder within this context; else they are where the system has
    its temporary files, which may be memory."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


class ScratchFile:
    """Arrays in a file, which is to be closed; each is read as a copy.

    Raises:
        HeadwiseError: HW412, the disk is full or cannot be written.
    """

    def __init__(self) -> None:
        folder = _folder.get()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        try:
            self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (closed by `close`)
        except OSError as error:
            raise _disk_error(str(error.strerror)) from error
        self._size = 0

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    @property
    def size(self) -> int:
        """Number of bytes written."""
        return self._size

    def require(self, needed: int) -> None:
        """Check that the disk has space for `needed` more bytes.

        Raises:
            HeadwiseError: HW412, there is not so much space on the disk.
        """
        free = disk_usage(_folder.get() or gettempdir()).free
        if needed > free:
            need = f"{needed / 1e9:,.1f} GB more are needed for them, and {free / 1e9:,.1f} GB are free"
            raise _disk_error(need)

    def write(self, array: NDArray) -> "StoredArray":
        """Append an array; returns where it is."""
        stored = StoredArray(self._size, array.dtype, array.shape)
        view = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        try:
            self._file.seek(self._size)
            while len(view):
                view = view[self._file.write(view) :]
        except OSError as error:
            raise _disk_error(str(error.strerror)) from error
        self._size += array.nbytes
        return stored

    def read(self, stored: "StoredArray") -> NDArray:
        """An array that was written."""
        array = np.empty(stored.shape, dtype=stored.dtype)
        view = array.reshape(-1).view(np.uint8).data
        self._file.seek(stored.offset)
        while len(view):
            count = self._file.readinto(view)
            if not count:
                raise HeadwiseError("the file of temporary arrays was cut off", code="HW412")
            view = view[count:]
        return array


class StoredArray(NamedTuple):
    """Where an array is in a `ScratchFile`: its first byte, and its type and shape."""

    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]


def _disk_error(reason: str) -> HeadwiseError:
    folder = _folder.get()
    place = "the folder of temporary files (TMPDIR)" if folder is None else str(folder)
    return HeadwiseError(
        f"{place}: the features of the texts cannot be written ({reason}); free some space, or "
        "train on fewer texts",
        code="HW412",
    )
