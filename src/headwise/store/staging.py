"""The folder in which a model is written before it is put in place."""

import contextlib
import os
from pathlib import Path

from headwise.store.errors import StoreError
from headwise.store.layout import LIMITS, WEIGHTS


def remove_staging(staging: Path) -> None:
    """Remove what a save that was killed left, but nothing that a save does not write.

    Raises:
        StoreError: HW511, it is a link.
        OSError: There are other files in it.
    """
    if staging.is_symlink():
        raise StoreError(f"{staging}: this is a link; remove it", code="HW511")
    if not staging.exists():
        return
    # safetensors writes to a hidden temporary file first, which a kill leaves behind.
    for name in (*LIMITS, WEIGHTS, *(path.name for path in staging.glob(".tmp*"))):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(staging / name)
    os.rmdir(staging)


def flush(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk."""
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
