"""What readers leave out of files, and out of labels, and the notes that say so."""

import sys

from headwise.core.text_normalization import without_invisible
from headwise.data.doctor.findings import abbreviate
from headwise.data.files.file_source import DataSource
from headwise.data.formats.jsonl import as_text


def repeated_header_notes(source: DataSource) -> list[str]:
    """A note on the rows that repeat the header, if there are any."""
    if not source.repeated:
        return []
    lines = abbreviate([str(line) for line in source.repeated])
    return [f"rows that repeat the header left out: {len(source.repeated):,} (line {lines})"]


def null_text_notes(source: DataSource) -> list[str]:
    """Notes on the texts that are null, if there are any."""
    notes = []
    if source.nulls:
        notes.append(f"texts that are null, read as empty ones: {source.nulls:,}")
    if source.skipped_nulls:
        notes.append(f"rows left out because their text is null: {source.skipped_nulls:,}")
    return notes


def note_left_out(source: DataSource) -> None:
    """Add notes with the numbers of null texts, blank lines, repeated headers and cleaned labels."""
    source.notes.extend(null_text_notes(source))
    if source.blank:
        source.notes.append(f"blank lines passed over: {source.blank:,}")
    source.notes.extend(repeated_header_notes(source))
    if source.cleaned:
        what = "labels with invisible characters, or white space at their ends, which are taken away"
        source.notes.append(f"{what}: {source.cleaned:,}")


def clean_label(value: object, source: DataSource) -> str:
    """A label without invisible characters and white space at its ends; counts those that had any. The null
    of MySQL and PostgreSQL, `\\N`, is an empty label. Equal labels are one object, which saves memory."""
    written = as_text(value)
    if written == "\\N":
        return ""
    label = without_invisible(written)
    source.cleaned += label != written
    return sys.intern(str(label))
