"""The export of Prodigy: one object per task, with the decision of the annotator,

    {"text": "Tom", "spans": [{"start": 0, "end": 3, "label": "PER"}], "_task_hash": 1, "answer": "accept"}
    {"text": "Tom ran", "label": "SPORT", "_task_hash": 1, "answer": "reject"}
    {"text": "Tom", "options": [{"id": "SPORT"}], "accept": ["SPORT"], "_task_hash": 1, "answer": "accept"}

An accepted task without the field `spans` has no spans. Tasks that were rejected or ignored have no answer,
but one: where a single label is asked for, texts that were rejected do not have it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from headwise.data.columns.file_source import DataSource, Record
from headwise.data.formats.record_fields import Flatten, Rows
from headwise.data.formats.unlabelled_records import UnlabelledRecord

NAME = "Prodigy's tasks that were not accepted"
_FIELDS = ("_task_hash", "_input_hash")  # fields that only Prodigy writes
_NOT_ACCEPTED = ("reject", "ignore")
_DECIDED = ("label", "spans", "accept", "options")  # fields of which one stands beside the answer


def is_task(fields: Mapping[str, object]) -> bool:
    """Whether an object is a task of Prodigy, perhaps without its hashes."""
    if any(name in fields for name in _FIELDS):
        return True
    decided = fields.get("answer") in ("accept", *_NOT_ACCEPTED)
    return decided and any(name in fields for name in _DECIDED)


def recognise(rows: Rows) -> Flatten | None:
    """The reader of the tasks of Prodigy, if any object is one."""
    tasks = [*filter(is_task, rows)]
    return partial(_decided_tasks, tasks=tasks) if tasks else None


def _decided_tasks(
    records: Iterator[Record], source: DataSource, tasks: Sequence[Mapping[str, object]]
) -> Iterator[Record]:
    """The records, with tasks marked that have no answer, and with the label of tasks of one choice, as the
    first `tasks` say."""
    label_column = source.options.label_column
    label, single = _only_label(tasks), _has_single_choices(tasks)
    if label and label_column in (None, "label"):
        negative = f"not {label}"
        source.notes.append(f"Prodigy's answers: 'accept' is the label {label!r}, 'reject' is {negative!r}")
    for record in records:
        fields = record.fields
        answer, choices = fields.get("answer"), fields.get("accept")
        if not is_task(fields):
            yield record
            continue
        if single and isinstance(choices, list):
            record = Record(record.line, {**fields, "label": choices[0] if choices else None})
        if answer not in _NOT_ACCEPTED or (label_column == "answer" and answer == "reject"):
            unchosen = single and choices == []
            yield UnlabelledRecord.of(record, "Prodigy's tasks", "nothing chosen") if unchosen else record
            continue
        refuted = label and answer == "reject" and label_column in (None, "label")
        negative_fields = {**fields, "label": f"not {label}"} if refuted else None
        yield UnlabelledRecord.of(record, NAME, repr(answer), negative_fields)


def _only_label(tasks: Sequence[Mapping[str, object]]) -> str | None:
    """The label of tasks that ask for the same label of whole texts, some accepted and some rejected; None
    of other tasks."""
    labels = {
        repr(task.get("label")): task.get("label") for task in tasks if task.get("answer") != "ignore"
    }
    label = next(iter(labels.values())) if len(labels) == 1 else None
    answers = [task.get("answer") for task in tasks]
    decided = "accept" in answers and "reject" in answers
    choice = any(name in task for task in tasks for name in ("options", "accept"))
    return label if isinstance(label, str) and label and decided and not choice else None


def _has_single_choices(tasks: Sequence[Mapping[str, object]]) -> bool:
    """Whether tasks offer choices of which one is right, and have no label of their own."""
    choices = [task["accept"] for task in tasks if isinstance(task.get("accept"), list)]
    if not choices or any("label" in task for task in tasks):
        return False
    configs = [config for task in tasks if isinstance(config := task.get("config"), dict)]
    styles = [style for config in configs if isinstance(style := config.get("choice_style"), str)]
    if any(isinstance(chosen, list) and len(chosen) > 1 for chosen in choices) or "multiple" in styles:
        return False
    return "single" in styles or not styles
