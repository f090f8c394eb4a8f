"""Ridge regression, its strength chosen on dev: the linear baseline for numbers."""

from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)


def fit_ridge(train: tuple[Any, np.ndarray], dev: tuple[Any, np.ndarray]) -> Ridge:
    """A ridge regression for each alpha of `STRENGTHS`; the one with the least squared error on dev.

    Args:
        train: Features `[texts, features]` (sparse) and targets.
        dev: Likewise.
    """
    models = [Ridge(alpha=alpha, solver="sparse_cg", random_state=0).fit(*train) for alpha in STRENGTHS]
    errors = [float(((model.predict(dev[0]) - dev[1]) ** 2).mean()) for model in models]
    return models[int(np.argmin(errors))]
