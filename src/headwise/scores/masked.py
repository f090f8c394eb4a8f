"""Scores of masked-word prediction."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class MaskedScores:
    """The scores of masked-word prediction.

    Attributes:
        words: Number of masked words.
        nats: Sum of their negative log-likelihoods, in nats.
        right: Number of masked words that were predicted right (ranked first).
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
        """The exponential of the nats per word."""
        return math.exp(min(self.loss, 700.0))

    @property
    def accuracy(self) -> float:
        """Fraction of the masked words that were predicted right."""
        return self.right / max(self.words, 1)

    def to_json(self) -> dict[str, Any]:
        """The scores as a JSON object."""
        names = ("loss", "perplexity", "accuracy", "words")
        return {name: getattr(self, name) for name in names}
