"""Ridge regression, its strength chosen on dev: the linear baseline for numbers."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.linear_model import Ridge

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)


def fit_ridge(train: tuple[Any, np.ndarray], dev: tuple[Any, np.ndarray]) -> "Ridge":
    """A ridge regression for each alpha of `STRENGTHS`; the one with the least squared error on dev.

    Args:
        train: Features `[texts, features]` (sparse) and targets.
        dev: Likewise.
    """
    from sklearn.linear_model import Ridge  # slow to load, and predictions do without

    models = [Ridge(alpha=alpha, solver="sparse_cg", random_state=0).fit(*train) for alpha in STRENGTHS]
    errors = [float(((model.predict(dev[0]) - dev[1]) ** 2).mean()) for model in models]
    return models[int(np.argmin(errors))]
