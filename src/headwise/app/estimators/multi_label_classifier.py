"""MultiLabelClassifier: multi-label text classification as a scikit-learn estimator."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import log_expit
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from headwise.app.estimators.base_estimator import EmbeddingMethods, NoveltyMethods
from headwise.app.estimators.estimator_inputs import (
    Inputs,
    Targets,
    Weights,
    check_targets,
    check_unique_names,
    column_names,
    dimensions,
    plain_str,
    scoring_weights,
    unpack_dev,
    warn_of_blanks,
    warn_of_other_order,
    weights_for,
)
from headwise.app.estimators.table_columns import TableEstimator
from headwise.artifacts.model_info import ModelInfo
from headwise.data.items.examples import MultiLabelExample, as_example
from headwise.data.readers.tabular_cells import is_missing
from headwise.nn.networks.text_models import MultiLabelModel


class MultiLabelClassifier(
    NoveltyMethods, EmbeddingMethods, ClassifierMixin, TableEstimator[MultiLabelModel]
):
    """A multi-label text classifier; see `TableEstimator` for its parameters, and `NoveltyMethods` for
    texts that belong to no label.

    Attributes:
        classes_: The labels in the order of the columns: the sorted names, or the column names of y, or
            column numbers if y has no names.
        model_: The fitted `headwise.nn.networks.text_models.MultiLabelModel`.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "multi-label"

    def fit(
        self,
        X: Inputs,
        y: Targets,
        sample_weight: Weights = None,
        *,
        dev: tuple[Inputs, Targets] | None = None,
    ) -> Self:
        """Train on texts and their labels.

        Args:
            X: Texts: a list, an array or a pandas Series of strings; with `text_column` a table.
            y: Their labels: a list of names for each text (which may be empty), or an indicator matrix
                `[texts, labels]` of zeros and ones, as from scikit-learn's `MultiLabelBinarizer`; the
                columns of a DataFrame are matched by name.
            sample_weight: How much each text counts, `[texts]`, 0 or more; also on dev.
            dev: Texts and labels that select the best epoch, calibrate the probabilities and set the
                thresholds. By default a share of X (`split.dev` of the recipe, 15 %); equal texts stay on
                one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the texts are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        warn_of_other_order(X, y)
        self._learn_columns(X)
        examples, names = _examples_multi_label(self._texts(X), y, weights=sample_weight)
        examples = self._with_rows(X, examples)
        if not names:
            raise ValueError("y has no labels")
        warn_of_blanks(names)
        held = None
        if dev is not None:
            dev_x, dev_y = unpack_dev(dev)
            held, dev_names = _examples_multi_label(self._texts(dev_x), dev_y, names)
            held = self._with_rows(dev_x, held)
            if unseen := [name for name in dev_names if name not in set(names)]:
                raise ValueError(f"labels of dev that y does not have: {unseen}")
        matrix = _indicator_matrix(y) is not None
        return self._fit(
            examples, held, names, label_matrix=_column_names(y) or matrix if matrix else False
        )

    def predict_proba(self, X: Inputs) -> NDArray[np.float64]:
        """Calibrated, independent probabilities of the labels, `[texts, labels]`."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(self._items(X))[:, self._order]

    def predict_log_proba(self, X: Inputs) -> NDArray[np.float64]:
        """Logarithms of the calibrated probabilities, `[texts, labels]`."""
        return log_expit(self.decision_function(X))

    def decision_function(self, X: Inputs) -> NDArray[np.float64]:
        """Calibrated logits of the labels, `[texts, labels]`; above 0 where a probability is above 0.5."""
        check_is_fitted(self, "model_")
        model = self.model_
        return model.calibrated(model.logits(model.encoded(self._items(X))))[:, self._order]

    def predict(self, X: Inputs) -> NDArray[np.int64] | list[tuple[str, ...]]:
        """The labels of each text: an indicator matrix, int64 `[texts, labels]`, if `fit` got one; else a
        list with a tuple of names for each text."""
        check_is_fitted(self, "model_")
        return self._predicted(self._items(X))

    def _predicted(self, items: Sequence[object]) -> NDArray[np.int64] | list[tuple[str, ...]]:
        has_label = self.model_.chosen_labels(self.model_.predict_proba(items))[:, self._order]
        if self._is_matrix:
            return has_label.astype(np.int64)
        return [tuple(self.classes_[row].tolist()) for row in has_label]

    def score(self, X: Inputs, y: Targets, sample_weight: Weights = None) -> float:
        """Subset accuracy: share of texts with exactly the right labels, as in scikit-learn."""
        check_is_fitted(self, "model_")
        class_names = [str(label) for label in self.classes_]
        if self.classes_.dtype.kind == "i" and _indicator_matrix(y) is None:
            raise TypeError(
                f"y has no columns; expected a matrix of {len(class_names)}, as in fit: its labels have "
                "no names"
            )
        items = self._items(X)
        if not items:
            raise ValueError("X has no texts; a score needs one or more")
        texts, predictions = [as_example(item).text for item in items], self._predicted(items)
        examples, _ = _examples_multi_label(texts, predictions, class_names)
        predicted = [example.labels for example in examples]
        true = [example.labels for example in _examples_multi_label(texts, y, class_names)[0]]
        right = [
            set(predicted_labels) == set(true_labels)
            for predicted_labels, true_labels in zip(predicted, true, strict=True)
        ]
        return float(np.average(right, weights=scoring_weights(right, sample_weight)))

    def _take(self, model: MultiLabelModel, info: ModelInfo) -> None:
        super()._take(model, info)
        columns = info.training.label_matrix
        named_columns = list(map(str, columns)) if isinstance(columns, list) else []
        named = isinstance(columns, list) and sorted(named_columns) == sorted(model.labels)
        names = named_columns if named else list(model.labels)
        self._is_matrix = named or columns is True
        self._order = [model.labels.index(name) for name in names]
        self.classes_ = np.array([int(name) for name in names] if columns is True else names)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _examples_multi_label(
    texts: Sequence[str], y: Targets, known_labels: Sequence[str] = (), weights: Weights = None
) -> tuple[list[MultiLabelExample], list[str]]:
    """The examples and the names of all labels. Unnamed columns of an indicator matrix take the names
    `known_labels`, of which there must be as many."""
    matrix = _indicator_matrix(y)
    if matrix is not None:
        count = matrix.shape[1]
        named = _column_names(y)
        if known_labels and named is None and len(known_labels) != count:
            raise ValueError(f"y has {count} columns; expected {len(known_labels)}, one for each label")
        if known_labels and named is not None and set(named) != set(known_labels):
            strange = [name for name in named if name not in known_labels]
            problem = f"columns of unknown labels, {strange}" if strange else f"only the columns {named}"
            raise ValueError(f"y has {problem}; expected one for each label, {list(known_labels)}")
        names = named or list(known_labels) or [str(column) for column in range(count)]
        sets = [tuple(names[column] for column in np.flatnonzero(row)) for row in matrix]
    else:
        rows = check_targets(y, "lists of labels")
        sets = [_label_tuple(labels, place) for place, labels in enumerate(rows)]
        names = sorted({label for label_set in sets for label in label_set})
    check_consistent_length(texts, sets)
    rows = zip(texts, sets, weights_for(texts, weights), strict=True)
    return [
        MultiLabelExample(text, labels=label_set, weight=weight) for text, label_set, weight in rows
    ], names


