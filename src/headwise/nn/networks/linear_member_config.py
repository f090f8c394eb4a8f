"""The configuration of the linear model in an ensemble with the encoder
(`headwise.nn.networks.linear_members`).

The logits of a model are `(encoder(text) + weight * linear(text)) / temperature`. Weight and temperature
are fitted on dev, so a linear model that does not help gets weight 0, and the ensemble is hardly ever worse
than its linear model.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from headwise.core.config import check_range

MOST_REACH = 16  # upper bound for model folders


@dataclass(frozen=True)
class LinearMemberConfig:
    """The linear expert beside the encoder."""

    kind: Literal["linear", "none"] = "linear"
    """linear: a linear SVM on words, word pairs and characters (of text pairs on what both texts share,
    where they differ and how their words match) adds its say, as much as dev asks for; none: the encoder
    alone."""
    max_features: int = 200_000
    """Most features of texts that it reads: words, word pairs, runs of characters. Beyond 200,000 these are
    such as several texts have."""
    features: int = 0
    """How many it found in training; not to be set."""
    words: int = 0
    """How many of them are words and word pairs, where it reads characters too; not to be set."""
    characters: int = 0
    """How many of them are runs of characters; not to be set."""
    vectors: int = 0
    """Numbers of the vectors of texts that it reads beside them; not to be set."""
    kept: int = 0
    """How many weights it keeps, where it has many labels and not all are worth it; not to be set."""
    reach: int = 1
    """How far apart the words of its word pairs are at most; not to be set."""
    form: bool = False
    """Whether it reads how long texts are, their capitals and marks; not to be set."""
    edges: bool = False
    """Whether it reads which words are near the beginning and the end of a text; not to be set."""

    grouped: int = 0
    """Of a tagger: how many words it knows the groups of; not to be set."""

    SIZES: ClassVar[tuple[str, ...]] = (
        *("features", "words", "characters", "vectors", "kept", "reach", "form", "edges"),
        "grouped",
    )
    """What training finds out."""

    def __post_init__(self) -> None:
        check_range(self, "reach", low=1, high=MOST_REACH)
