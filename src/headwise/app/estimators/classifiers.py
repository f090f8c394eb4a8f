"""Text classification as a scikit-learn estimator: `TextClassifier().fit(texts, labels)`.

`LabelEstimator` is the base class of all single-label classifiers; their labels may have any type.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from headwise.app.configuration import Sections
from headwise.app.estimators.base_estimator import EmbeddingMethods, NoveltyMethods, TextEstimator
from headwise.app.estimators.estimator_inputs import (
    UNORDERED_TYPES,
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
from headwise.app.estimators.table_columns import Features, TableEstimator
from headwise.artifacts.model_info import ModelInfo
from headwise.core.config import JsonObject
from headwise.data.items.examples import Example
from headwise.data.items.labels import TOLERANCE, SoftLabel
from headwise.metrics.thresholds import predict_labels
from headwise.nn.encoders.encoder_configs import EncoderName
from headwise.nn.networks.text_models import PairModel, TextClassifierModel
from headwise.training.callbacks import TrainingCallback

LabelledItems = tuple[Sequence[Any], np.ndarray]
"""Labelled items, and the sorted unique labels in their original type."""


ClassWeight = Literal["balanced"] | Mapping[Any, float] | None
"""Weights of the labels in the loss: the same total weight for each label, or a weight by label."""

LabelModel = TypeVar("LabelModel", TextClassifierModel, PairModel)


class LabelEstimator(EmbeddingMethods, ClassifierMixin, TextEstimator[LabelModel]):
    """A classifier; see `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
    """

    classes_: np.ndarray
    class_weight: ClassWeight = None

    def predict_proba(self, X: Inputs) -> np.ndarray:
        """Calibrated probabilities, float64 `[items, classes]`, in the order of `classes_`."""
        check_is_fitted(self, "model_")
        return self.model_.predict_proba(self._items(X))[:, self._columns]

    def predict_log_proba(self, X: Inputs) -> NDArray[np.float64]:
        """Logarithms of the calibrated probabilities, `[items, classes]`; finite where a probability is
        rounded to 0."""
        return log_softmax(self._class_logits(X), axis=1)

    def decision_function(self, X: Inputs) -> NDArray[np.float64]:
        """Calibrated logits, `[items, classes]`; of two classes the difference of the second and the first,
        `[items]`, as in scikit-learn."""
        logits = self._class_logits(X)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def _class_logits(self, X: Inputs) -> NDArray[np.float64]:
        """Calibrated logits, `[items, classes]`, in the order of `classes_`."""
        check_is_fitted(self, "model_")
        model: Any = self.model_
        return model.calibrated(model.logits(model.encoded(self._items(X))))[:, self._columns]

    @property
    def _columns(self) -> list[int]:
        """The index of each of `classes_` among the labels of the model."""
        names = list(self.model_.labels)
        return [names.index(str(label)) for label in self.classes_]

    def _layers(self) -> tuple[JsonObject, JsonObject]:
        recipe, argument_sections = super()._layers()
        if self.class_weight is not None:
            argument_sections["classifier"] = {"class_weights": class_weights_setting(self.class_weight)}
        return recipe, argument_sections

    def predict(self, X: Inputs) -> np.ndarray:
        """The most probable label of each item, or the label that the thresholds select, `[items]`, in the
        type of the labels in `fit`."""
        probabilities, thresholds = self.predict_proba(X), self.model_.thresholds
        if thresholds is not None:
            of = dict(zip(self.model_.labels, thresholds, strict=True))
            thresholds = [of[str(label)] for label in self.classes_]
        return self.classes_[predict_labels(probabilities, thresholds)]

    def score(self, X: Inputs, y: Targets, sample_weight: Weights = None) -> float:
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
        return super().score(X, targets, scoring_weights(targets.tolist(), sample_weight))

    def _fit_labelled(self, answered: LabelledItems, dev: LabelledItems | None) -> Self:
        """Train on labelled items and set the fitted attributes."""
        items, labels = answered
        if len(labels) < 2:
            only = f"only one class, {labels.tolist()}" if len(labels) else "no label"
            raise ValueError(f"y has {only}; a classifier needs two or more")
        warn_of_blanks(labels.tolist())
        held, dev_labels = dev or (None, labels)
        names = {str(label) for label in labels}
        if unseen := [label.item() for label in dev_labels if str(label) not in names]:
            raise ValueError(f"labels of dev that y does not have: {unseen}; it has {labels.tolist()}")
        self._fit(items, held, label_type=labels.dtype.name)
        trained = set(self.model_.labels)
        # Without the label of unknown texts.
        self.classes_ = labels[[str(label) in trained for label in labels.tolist()]]
        return self

    def _take(self, model: LabelModel, info: ModelInfo) -> None:
        super()._take(model, info)
        names = np.array(model.labels)
        kind = _number_type(info.training.label_type)
        self.classes_ = np.unique(names == "True" if kind == np.bool_ else names.astype(kind or np.str_))


def class_weights_setting(weights: Literal["balanced"] | Mapping[Any, float]) -> str:
    """`class_weight` of scikit-learn as the setting `classifier.class_weights`.

    Raises:
        ValueError: It is neither, or a label contains a comma.
    """
    if isinstance(weights, str):
        if weights != "balanced":
            raise ValueError(f"class_weight is {weights!r}; expected 'balanced' or a dictionary")
        return weights
    names = [plain_str(label) for label in weights] if isinstance(weights, Mapping) else []
    if not names or any("," in name for name in names):
        raise ValueError(
            f"class_weight is {weights!r:.80}; expected 'balanced', or a dictionary with a weight for one "
            "or more labels without a comma; sample_weight takes any labels"
        )
    if wrong := [weight for weight in weights.values() if not isinstance(weight, Real)]:
        raise ValueError(f"class_weight has the weight {wrong[0]!r:.80}; expected numbers above 0")
    return ",".join(
        f"{name}={float(weight)!r}" for name, weight in zip(names, weights.values(), strict=True)
    )


def _number_type(name: Any) -> np.dtype | None:
    """The dtype with this name if it is numeric or boolean; None for string labels."""
    try:
        dtype = np.dtype(name) if isinstance(name, str) else None
    except TypeError:
        return None
    return dtype if dtype is not None and dtype.kind in "iufb" else None


def check_labels(y: Targets) -> np.ndarray:
    """The labels as an array `[items]` of one type, without missing labels.

    Raises:
        TypeError, ValueError: y is not a column of labels.
    """
    column: Any = check_targets(y, "labels")
    if isinstance(column, list | tuple):
        check_single_labels(column)
    elif hasattr(column, "to_numpy") and not isinstance(getattr(column, "dtype", None), np.dtype):
        # scikit-learn would convert the extension types of tables to floats.
        values_of = column.tolist if hasattr(column, "tolist") else column.__iter__  # pandas, Polars
        column = list(values_of()) if dimensions(column) == 1 else column.to_numpy()
    targets = column_or_1d(column)
    # A string array would turn NaN into 'nan' and truncate the text of an Enum to the length of its value.
    objects = np.asarray(column, dtype=object).ravel() if isinstance(column, list | tuple) else targets
    values = [label.item() if isinstance(label, np.generic) else label for label in objects.tolist()]
    if not isinstance(column, list | tuple):
        check_single_labels(values)
    for place, label in enumerate(values):
        if label is None or type(label).__name__ == "NAType" or label != label:
            raise ValueError(f"y[{place}] is {label}; expected a label")
        if isinstance(label, str) and not label.strip():
            raise ValueError(f"y[{place}] is {label!r}, an empty label; leave such texts out")
    if targets.dtype.kind in "OUT":
        texts = all(isinstance(label, str) for label in values)
        _check_label_type(values[0] if values else "")
        kinds = sorted({type(label).__name__ for label in values})
        if not texts and len(kinds) > 1:
            raise TypeError(f"y has labels of several types, {', '.join(kinds)}; expected one")
        dtype = object if texts and targets.dtype == object else None
        targets = np.array([plain_str(label) for label in values] if texts else values, dtype=dtype)
    if targets.dtype.kind in "mM":
        raise TypeError(f"y has labels of the type {targets.dtype}; give them as texts")
    check_classification_targets(targets)
    return targets + 0.0 if targets.dtype.kind == "f" else targets  # -0.0 is 0.0


def _check_label_type(label: object) -> None:
    """Check the type of a label in a column of objects. Wider integers have no type in NumPy.

    Raises:
        TypeError: It is neither a text, nor a number of 64 bits or fewer, nor a boolean.
    """
    if isinstance(label, int) and not -(2**63) <= label < 2**64:
        raise TypeError(f"y has the label {label}, which needs more than 64 bits; give labels as texts")
    if not isinstance(label, str | int | float):
        name = type(label).__name__
        raise TypeError(f"y has the label {label!r:.80} of the type {name}; give labels as texts")


def check_single_labels(labels: Sequence[object]) -> None:
    """Check that labels are neither sets, nor lists of different lengths, nor members of an Enum without
    the value of a text or a number.

    Raises:
        TypeError: One of them is.
    """
    sets = (*UNORDERED_TYPES, dict)
    widths = {len(label) if isinstance(label, list | tuple) else 0 for label in labels}
    for place, label in enumerate(labels):
        if isinstance(label, sets) or (len(widths) > 1 and isinstance(label, list | tuple)):
            raise TypeError(
                f"y[{place}] is {label!r:.80}; expected one label (MultiLabelClassifier takes sets)"
            )
        if isinstance(label, Enum) and not isinstance(label, str | int | float):
            raise TypeError(f"y[{place}] is {label!r:.80}; expected a text or a number, such as its name")


class TextClassifier(
    NoveltyMethods, TableEstimator[TextClassifierModel], LabelEstimator[TextClassifierModel]
):
    """A classifier of texts, which follows scikit-learn's conventions.

        classifier = TextClassifier(epochs=5, random_state=1)
        classifier.fit(["cannot log in", "refund, please"], ["login", "billing"])
        classifier.predict(["my password is wrong"])        # array of labels, [texts]
        classifier.predict_proba(["my password is wrong"])  # probabilities, [texts, classes]
        classifier.save("intents")

    Settings that are not given are chosen by the amount of data, as in `headwise train`.

    Args:
        text_column: The column of the text, for X that are tables; `subject+body` joins two columns. None:
            X is a list of texts.
        feature_columns: Columns beside the text that the model reads, too; see `Features`.
        encoder: The name of the encoder.
        vectors: File of pretrained word vectors, in the formats of `--vectors`.
        epochs: Maximum number of passes over the training data.
        recipe: Further settings: the sections of a TOML recipe as a dictionary, or a recipe file. The other
            arguments override it; a grid names single settings, `recipe__train__learning_rate`.
        class_weight: Weights of the labels in the loss: "balanced", or a weight above 0 by label.
        random_state: Seed of the split, of the initial weights and of everything else that is random. None:
            the seeds of the recipe, or 0 where it has none.
        verbose: Print a line after each epoch.
        callbacks: Objects that follow the training run, see `TrainingCallback`.

    Texts that belong to no label: see `NoveltyMethods`.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.TextClassifierModel`, whose labels are strings, in another order.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str] = "classify"

    def __init__(
        self,
        *,
        text_column: str | None = None,
        feature_columns: Features | None = None,
        encoder: EncoderName | None = None,
        vectors: str | PathLike[str] | None = None,
        epochs: int | None = None,
        recipe: Sections | str | PathLike[str] | None = None,
        class_weight: ClassWeight = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        callbacks: Sequence[TrainingCallback] = (),
    ):
        super().__init__(
            text_column=text_column,
            feature_columns=feature_columns,
            encoder=encoder,
            vectors=vectors,
            epochs=epochs,
            recipe=recipe,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.class_weight = class_weight

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
            y: Their labels: a list, an array, a Series or one column of strings, integers or booleans; or
                soft labels, the probabilities of all labels, `[texts, labels]`. The labels are then 0, 1,
                ..., or the column names of a DataFrame.
            sample_weight: How much each text counts, `[texts]`, 0 or more; also on dev.
            dev: Texts and labels that select the best epoch and calibrate the probabilities. By default a
                share of X (`split.dev` of the recipe, 15 %); equal texts stay on one side of the split.

        Raises:
            HeadwiseError: A setting is invalid, or the texts are too few to split.
            TypeError, ValueError: X or y has a wrong type or value.
        """
        warn_of_other_order(X, y)
        self._learn_columns(X)
        items, labels = _examples(self._texts(X), y, sample_weight)
        answered = self._with_rows(X, items), labels
        held = None
        if dev is not None:
            dev_x, dev_y = unpack_dev(dev)
            items, dev_labels = _examples(self._texts(dev_x), dev_y, known_labels=labels)
            held = self._with_rows(dev_x, items), dev_labels
        return self._fit_labelled(answered, held)


def _examples(
    texts: Sequence[str], y: Targets, weights: Weights = None, known_labels: np.ndarray | None = None
) -> LabelledItems:
    """The examples and their sorted labels. `known_labels`: labels of y, which the columns of soft dev
    labels must match."""
    counts = weights_for(texts, weights)
    if isinstance(y, list | tuple):
        check_single_labels(y)
    shape = np.shape(cast(Any, y))
    if len(shape) == 2 and shape[1] > 1:
        columns = column_names(y) or list(range(shape[1]))
        check_unique_names(columns)
        names = check_labels(columns)
        if known_labels is not None and set(map(str, names)) != set(map(str, known_labels)):
            raise ValueError(
                f"y of dev has the columns {columns}; expected one for each label of y, "
                f"{known_labels.tolist()}"
            )
        shares = _probabilities(y, tuple(map(str, names)))
        check_consistent_length(texts, shares)
        rows = zip(texts, shares, counts, strict=True)
        return [
            Example(t, soft_label.likeliest, shares=soft_label, weight=w) for t, soft_label, w in rows
        ], np.unique(names)
    targets = check_labels(y)
    check_consistent_length(texts, targets)
    rows = zip(texts, targets, counts, strict=True)
    return [Example(text, str(label), weight=w) for text, label, w in rows], np.unique(targets)


def _probabilities(y: Targets, names: tuple[str, ...]) -> list[SoftLabel]:
    """The rows of a matrix `[texts, labels]` as soft labels.

    Raises:
        ValueError: A row is not a probability distribution.
    """
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        row = next(iter(y), None)
        raise TypeError(
            f"y[0] is {row!r:.80}; expected one label, or the probabilities of labels"
        ) from None
    good = ((values >= 0) & (values <= 1)).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= TOLERANCE)
    if not good.all():
        place = int((~good).argmax())
        raise ValueError(
            f"y[{place}] is {values[place].tolist()!r:.80}; expected the probabilities of {len(names)} "
            "labels, from 0 to 1, that add up to 1"
        )
    return [SoftLabel(names, row) for row in values.astype(np.float32)]
