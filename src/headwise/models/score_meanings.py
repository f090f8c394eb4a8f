"""What the rows of a table of scores mean, for the page of a report."""

from collections.abc import Iterable

MEANINGS = {
    "accuracy": "share of right predictions",
    "model ahead by": "difference from the comparison system on the same texts, with its interval; if that "
    "holds 0, the texts do not tell which is better",
    "macro F1": "mean of the F1 of all labels: rare ones count as much as frequent ones",
    "micro F1": "F1 of all pairs of a text and a label: frequent labels count most",
    "F1 of spans": "a span counts if its type and both ends are right",
    "all labels right": "share of texts with exactly the right set of labels",
    "log loss": "mean of -log of the probability that the truth was given; lower is better",
    "calibration error": "mean distance of probabilities from the share of right predictions",
    "unknown words": "share of words that neither the training texts nor the pretrained vectors have",
}
"""The meaning of a row by its title."""


def meanings_of(titles: Iterable[str]) -> str:
    """A line for each title that has a meaning; "" if none has."""
    return "\n".join(f"{title}: {MEANINGS[title]}" for title in titles if title in MEANINGS)
