"""Training data of spaCy: a list of a text and its annotations,

    ["Tom ran", {"entities": [[0, 3, "PER"]], "cats": {"SPORT": 1.0, "POLITICS": 0.0}}]

or an object with the text as a field. `cats` becomes the field `label` if each text has exactly one label,
a list `labels` if texts have any number of labels, and one field per label if its values are probabilities.

The JSON format of spaCy 2 has documents of paragraphs of sentences; each sentence becomes an object with
lists of tokens and tags, or, if it has none, each paragraph one with its text and `cats`:

    {"id": 0, "paragraphs": [{"raw": "Tom", "sentences": [{"tokens": [{"orth": "Tom", "ner": "U-PER"}]}]}]}
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress

from headwise.data.columns.file_source import DataSource, Record, look_ahead
from headwise.data.formats.record_fields import Flatten, Rows, objects_of

_CATS = "cats"


def fields_of(row: object) -> object:
    """A text, perhaps with its annotations, as one object; other values are unchanged. A text that is a
    JSON object, which was written twice, is that object."""
    if isinstance(row, str):
        with suppress(ValueError, RecursionError):
            if row.lstrip().startswith('{"') and isinstance(value := json.loads(row), dict):
                return value
        return {"text": row}
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


_PARAGRAPHS = "paragraphs"
_MISSING = ("-", "", None)  # tags that spaCy does not know
_TAGS = {"ner": "ner_tags", "tag": "pos_tags", "dep": "dep"}


def recognise_paragraphs(rows: Rows) -> Flatten | None:
    """The reader of documents of spaCy 2."""
    documents = [any("sentences" in part for part in objects_of(row.get(_PARAGRAPHS))) for row in rows]
    return _sentences if documents and all(documents) else None


def _sentences(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The sentences of documents of spaCy 2, or their paragraphs if tokens have no tags."""
    source.notes.append("documents of spaCy 2, read by sentence, or by paragraph where tokens have no tags")
    for record in records:
        for paragraph in objects_of(record.fields.get(_PARAGRAPHS)):
            tagged = False
            for sentence in objects_of(paragraph.get("sentences")):
                tokens = objects_of(sentence.get("tokens"))
                tags = {
                    name: [None if token.get(key) in _MISSING else token[key] for token in tokens]
                    for key, name in _TAGS.items()
                    if any(token.get(key) not in _MISSING for token in tokens)
                }
                if tags:
                    tagged = True
                    yield Record(record.line, {"tokens": [token.get("orth") for token in tokens], **tags})
            if not tagged:
                cats = {str(cat.get("label")): cat.get("value") for cat in objects_of(paragraph.get(_CATS))}
                yield Record(record.line, {"text": paragraph.get("raw"), _CATS: cats})
