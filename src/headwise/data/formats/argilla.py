"""The exports of Argilla.

Version 1 writes a record with its annotation (null where nobody has annotated it) and its status,

    {"text": "Tom ran", "prediction": null, "annotation": "SPORT", "status": "Validated"}
    {"text": "Tom ran", "tokens": ["Tom", "ran"], "annotation": [["PER", 0, 3]], "status": "Validated"}

version 2 fields, and the responses of each annotator to each question,

    {"status": "completed", "fields": {"text": "Tom ran"}, "responses": {"topic": [{"value": "SPORT"}]}}
    {"fields": {"text": "Tom ran"}, "responses": [{"values": {"topic": {"value": "SPORT"}}}]}

or, as a data set of Hugging Face, both flattened: `"topic.responses": ["SPORT"]`, or (feedback data sets)
`"topic": [{"user_id": "7", "value": "SPORT", "status": "submitted"}]`.

The answer to a question becomes a field of its name. Of several responses the first submitted one counts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, TypeGuard

from headwise.core.config import JsonMapping
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.formats.record_fields import Flatten, Rows, list_of, objects_of
from headwise.data.formats.unlabelled_records import UnlabelledRecord

NAME = "Argilla's records without an answer"
_RESPONSES = ".responses"
_STATUSES = ("default", "edited", "validated", "discarded")  # of version 1
_SUBMITTED = ("submitted", "completed", "", None)
_UNDONE = ("draft", "pending", "discarded")


def recognise(rows: Rows) -> Flatten | None:
    """The reader of the records of Argilla, of either version."""
    if rows and all("annotation" in row and str(row.get("status")).lower() in _STATUSES for row in rows):
        return _annotated_records
    for looks_like, responses_of in _RESPONSES_OF.items():
        if rows and all(map(looks_like, rows)):
            questions = [*dict.fromkeys(question for row in rows for question in responses_of(row))]
            return partial(_answered_records, responses_of=responses_of, questions=questions)
    return None


def _annotated_records(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    source.notes.append("Argilla's records, with the field 'annotation' for the answer")
    return map(_annotated, records)


def _answered_records(
    records: Iterator[Record], source: DataSource, responses_of: "_ResponsesOf", questions: Sequence[str]
) -> Iterator[Record]:
    """The records with a field for each question, and marked if they have no answer."""
    source.notes.append(f"Argilla's records, with the answers {', '.join(map(repr, questions)) or 'none'}")
    apart = 0
    for record in records:
        values = {name: _submitted(responses) for name, responses in responses_of(record.fields).items()}
        apart += any(value != submitted[0] for submitted in values.values() for value in submitted)
        answers = {name: next(iter(values.get(name, ())), None) for name in questions}
        inner = record.fields.get("fields")
        fields = {"id": record.fields.get("id"), **inner} if isinstance(inner, dict) else record.fields
        flat = Record(record.line, {**fields, **answers})
        status = str(record.fields.get("status") or "").lower()
        if status == "discarded" or all(answer is None for answer in answers.values()):
            reason = status if status in _UNDONE else "no response"
            yield UnlabelledRecord.of(flat, NAME, reason)
        else:
            yield flat
    if apart:
        source.notes.append(f"records whose responses differ, of which the first is read: {apart:,}")


def _annotated(record: Record) -> Record:
    """A record of version 1 with its text, marked if it has no answer."""
    fields, inputs = record.fields, record.fields.get("inputs")
    if not isinstance(fields.get("text"), str) and isinstance(inputs, dict):
        fields = {**fields, **({"text": next(iter(inputs.values()))} if len(inputs) == 1 else inputs)}
    elif not isinstance(fields.get("text"), str) and isinstance(inputs, str):
        fields = {**fields, "text": inputs}
    status, annotation = str(fields["status"]).lower(), fields["annotation"]
    has_tokens = isinstance(fields.get("tokens"), list)
    if annotation is None and status == "validated" and has_tokens:
        fields = {**fields, "annotation": []}
    elif annotation in (None, "") or status == "discarded" or (not annotation and status == "default"):
        reason = "discarded" if status == "discarded" else "not annotated"
        return UnlabelledRecord.of(Record(record.line, fields), NAME, reason)
    return Record(record.line, fields)


def _has_responses(fields: Mapping[str, object]) -> bool:
    responses = fields.get("responses")
    if not isinstance(fields.get("fields"), dict):
        return False
    return isinstance(responses, dict) or _are_by_user(responses)


def _are_by_user(responses: object) -> TypeGuard[list[dict[str, Any]]]:
    """Whether responses are a list of users, each with answers by question."""
    return isinstance(responses, list) and all(
        isinstance(response, dict) and isinstance(response.get("values"), dict) for response in responses
    )


def _nested_responses(fields: Mapping[str, object]) -> dict[str, list[Any]]:
    responses = fields.get("responses")
    answers: dict[str, list[Any]] = {}
    if _are_by_user(responses):
        for response in responses:
            for name, answer in response["values"].items():
                value = answer.get("value") if isinstance(answer, dict) else None
                answers.setdefault(name, []).append({"value": value, "status": response.get("status")})
    elif isinstance(responses, dict):
        answers = {name: values for name, values in responses.items() if isinstance(values, list)}
    return {
        name: [part for part in objects_of(parts) if "value" in part] for name, parts in answers.items()
    }


def _has_response_columns(fields: Mapping[str, object]) -> bool:
    """Whether an object has a field of responses to a question."""
    return any(name.endswith(_RESPONSES) for name in fields)


def is_table_of_responses(fields: Mapping[str, object]) -> bool:
    """Whether an object has a field of responses to a question, or of suggestions beside it."""
    return _has_response_columns(fields) or _has_suggestion_columns(fields)


def _column_responses(fields: Mapping[str, object]) -> dict[str, list[Any]]:
    responses: dict[str, list[Any]] = {}
    for name, values in fields.items():
        if name.endswith(_RESPONSES):
            pairs = zip_longest(list_of(values), list_of(fields.get(f"{name}.status")))
            responses[name.removesuffix(_RESPONSES)] = [
                {"value": value, "status": status} for value, status in pairs
            ]
    return responses


def _has_suggestion_columns(fields: Mapping[str, object]) -> bool:
    return any(f"{name}-suggestion" in fields for name in fields)


def _user_responses(fields: Mapping[str, object]) -> dict[str, list[Any]]:
    return {
        name: values
        for name, values in fields.items()
        if isinstance(values, list)
        and f"{name}-suggestion" in fields
        and all(isinstance(value, dict) and "value" in value for value in values)
    }


_ResponsesOf = Callable[[Mapping[str, object]], dict[str, list[Any]]]

_RESPONSES_OF: dict[Callable[[Mapping[str, object]], bool], _ResponsesOf] = {
    _has_responses: _nested_responses,
    _has_response_columns: _column_responses,
    _has_suggestion_columns: _user_responses,
}


def _submitted(responses: Sequence[JsonMapping]) -> list[Any]:
    """The values of the responses that were submitted."""
    return [
        response["value"]
        for response in responses
        if response.get("status") in _SUBMITTED and response["value"] is not None
    ]
