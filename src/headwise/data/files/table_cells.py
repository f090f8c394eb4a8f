"""Typed cells of tables as text, and the optional libraries that read tables: an extra
installs them, and they are imported when needed.
"""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, time
from typing import Any

from headwise.core.extras import install_line
from headwise.data.errors import DataError


def cell_text(value: object) -> str:
    """A cell's value as text, as a csv file has it.

    Numbers have the 15 significant digits that spreadsheets show, and whole numbers no decimal point; a
    date-time at midnight is a date.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return format(value, ".15g")
    if isinstance(value, datetime):
        return str(value.date() if value.timetz() == time() else value)
    return str(value)


def import_optional_library(module: str, what: str, path: str) -> Any:
    """Import a module of the extra `tables`.

    Raises:
        DataError: HW109, it cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        problem = f"{what}, for which {module.partition('.')[0]} cannot be imported ({error})"
        advice = f"{install_line('tables')}, or save the file as csv, tsv or jsonl (UTF-8)"
        raise DataError("HW109", problem, advice=advice, path=path) from None


@contextmanager
def damage_as_data_error(what: str, path: str, advice: str) -> Generator[None]:
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
