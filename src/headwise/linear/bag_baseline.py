"""The linear baseline for bags of vectors: mean, minimum and maximum of each feature, and a linear SVM."""

from collections.abc import Sequence

import numpy as np

from headwise.data.bags import Bag
from headwise.linear.svm import fit_svm
from headwise.linear.together import together

NAME = "mean, minimum and maximum + linear SVM"


def linear_guesses(
    train: tuple[Sequence[Bag], np.ndarray],
    dev: tuple[Sequence[Bag], np.ndarray],
    test: Sequence[Bag],
    *,
    refit: bool = False,
) -> np.ndarray:
    """Predict the label indices of the test bags, `[bags]`, by an SVM on the training bags, with C chosen
    on dev.

    Args:
        train: Bags and label indices.
        dev: Bags and label indices.
        test: Bags.
        refit: Whether to fit again on training and dev bags together, once dev has chosen.
    """
    from sklearn.preprocessing import StandardScaler  # slow to load, and predictions do without

    scaler = StandardScaler().fit(summarise(train[0]))

    def scaled(bags: Sequence[Bag]) -> np.ndarray:
        """Standardized summaries with an average length of 1 for any number of features: the scale that the
        grid of C is made for."""
        summaries = summarise(bags)
        return np.asarray(scaler.transform(summaries)) / summaries.shape[1] ** 0.5

    machine, _ = fit_svm((scaled(train[0]), train[1]), (scaled(dev[0]), dev[1]))
    if refit:
        bags, targets = together(train, dev)
        scaler = scaler.fit(summarise(bags))
        machine = machine.fit(scaled(bags), targets)
    return np.asarray(machine.predict(scaled(test)))


def summarise(bags: Sequence[Bag]) -> np.ndarray:
    """`[bags, 3 * features]`, float64: mean, minimum and maximum of each feature over the instances."""
    rows = [bag.instances.astype(np.float64) for bag in bags]
    return np.stack([np.concatenate([row.mean(0), row.min(0), row.max(0)]) for row in rows])
