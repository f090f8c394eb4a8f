"""PairClassifier: what holds between two texts as a scikit-learn estimator."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from headwise.data.pair import Pair
from headwise.data.pair_split import fingerprint_pairs, split_pairs
from headwise.estimators.base import TextEstimator, training_folder
from headwise.recipe import build_recipe
from headwise.train.model_run import run_json
from headwise.train.pair_parts import PairParts
from headwise.train.run import choose_settings
from headwise.train.run_pairs import fit_pairs


class PairClassifier(ClassifierMixin, TextEstimator):
    """A classifier of text pairs: paraphrase or not, entailment, an answer to a question.

    See `TextEstimator` for its parameters.

    Attributes:
        classes_: The labels, sorted, in the order of the columns of `predict_proba`; strings.
        model_: The fitted `headwise.models.pair_model.PairModel`.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str] = "pair"

    def fit(
        self,
        X: Sequence[tuple[str, str]],
        y: Sequence[Any],
        *,
        dev: tuple[Sequence[tuple[str, str]], Sequence[Any]] | None = None,
    ) -> Self:
        """Train on pairs and their labels.

        Args:
            X: Pairs of texts: a list of tuples, or an array or DataFrame with two columns.
            y: Their labels; they become strings.
            dev: Pairs and labels that choose the best epoch and calibrate the probabilities. By default a
                share of X (`split.dev` of the recipe, 15 %), with equal first texts on one side.

        Raises:
            HeadwiseError: A setting is wrong, or the pairs are too few to split.
            TypeError, ValueError: X or y are not what they should be.
        """
        layers = self._layers()
        pairs = _labelled(X, y)
        labels = np.unique([str(pair.label) for pair in pairs])
        if len(labels) < 2:
            raise ValueError(f"y has only one class, {labels.tolist()}; a classifier needs two or more")
        if dev is None:
            asked = build_recipe(*layers).split
            split = split_pairs(pairs, asked.dev, seed=asked.seed)
            parts = PairParts(split.train, split.dev, [], split.notes)
        else:
            parts = PairParts(pairs, _labelled(*dev), [])
            if unseen := sorted({str(pair.label) for pair in parts.dev} - set(labels.tolist())):
                raise ValueError(f"labels of dev that y does not have: {unseen}")
        settings, vectors = choose_settings(len(parts.train), layers)
        with training_folder() as folder:
            fitted = fit_pairs(parts, settings, folder, vectors=vectors)
        info = {
            "data": {name: fingerprint_pairs(getattr(parts, name)).to_json() for name in ("train", "dev")},
            "training": run_json(settings, fitted.progress),
            "metrics": {"dev": fitted.dev},
        }
        self._take(fitted.model, info)
        return self

    def predict_proba(self, X: Sequence[tuple[str, str]]) -> np.ndarray:
        """Calibrated probabilities, float64 `[pairs, classes]`, in the order of `classes_`."""
        check_is_fitted(self, "model_")
        names = list(self.model_.labels)
        return self.model_.predict_proba(_pairs(X))[:, [names.index(label) for label in self.classes_]]

    def predict(self, X: Sequence[tuple[str, str]]) -> np.ndarray:
        """The most probable label of each pair, `[pairs]`."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _take(self, model: Any, info: dict[str, Any]) -> None:
        super()._take(model, info)
        self.classes_ = np.unique(model.labels)


def _pairs(X: Any) -> list[Pair]:
    if isinstance(X, str):
        raise TypeError("X is one text; give a list of pairs of texts")
    rows: list[Any] = list(X.itertuples(index=False, name=None) if hasattr(X, "itertuples") else X)
    for place, row in enumerate(rows):
        if isinstance(row, str) or len(row) != 2 or not all(isinstance(text, str) for text in row):
            raise TypeError(f"X[{place}] is {row!r:.80}; expected two texts")
    return [Pair(str(first), str(second)) for first, second in rows]


def _labelled(X: Any, y: Any) -> list[Pair]:
    pairs, targets = _pairs(X), column_or_1d(y)
    check_consistent_length(pairs, targets)
    check_classification_targets(targets)
    return [Pair(pair.first, pair.second, str(label)) for pair, label in zip(pairs, targets, strict=True)]
