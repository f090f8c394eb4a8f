"""The records of a file as a model reads them. Nothing here imports torch."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headwise.data.files import file_name
from headwise.data.kind import Kind
from headwise.data.parses import parsed_rows
from headwise.data.rows import Rows
from headwise.features.parse_files import iterate_parses
from headwise.verbs.columns import as_trained
from headwise.verbs.listener import Listener


def rows_as_trained(
    kind: Kind[Any],
    info: Mapping[str, Any],
    file: Path | str,
    reading: Mapping[str, Any],
    read: Callable[[str, Mapping[str, Any]], Rows[Any]],
    listener: Listener,
    heads: Path | str | None = None,
    *,
    trees: bool = False,
) -> Rows[Any]:
    """The records of a file, with their parses.

    Args:
        kind: What the model reads.
        info: What its folder says of it, see `as_trained`.
        file: The file; "-" is standard input.
        reading: How it is read, where that is not as in training.
        read: Reads the file so.
        listener: Is told what was noticed.
        heads: The syntax of the texts.
        trees: Whether the model goes by it.
    """
    path = file_name(file)
    resolved, column_notes = as_trained(kind, info, path, reading, answers=False)
    rows = read(path, resolved)
    listener.notes((*rows.notes, *column_notes, *of_parses(heads, trees=trees)))
    if heads is None:
        return rows
    return replace(rows, rows=parsed_rows(kind, iter(rows), str(heads), iterate_parses))


def of_parses(heads: Path | str | None, *, trees: bool) -> list[str]:
    """What there is to say of parses that a model is given."""
    if heads is None or trees:
        return []
    return [f"--heads {heads}: not used, as no head of the model goes by the dependency tree"]
