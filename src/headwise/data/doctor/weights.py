"""The doctor's check of item weights."""

from collections.abc import Iterator

from headwise.data.diagnosis import Finding
from headwise.data.doctor.file import File
from headwise.data.shares import counting

WORTH = 0.5
"""Least effective number of items, as a share of the items with a weight above 0."""
NOTHING = 0.1
"""Largest share of items with the weight 0."""


def lopsided(file: File) -> Iterator[Finding]:
    """Weights where few items dominate, or many are 0: the column may hold the weight of goods."""
    if not file.training or not file.items:
        return
    count, worth = counting(file.items)
    nothing, problems = len(file.items) - count, list[str]()
    if worth < WORTH * count:
        problems.append(f"{file.count(count)} tell as much as {worth:,.0f} of equal weight")
    if nothing > NOTHING * len(file.items):
        problems.append(f"nothing is learnt from {file.count(nothing)} ({nothing / len(file.items):.1%})")
    if problems:
        message = f"by the weights in column {file.data.columns.weight!r} {', and '.join(problems)}"
        fix = "if that column is of something else, such as grams, --weight-column none passes it over"
        yield Finding("warning", "HW172", message, (file.data.path,), fix)
