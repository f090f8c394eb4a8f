"""One process at a time writes to a model folder, to a file of predictions, or makes a base.

The lock is one of the system's, so it goes with the process that holds it, however that ends: of a folder
on `training/.lock`, which says who that is; of a file on the file itself. Where the system has no such
locks (some network drives) there is none.
"""

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from headwise.errors import HeadwiseError
from headwise.store.layout import LOCK, RUN


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Within this, nobody else who asks for the lock writes to `folder`. Folders that were made for the
    lock are gone afterwards, unless something has been put into them.

    Raises:
        HeadwiseError: HW408, another process holds it, and which; HW407, the folder cannot be made.
    """
    path = folder / RUN / LOCK
    try:
        file = _hold(path)
    except BlockingIOError:
        holder = path.read_text(encoding="utf-8", errors="replace").strip() or "it has just begun"
        raise HeadwiseError(
            f"{folder}: another training is writing to it ({holder}); wait for its end, stop it, or give "
            "another --output",
            code="HW408",
        ) from None
    except OSError as error:
        raise _unsaved(folder, error) from None
    try:
        who = f"process {os.getpid()} on {platform.node()} since {time.strftime('%F %T')}\n"
        try:
            os.write(file.fileno(), who.encode())  # what a buffer held would fail again when it is closed
        except OSError as error:
            raise _unsaved(folder, error) from None
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        file.close()
        with suppress(OSError):
            (folder / RUN).rmdir()
            folder.rmdir()


def _unsaved(folder: Path, error: OSError) -> HeadwiseError:
    reason = error.strerror or error
    return HeadwiseError(f"{folder}: the state cannot be saved: {reason}", code="HW407")


@contextmanager
def locked_file(path: Path, *, otherwise: str = "another --output") -> Iterator[None]:
    """Within this, nobody else who asks for the lock writes to the file, which is made if there is none,
    and not changed otherwise. There is none on Windows, where it would keep others from reading, too.

    Raises:
        HeadwiseError: HW606, another process holds it.
        OSError: The file cannot be opened.
    """
    with open(path, "ab") as file:
        try:
            if os.name != "posix":
                file.close()  # nor could an open file be removed there
            elif path.is_file():
                _lock(file)
        except BlockingIOError:
            raise HeadwiseError(
                f"{path}: another process is writing to it; wait for its end, stop it, or give {otherwise}",
                code="HW606",
            ) from None
        yield


def _hold(path: Path) -> IO[str]:
    """The lock's file, open and locked.

    Raises:
        BlockingIOError: Another process holds it.
    """
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - it stays open
        try:
            _lock(file)
            # Whoever held it may have removed the file while it was being opened here.
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
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            raise BlockingIOError from None
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a drive without locks
        pass
