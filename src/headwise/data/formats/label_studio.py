"""The export of Label Studio: tasks with their data and annotations in nested objects,

    {"id": 1, "data": {"text": "Tom ran"}, "annotations": [{"result": [{"from_name": "label",
     "value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}

are flattened into objects with the fields of the data and the answer to each annotation control, by its
name, as in Label Studio's export JSON-MIN.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from headwise.data.files.file_source import DataSource, Record, look_ahead


def flatten_tasks(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records with tasks of Label Studio flattened; other records are unchanged."""
    first, records = look_ahead(records, count=1)
    by_path = any(name.startswith(("data.", "annotations.")) for name in source.requested_columns)
    if by_path or not (first and _looks_like_task(first[0].fields)):
        yield from records
        return
    head, records = look_ahead(records)
    tasks = [record.fields for record in head]
    if not (all(map(_looks_like_task, tasks)) and any(map(_has_annotation, tasks))):
        yield from records
        return
    list_controls = _list_controls(head)
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
        yield Record(record.line, {"id": record.fields.get("id"), **moved, **first_answer})
    if apart:
        source.notes.append(f"tasks whose annotations differ, of which the first is read: {apart:,}")


def _looks_like_task(fields: Mapping[str, object]) -> bool:
    """Whether an object has the fields of a task."""
    return isinstance(fields.get("data"), dict) and isinstance(fields.get("annotations"), list)


def _has_annotation(fields: Mapping[str, object]) -> bool:
    """Whether an object with the fields of a task has an annotation with a result, as only tasks have."""
    return any(
        isinstance(annotation, dict) and "result" in annotation
        for annotation in cast(list, fields["annotations"])
    )


def _completed_results(fields: Mapping[str, object]) -> list[list[dict[str, Any]]]:
    """The results of each annotation that was not cancelled, ground truth first."""
    annotations = fields.get("annotations")
    done = (
        [annotation for annotation in annotations if isinstance(annotation, dict)]
        if isinstance(annotations, list)
        else []
    )
    done = [
        annotation
        for annotation in done
        if not annotation.get("was_cancelled") and isinstance(annotation.get("result"), list)
    ]
    done.sort(key=lambda annotation: not annotation.get("ground_truth"))
    return [[part for part in annotation["result"] if isinstance(part, dict)] for annotation in done]


def _list_controls(head: Sequence[Record]) -> dict[str, bool]:
    """The controls of the first tasks, and whether each gives a list: of spans, or of several choices."""
    is_list: dict[str, bool] = {}
    for record in head:
        for result in _completed_results(record.fields):
            for part in result:
                name, (kind, value) = str(part.get("from_name")), _value(part)
                if kind is not None:
                    is_list[name] = is_list.get(name, False) or kind == "labels" or len(value) > 1
    return is_list


def _value(part: Mapping[str, object]) -> tuple[str | None, list[Any]]:
    """The type of a result (None if it is not supported), and its values."""
    value = part.get("value")
    value = value if isinstance(value, dict) else {}
    for kind in ("choices", "labels", "rating", "number"):
        if kind in value:
            values = value[kind] if isinstance(value[kind], list) else [value[kind]]
            return kind, [{**value, "labels": values}] if kind == "labels" else values
    return None, []


def _answers(result: Sequence[Mapping[str, object]], is_list: Mapping[str, bool]) -> dict[str, Any]:
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
