"""Libraries of others that read files for us: brought by an extra, imported when they are needed."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwise.data.errors import DataError


def library(module: str, what: str, path: str) -> Any:
    """A module of the extra `tables`.

    Args:
        module: Its name.
        what: What is read with it.
        path: The file.

    Raises:
        DataError: HW109, it cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        found = f"{what}, for which {module.partition('.')[0]} cannot be imported ({error})"
        advice = "pip install 'headwise[tables]', or save the file as csv, tsv or jsonl (UTF-8)"
        raise DataError("HW109", found, advice=advice, path=path) from None


@contextmanager
def telling_damage(what: str, path: str, advice: str) -> Iterator[None]:
    """Whatever a library says of a file that it cannot read becomes an error with a code.

    Raises:
        DataError: HW102.
    """
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of damaged files any: of zips, XML, numbers, keys, ...
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError("HW102", f"{what} that cannot be read ({said})", advice=advice, path=path) from None
