"""Optional libraries that read files: an extra installs them, and they are imported when needed."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwise.data.errors import DataError


def library(module: str, what: str, path: str) -> Any:
    """Import a module of the extra `tables`.

    Args:
        module: Its name.
        what: What it reads, for the message.
        path: The file.

    Raises:
        DataError: HW109, it cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        problem = f"{what}, for which {module.partition('.')[0]} cannot be imported ({error})"
        advice = "pip install 'headwise[tables]', or save the file as csv, tsv or jsonl (UTF-8)"
        raise DataError("HW109", problem, advice=advice, path=path) from None


@contextmanager
def telling_damage(what: str, path: str, advice: str) -> Iterator[None]:
    """Turn any exception that a library raises on a damaged file into an error with a code.

    Raises:
        DataError: HW102.
    """
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of damaged files any: of zips, XML, numbers, keys, ...
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(
            "HW102", f"{what} that cannot be read ({reason})", advice=advice, path=path
        ) from None
