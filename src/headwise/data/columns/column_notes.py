"""Notes on the columns of a table that are not read."""

from collections.abc import Iterator, Sequence

from headwise.data.columns.column_contents import Column
from headwise.data.columns.column_names import LABEL_NAMES, has_usual_name


def other_labels_notes(columns: Sequence[Column]) -> Iterator[str]:
    """A note on columns beside the guessed label that are named like labels, too, if there are any."""
    named = [column for column in columns if has_usual_name(column.name, LABEL_NAMES)]
    if labels := [repr(c.name) for c in named if c.is_recurring and c.varies and not c.is_never_label]:
        yield f"other columns that may be the label: {', '.join(labels)} - choose with --label-column"


def unused_columns_notes(columns: Sequence[Column]) -> Iterator[str]:
    """A note on each column that says which part of the data a row belongs to."""
    for column in columns:
        if len(parts := column.parts_of_data) > 1:
            shown = ", ".join(parts[:4])
            yield f"all rows are read, whatever part of the data {column.name!r} names ({shown})"
