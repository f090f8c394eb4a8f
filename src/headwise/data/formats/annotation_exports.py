"""The export of Label Studio: tasks with their data and annotations in nested objects,

    {"id": 1, "data": {"text": "Tom ran"}, "annotations": [{"result": [{"from_name": "label",
     "value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}

are flattened into objects with the fields of the data and the answer to each annotation control, by its
name, as in Label Studio's export JSON-MIN.

The export of Prodigy: one object per task, with the decision of the annotator,

    {"text": "Tom ran", "label": "SPORT", "_input_hash": 1, "_task_hash": 2, "answer": "accept"}

The label, choices or spans are valid only if the task was accepted; rejected tasks have them, too.

Training data of spaCy: a list of a text and its annotations,

    ["Tom ran", {"entities": [[0, 3, "PER"]], "cats": {"SPORT": 1.0, "POLITICS": 0.0}}]

or an object with the text as a field. `cats` becomes the field `label` if each text has exactly one label,
a list `labels` if texts have any number of labels, and one field per label if its values are probabilities.
"""

from collections import Counter
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


_PRODIGY_FIELDS = ("_task_hash", "_input_hash")  # fields that only Prodigy writes
_NOT_ACCEPTED = ("reject", "ignore")


def accepted_tasks(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records without tasks of Prodigy that were rejected or ignored, whose number goes into a note.

    Raises:
        DataError: HW103, no task was accepted.
    """
    refused: Counter[str] = Counter()
    any_accepted = False
    for record in records:
        answer = record.fields.get("answer")
        if answer in _NOT_ACCEPTED and any(mark in record.fields for mark in _PRODIGY_FIELDS):
            refused[answer] += 1
        else:
            any_accepted = True
            yield record
    if refused:
        counts = ", ".join(f"{answer!r} {refused[answer]:,}" for answer in _NOT_ACCEPTED if refused[answer])
        if not any_accepted:
            problem = f"none of Prodigy's tasks was accepted: {counts}"
            raise source.error("HW103", problem, expected="tasks whose 'answer' is 'accept'")
        source.notes.append(f"Prodigy's tasks that were not accepted, left out: {counts}")


_CATS = "cats"


def fields_of(row: object) -> object:
    """The text and its annotations as one object; other values are unchanged."""
    if isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict):
        return {"text": row[0], **row[1]}
    return row


def flatten_cats(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records with fields for the labels in `cats` added, if they have any; `cats` stays, as prediction
    writes all fields back."""
    first, records = look_ahead(records, count=1)
    if not first or not isinstance(first[0].fields.get(_CATS), dict):
        yield from records
        return
    head, records = look_ahead(records)
    cats = [_label_scores(record.fields) for record in head]
    label_names = list(dict.fromkeys(name for scores in cats for name in scores or ()))
    names = {name for record in head for name in record.fields}
    if None in cats or not label_names or names & {"label", "labels", *label_names}:
        yield from records
        return
    sure = all(value in (0, 1) for scores in cats for value in (scores or {}).values())
    one = sure and all(sum((scores or {}).values()) == 1 for scores in cats)
    target = "'label'" if one else "'labels'" if sure else "a column for each label"
    source.notes.append(f"spaCy's {_CATS!r} are read as {target}")
    for record in records:
        fields = dict(record.fields)
        scores = _label_scores(fields)
        if scores is not None:
            labels = [name for name, value in scores.items() if value == 1]
            if one:
                fields["label"] = labels[0] if len(labels) == 1 else labels
            elif sure:
                fields["labels"] = labels
            else:
                fields |= dict.fromkeys(label_names, 0.0) | scores
        yield Record(record.line, fields)


def _label_scores(fields: Mapping[str, object]) -> dict[str, float] | None:
    """The labels of a text with their scores, {} if there are none; None for an invalid `cats`."""
    scores = fields.get(_CATS, {})
    if not isinstance(scores, dict) or any(
        not isinstance(value, int | float) or not 0 <= value <= 1 for value in scores.values()
    ):
        return None
    return {name: float(value) for name, value in scores.items()}
