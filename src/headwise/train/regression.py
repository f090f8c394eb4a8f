"""Training of regressors of texts, or pairs of texts."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from headwise.layers.regress import squared_error
from headwise.models.pair_model import PairScorer
from headwise.models.regressor import Regressor
from headwise.scores.numbers import number_scores
from headwise.train.crossing import Crossed
from headwise.train.fitted import Finished
from headwise.train.number_expert import (
    add_number_expert,
    add_number_expert_crossed,
)
from headwise.train.probe import fit_number_probe
from headwise.train.reading import ReaderObjective

AnyRegressor = TypeVar("AnyRegressor", Regressor, PairScorer)


class RegressionObjective(ReaderObjective[AnyRegressor]):
    """The squared error on training texts, and the errors on dev texts (see `headwise.train.objective`).

    Args:
        model: A regressor of texts or pairs.
        train: Training texts or pairs, and their numbers.
        dev: Dev texts or pairs, and their numbers.
        weights: Weights of the training texts, `[texts]`, 1 on average; None where all are equal.
        dev_weights: Weights of the dev texts.
    """

    def __init__(
        self,
        model: AnyRegressor,
        train: tuple[Sequence[Any], np.ndarray],
        dev: tuple[Sequence[Any], np.ndarray],
        weights: np.ndarray | None = None,
        dev_weights: np.ndarray | None = None,
    ):
        super().__init__(model, train[0], dev[0])
        self.text_weights, self.dev_weights = weights, dev_weights
        # A target of weight 0 may be too large for 32 bits.
        counted = train[1] if weights is None else np.where(weights > 0, train[1], model.scale.mean)
        self.train_targets = model.scale.standardize(counted)
        self.dev_targets = dev[1]

    def loss(self, texts: Sequence[int]) -> Tensor:
        losses = squared_error(self.outputs(texts), self.there(self.train_targets[list(texts)]))
        return self.summed(losses, texts)

    def probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return fit_number_probe(vectors, targets, weights, same)

    def evaluate(self) -> Mapping[str, float]:
        predictions, deviation = self.model.scores(self.dev_items), self.model.scale.deviation
        return number_scores(predictions, self.dev_targets, deviation, self.dev_weights)

    def held_out(self) -> np.ndarray:
        """The dev outputs on the scale of the raw numbers, as each fold has its own training scale."""
        return self.model.scale.restore(super().held_out())


def finish_numbers(objective: RegressionObjective) -> Finished:
    """Fit the linear model and the ensemble weights of a trained model on dev."""
    linear = objective.model.config.expert.kind == "linear"
    refit_state = add_number_expert(objective) if linear else None
    return Finished(dict(objective.evaluate()), refit_state=refit_state)


def finish_numbers_crossed(objective: RegressionObjective, crossed: Crossed) -> Finished:
    """Fit the linear model and the ensemble weights of a model trained on all texts, by out-of-fold
    outputs."""
    model, predictions = objective.model, crossed.outputs[:, 0]
    if model.config.expert.kind == "linear":
        predictions = add_number_expert_crossed(objective, crossed)
    targets = model.scale.restore(objective.train_targets[crossed.held])
    weights = objective.weights_of(crossed.held)
    return Finished(dict(number_scores(predictions, targets, model.scale.deviation, weights)))
