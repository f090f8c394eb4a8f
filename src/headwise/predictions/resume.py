"""Go on with a file of predictions that was not finished.

Predictions are made and written in chunks of rows, and where a chunk begins depends on the input alone.
What an interrupted run has written is kept as far as its last whole chunk; the rest is predicted again, in
the same company, so that the file becomes byte for byte what it would have been without the interruption.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from headwise.data.formats.jsonl import as_text
from headwise.data.rows import Row
from headwise.predictions.file import OutputError, RecordLayout

CHUNK_ROWS = 1024
CHUNK_CHARACTERS = 1 << 20
_CHECKED = 32  # rows that are predicted again to see whether the model is the same


def cut_chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Rows in lists of bounded length and size."""
    chunk, size = [], 0
    for row in rows:
        chunk.append(row)
        size += sum(len(as_text(value)) for value in row.fields.values())
        if len(chunk) == CHUNK_ROWS or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@dataclass(frozen=True)
class Kept:
    """What stays of an unfinished file.

    Attributes:
        rows: Records.
        size: Bytes, header included.
        chunks: The input's chunks that are still to be predicted.
    """

    rows: int
    size: int
    chunks: Iterator[list[Row]]


def keep(
    path: Path,
    layout: RecordLayout,
    chunks: Iterator[list[Row]],
    predict: Callable[[list[Any]], Sequence[Any]],
) -> Kept:
    """Find out how much of an unfinished file can stay; changes nothing.

    Args:
        path: The file.
        layout: How it is written.
        chunks: The input from its beginning.
        predict: What the model says of some items, one prediction for each.

    Raises:
        OutputError: HW602, the file does not come from this input and this model.
    """
    with open(path, "rb") as file:
        header = layout.header.encode()
        found = file.read(len(header))
        if not header.startswith(found):
            line = found.split(b"\n")[0].decode(errors="replace")
            expected = layout.header.rstrip("\n")
            raise _stranger(path, f"it begins with {line[:200]!r}, not with {expected[:200]!r}")
        if len(found) < len(header):
            return Kept(0, 0, chunks)
        records = _records(file, layout)
        rows, size = 0, len(header)
        last: tuple[list[Row], list[bytes]] = ([], [])
        for chunk in chunks:
            own = list(islice(records, len(chunk)))
            _compare(path, layout, chunk, own, rows)
            whole = [record for record in own if record.endswith(b"\n")]
            if whole:
                last = (chunk, whole)
            if len(whole) < len(chunk):
                _check_model(path, layout, *last, predict)
                return Kept(rows, size, chain([chunk], chunks))
            rows, size = rows + len(chunk), size + sum(map(len, own))
        if next(records, None) is not None:
            raise _stranger(path, f"it has more than the {rows:,} rows of the input")
        _check_model(path, layout, *last, predict)
        return Kept(rows, size, chunks)


def _records(file: IO[bytes], layout: RecordLayout) -> Iterator[bytes]:
    """The records with their line ends; that of the last may be missing."""
    parts: list[bytes] = []
    marks = 0
    for line in file:
        parts.append(line)
        # A line end stands inside a quoted field as long as the number of quotation marks is odd.
        marks += line.count(b'"') if layout.form == "csv" else 0
        if marks % 2 == 0 and line.endswith(b"\n") and layout.ends(parts):
            yield b"".join(parts)
            parts, marks = [], 0
    if parts:
        yield b"".join(parts).removesuffix(b"\n")


def _compare(path: Path, layout: RecordLayout, chunk: list[Row], own: list[bytes], before: int) -> None:
    """Check that records begin with the fields of their rows."""
    for number, (row, record) in enumerate(zip(chunk, own, strict=False), start=before + 1):
        start = layout.start(row).encode()
        whole = record.endswith(b"\n")
        if not (record.startswith(start) or (not whole and start.startswith(record))):
            raise _stranger(path, f"its record {number:,} is not line {row.line} of the input")


def _check_model(
    path: Path,
    layout: RecordLayout,
    chunk: list[Row],
    own: list[bytes],
    predict: Callable[[list[Any]], Sequence[Any]],
) -> None:
    some = own[:_CHECKED]
    if not some:
        return
    again = predict([row.item for row in chunk[: len(some)]])
    try:
        same = all(layout.agrees(record.decode(), own) for record, own in zip(some, again, strict=True))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _stranger(path, "its records have other columns") from None
    if not same:
        raise _stranger(path, "the model gives other predictions than those written")


def _stranger(path: Path, why: str) -> OutputError:
    return OutputError(
        f"{path}: cannot be resumed: {why}; --resume needs the input, options and model of before, "
        "--overwrite begins anew",
        code="HW602",
    )
