"""What is told of an answer that is likely to be wrong, and texts alike with other answers."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from headwise.data.near import near_texts, words_of


@dataclass(frozen=True)
class Suspect:
    """A text whose label is likely to be wrong.

    Attributes:
        line: Of the file.
        label: As given.
        suggested: The most probable other label.
        given_probability: Of the given label.
        probability: Of the suggested one.
        text: As it stands in the file.
        twin: The line of the same or nearly the same text with another label; 0 where there is none.
    """

    line: int
    label: str
    suggested: str
    given_probability: float
    probability: float
    text: str
    twin: int = 0


def twins_of(texts: Sequence[str], answers: Sequence[Hashable]) -> dict[int, int]:
    """Of each text that has one, another that is the same or nearly so, but has another answer."""
    twins = dict[int, int]()
    for number, duplicates in near_texts([words_of(text) for text in texts]).items():
        twin = next((place for place in duplicates if answers[place] != answers[number]), None)
        if twin is not None:
            twins[number] = twin
    return twins


def unlikely_twins(
    twins: Mapping[int, int], doubtful: Collection[int], likely: Mapping[int, float]
) -> list[int]:
    """Of each text and its twin (see `twins_of`) the one whose answer is less likely, the least likely
    first: of two answers to one text at least one is wrong, whatever a model thinks. Not where one of them
    is doubtful anyway."""
    doubtful_rows = set(doubtful)
    pairs = (pair for pair in twins.items() if doubtful_rows.isdisjoint(pair))
    less_likely = dict.fromkeys(min(pair, key=lambda number: (likely[number], -number)) for pair in pairs)
    return sorted(less_likely, key=likely.__getitem__)
