"""Label sets in several columns of one name, as Jira exports them: a column `Labels` for each label."""

from collections.abc import Sequence
from dataclasses import dataclass

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.named_columns import names_in
from headwise.data.columns.text_columns import Columns


@dataclass(frozen=True)
class RepeatedLabelColumns(Columns):
    """The chosen columns, where several columns share the name of the label column."""

    repeated: tuple[str, ...] = ()
    """The columns of that name, which are numbered from the second on (`Labels`, `Labels_2`)."""

    @property
    def label_columns(self) -> tuple[str, ...]:
        return self.repeated


def with_repeated_columns(columns: Columns, sample: Sequence[Record], source: DataSource) -> Columns:
    """The columns with all that share the name of the label column, unless the user named one by its
    number."""
    names, duplicates = names_in(sample), source.layout.duplicates
    heading = duplicates.get(columns.label or "")
    repeated = tuple(name for name in names if heading and duplicates.get(name) == heading)
    by_number = (source.options.label_column or "").isdecimal()
    if by_number or len(repeated) < 2 or columns.label not in repeated:
        return columns
    source.notes.append(f"the labels of a text are those in the {len(repeated)} columns {heading!r}")
    return RepeatedLabelColumns(columns.text, columns.label, tabular=columns.tabular, repeated=repeated)


def repeated_cells(record: Record, columns: RepeatedLabelColumns) -> list[str]:
    """The labels of a record: the cells that are not empty."""
    cells = (as_text(record.fields.get(name)).strip() for name in columns.repeated)
    return [cell for cell in cells if cell]
