"""What is to be said of a model that predicts numbers; to be saved or shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from headwise.data.example import Example
from headwise.models.regressor import Regressor
from headwise.scores.numbers import RegressionScores, score_numbers


@dataclass(frozen=True)
class NumberEvaluation:
    """A model on texts or pairs with known numbers.

    Attributes:
        scores: Errors and correlations.
        unknown_words: Share of all words that the vocabulary does not know.
        empty_texts: Texts without a single word, or pairs with such a text.
        cut_texts: Texts or pairs that are longer than the model reads.
        predicted: Numbers, `[texts]`; not part of the JSON.
    """

    scores: RegressionScores
    unknown_words: float
    empty_texts: int
    predicted: np.ndarray = field(repr=False, compare=False)
    cut_texts: int = 0

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object."""
        return {
            **asdict(self.scores),
            "unknown_words": self.unknown_words,
            "empty_texts": self.empty_texts,
            "cut_texts": self.cut_texts,
        }

    def worst(self, targets: np.ndarray, count: int) -> list[int]:
        """The places of the largest errors against the true numbers `[texts]`, the largest first."""
        return np.argsort(-np.abs(self.predicted - targets), kind="stable")[:count].tolist()


def evaluate_numbers(
    model: Regressor, texts: Sequence[str | Example], targets: np.ndarray
) -> NumberEvaluation:
    """Let a model give texts numbers, and compare with those that they have, `[texts]`.

    Raises:
        ValueError: There are no texts.
    """
    encoded = model.features.encode(texts)
    predicted = model.scores(encoded)
    return NumberEvaluation(
        scores=score_numbers(predicted, targets),
        unknown_words=sum(text.unknown for text in encoded) / max(sum(map(len, encoded)), 1),
        empty_texts=sum(len(text) == 0 for text in encoded),
        cut_texts=sum(text.cut > 0 for text in encoded),
        predicted=predicted,
    )


@dataclass(frozen=True)
class NumberRival:
    """Another model on the same texts, to stand beside one.

    Attributes:
        name: What to call it.
        scores: Its errors and correlations; at least `mae`, `rmse`, `pearson` and `spearman`.
    """

    name: str
    scores: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads."""
        return {"name": self.name, **self.scores}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "NumberRival | None":
        """The inverse of `to_json`; None where a number is missing."""
        needed = ("mae", "rmse", "pearson", "spearman")
        if not all(isinstance(data.get(name), int | float) for name in needed):
            return None
        return cls(str(data.get("name", "baseline")), {name: data[name] for name in needed})
