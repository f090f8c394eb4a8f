"""Scores of language models, and of masked-word prediction: loss, bits and perplexity per
symbol, accuracy.
"""

import math
from dataclasses import dataclass
from typing import Literal

Unit = Literal["characters", "words", "bytes"]
"""The unit of a language model's symbols."""


@dataclass(frozen=True)
class LanguageScores:
    """The scores of a language model on a text.

    Attributes:
        unit: The unit of the symbols.
        symbols: Number of predicted symbols.
        nats: Sum of their negative log-likelihoods, in nats.
        unknown: Number of symbols that are not in the vocabulary, predicted as the unknown symbol.
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
        """Bits per symbol; for character models, bits per character."""
        return self.loss / math.log(2)

    @property
    def perplexity(self) -> float:
        """The exponential of the nats per symbol."""
        return math.exp(min(self.loss, 700.0))

    @property
    def primary_metric(self) -> tuple[str, float]:
        """The primary metric of the unit and its value: perplexity for words, bits for all other units."""
        return ("perplexity", self.perplexity) if self.unit == "words" else ("bits", self.bits)

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        name, value = self.primary_metric
        return {
            "unit": self.unit,
            f"{name}_per_{self.unit.removesuffix('s')}": value,
            "loss": self.loss,
            "symbols": self.symbols,
            "unknown_symbols": self.unknown,
        }


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

    def to_json(self) -> dict[str, object]:
        """The scores as a JSON object."""
        names = ("loss", "perplexity", "accuracy", "words")
        return {name: getattr(self, name) for name in names}
