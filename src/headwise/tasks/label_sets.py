"""Multi-label classification: any number of labels for each text, each a yes or no of its own."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from headwise.tasks.thresholds import Scores, Targets


def label_set_loss(
    logits: Tensor, targets: Tensor, *, label_smoothing: float = 0.0, weights: Tensor | None = None
) -> Tensor:
    """Binary cross-entropy of each text, the mean over its labels, `[texts]`.

    Args:
        logits: `[texts, labels]`.
        targets: `[texts, labels]`, 0 or 1, float.
        label_smoothing: Share of each target that is spread evenly over yes and no.
        weights: `[labels]`: the texts with a label count as if there were that many times more of them.
    """
    targets = targets * (1 - label_smoothing) + label_smoothing / 2
    losses = binary_cross_entropy_with_logits(logits, targets, pos_weight=weights, reduction="none")
    return losses.mean(1)


def mean_binary_loss(logits: Scores, targets: Targets) -> float:
    """Mean binary cross-entropy of a label, in nats."""
    return float(np.logaddexp(0.0, np.where(targets, -1.0, 1.0) * logits.astype(np.float64)).mean())


def fit_binary_mixture(encoder: Scores, expert: Scores | None, targets: Targets) -> tuple[float, float]:
    """The temperature and the expert's weight that make held-out labels most likely.

    Args:
        encoder: Logits.
        expert: Scores of a linear expert; None for none.
        targets: The true labels.

    Returns:
        `(temperature, weight)` for `sigmoid((encoder + weight * expert) / temperature)`; the weight is not
        negative, and 0 without an expert.
    """
    if targets.size == 0:
        return 1.0, 0.0
    from scipy.optimize import minimize  # slow to load, and predictions do without

    encoder = encoder.astype(np.float64)
    other = np.zeros_like(encoder) if expert is None else expert.astype(np.float64)

    def loss(factors: NDArray[np.float64]) -> float:
        return mean_binary_loss(factors[0] * encoder + factors[1] * other, targets)

    bounds = [(1 / 20, 20.0), (0.0, 0.0 if expert is None else 40.0)]
    start = np.array([1.0, 0.0 if expert is None else 1.0])
    found = minimize(loss, x0=start, bounds=bounds, method="L-BFGS-B")
    return 1.0 / float(found.x[0]), float(found.x[1] / found.x[0])


def binary_calibration_error(probabilities: Scores, targets: Targets, bins: int = 15) -> float:
    """Mean gap between the probabilities of labels and how often they hold, over equal-width bins."""
    if targets.size == 0:
        return 0.0
    flat, true = probabilities.ravel(), targets.ravel()
    which = np.minimum((flat * bins).astype(int), bins - 1)
    sums = [np.bincount(which, weights, bins) for weights in (flat, true.astype(np.float64))]
    return float(np.abs(sums[0] - sums[1]).sum() / len(flat))
