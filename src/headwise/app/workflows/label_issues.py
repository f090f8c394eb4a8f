"""Label issues: items whose label is likely to be wrong, and what all searches for them share."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from headwise.data.splits.duplicates import find_near_duplicates
from headwise.data.splits.text_signatures import words_for_comparison

COMPARING = "comparing the labels of near-duplicates"
"""The step of `conflicting_duplicates`."""


@dataclass(frozen=True)
class LabelIssue:
    """A text whose label is likely to be wrong.

    Attributes:
        line: Line number in the file.
        label: The label in the file.
        suggested: The most probable other label.
        given_probability: Probability of the label in the file.
        probability: Probability of the suggested label.
        text: The text, as in the file.
        twin: Line number of a near-duplicate with another label; 0 without one.
    """

    line: int
    label: str
    suggested: str
    given_probability: float
    probability: float
    text: str
    twin: int = 0

    noun: ClassVar[str] = "label"

    @property
    def passages(self) -> tuple[str, ...]:
        """The passages to display, the narrowest first."""
        return (self.text,)


def conflicting_duplicates(texts: Sequence[str], answers: Sequence[Hashable]) -> dict[int, int]:
    """For each text that has one, the index of a near-duplicate with another label, label set or number."""
    conflicting = dict[int, int]()
    for number, duplicates in find_near_duplicates([words_for_comparison(text) for text in texts]).items():
        twin = next((place for place in duplicates if answers[place] != answers[number]), None)
        if twin is not None:
            conflicting[number] = twin
    return conflicting


def unlikely_duplicates(
    duplicates_of: Mapping[int, int], listed: Collection[int], probabilities: Mapping[int, float]
) -> list[int]:
    """The less probable text of each pair of conflicting duplicates, the least probable first: at least one
    label of the pair is wrong. Pairs with a text that is listed anyway are left out.

    Args:
        duplicates_of: See `conflicting_duplicates`.
        listed: The texts that are listed anyway.
        probabilities: Probability of the label of each text, by index.
    """
    listed_texts = set(listed)
    pairs = (pair for pair in duplicates_of.items() if listed_texts.isdisjoint(pair))
    less_likely = dict.fromkeys(
        min(pair, key=lambda number: (probabilities[number], -number)) for pair in pairs
    )
    return sorted(less_likely, key=probabilities.__getitem__)


def without_given(probabilities: NDArray[np.float64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probabilities with -1 for the given label of each item."""
    remaining = probabilities.copy()
    remaining[np.arange(len(targets)), targets] = -1.0
    return remaining
