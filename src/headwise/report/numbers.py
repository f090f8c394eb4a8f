"""The evaluation of a regression model, as plain numbers to save or show."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from headwise.report.reading import Reading, reading_of
from headwise.scores.numbers import RegressionScores, score_numbers


@dataclass(frozen=True)
class NumberEvaluation:
    """The evaluation of a regression model.

    Attributes:
        scores: Errors and correlations.
        reading: Unknown words and truncated texts; None where items have no words.
        predicted: The predicted numbers, `[texts]`; not part of the JSON.
    """

    scores: RegressionScores
    reading: Reading | None
    predicted: np.ndarray = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object."""
        return {**asdict(self.scores), **(asdict(self.reading) if self.reading else {})}

    def worst(self, targets: np.ndarray, count: int) -> list[int]:
        """The indices of the largest absolute errors against the targets `[texts]`, the largest first."""
        return np.argsort(-np.abs(self.predicted - targets), kind="stable")[:count].tolist()


def evaluate_numbers(model: Any, items: Sequence[Any], targets: np.ndarray) -> NumberEvaluation:
    """Predict the numbers of texts or pairs and compare them with the targets, `[items]`.

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
