"""TextClassifier: the main job as a scikit-learn estimator, `TextClassifier().fit(texts, labels)`."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_consistent_length

from headwise.data.example import Example
from headwise.data.shares import TOLERANCE, Shares
from headwise.estimators.base import check_columns, pair_of, texts_of, weights_for
from headwise.estimators.labels import Answered, LabelEstimator, check_labels


class TextClassifier(LabelEstimator):
    """A classifier of texts; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.Model`, whose labels are strings in an order of its own.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str] = "classify"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings.
            y: Their labels: a list, an array, a Series or one column of strings, whole numbers or truth
                values; or the probabilities of all labels, `[texts, labels]`, where they are not certain.
                These are named 0, 1, ..., or as the columns of a DataFrame are.
            sample_weight: How much each text counts, `[texts]`, 0 or more, also of those split off.
            dev: Texts and labels that choose the best epoch and calibrate the probabilities. By default a
                share of X (`split.dev` of the recipe, 15 %), with equal texts on one side.

        Raises:
            HeadwiseError: A setting is wrong, or the texts are too few to split.
            TypeError, ValueError: X or y are not what they should be.
        """
        answered = _examples(X, y, sample_weight)
        held = None if dev is None else _examples(*pair_of(dev), known=answered[1])
        return self._fit_labelled(answered, held)


def _examples(X: Any, y: Any, weights: Any = None, known: np.ndarray | None = None) -> Answered:
    """The examples and their labels; probabilities are those of all labels that are `known`."""
    texts = texts_of(X)
    counts = weights_for(texts, weights)
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        columns = list(getattr(y, "columns", range(np.shape(y)[1])))
        check_columns(columns)
        names = check_labels(columns)
        if known is not None and set(map(str, names)) != set(map(str, known)):
            raise ValueError(
                f"y of dev has the columns {columns}; expected one for each label of y, {known.tolist()}"
            )
        shares = _probabilities(y, tuple(map(str, names)))
        check_consistent_length(texts, shares)
        rows = zip(texts, shares, counts, strict=True)
        return [Example(t, own.likeliest, shares=own, weight=w) for t, own, w in rows], np.unique(names)
    targets = check_labels(y)
    check_consistent_length(texts, targets)
    rows = zip(texts, targets, counts, strict=True)
    return [Example(text, str(label), weight=w) for text, label, w in rows], np.unique(targets)


def _probabilities(y: Any, names: tuple[str, ...]) -> list[Shares]:
    """The rows of a matrix of probabilities.

    Raises:
        ValueError: They are none.
    """
    values = np.asarray(y, dtype=np.float64)
    good = ((values >= 0) & (values <= 1)).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= TOLERANCE)
    if not good.all():
        place = int((~good).argmax())
        raise ValueError(
            f"y[{place}] is {values[place].tolist()!r:.80}; expected the probabilities of {len(names)} "
            "labels, from 0 to 1, that add up to 1"
        )
    return [Shares(names, row) for row in values.astype(np.float32)]
