"""Calibration of logits: temperature scaling and label biases."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class Calibrated:
    """Mixin of models with calibrated logits.

    Attributes:
        temperature: Divisor of the logits (temperature scaling).
        biases: Added to the scaled logits, `[labels]`, if the model was adapted to texts with other label
            frequencies (`headwise.scores.recalibrate`); else None.
    """

    FACTORS: ClassVar[dict[str, float]] = {"temperature": 1e-6}
    LABEL_FACTORS: ClassVar[dict[str, float]] = {"biases": -1e6}

    temperature: float
    biases: list[float] | None = None

    def calibrated(self, logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """Logits `[items, labels]` -> calibrated logits `[items, labels]`."""
        scaled = logits.astype(np.float64) / self.temperature
        return scaled if self.biases is None else scaled + np.array(self.biases)
