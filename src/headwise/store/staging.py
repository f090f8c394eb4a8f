"""The staging folder, in which a model is written before it is moved into place."""

import contextlib
import os
from pathlib import Path

from headwise.store.errors import StoreError
from headwise.store.layout import LIMITS, WEIGHTS


def remove_staging(staging: Path) -> None:
    """Remove the files of an interrupted save, and nothing else.

    Raises:
        StoreError: HW511, the folder is a link.
        OSError: The folder has other files.
    """
    if staging.is_symlink():
        raise StoreError(f"{staging}: this is a link; remove it", code="HW511")
    if not staging.exists():
        return
    # safetensors writes to a hidden temporary file first, which a killed process leaves behind.
    for name in (*LIMITS, WEIGHTS, *(path.name for path in staging.glob(".tmp*"))):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(staging / name)
    os.rmdir(staging)


def flush(path: Path) -> None:
    """Flush a file, or the directory entries of a folder, to the disk (fsync)."""
    if path.is_dir():
        if os.name == "nt":  # folders cannot be opened there
            return
        descriptor = os.open(path, os.O_RDONLY)
    else:
        descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
