"""Prodigy's export: an object for each task, with what its annotator answered to it,

    {"text": "Tom ran", "label": "SPORT", "_input_hash": 1, "_task_hash": 2, "answer": "accept"}

Only of what was accepted do label, choices or spans hold; what was rejected has them, too.
"""

from collections import Counter
from collections.abc import Iterator

from headwise.data.source import Record, Source

_MARKS = ("_task_hash", "_input_hash")  # no other writes them
_REFUSED = ("reject", "ignore")


def accepted(records: Iterator[Record], source: Source) -> Iterator[Record]:
    """Records without those of Prodigy that an annotator rejected or ignored; how many is told.

    Raises:
        DataError: HW103, all of them were.
    """
    refused: Counter[str] = Counter()
    kept = False
    for record in records:
        answer = record.fields.get("answer")
        if answer in _REFUSED and any(mark in record.fields for mark in _MARKS):
            refused[answer] += 1
        else:
            kept = True
            yield record
    if refused:
        told = ", ".join(f"{answer!r} {refused[answer]:,}" for answer in _REFUSED if refused[answer])
        if not kept:
            found = f"none of Prodigy's tasks was accepted: {told}"
            raise source.error("HW103", found, expected="tasks whose 'answer' is 'accept'")
        source.notes.append(f"Prodigy's tasks that were not accepted, left out: {told}")
