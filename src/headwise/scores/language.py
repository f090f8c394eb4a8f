"""How well a text is predicted, symbol by symbol."""

import math
from dataclasses import dataclass
from typing import Any

from headwise.data.symbols import Unit


@dataclass(frozen=True)
class LanguageScores:
    """How well a text was predicted.

    Attributes:
        unit: What the symbols are.
        symbols: How many were predicted, each once.
        nats: Sum of their negative log-likelihoods.
        unknown: How many of them the vocabulary does not have; predicted as the unknown symbol.
    """

    unit: Unit
    symbols: int
    nats: float
    unknown: int = 0

    @property
    def loss(self) -> float:
        """Nats per symbol."""
        return self.nats / max(self.symbols, 1)

    @property
    def bits(self) -> float:
        """Bits per symbol: bits per character, where symbols are these."""
        return self.loss / math.log(2)

    @property
    def perplexity(self) -> float:
        """exp of the nats per symbol."""
        return math.exp(min(self.loss, 700.0))

    @property
    def headline(self) -> tuple[str, float]:
        """The usual measure of the unit and its value: perplexity of words, bits of all else."""
        return ("perplexity", self.perplexity) if self.unit == "words" else ("bits", self.bits)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        name, value = self.headline
        return {
            "unit": self.unit,
            f"{name}_per_{self.unit.removesuffix('s')}": value,
            "loss": self.loss,
            "symbols": self.symbols,
            "unknown_symbols": self.unknown,
        }
