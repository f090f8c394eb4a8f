"""Ridge regression with the penalty chosen on dev: the linear baseline for regression."""

from typing import Any, Self

import numpy as np

from headwise.scores.scale import Scale

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)


class ScaledRidge:
    """Ridge regression on targets scaled to mean 0 and standard deviation 1.

    With 32-bit features, scikit-learn casts the targets to 32 bits too. Seconds since 1970 then lose their
    last two minutes, and a price of 1e40 overflows. Scaled targets lose nothing, and the regression is the
    same.

    Args:
        alpha: The penalty.
    """

    def __init__(self, alpha: float):
        from sklearn.linear_model import Ridge  # slow to load, and predictions do without

        self.scale = Scale(0.0, 1.0)
        self.ridge = Ridge(alpha=alpha, solver="sparse_cg", random_state=0)

    def fit(self, features: Any, targets: np.ndarray) -> Self:
        """Fit to features `[texts, features]` (sparse) and targets `[texts]`."""
        self.scale = Scale.of(targets)
        self.ridge.fit(features, self.scale.standardize(targets))
        return self

    def predict(self, features: Any) -> np.ndarray:
        """Predicted numbers, `[texts]`."""
        return self.scale.restore(np.asarray(self.ridge.predict(features)))


def fit_ridge(train: tuple[Any, np.ndarray], dev: tuple[Any, np.ndarray]) -> ScaledRidge:
    """Fit a ridge regression for each alpha of `STRENGTHS`; the one with the least squared error on dev.

    Args:
        train: Features `[texts, features]` (sparse) and targets.
        dev: The same for dev texts.
    """
    models = [ScaledRidge(alpha).fit(*train) for alpha in STRENGTHS]
    errors = [float(((model.predict(dev[0]) - dev[1]) ** 2).mean()) for model in models]
    return models[int(np.argmin(errors))]
