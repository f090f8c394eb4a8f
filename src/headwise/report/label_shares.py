"""Label shift: labels that are more or less frequent in a data set than the model predicts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.report.remarks import Remark

_CHANCE, _FAR = 4.0, 0.15
"""The smallest reported difference: in standard deviations, and as a fraction of the larger count. Tested
on the samples of benchmarks/calibrating.py: 1 of 80 samples of 100 texts without label shift is reported,
and 58 of 79 full-sized samples with label shift."""


def on_label_shares(
    labels: Sequence[str], chances: NDArray[np.floating], has: NDArray, many: str
) -> list[Remark]:
    """A message about the label whose frequency differs most from the model's probabilities; empty where
    the difference is within chance or too small to matter.

    Args:
        labels: The names of the labels.
        chances: The probabilities that the model predicts, `[items, labels]`.
        has: Whether each item has each label, or the probability of that, `[items, labels]`.
        many: The plural noun of the items, such as `texts`.
    """
    observed, expected = has.sum(axis=0), chances.sum(axis=0)
    # One is added to the variance: a variance of 0 would make any difference significant.
    away = (observed - expected) / np.sqrt((chances * (1 - chances)).sum(axis=0) + 1)
    most = int(np.abs(away).argmax())
    larger = max(observed[most], expected[most])
    if abs(away[most]) < _CHANCE or abs(observed[most] - expected[most]) < _FAR * larger:
        return []
    message = f"{labels[most]!r} is the label of {observed[most]:,.0f} of {len(has):,} {many} here, and of "
    message += (
        f"{expected[most]:,.0f} by the model's probabilities: if that is how common labels are in what "
    )
    return [Remark(f"{message}is to come, headwise calibrate fits the model to it")]
