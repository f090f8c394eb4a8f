"""The doctor's check of how much texts count."""

from collections.abc import Iterator

from headwise.data.diagnosis import Finding
from headwise.data.doctor.file import File
from headwise.data.shares import counting

WORTH = 0.5
"""Of those that count, what texts are worth at least, in texts that all count the same."""
NOTHING = 0.1
"""The share of texts that may count nothing."""


def lopsided(file: File) -> Iterator[Finding]:
    """Weights of which few decide, or many are 0: a column of this name may hold the weight of goods."""
    if not file.training or not file.items:
        return
    count, worth = counting(file.items)
    nothing, found = len(file.items) - count, list[str]()
    if worth < WORTH * count:
        found.append(f"{file.count(count)} tell as much as {worth:,.0f} of equal weight")
    if nothing > NOTHING * len(file.items):
        found.append(f"nothing is learnt from {file.count(nothing)} ({nothing / len(file.items):.1%})")
    if found:
        message = f"by the weights in column {file.data.columns.weight!r} {', and '.join(found)}"
        fix = "if that column is of something else, such as grams, --weight-column none passes it over"
        yield Finding("warning", "HW172", message, (file.data.path,), fix)
