"""The exports of doccano and DataTurks, and the labels of whole texts of LightTag.

doccano writes the labels or spans of a text as `label`, as `annotations` with numbers of labels and users
(old versions), or as `cats` beside `entities`:

    {"id": 1, "text": "Tom ran", "label": ["SPORT"], "Comments": []}
    {"id": 1, "text": "Tom ran", "annotations": [{"label": 3, "user": 1}], "annotation_approver": null}

DataTurks writes texts as `content` and the ends of spans inclusive:

    {"content": "Tom", "annotation": [{"label": ["P"], "points": [{"start": 0, "end": 2, "text": "Tom"}]}]}
    {"content": "Tom ran", "annotation": {"labels": ["SPORT"]}}

LightTag writes the labels of a text as

    {"content": "Tom ran", "classifications": [{"classname": "SPORT"}]}

Labels of whole texts become the field `label` if no text has two, else the list `labels`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from headwise.core.config import JsonMapping, JsonObject
from headwise.data.columns.file_source import DataSource, Record, look_ahead
from headwise.data.formats.record_fields import Flatten, Rows, list_of, objects_of, without_fields
from headwise.data.formats.unlabelled_records import UnlabelledRecord

DOCCANO, DATATURKS = "doccano's texts without a label", "DataTurks' texts that nobody has annotated"
LIGHTTAG = "LightTag's texts without a label"
_DATA_FIELDS = {"id", "data", "label"}  # of versions 1.3 to 1.6
_DOCCANO_FIELDS = ("Comments", "annotation_approver")  # fields that only doccano writes

_USERS = ("user", "annotator", "annotator_id", "worker", "worker_id", "rater", "user_id", "created_by")

LabelsOf = Callable[[JsonMapping], list[str] | None]
"""Returns the labels of a whole text, None if nobody has annotated it."""


def recognise_doccano(rows: Rows) -> Flatten | None:
    """The reader of labels of whole texts as doccano writes them."""
    layouts = (
        all({*row} == _DATA_FIELDS for row in rows),
        all("text" in row and isinstance(row.get("annotations"), list) for row in rows),
        all("text" in row and any(name in row for name in _DOCCANO_FIELDS) for row in rows),
        all(
            "text" in row and isinstance(row.get("cats"), list) and isinstance(row.get("entities"), list)
            for row in rows
        ),
    )
    labelled = any(map(_doccano_labels, rows)) and all(all(map(_is_label, _parts(row))) for row in rows)
    return _doccano_texts if any(layouts) and labelled else None


def _doccano_texts(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records of doccano with the labels of whole texts."""
    apart = 0
    for record in _with_labels(records, source, _doccano_labels, DOCCANO):
        apart += _users_differ(record.fields)
        yield record
    if apart:
        source.notes.append(f"texts that users label differently, of which the first is read: {apart:,}")


def _parts(fields: JsonMapping) -> list[Any]:
    """The labels of a text, or what stands in their place."""
    name = next((name for name in ("annotations", "cats", "label", "labels") if name in fields), "")
    return list_of(fields.get(name))


def _doccano_labels(fields: JsonMapping) -> list[str] | None:
    """The labels by the first user, where several users have labelled a text."""
    parts = [part for part in _parts(fields) if _is_label(part)]
    users = [_user(part) for part in parts]
    labels = [
        str(part["label"]) if isinstance(part, dict) else part
        for part, user in zip(parts, users, strict=True)
        if user == users[0]
    ]
    return labels or None


def _users_differ(fields: JsonMapping) -> bool:
    """Whether the users of doccano have given a text different labels."""
    labels_of: dict[str, set[str]] = {}
    for part in _parts(fields):
        if isinstance(part, dict) and _is_label(part):
            labels_of.setdefault(str(_user(part)), set()).add(str(part["label"]))
    return len({*map(frozenset, labels_of.values())}) > 1


def _user(part: object) -> object:
    """Who has given a label, by the names that doccano and others have for it."""
    return next((part[name] for name in _USERS if name in part), None) if isinstance(part, dict) else None


def _is_label(part: object) -> bool:
    """Whether a part is a label of a whole text."""
    if isinstance(part, dict):
        return (
            isinstance(part.get("label"), str | int) and "start_offset" not in part and "start" not in part
        )
    return isinstance(part, str)


def recognise_dataturks(rows: Rows) -> Flatten | None:
    """The reader of contents and annotations, spans or labels of whole texts, as DataTurks writes them."""
    if not all(
        "content" in row and isinstance(row.get("annotation", 0), dict | list | None) for row in rows
    ):
        return None
    if any(map(_dataturks_labels, rows)):
        return partial(_with_labels, labels_of=_dataturks_labels, unanswered=DATATURKS)
    return _dataturks_spans if any(map(_points, rows)) else None


def _dataturks_spans(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    source.notes.append("DataTurks' export, with the field 'spans'")
    for record in records:
        spans = [
            {**point, "label": label}
            for part in _points(record.fields)
            for point, label in _labelled_points(part)
        ]
        if not all(span.get("text") for span in spans):
            for span in spans:
                span |= {"end": span["end"] + 1} if type(span.get("end")) is int else {}
        flat = Record(record.line, {**without_fields(record.fields, "annotation"), "spans": spans})
        done = spans or record.fields.get("annotation") == [] or _status(record.fields) == "done"
        yield flat if done else UnlabelledRecord.of(flat, DATATURKS, "not annotated")


def _points(fields: JsonMapping) -> list[JsonObject]:
    return [part for part in objects_of(fields.get("annotation")) if isinstance(part.get("points"), list)]


def _labelled_points(part: JsonMapping) -> list[tuple[JsonObject, Any]]:
    labels = part.get("label")
    labels = labels if isinstance(labels, list) else [labels]
    return [(point, label) for point in objects_of(part["points"]) for label in labels]


def _dataturks_labels(fields: JsonMapping) -> list[str] | None:
    annotation = fields.get("annotation")
    labels = annotation.get("labels", annotation.get("label")) if isinstance(annotation, dict) else None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return None
    return labels or ([] if _status(fields) == "done" else None)


def _status(fields: JsonMapping) -> object:
    metadata = fields.get("metadata")
    return metadata.get("status") if isinstance(metadata, dict) else None


def recognise_lighttag(rows: Rows) -> Flatten | None:
    """The reader of labels of whole texts as LightTag writes them."""
    if not all("classifications" in row for row in rows) or not any(map(_lighttag_labels, rows)):
        return None
    return partial(_with_labels, labels_of=_lighttag_labels, unanswered=LIGHTTAG)


def _lighttag_labels(fields: JsonMapping) -> list[str] | None:
    names = [part.get("classname") for part in objects_of(fields.get("classifications"))]
    return [name for name in names if isinstance(name, str)] or None


def _with_labels(
    records: Iterator[Record], source: DataSource, labels_of: LabelsOf, unanswered: str
) -> Iterator[Record]:
    """The records with the field `label`, or `labels` if a text of the sample has two."""
    head, records = look_ahead(records)
    plural = any(len(labels_of(record.fields) or ()) > 1 for record in head)
    name = "labels" if plural else "label"
    source.notes.append(f"the labels of whole texts are read as {name!r}")
    for record in records:
        labels = labels_of(record.fields)
        answer = (labels or []) if plural else labels[0] if labels and len(labels) == 1 else labels
        flat = Record(record.line, {**record.fields, name: answer})
        answered = labels or (plural and labels is not None)  # done, without a label
        yield flat if answered else UnlabelledRecord.of(flat, unanswered, "no label")
