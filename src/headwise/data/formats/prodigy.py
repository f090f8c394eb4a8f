"""The export of Prodigy: one object per task, with the decision of the annotator,

    {"text": "Tom ran", "label": "SPORT", "_input_hash": 1, "_task_hash": 2, "answer": "accept"}

The label, choices or spans are valid only if the task was accepted; rejected tasks have them, too.
"""

from collections import Counter
from collections.abc import Iterator

from headwise.data.files.file_source import DataSource, Record

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
