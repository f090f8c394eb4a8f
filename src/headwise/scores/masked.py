"""How well hidden words of texts are told."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MaskedScores:
    """How well hidden words were told from all words that are known.

    Attributes:
        words: How many were hidden.
        nats: Sum of their negative log-likelihoods.
        right: How many were the likeliest word.
    """

    words: int
    nats: float
    right: int

    @property
    def loss(self) -> float:
        """Nats per word."""
        return self.nats / max(self.words, 1)

    @property
    def perplexity(self) -> float:
        """exp of the nats per word."""
        return math.exp(min(self.loss, 700.0))

    @property
    def accuracy(self) -> float:
        """Share that is told rightly."""
        return self.right / max(self.words, 1)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        own = ("loss", "perplexity", "accuracy", "words")
        return {name: getattr(self, name) for name in own}
