"""Locks, and atomic file writing: a file gets its name once it is complete.

Only one process at a time writes to a model folder, a prediction file or static embeddings. The locks are
those of the operating system, which releases them when the process ends. The lock of a folder is on
`training/.lock`, which names the process; the lock of a file is on the file itself. On file systems without
locks (some network drives) nothing is locked.
"""

import os
import platform
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import LOCK, RUN_FOLDER


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold the lock of `folder` within this context. Folders that were created for the lock are removed
    afterwards if they are empty.

    Raises:
        HeadwiseError: HW408, another process holds it, and which; HW407, the folder cannot be made.
    """
    path = folder / RUN_FOLDER / LOCK
    try:
        file = _locked_file(path)
    except BlockingIOError:
        holder = ""
        with suppress(OSError):  # on Windows, what is locked cannot be read
            holder = path.read_text(encoding="utf-8", errors="replace").strip()
        raise HeadwiseError(
            f"{folder}: another training run is writing to it ({holder or 'it has just begun'}); wait for "
            "its end, stop it, or give another --output",
            code="HW408",
        ) from None
    except OSError as error:
        raise _unsaved(folder, error) from None
    try:
        who = f"process {os.getpid()} on {platform.node()} since {time.strftime('%F %T')}\n"
        try:
            os.write(file.fileno(), who.encode())  # unbuffered: a buffer would fail again on closing
        except OSError as error:
            raise _unsaved(folder, error) from None
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        file.close()
        with suppress(OSError):
            (folder / RUN_FOLDER).rmdir()
            folder.rmdir()


def _unsaved(folder: Path, error: OSError) -> HeadwiseError:
    reason = error.strerror or error
    return HeadwiseError(f"{folder}: the state cannot be saved: {reason}", code="HW407")


@contextmanager
def locked_file(path: Path, *, otherwise: str = "another --output") -> Generator[None]:
    """Hold the lock of a file within this context; the file is created if it does not exist. On Windows
    nothing is locked, as the lock would prevent reading, too.

    Raises:
        HeadwiseError: HW606, another process holds it.
        OSError: The file cannot be opened.
    """
    with open(path, "ab") as file:
        try:
            if os.name != "posix":
                file.close()  # an open file cannot be removed there
            elif path.is_file():
                _lock(file)
        except BlockingIOError:
            raise HeadwiseError(
                f"{path}: another process is writing to it; wait for its end, stop it, or give {otherwise}",
                code="HW606",
            ) from None
        yield


def _locked_file(path: Path) -> IO[str]:
    """The lock file, open and locked."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - it stays open
        try:
            _lock(file)
            # The previous holder may have removed the file while it was being opened here.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                file.truncate(0)
                return file
        except FileNotFoundError:
            pass
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: IO[Any]) -> None:
    """Lock an open file.

    A descriptor is locked, not a path: the path may be the user's output file, which `FileLock` of some
    versions truncates on opening or removes on release."""
    from filelock import lock_descriptor

    try:
        held = lock_descriptor(file.fileno(), blocking=False)
    except OSError:  # a drive without locks
        return
    if not held:
        raise BlockingIOError


@contextmanager
def atomic_output(path: Path) -> Generator[Path]:
    """Yields the path of a temporary file that replaces `path` at the end, or is removed on failure. A
    device is written directly.

    Raises:
        OSError: The file cannot be written.
    """
    part = path if path.exists() and not path.is_file() else path.with_name(f".{path.name}.part")
    try:
        yield part
        if part != path:
            part.replace(path)
    finally:
        if part != path:
            part.unlink(missing_ok=True)
