"""Resume an incomplete prediction file.

Predictions are made and written in chunks of rows, whose boundaries depend on the input alone. The output
of an interrupted run is kept up to its last complete chunk. The rest is predicted again in the same
batches, so that the file is byte for byte the one of an uninterrupted run.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from headwise.data.columns.cell_values import as_text
from headwise.data.items.dataset import InputRow
from headwise.models.output_file import OutputError
from headwise.models.prediction_file import RecordLayout

CHUNK_ROWS = 1024
CHUNK_CHARACTERS = 1 << 20
Chunk = list[InputRow[Any]]
"""Rows that are predicted and written at once."""
_CHECKED = 32  # rows that are predicted again to check that the model is the same


def cut_chunks(rows: Iterator[InputRow]) -> Iterator[Chunk]:
    """Split rows into chunks of bounded length and number of characters."""
    chunk, size = [], 0
    for row in rows:
        chunk.append(row)
        size += sum(map(len, map(as_text, row.fields.values())))
        if len(chunk) == CHUNK_ROWS or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


@dataclass(frozen=True)
class ResumePoint:
    """The part of an incomplete file that is kept.

    Attributes:
        rows: The number of records.
        size: The size in bytes, including the header.
        chunks: The chunks of the input that are still to be predicted.
    """

    rows: int
    size: int
    chunks: Iterator[list[InputRow]]


def find_resume_point(
    path: Path,
    layout: RecordLayout,
    chunks: Iterator[list[InputRow]],
    predict: Callable[[list[Any]], Sequence[Any]],
) -> ResumePoint:
    """Determine how much of an incomplete file can be kept, without changing the file.

    Args:
        path: The file.
        layout: Its record layout.
        chunks: The input from its beginning.
        predict: A function that predicts items, one prediction for each.

    Raises:
        OutputError: HW602, the file was not made from this input by this model.
    """
    with open(path, "rb") as file:
        header = layout.header.encode()
        start = file.read(len(header))
        if not header.startswith(start):
            line = start.split(b"\n")[0].decode(errors="replace")
            expected = layout.header.rstrip("\n")
            raise _mismatch(path, f"it begins with {line[:200]!r}, not with {expected[:200]!r}")
        if len(start) < len(header):
            return ResumePoint(0, 0, chunks)
        records = _records(file, layout)
        rows, size = 0, len(header)
        last: tuple[list[InputRow], list[bytes]] = ([], [])
        for chunk in chunks:
            records_of_chunk = list(islice(records, len(chunk)))
            _check_fields(path, layout, chunk, records_of_chunk, rows)
            complete = [record for record in records_of_chunk if record.endswith(b"\n")]
            if complete:
                last = (chunk, complete)
            if len(complete) < len(chunk):
                _check_model(path, layout, *last, predict)
                return ResumePoint(rows, size, chain([chunk], chunks))
            rows, size = rows + len(chunk), size + sum(map(len, records_of_chunk))
        if next(records, None) is not None:
            raise _mismatch(path, f"it has more than the {rows:,} rows of the input")
        _check_model(path, layout, *last, predict)
        return ResumePoint(rows, size, chunks)


def _records(file: IO[bytes], layout: RecordLayout) -> Iterator[bytes]:
    """The records with their line ends; an incomplete last record has none."""
    parts: list[bytes] = []
    marks = 0
    for line in file:
        parts.append(line)
        # A line end is inside a quoted field while the number of quotation marks is odd.
        marks += line.count(b'"') if layout.form == "csv" else 0
        if marks % 2 == 0 and line.endswith(b"\n") and layout.ends(parts):
            yield b"".join(parts)
            parts, marks = [], 0
    if parts:
        yield b"".join(parts).removesuffix(b"\n")


def _check_fields(
    path: Path, layout: RecordLayout, chunk: list[InputRow], written: list[bytes], before: int
) -> None:
    """Check that records begin with the fields of their rows."""
    for number, (row, record) in enumerate(zip(chunk, written, strict=False), start=before + 1):
        start = layout.start(row).encode()
        complete = record.endswith(b"\n")
        if not (record.startswith(start) or (not complete and start.startswith(record))):
            raise _mismatch(path, f"its record {number:,} is not line {row.line} of the input")
        if layout.least is not None and complete:
            with suppress(ValueError, KeyError, IndexError):  # another layout, which is reported below
                if not layout.marks_agree(record.decode(), start.decode()):
                    raise _mismatch(path, f"its record {number:,} was marked by another --unsure")


def _check_model(
    path: Path,
    layout: RecordLayout,
    chunk: list[InputRow],
    records: list[bytes],
    predict: Callable[[list[Any]], Sequence[Any]],
) -> None:
    checked = records[:_CHECKED]
    if not checked:
        return
    again = predict([row.item for row in chunk[: len(checked)]])
    try:
        same = all(
            layout.matches(record.decode(), prediction)
            for record, prediction in zip(checked, again, strict=True)
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _mismatch(path, "its records have other columns") from None
    if not same:
        raise _mismatch(path, "the model gives other predictions than those written")


def _mismatch(path: Path, why: str) -> OutputError:
    return OutputError(
        f"{path}: cannot be resumed: {why}; --resume needs the input, options and model of before, "
        "--overwrite starts over",
        code="HW602",
    )
