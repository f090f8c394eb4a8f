"""Files for output: their formats by suffix, and opening them for writing."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.file_lock import atomic_output

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
"""The formats of prediction tables, by file suffix."""
_COMPRESSED = (".gz", ".xz")


class OutputError(HeadwiseError):
    """Predictions cannot be written as asked.

    Codes: HW601 the file exists, HW602 it cannot be resumed, HW603 a record does not fit the format,
    HW604 the file cannot be written, HW605 the format is not known, HW606 another process is writing to it,
    HW607 one of the processes that predict has ended before its time, HW608 the model has been replaced
    before all of them had opened it.
    """

    code = "HW600"


def choose_format(
    path: Path | None, requested: str | None, forms: Mapping[str, str] = FORMATS, usual: str = "csv"
) -> str:
    """The format of the predictions: the requested one, else by the file's suffix, else `usual`.

    Args:
        path: The file, or None for standard output.
        requested: The format that the user named, if any.
        forms: Names of the formats by file suffix.
        usual: The format for standard output where none is requested.

    Raises:
        ConfigError: The requested format is none of `forms`.
        OutputError: HW605, the suffix is not known.
    """
    names = list(dict.fromkeys(forms.values()))
    if requested is not None and requested not in names:
        raise ConfigError(f"--format-out {requested}; expected {', '.join(names)}")
    return requested or format_of(path, forms, usual, advice=", or give --format-out")


def format_of(path: Path | None, forms: Mapping[str, str], usual: str, *, advice: str = "") -> str:
    """The format of the predictions by the file's suffix; `usual` for standard output (`path` is None).

    Raises:
        OutputError: HW605, the suffix is not known.
    """
    if path is None:
        return usual
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if suffixes and suffixes[-1] in forms:
        return forms[suffixes[-1]]
    *first_suffixes, last = (f".{form}" for form in dict.fromkeys(forms.values()))
    names = f"{', '.join(first_suffixes)} or {last}" if first_suffixes else last
    raise OutputError(
        f"{path}: its suffix names no format of this output; name the file {names} (.gz or .xz after it "
        f"compresses){advice}",
        code="HW605",
    )


@contextmanager
def open_output(path: Path | None, *, append: bool = False, atomic: bool = False) -> Generator[IO[bytes]]:
    """Open a file for predictions, compressed by its suffix; None is standard output.

    Args:
        path: The file.
        append: Append to the file.
        atomic: Write to a temporary file that replaces `path` once it is complete.

    Raises:
        OutputError: HW604, it cannot be opened or written, as when the disk is full.
    """
    if path is None:
        with reporting_write_errors("standard output"):
            yield sys.stdout.buffer
        return
    place = atomic_output(path) if atomic else nullcontext(path)
    with reporting_write_errors(path), place as part, open(part, "ab" if append else "wb") as file:
        if path.suffix.lower() == ".gz":
            # Neither name nor time in the file: the same predictions are the same bytes.
            from gzip import GzipFile

            with GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        elif path.suffix.lower() == ".xz":
            from lzma import LZMAFile

            with LZMAFile(file, "wb") as packed:
                yield packed
        else:
            yield file


@contextmanager
def reporting_write_errors(path: Path | str) -> Generator[None]:
    """Convert an `OSError` about this file, or a file in this folder, to an `OutputError`. A closed pipe
    and errors about other files are passed on.

    Raises:
        OutputError: HW604.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        failed, target = Path(str(error.filename or path)).absolute(), Path(path).absolute()
        if not failed.is_relative_to(target) and failed.parent != target.parent:
            raise
        name = failed if target.is_dir() else path
        raise OutputError(f"{name}: cannot be written: {error.strerror or error}", code="HW604") from None


def is_compressed(path: Path) -> bool:
    """Whether a file is written compressed, by its suffix."""
    return path.suffix.lower() in _COMPRESSED
