"""Training data of spaCy: a list of a text and what is known of it,

    ["Tom ran", {"entities": [[0, 3, "PER"]], "cats": {"SPORT": 1.0, "POLITICS": 0.0}}]

or an object with the text as a field. Its `cats` are read as a `label` where each text has exactly one, as
a list of `labels` where they may have any number, and as a column for each label where they are
probabilities.
"""

from collections.abc import Iterator, Mapping

from headwise.data.source import Record, Source, look_ahead

_CATS = "cats"


def fields_of(row: object) -> object:
    """What is known of a text and the text itself, as one object; anything else as it is."""
    if isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict):
        return {"text": row[0], **row[1]}
    return row


def flat(records: Iterator[Record], source: Source) -> Iterator[Record]:
    """Records with the answers of their `cats`, where they have any, beside these: who predicts gives all
    fields back."""
    first, records = look_ahead(records, count=1)
    if not first or not isinstance(first[0].fields.get(_CATS), dict):
        yield from records
        return
    head, records = look_ahead(records)
    cats = [_cats(record.fields) for record in head]
    known = list(dict.fromkeys(name for own in cats for name in own or ()))
    names = {name for record in head for name in record.fields}
    if None in cats or not known or names & {"label", "labels", *known}:
        yield from records
        return
    sure = all(value in (0, 1) for own in cats for value in (own or {}).values())
    one = sure and all(sum((own or {}).values()) == 1 for own in cats)
    told = "'label'" if one else "'labels'" if sure else "a column for each label"
    source.notes.append(f"spaCy's {_CATS!r} are read as {told}")
    for record in records:
        fields = dict(record.fields)
        own = _cats(fields)
        if own is not None:
            given = [name for name, value in own.items() if value == 1]
            if one:
                fields["label"] = given[0] if len(given) == 1 else given
            elif sure:
                fields["labels"] = given
            else:
                fields |= dict.fromkeys(known, 0.0) | own
        yield Record(record.line, fields)


def _cats(fields: Mapping[str, object]) -> dict[str, float] | None:
    """The labels of a text with their numbers, none where nothing is said; None for something else."""
    own = fields.get(_CATS, {})
    if not isinstance(own, dict) or any(
        not isinstance(value, int | float) or not 0 <= value <= 1 for value in own.values()
    ):
        return None
    return {name: float(value) for name, value in own.items()}
