"""NoveltyMethods: the methods of classifiers of texts with a novelty detector."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from headwise.app.estimators.embedding_methods import FittedEstimator
from headwise.app.estimators.estimator_inputs import Inputs
from headwise.models.novelty_evaluation import item_novelty


class NoveltyMethods:
    """Novelty detection, for a model fitted with `recipe={"unknown": {"detect": True}}`."""

    def novelty_score(self: FittedEstimator, X: Inputs) -> NDArray[np.float64]:
        """How unlike the training texts each text is, `[texts]`: 0 is the median of held-out texts of the
        labels, 1 their standard deviation, higher is less like them.

        Raises:
            ConfigError: The model has no novelty detector.
        """
        check_is_fitted(self, "model_")
        return item_novelty(self.model_, self._items(X))

    def score_samples(self: FittedEstimator, X: Inputs) -> NDArray[np.float64]:
        """The negative novelty score, `[texts]`: lower is less like the training texts, as of
        scikit-learn's outlier detectors."""
        check_is_fitted(self, "model_")
        return -item_novelty(self.model_, self._items(X))

    def predict_unknown(self: FittedEstimator, X: Inputs) -> NDArray[np.bool_]:
        """Whether each text is like none of the training texts (out of scope), `[texts]`."""
        check_is_fitted(self, "model_")
        scores = item_novelty(self.model_, self._items(X))
        return self.model_.novelty.is_unknown(scores)
