"""What cross-validation chooses for a linear model of texts, and which values are tried."""

from dataclasses import dataclass
from typing import NamedTuple

from headwise.linear.text_features import Block

STRENGTHS, DENSE = (0.5, 0.15, 1.5, 4.0), (1.0, 0.5, 2.0, 4.0)
"""What a mistake costs and how long vectors are, as far as it is tried; the first of each to begin with."""
PAIR_STRENGTHS, PAIR_DENSE = (0.05, 0.015, 0.15, 0.5), (4.0, 2.0)
"""Likewise of pairs: few of their many features tell anything, and vectors say most of how they compare."""
STARTS = (1.0, 0.5, 2.0, 0.0)
"""How loud an earlier model is, where there is one: what it says of a text in the mean, in margins."""
MOST_RATIO_CLASSES = 20
"""Labels up to which naive Bayes ratios are tried; with 77 and 150 they cost 0.9 points."""


@dataclass(frozen=True)
class LinearSettings:
    """What cross-validation chooses.

    Attributes:
        blocks: What is read of the texts.
        ratios: Whether features count for more that tell a label from the rest, by their naive Bayes ratio.
        strength: What a mistake costs (C).
        dense: Length of the vectors beside words and characters, which have 1 each; 0 without.
        start: How loud the earlier model is that it goes on from; 0 without.
        form: Whether the form of texts is read (see `headwise.linear.form`).
        edges: Whether words make pairs with the beginning and the end of a text too.
    """

    blocks: tuple[Block, ...] = ("words", "characters")
    ratios: bool = True
    strength: float = 0.5
    dense: float = 0.0
    start: float = 0.0
    form: bool = False
    edges: bool = False


class Chosen(NamedTuple):
    """What was chosen for a linear model, to make one like it of other texts.

    Attributes:
        settings: What it reads and how it is trained.
        loudness: What calibrates its scores: they are multiplied with it.
    """

    settings: LinearSettings
    loudness: float
