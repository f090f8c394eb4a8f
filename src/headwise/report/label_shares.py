"""Labels that are more common among items, or rarer, than a model takes them for."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.report.remarks import Remark

_CHANCE, _FAR = 4.0, 0.15
"""From how many standard deviations on, and from which share of the larger number on, they differ. Tried on
the draws of benchmarks/calibrating.py: of 80 with 100 texts each and the shares of training 1 does, of 79
with other shares and all their texts 58."""


def on_label_shares(
    labels: Sequence[str], chances: NDArray[np.floating], has: NDArray, many: str
) -> list[Remark]:
    """What to say where the label that differs the most differs by more than chance, and by so much that it
    matters.

    Args:
        labels: Their names.
        chances: What a model says of items, `[items, labels]`.
        has: Whether an item has a label, or how likely that is, `[items, labels]`.
        many: What the items are called.
    """
    found, expected = has.sum(axis=0), chances.sum(axis=0)
    # One item more that may have the label or not: of no variance at all nothing follows.
    away = (found - expected) / np.sqrt((chances * (1 - chances)).sum(axis=0) + 1)
    most = int(np.abs(away).argmax())
    larger = max(found[most], expected[most])
    if abs(away[most]) < _CHANCE or abs(found[most] - expected[most]) < _FAR * larger:
        return []
    told = f"{labels[most]!r} is the label of {found[most]:,.0f} of {len(has):,} {many} here, and of "
    told += f"{expected[most]:,.0f} by the model's probabilities: if that is how common labels are in what "
    return [Remark(f"{told}is to come, headwise calibrate fits the model to it")]
