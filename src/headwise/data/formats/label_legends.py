"""Names for the numbers of labels that stand beside the records of a JSON document:

    {"features": [{"name": "label", "type": {"names": ["neg", "pos"]}}], "rows": [{"row": {"label": 0}}]}
    {"label_map": {"0": "neg", "1": "pos"}, "data": [{"text": "no sound", "label": 0}]}
    {"classes": ["neg", "pos"], "data": [{"text": "no sound", "label": 0}]}

The first is what the hub of Hugging Face answers, whose records are in `row`. The names replace the numbers
of a feature, or of the fields with a usual name of labels or tags, if all of their numbers have names.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.column_names import LABEL_NAMES, name_rank, normal_name
from headwise.data.columns.file_source import DataSource, Record, look_ahead
from headwise.data.files.label_numbers import (
    Legend,
    class_label_names,
    label_number,
    legend_note,
    named_labels,
)
from headwise.data.formats.parallel_lists import TAG_NAMES
from headwise.data.formats.record_fields import field_names, objects_of

_FEATURES = "features"
_NAMES_LABELS = lazy_pattern("label|class|categor|target|intent|tag")
"""In the names of legends."""


def with_label_names(
    records: Iterator[Record], source: DataSource, document: Iterable[tuple[str, object]]
) -> Iterator[Record]:
    """The records with names in place of numbers, given the values that stand beside their list."""
    values = dict(document)
    features = {str(part.get("name")): part.get("type") for part in objects_of(values.get(_FEATURES))}
    if features:
        records = (record._replace(fields=_row_of(record.fields)) for record in records)
    legends = [value for name, value in values.items() if _NAMES_LABELS.search(normal_name(name))]
    if not features and not legends:
        yield from records
        return
    head, records = look_ahead(records)
    rows = [record.fields for record in head]
    named = dict[str, Legend]()
    for name in field_names(rows):
        values = (value for row in rows for value in _elements(row.get(name)) if value is not None)
        numbers = [*map(label_number, values)]
        usual = numbers and name_rank(name, (*LABEL_NAMES, *TAG_NAMES)) is not None
        fitting = (_legend(value, numbers) for value in legends if usual)
        if legend := class_label_names(features.get(name)) or next(filter(None, fitting), None):
            named[name] = legend
        elif usual and all(type(number) is int for number in numbers):
            problem = f"the numbers of {name!r} stay as they are"
            source.notes.append(f"{problem}: what stands beside the records does not name all of them")
    source.notes += [legend_note(name, legend) for name, legend in named.items()]
    for record in records:
        labels = {name: named_labels(record.fields.get(name), legend) for name, legend in named.items()}
        yield record._replace(fields={**record.fields, **labels})


def _row_of(fields: JsonMapping) -> JsonObject:
    row = fields.get("row")
    return dict(row if isinstance(row, dict) else fields)


def _elements(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _legend(value: object, numbers: Sequence[object]) -> Legend:
    """The names that a value gives to numbers; empty unless all have one. Those of a list count from 0, so
    this number must occur."""
    match value:
        case [str(), *_] if 0 in numbers:
            pairs = [*enumerate(value)]
        case [dict(), *_]:
            pairs = [(part.get("id"), part.get("name")) for part in objects_of(value)]
        case dict():
            pairs = [*value.items()]
            if all(type(label_number(number)) is int for _, number in pairs):  # by the names
                pairs = [pair[::-1] for pair in pairs]
        case _:
            return {}
    legend = {int(str(number)): str(name) for number, name in pairs if str(number).isdecimal()}
    fits = all(type(number) is int and (number == -1 or number in legend) for number in numbers)
    return legend if fits and len({*legend.values()}) == len(legend) else {}
