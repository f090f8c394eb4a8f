"""TextClassifier: the main job as a scikit-learn estimator, `TextClassifier().fit(texts, labels)`."""

import operator
import signal
import tempfile
from collections.abc import Mapping, Sequence
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from headwise.data.example import Example
from headwise.data.fingerprint import fingerprint
from headwise.data.split import split_examples
from headwise.recipe import build_recipe, read_recipe
from headwise.store import load_model, read_info, save_model
from headwise.train.fit import Fitted, fit
from headwise.train.loop import TrainingInterrupted
from headwise.train.run import Texts, choose_settings

_KINDS = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}  # of labels that are not texts


class TextClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of texts that follows scikit-learn's conventions.

    What is not given is chosen by the number of texts, as `headwise train` does. Fitting seeds torch.

    Args:
        encoder: A name of `headwise.encoders.ENCODERS`.
        vectors: File of pretrained word vectors, as `--vectors` takes it.
        epochs: Most passes over the training texts.
        recipe: Further settings: the sections of a TOML recipe as a dictionary, or the file. The arguments
            beside it go before what it says.
        random_state: Seed of the split, the first weights and all else that is random; None draws one.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`.
        model_: The fitted `headwise.Model`, whose labels are strings in an order of its own.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    def __init__(
        self,
        *,
        encoder: str | None = None,
        vectors: str | PathLike[str] | None = None,
        epochs: int | None = None,
        recipe: Mapping[str, Mapping[str, Any]] | str | PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.encoder = encoder
        self.vectors = vectors
        self.epochs = epochs
        self.recipe = recipe
        self.random_state = random_state

    def fit(
        self, X: Sequence[str], y: Sequence[Any], *, dev: tuple[Sequence[str], Sequence[Any]] | None = None
    ) -> "TextClassifier":
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
        layers = self._layers()
        examples, labels = _examples(X, y)
        if len(labels) < 2:
            raise ValueError(f"y has only one class, {labels.tolist()}; a classifier needs two or more")
        if dev is None:
            asked = build_recipe(*layers).split
            split = split_examples(examples, asked.dev, seed=asked.seed)
            texts = Texts(split.train, split.dev, [], split.notes)
        else:
            dev_examples, dev_labels = _examples(*dev)
            if len(unseen := np.setdiff1d(dev_labels, labels)):
                raise ValueError(f"labels of dev that y does not have: {unseen.tolist()}")
            texts = Texts(examples, dev_examples, [], ())
        settings, vectors = choose_settings(len(texts.train), layers)
        try:
            with tempfile.TemporaryDirectory(prefix="headwise-") as folder:
                fitted = fit(texts.train, texts.dev, settings, Path(folder), vectors=vectors)
        except TrainingInterrupted as stop:  # the signal goes on, now that nothing is left behind
            signal.raise_signal(stop.signal)
            raise KeyboardInterrupt from None
        self.classes_ = labels
        training = {"recipe": settings.to_json(), "label_kind": labels.dtype.kind}
        self._take(fitted.model, _info(fitted, texts, training))
        return self

    def predict_proba(self, X: Sequence[str]) -> np.ndarray:
        """Calibrated probabilities, float64 `[texts, classes]`, in the order of `classes_`."""
        check_is_fitted(self, "model_")
        names = list(self.model_.labels)
        return self.model_.predict_proba(_texts(X))[:, [names.index(str(label)) for label in self.classes_]]

    def predict(self, X: Sequence[str]) -> np.ndarray:
        """The most probable label of each text, `[texts]`."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a model folder, which the `headwise` command reads too.

        Raises:
            StoreError: The folder holds something else, or cannot be written.
        """
        check_is_fitted(self, "model_")
        save_model(self.model_, Path(folder), **self._info)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> "TextClassifier":
        """A fitted classifier from a model folder, also from one that `headwise train` wrote.

        Raises:
            StoreError: It is not a sound model folder.
        """
        model, info = load_model(Path(folder)), read_info(Path(folder))
        loaded, names = cls(), np.array(model.labels)
        kind = _KINDS.get(info["training"].get("label_kind"), np.str_)
        loaded.classes_ = np.unique(names == "True" if kind is np.bool_ else names.astype(kind))
        loaded._take(model, {part: info[part] for part in ("data", "training", "metrics")})
        return loaded

    def _take(self, model: Any, info: dict[str, Any]) -> None:
        self.model_, self._info = model, info
        self.recipe_ = info["training"].get("recipe", {})
        self.history_ = info["training"].get("history", [])

    def _layers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the recipe says, and what the arguments say."""
        recipe = {} if self.recipe is None else self.recipe
        if not isinstance(recipe, Mapping):
            recipe = read_recipe(Path(recipe))
        seed: Any = self.random_state
        seed = int(seed) if isinstance(seed, Integral) else check_random_state(seed).randint(2**31 - 1)
        own: dict[str, Any] = {"split": {"seed": seed}, "train": {"seed": seed}}
        if self.epochs is not None:
            own["train"]["epochs"] = operator.index(self.epochs)
        if self.encoder is not None:
            own["encoder"] = {"name": self.encoder}
        if self.vectors is not None:
            own["vectors"] = {"file": fspath(self.vectors)}
        return dict(recipe), own

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def _info(fitted: Fitted, texts: Texts, training: dict[str, Any]) -> dict[str, Any]:
    """What is saved beside a model."""
    progress = fitted.progress
    return {
        "data": {"train": fingerprint(texts.train).to_json(), "dev": fingerprint(texts.dev).to_json()},
        "training": {
            **training,
            "history": progress.history,
            "best_epoch": progress.best_epoch + 1,
            "seconds": progress.seconds,
        },
        "metrics": {
            "dev": progress.history[progress.best_epoch],
            "calibration": {
                "expected_calibration_error_before": fitted.calibration_before,
                "expected_calibration_error_after": fitted.calibration_after,
            },
        },
    }


def _texts(X: Any) -> list[str]:
    if isinstance(X, str):
        raise TypeError("X is one text; give a list of texts")
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(f"X has {X.ndim} dimensions; expected a list or one column of texts")
    texts = list(X)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"X[{place}] is {text!r:.80}; expected a text")
    return [str(text) for text in texts]  # not NumPy's


def _examples(X: Any, y: Any) -> tuple[list[Example], np.ndarray]:
    """The examples, and the labels that occur, sorted and of y's own type."""
    texts, targets = _texts(X), column_or_1d(y)
    check_consistent_length(texts, targets)
    check_classification_targets(targets)
    pairs = zip(texts, targets, strict=True)
    return [Example(text, str(label)) for text, label in pairs], np.unique(targets)
