"""What is to be said of a model that predicts numbers; to be saved or shown."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from headwise.report.reading import Reading, reading_of
from headwise.scores.numbers import RegressionScores, score_numbers


@dataclass(frozen=True)
class NumberEvaluation:
    """A model on texts or pairs with known numbers.

    Attributes:
        scores: Errors and correlations.
        reading: What the model could read.
        predicted: Numbers, `[texts]`; not part of the JSON.
    """

    scores: RegressionScores
    reading: Reading | None
    predicted: np.ndarray = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object."""
        return {**asdict(self.scores), **(asdict(self.reading) if self.reading else {})}

    def worst(self, targets: np.ndarray, count: int) -> list[int]:
        """The places of the largest errors against the true numbers `[texts]`, the largest first."""
        return np.argsort(-np.abs(self.predicted - targets), kind="stable")[:count].tolist()


def evaluate_numbers(model: Any, items: Sequence[Any], targets: np.ndarray) -> NumberEvaluation:
    """Let a model give texts or pairs numbers, and compare with those that they have, `[items]`.

    Raises:
        ValueError: There are no items.
    """
    encoded = model.encoded(items)
    predicted = model.scores(encoded)
    return NumberEvaluation(
        scores=score_numbers(predicted, targets),
        reading=reading_of(encoded),
        predicted=predicted,
    )
