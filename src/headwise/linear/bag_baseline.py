"""The linear baseline of bags: mean, least and largest value of each feature, and a linear SVM."""

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
    """Label numbers of the test bags, `[bags]`, by an SVM on the training bags, its C chosen on dev.

    Args:
        train: Bags and label numbers.
        dev: Likewise.
        test: Bags.
        refit: Once dev has chosen, fit again on training and dev bags together.
    """
    from sklearn.preprocessing import StandardScaler  # slow to load, and predictions do without

    scaler = StandardScaler().fit(summarise(train[0]))

    def scaled(bags: Sequence[Bag]) -> np.ndarray:
        """Of length 1 on average, whatever the number of features: what the machine's C are meant for."""
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
