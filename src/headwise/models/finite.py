"""Check of model outputs for NaN and infinity."""

import numpy as np

from headwise.errors import HeadwiseError


def finite(outputs: np.ndarray) -> np.ndarray:
    """Return the outputs unchanged, if all are finite.

    Raises:
        HeadwiseError: HW409, an output is NaN or infinite.
    """
    if not np.isfinite(outputs).all():
        raise HeadwiseError(
            "the outputs of the model are no longer numbers: its weights are too large. If it is being "
            "trained, try a smaller learning rate or a lower clip, else a sound copy of the model",
            code="HW409",
        )
    return outputs
