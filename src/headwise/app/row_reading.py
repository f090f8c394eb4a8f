"""The records of a file as a model reads them. Nothing here imports torch."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headwise.app.model_columns import reading_options_as_trained
from headwise.app.reporter import Reporter
from headwise.data.files.text_lines import file_name
from headwise.data.items.dataset import InputRows
from headwise.data.items.item_type import ItemType
from headwise.data.items.parses import rows_with_parses
from headwise.text.parse_files import iterate_parses


def rows_as_trained(
    kind: ItemType[Any],
    info: Mapping[str, Any],
    file: Path | str,
    reading: Mapping[str, Any],
    read: Callable[[str, Mapping[str, Any]], InputRows[Any]],
    listener: Reporter,
    heads: Path | str | None = None,
    *,
    trees: bool = False,
) -> InputRows[Any]:
    """The records of a file, with their parses.

    Args:
        kind: What the model reads.
        info: What its folder says of it, see `reading_options_as_trained`.
        file: The file; "-" is standard input.
        reading: How it is read, where that is not as in training.
        read: Reads the file so.
        listener: Is told what was noticed.
        heads: The syntax of the texts.
        trees: Whether the model goes by it.
    """
    path = file_name(file)
    resolved, column_notes = reading_options_as_trained(kind, info, path, reading, answers=False)
    rows = read(path, resolved)
    listener.notes((*rows.notes, *column_notes, *unused_parses_notes(heads, trees=trees)))
    if heads is None:
        return rows
    return replace(rows, rows=rows_with_parses(kind, iter(rows), str(heads), iterate_parses))


def unused_parses_notes(heads: Path | str | None, *, trees: bool) -> list[str]:
    """What there is to say of parses that a model is given."""
    if heads is None or trees:
        return []
    return [f"--heads {heads}: not used, as no head of the model goes by the dependency tree"]