def _column_names(y: Targets) -> list[str] | None:
    """The column names of a DataFrame; None if they are just 0, 1, ..., or y is no DataFrame."""
    names = column_names(y)
    if names == list(range(len(names))):
        return None
    check_unique_names(names)
    return [plain_str(name) for name in names]


def _indicator_matrix(y: Targets) -> NDArray[np.bool_] | None:
    """y as a boolean indicator matrix `[texts, labels]`; None if y is not a matrix."""
    if not (issparse(y) or dimensions(y) == 2):
        return None
    values: Any = np.asarray(cast(Any, y).toarray() if issparse(y) else y)
    if values.dtype.kind == "O":  # NA of pandas cannot be compared
        values = np.where(np.vectorize(is_missing, otypes=[np.bool_])(values), np.nan, values)
    if not (right := np.isin(values, (0, 1)).all(axis=1)).all():
        place = int((~right).argmax())
        raise ValueError(
            f"y[{place}] is {values[place].tolist()!r:.80}; expected zeros and ones, one for each label"
        )
    return values.astype(np.bool_)


def _label_tuple(labels: object, place: int) -> tuple[str, ...]:
    if isinstance(labels, str) or not np.iterable(labels):
        raise TypeError(f"y[{place}] is {labels!r:.80}; expected a list of labels, which may be empty")
    for label in labels:
        if not isinstance(label, str):
            fix = (
                ", or if these are zeros and ones for each label, np.array(y)"
                if isinstance(label, Integral)
                else ""
            )
            raise TypeError(f"y[{place}] has the label {label!r:.80}; expected texts{fix}")
        if not label.strip():
            raise ValueError(f"y[{place}] has the empty label {label!r}; leave it out of the list")
    return tuple(dict.fromkeys(map(plain_str, labels)))
