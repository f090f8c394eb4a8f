"""EmbeddingMethods: text vectors of the fitted encoder, for other estimators to learn from."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from headwise.app.estimators.estimator_inputs import Inputs
from headwise.models.novelty_evaluation import item_novelty


class FittedEstimator(Protocol):
    """What the methods of a mixin need of the estimator."""

    @property
    def model_(self) -> Any: ...

    def _items(self, X: Inputs) -> Sequence[Any]: ...


class EmbeddingMethods(TransformerMixin):
    """The methods of estimators that turn texts or pairs of texts into vectors.

    They make such an estimator a transformer, a step in front of another estimator in a `Pipeline`, a
    `FeatureUnion` or a `ColumnTransformer`. `fit_transform` returns the vectors of the texts that the
    encoder was trained on, which tell their labels better than those of new texts do.
    """

    def encode(self: FittedEstimator, X: Inputs) -> NDArray[np.float32]:
        """The vector of each text or pair that the layers above the encoder read, `[items, features]`."""
        check_is_fitted(self, "model_")
        return self.model_.embeddings(self.model_.encoded(self._items(X)))

    transform = encode

    def get_feature_names_out(self: FittedEstimator, input_features: object = None) -> NDArray[np.object_]:
        """The names of the columns of `transform`: `textclassifier0`, `textclassifier1` and so on.

        Args:
            input_features: Ignored; scikit-learn passes the names of the columns of X.
        """
        check_is_fitted(self, "model_")
        prefix = type(self).__name__.lower()
        names = [f"{prefix}{number}" for number in range(self.model_.embedding_size)]
        return np.array(names, dtype=object)


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
