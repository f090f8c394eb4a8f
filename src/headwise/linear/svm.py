"""The linear SVM of the baselines, with C chosen on dev."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.svm import LinearSVC

STRENGTHS = (0.1, 0.3, 1.0, 3.0)


def fit_svm(
    train: tuple[Any, np.ndarray], dev: tuple[Any, np.ndarray], class_weights: np.ndarray | None = None
) -> "tuple[LinearSVC, float]":
    """Fit a linear SVM for each C of `STRENGTHS`; the first with the best accuracy on dev, and that
    accuracy.

    Args:
        train: Features `[texts, features]` (sparse) and label indices.
        dev: The same for dev texts.
        class_weights: Weight of the texts of each label, `[classes]`.
    """
    from sklearn.svm import LinearSVC  # a second to load, and predictions do without

    weights = None if class_weights is None else class_weights[train[1]]
    machines = [
        LinearSVC(C=strength, random_state=0).fit(*train, sample_weight=weights) for strength in STRENGTHS
    ]
    accuracies = [float(np.mean(machine.predict(dev[0]) == dev[1])) for machine in machines]
    best = int(np.argmax(accuracies))
    return machines[best], accuracies[best]
