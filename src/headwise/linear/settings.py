"""The settings of linear text models that cross-validation chooses, and their candidate values."""

from dataclasses import dataclass
from typing import NamedTuple

from headwise.linear.text_features import Block

STRENGTHS, DENSE = (0.5, 0.15, 1.5, 4.0), (1.0, 0.5, 2.0, 4.0)
"""Candidate values of C and of the length of vectors; the search starts at the first of each."""
PAIR_STRENGTHS, PAIR_DENSE = (0.05, 0.015, 0.15, 0.5), (4.0, 2.0)
"""The same for text pairs: few of their many features matter, and vectors tell most of how they compare."""
STARTS = (1.0, 0.5, 2.0, 0.0)
"""Candidate scales of a previous model, if there is one: its mean absolute score in margins."""
MOST_RATIO_CLASSES = 20
"""Maximum number of labels for which naive Bayes ratios are tried; with 77 and 150 labels they cost 0.9
points."""


@dataclass(frozen=True)
class LinearSettings:
    """The settings that cross-validation chooses.

    Attributes:
        blocks: The feature blocks in use.
        ratios: Whether features are weighted by their naive Bayes log-count ratio.
        strength: The penalty parameter C.
        dense: Length of the dense vectors, relative to word and character blocks of length 1; 0 without
            vectors.
        start: Scale of the previous model in a warm start; 0 without.
        form: Whether surface features are used (see `headwise.linear.form`).
        edges: Whether words also form pairs with the beginning and the end of a text.
    """

    blocks: tuple[Block, ...] = ("words", "characters")
    ratios: bool = True
    strength: float = 0.5
    dense: float = 0.0
    start: float = 0.0
    form: bool = False
    edges: bool = False


class Chosen(NamedTuple):
    """The settings and calibration of a fitted linear model, to fit one like it to other texts.

    Attributes:
        settings: The chosen settings.
        loudness: The calibration factor of its scores.
    """

    settings: LinearSettings
    loudness: float
