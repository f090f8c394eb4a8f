"""From logits to logits whose probabilities mean something."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class Calibrated:
    """A model of labels.

    Attributes:
        temperature: What the logits are divided by before they become probabilities.
        biases: What is then added, `[labels]`, where a model was fitted to texts among which other labels
            are common (`headwise.scores.recalibrate`); None of others.
    """

    FACTORS: ClassVar[dict[str, float]] = {"temperature": 1e-6}
    LABEL_FACTORS: ClassVar[dict[str, float]] = {"biases": -1e6}

    temperature: float
    biases: list[float] | None = None

    def calibrated(self, logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """Calibrated logits, both `[items, labels]`."""
        found = logits.astype(np.float64) / self.temperature
        return found if self.biases is None else found + np.array(self.biases)
