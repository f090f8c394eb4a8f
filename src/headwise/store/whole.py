"""Files that are of no use in part: they take their name once they are whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def named_when_whole(path: Path) -> Iterator[Path]:
    """Gives a file to write, which takes the name `path` at the end, and is gone if that does not come; a
    device, which has no other name, as it is. What has the name stays till then.

    Raises:
        OSError: It cannot be written.
    """
    part = path if path.exists() and not path.is_file() else path.with_name(f".{path.name}.part")
    try:
        yield part
        if part != path:
            part.replace(path)
    finally:
        if part != path:
            part.unlink(missing_ok=True)
