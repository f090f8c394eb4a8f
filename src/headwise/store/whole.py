"""Atomic file writing: a file gets its name once it is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def named_when_whole(path: Path) -> Iterator[Path]:
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
