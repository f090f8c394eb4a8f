"""Label Studio's export: a task with its data and its annotations in objects of their own,

    {"id": 1, "data": {"text": "Tom ran"}, "annotations": [{"result": [{"from_name": "label",
     "value": {"start": 0, "end": 3, "labels": ["PER"]}}]}]}

is read as one object with the fields of the data and the answer to each control of the annotator, by its
name, as Label Studio's smaller export (JSON-MIN) has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwise.data.source import Record, Source, look_ahead


def flat(records: Iterator[Record], source: Source) -> Iterator[Record]:
    """Records with the fields of data and answers, where they are tasks; else as they are."""
    first, records = look_ahead(records, count=1)
    asked = any(name.startswith(("data.", "annotations.")) for name in source.asked)
    if asked or not (first and _like_task(first[0].fields)):
        yield from records
        return
    head, records = look_ahead(records)
    tasks = [record.fields for record in head]
    if not (all(map(_like_task, tasks)) and any(map(_annotated, tasks))):
        yield from records
        return
    several = _several(head)
    controls = ", ".join(map(repr, several)) or "none"
    source.notes.append(f"Label Studio's export, read by task; what was annotated: {controls}")
    apart = 0
    for record in records:
        done = _done(record.fields)
        answers = [_answers(own, several) for own in done]
        apart += any(own != answers[0] for own in answers)
        given = answers[0] if answers else dict.fromkeys(several)
        data = record.fields.get("data")
        fields = dict(data) if isinstance(data, dict) else {}
        moved = {f"data.{name}" if name in given else name: value for name, value in fields.items()}
        yield Record(record.line, {"id": record.fields.get("id"), **moved, **given})
    if apart:
        source.notes.append(f"tasks whose annotations differ, of which the first is read: {apart:,}")


def _like_task(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("data"), dict) and isinstance(fields.get("annotations"), list)


def _annotated(fields: Mapping[str, Any]) -> bool:
    """Whether an object that is like a task has a result, as others have not."""
    return any(isinstance(own, dict) and "result" in own for own in fields["annotations"])


def _done(fields: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """The results of each annotation that was not given up, those of the ground truth first."""
    found = fields.get("annotations")
    done = [own for own in found if isinstance(own, dict)] if isinstance(found, list) else []
    done = [own for own in done if not own.get("was_cancelled") and isinstance(own.get("result"), list)]
    done.sort(key=lambda own: not own.get("ground_truth"))
    return [[part for part in own["result"] if isinstance(part, dict)] for own in done]


def _several(head: Sequence[Record]) -> dict[str, bool]:
    """The controls of the first tasks, and whether each gives lists: spans, or any number of choices."""
    several: dict[str, bool] = {}
    for record in head:
        for result in _done(record.fields):
            for part in result:
                name, (kind, value) = str(part.get("from_name")), _value(part)
                if kind is not None:
                    several[name] = several.get(name, False) or kind == "labels" or len(value) > 1
    return several


def _value(part: Mapping[str, Any]) -> tuple[str | None, list[Any]]:
    """The kind of an answer, None of one that is no use here, and what it holds."""
    value = part.get("value")
    value = value if isinstance(value, dict) else {}
    for kind in ("choices", "labels", "rating", "number"):
        if kind in value:
            own = value[kind] if isinstance(value[kind], list) else [value[kind]]
            return kind, [{**value, "labels": own}] if kind == "labels" else own
    return None, []


def _answers(result: Sequence[Mapping[str, Any]], several: Mapping[str, bool]) -> dict[str, Any]:
    """What one annotator said to each control; null for nothing said where one thing is to be."""
    said: dict[str, list[Any]] = {name: [] for name in several}
    for part in result:
        kind, value = _value(part)
        if kind is not None:
            said.setdefault(str(part.get("from_name")), []).extend(value)
    return {
        name: own if several.get(name) or len(own) > 1 else next(iter(own), None)
        for name, own in said.items()
    }
