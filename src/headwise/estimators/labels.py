"""LabelEstimator: the base class of single-label classifiers, with labels of any type."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from headwise.estimators.base import TextEstimator, check_answered, dimensions, plain
from headwise.scores.thresholds import decide

Answered = tuple[Sequence[Any], np.ndarray]
"""Labelled items, and the sorted unique labels in their original type."""


class LabelEstimator(ClassifierMixin, TextEstimator):
    """A classifier; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
    """

    classes_: np.ndarray

    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities, float64 `[items, classes]`, in the order of `classes_`."""
        check_is_fitted(self, "model_")
        names = list(self.model_.labels)
        columns = [names.index(str(label)) for label in self.classes_]
        return self.model_.predict_proba(self._items(X))[:, columns]

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each item, or the label that the thresholds select, `[items]`, in the
        type of the labels in `fit`."""
        probabilities, thresholds = self.predict_proba(X), self.model_.thresholds
        if thresholds is not None:
            of = dict(zip(self.model_.labels, thresholds, strict=True))
            thresholds = [of[str(label)] for label in self.classes_]
        return self.classes_[decide(probabilities, thresholds)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, as in scikit-learn."""
        check_is_fitted(self, "model_")
        targets, model_label = check_labels(y), self.classes_.tolist()[0]
        first_label = targets.tolist()[0] if len(targets) else model_label
        if isinstance(first_label, str) != isinstance(model_label, str):
            raise TypeError(
                f"y has the label {first_label!r} ({type(first_label).__name__}); expected such as the "
                f"model has, like {model_label!r} ({type(model_label).__name__}): labels that were read "
                "from a file are texts"
            )
        return super().score(X, targets, sample_weight)

    def _fit_labelled(self, answered: Answered, dev: Answered | None) -> Self:
        """Train on labelled items and set the fitted attributes."""
        items, labels = answered
        if len(labels) < 2:
            only = f"only one class, {labels.tolist()}" if len(labels) else "no label"
            raise ValueError(f"y has {only}; a classifier needs two or more")
        held, dev_labels = dev or (None, labels)
        names = {str(label) for label in labels}
        if unseen := [label.item() for label in dev_labels if str(label) not in names]:
            raise ValueError(f"labels of dev that y does not have: {unseen}; it has {labels.tolist()}")
        self._fit(items, held, label_type=labels.dtype.name)
        self.classes_ = labels
        return self

    def _take(self, model: Any, info: dict[str, Any]) -> None:
        super()._take(model, info)
        names = np.array(model.labels)
        kind = _number_type(info["training"].get("label_type"))
        self.classes_ = np.unique(names == "True" if kind == np.bool_ else names.astype(kind or np.str_))


def _number_type(name: Any) -> np.dtype | None:
    """The dtype with this name if it is numeric or boolean; None for string labels."""
    try:
        dtype = np.dtype(name) if isinstance(name, str) else None
    except TypeError:
        return None
    return dtype if dtype is not None and dtype.kind in "iufb" else None


def check_labels(y: Any) -> np.ndarray:
    """The labels as an array `[items]` of one type, without missing labels.

    Raises:
        TypeError, ValueError: y is not a column of labels.
    """
    y = check_answered(y, "labels")
    if hasattr(y, "to_numpy") and not isinstance(getattr(y, "dtype", None), np.dtype):
        # scikit-learn would convert the extension types of tables to floats.
        column = y.tolist if hasattr(y, "tolist") else y.__iter__  # pandas, Polars
        y = list(column()) if dimensions(y) == 1 else y.to_numpy()
    targets = column_or_1d(y)
    # A string array would turn NaN into 'nan' and truncate the text of an Enum to the length of its value.
    objects = np.asarray(y, dtype=object).ravel() if isinstance(y, list | tuple) else targets
    values = [label.item() if isinstance(label, np.generic) else label for label in objects.tolist()]
    for place, label in enumerate(values):
        if label is None or type(label).__name__ == "NAType" or label != label:
            raise ValueError(f"y[{place}] is {label}; expected a label")
    if targets.dtype.kind in "OUT":
        texts = all(isinstance(label, str) for label in values)
        kinds = sorted({type(label).__name__ for label in values})
        if not texts and len(kinds) > 1:
            raise TypeError(f"y has labels of several types, {', '.join(kinds)}; expected one")
        dtype = object if texts and targets.dtype == object else None
        targets = np.array([plain(label) for label in values] if texts else values, dtype=dtype)
    if targets.dtype.kind in "mM":
        raise TypeError(f"y has labels of the type {targets.dtype}; give them as texts")
    check_classification_targets(targets)
    return targets + 0.0 if targets.dtype.kind == "f" else targets  # -0.0 is 0.0
