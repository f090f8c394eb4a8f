"""TextClassifier: the main job as a scikit-learn estimator, `TextClassifier().fit(texts, labels)`."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_consistent_length

from headwise.data.example import Example
from headwise.estimators.base import texts_of
from headwise.estimators.labels import LabelEstimator, check_labels


class TextClassifier(LabelEstimator):
    """A classifier of texts; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.Model`, whose labels are strings in an order of its own.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str] = "classify"

    def fit(
        self, X: Sequence[str], y: Sequence[Any], *, dev: tuple[Sequence[str], Sequence[Any]] | None = None
    ) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings.
            y: Their labels: strings, whole numbers or truth values.
            dev: Texts and labels that choose the best epoch and calibrate the probabilities. By default a
                share of X (`split.dev` of the recipe, 15 %), with equal texts on one side.

        Raises:
            HeadwiseError: A setting is wrong, or the texts are too few to split.
            TypeError, ValueError: X or y are not what they should be.
        """
        examples, labels = _examples(X, y)
        if len(labels) < 2:
            raise ValueError(f"y has only one class, {labels.tolist()}; a classifier needs two or more")
        held = None
        if dev is not None:
            held, dev_labels = _examples(*dev)
            if len(unseen := np.setdiff1d(dev_labels, labels)):
                raise ValueError(f"labels of dev that y does not have: {unseen.tolist()}")
        self._fit(examples, held, label_kind=labels.dtype.kind)
        self.classes_ = labels
        return self


def _examples(X: Any, y: Any) -> tuple[list[Example], np.ndarray]:
    """The examples, and the labels that occur, sorted and of y's own type."""
    texts, targets = texts_of(X), check_labels(y)
    check_consistent_length(texts, targets)
    pairs = zip(texts, targets, strict=True)
    return [Example(text, str(label)) for text, label in pairs], np.unique(targets)
