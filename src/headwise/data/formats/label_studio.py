"""The export of Label Studio: tasks with their data and annotations in nested objects,

    {"id": 1, "data": {"text": "Tom ran"}, "annotations": [{"result": [{"from_name": "label",
     "value": {"start": 0, "end": 3, "text": "Tom", "labels": ["PER"]}}]}]}

are flattened into objects with the fields of the data and the answer to each annotation control, by its
name, as in Label Studio's export JSON-MIN. (Older versions call annotations completions.)

Tasks without an annotation, and those whose annotations are all cancelled, have no answer. An annotation
without spans is one: the text has none.

In the exports JSON-MIN and CSV, which have a field for each control, several choices, taxonomies, ratings
and numbers are objects,

    {"id": 1, "text": "Tom ran", "topic": {"choices": ["a", "b"]}, "annotation_id": 1, "lead_time": 2.5}

and become values or lists, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from headwise.core.config import JsonMapping, JsonObject
from headwise.data.columns.cell_values import parse_cell
from headwise.data.columns.file_source import DataSource, Record, look_ahead
from headwise.data.formats.record_fields import Flatten, Rows, objects_of
from headwise.data.formats.unlabelled_records import UnlabelledRecord

NAME = "Label Studio's tasks without an annotation"
_ANNOTATIONS = ("annotations", "completions")
_SPANS = ("labels", "hypertextlabels")
_START = "start"  # of a region, of which choices may be asked, too
_VALUES = ("choices", *_SPANS, "taxonomy", "rating", "number", "selected")
"""The supported values of a result."""


def recognise(rows: Rows) -> Flatten | None:
    """The reader of tasks, if any has an annotation or a prediction with a result."""
    annotated = all(map(_looks_like_task, rows)) and any(map(_has_result, rows))
    return partial(_flatten_tasks, list_controls=_list_controls(rows)) if annotated else None


def _flatten_tasks(
    records: Iterator[Record], source: DataSource, list_controls: Mapping[str, bool]
) -> Iterator[Record]:
    """The records with tasks of Label Studio flattened."""
    controls = ", ".join(map(repr, list_controls)) or "none"
    source.notes.append(f"Label Studio's export, read by task; what was annotated: {controls}")
    apart = 0
    for record in records:
        done = _completed_results(record.fields)
        answers = [_answers(result, list_controls) for result in done]
        apart += any(answer != answers[0] for answer in answers)
        first_answer = answers[0] if answers else dict.fromkeys(list_controls)
        data = record.fields.get("data")
        fields = dict(data) if isinstance(data, dict) else {}
        moved = {f"data.{name}" if name in first_answer else name: value for name, value in fields.items()}
        flat = Record(record.line, {"id": record.fields.get("id"), **moved, **first_answer})
        reason = _reason(record.fields, first_answer, done)
        yield UnlabelledRecord.of(flat, NAME, reason) if reason else flat
    if apart:
        source.notes.append(f"tasks whose annotations differ, of which the first is read: {apart:,}")


def _reason(
    fields: Mapping[str, object], answer: Mapping[str, object], done: Sequence[Sequence[JsonObject]]
) -> str:
    """Why a task has no answer; "" if it has one."""
    if done:
        if any(value is not None for value in answer.values()):
            return ""
        kinds = sorted({str(part.get("type")) for part in done[0]} - {"None"})
        return f"annotated with {' and '.join(kinds)}, which is not read" if kinds else "empty annotation"
    if _annotations(fields):
        return "cancelled"
    return "predicted only" if fields.get("predictions") else "not annotated"


def _annotations(fields: Mapping[str, object]) -> list[JsonObject]:
    return objects_of(next((fields[name] for name in _ANNOTATIONS if name in fields), None))


def _looks_like_task(fields: Mapping[str, object]) -> bool:
    annotated = any(isinstance(fields.get(name), list) for name in _ANNOTATIONS)
    return isinstance(fields.get("data"), dict) and annotated


def _has_result(fields: Mapping[str, object]) -> bool:
    """Whether an object with the fields of a task has an annotation or a prediction with a result."""
    predicted = objects_of(fields.get("predictions"))
    return any("result" in annotation for annotation in (*_annotations(fields), *predicted))


def _completed_results(fields: Mapping[str, object]) -> list[list[JsonObject]]:
    """The results of each annotation that was not cancelled, ground truth first."""
    done = [
        annotation
        for annotation in _annotations(fields)
        if not annotation.get("was_cancelled") and isinstance(annotation.get("result"), list)
    ]
    done.sort(key=lambda annotation: not annotation.get("ground_truth"))
    return [objects_of(annotation["result"]) for annotation in done]


def _list_controls(rows: Rows) -> dict[str, bool]:
    """The controls of the first tasks, and whether each gives a list: of spans, or of several choices."""
    is_list: dict[str, bool] = {}
    for row in rows:
        for result in _completed_results(row):
            for part in result:
                name, (kind, value) = str(part.get("from_name")), _value(part)
                if kind is not None:
                    is_list[name] = is_list.get(name, False) or kind in _SPANS or len(value) > 1
    return is_list


def _value(part: Mapping[str, object]) -> tuple[str | None, list[Any]]:
    """The type of a result (None if it is not supported, or says something of a region), and its values."""
    value = part.get("value")
    return _values(value) if isinstance(value, dict) else (None, [])


def _taxonomy_names(paths: Sequence[Any]) -> list[Any]:
    """The names of paths in a taxonomy: the names of their parts with `/` between them."""
    return ["/".join(map(str, path)) if isinstance(path, list) else path for path in paths]


def _values(value: JsonMapping) -> tuple[str | None, list[Any]]:
    for kind in _VALUES:
        if kind in value and (kind in _SPANS or _START not in value):
            values = value[kind] if isinstance(value[kind], list) else [value[kind]]
            if kind in _SPANS:
                return kind, [_region(value, values)]
            if kind == "taxonomy":
                values = _taxonomy_names(values)
            return kind, values
    return None, []


def _region(value: JsonMapping, labels: list[Any]) -> JsonObject:
    """A span of text. Regions of HTML have their offsets in the whole text aside."""
    offsets = value.get("globalOffsets")
    return {**value, **(offsets if isinstance(offsets, dict) else {}), "labels": labels}


def _answers(result: Sequence[Mapping[str, object]], is_list: Mapping[str, bool]) -> JsonObject:
    """The answers of one annotation by control: a list, a single value, or None if there is none."""
    answers: dict[str, list[Any]] = {name: [] for name in is_list}
    for part in result:
        kind, value = _value(part)
        if kind is not None:
            answers.setdefault(str(part.get("from_name")), []).extend(value)
    return {
        name: values if is_list.get(name) or len(values) > 1 else next(iter(values), None)
        for name, values in answers.items()
    }


_ROW_FIELDS = ("annotation_id", "annotator", "lead_time")  # that every row has


def is_row(fields: Mapping[str, object]) -> bool:
    """Whether an object has the fields of a row of JSON-MIN or CSV."""
    return all(name in fields for name in _ROW_FIELDS)


def recognise_rows(rows: Rows) -> Flatten | None:
    """The reader of rows of JSON-MIN or CSV."""
    return flatten_rows if rows and all(map(is_row, rows)) else None


def flatten_rows(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records with plain values in place of objects: lists in fields where any has several. A row is an
    annotation: a field of spans that it lacks or leaves empty holds none."""
    head, records = look_ahead(records)
    of_spans = {name for record in head for name, cell in record.fields.items() if _is_span_list(cell)}
    answers = [
        (name, values)
        for record in head
        for name, cell in record.fields.items()
        if (values := _row_answers(cell)) is not None
    ]
    is_list = {name: False for name, _ in answers}
    for name, values in answers:
        is_list[name] |= len(values) > 1
    if is_list:
        source.notes.append(f"Label Studio's export; what was annotated: {', '.join(map(repr, is_list))}")
    for record in records:
        fields = {
            name: _plain(cell, as_list=is_list[name]) if name in is_list else cell
            for name, cell in record.fields.items()
        }
        if fields.get("annotation_id") not in (None, ""):
            fields |= {name: [] for name in of_spans if fields.get(name) in (None, "")}
        yield record._replace(fields=fields)


def _is_span_list(cell: object) -> bool:
    parts = parse_cell(cell)
    return (
        isinstance(parts, list)
        and bool(parts)
        and all(isinstance(part, dict) and _values(part)[0] in _SPANS for part in parts)
    )


def _plain(cell: object, *, as_list: bool) -> object:
    values = _row_answers(cell)
    if values is None:
        values = [] if cell in (None, "") else [cell]
    return values if as_list or len(values) > 1 else next(iter(values), None)


def _row_answers(cell: object) -> list[object] | None:
    """The values of an object, of a list of objects or of paths in a taxonomy, as a control gave them; None
    of other cells, also of lists of spans."""
    parsed = parse_cell(cell)
    parts = parsed if isinstance(parsed, list) else [parsed]
    if parts and all(
        isinstance(part, list) and all(isinstance(name, str) for name in part) for part in parts
    ):
        return _taxonomy_names(parts)
    answers = [_values(part) for part in objects_of(parts)]
    return [value for kind, values in answers if kind not in _SPANS for value in values] or None
