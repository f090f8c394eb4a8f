"""Label Studio's exports JSON-MIN and CSV: a field for each control, by its name. Several choices,
taxonomies, ratings and numbers are objects,

    {"id": 1, "text": "Tom ran", "topic": {"choices": ["a", "b"]}, "annotation_id": 1, "lead_time": 2.5}

and become values or lists, as in the tasks of the full export.
"""

from collections.abc import Iterator, Mapping, Sequence

from headwise.data.columns.cell_values import parse_cell
from headwise.data.columns.file_source import DataSource, Record, look_ahead
from headwise.data.formats.label_studio import answer_values, taxonomy_names

_FIELDS = ("annotation_id", "annotator", "lead_time")  # that every row has


def is_row(fields: Mapping[str, object]) -> bool:
    """Whether an object has the fields of these exports."""
    return all(name in fields for name in _FIELDS)


def recognise(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether all objects are rows of these exports."""
    return bool(rows) and all(map(is_row, rows))


def flatten_rows(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records with plain values in place of objects: lists in fields where any has several."""
    head, records = look_ahead(records)
    answers = [
        (name, values)
        for record in head
        for name, cell in record.fields.items()
        if (values := _answers(cell)) is not None
    ]
    is_list = {name: False for name, _ in answers}
    for name, values in answers:
        is_list[name] |= len(values) > 1
    if is_list:
        source.notes.append(f"Label Studio's export; what was annotated: {', '.join(map(repr, is_list))}")
    for record in records:
        yield record._replace(
            fields={
                name: _plain(cell, as_list=is_list[name]) if name in is_list else cell
                for name, cell in record.fields.items()
            }
        )


def _plain(cell: object, *, as_list: bool) -> object:
    values = _answers(cell)
    if values is None:
        values = [] if cell in (None, "") else [cell]
    return values if as_list or len(values) > 1 else next(iter(values), None)


def _answers(cell: object) -> list[object] | None:
    """The values of an object, of a list of objects or of paths in a taxonomy, as a control gave them; None
    of other cells, also of lists of spans."""
    parsed = parse_cell(cell)
    parts = parsed if isinstance(parsed, list) else [parsed]
    if parts and all(
        isinstance(part, list) and all(isinstance(name, str) for name in part) for part in parts
    ):
        return taxonomy_names(parts)
    values = [value for part in parts if isinstance(part, dict) for value in answer_values(part)]
    return values or None
