"""Training a model that gives texts, or pairs of texts, numbers."""

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
    """The squared error on training texts and the errors on dev texts (see `headwise.train.objective`).

    Args:
        model: Gives texts or pairs numbers.
        train: Training texts or pairs, and their numbers.
        dev: Dev texts or pairs, and their numbers.
        weights: How much the training texts count, `[texts]`, 1 in the mean; None where all count the same.
        dev_weights: The same of the dev texts.
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
        # What counts nothing may be too large to be a number of 32 bits.
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
        said, deviation = self.model.scores(self.dev_items), self.model.scale.deviation
        return number_scores(said, self.dev_targets, deviation, self.dev_weights)

    def held_out(self) -> np.ndarray:
        """Not on the scale of the training numbers, which each fold has of its own."""
        return self.model.scale.restore(super().held_out())


def finish_numbers(objective: RegressionObjective) -> Finished:
    """Fit the linear expert of a trained model on dev."""
    linear = objective.model.config.expert.kind == "linear"
    kept = add_number_expert(objective) if linear else None
    return Finished(dict(objective.evaluate()), kept=kept)


def finish_numbers_crossed(objective: RegressionObjective, crossed: Crossed) -> Finished:
    """Fit the linear expert of a model that was trained on all texts on what other models say of texts that
    they were not trained on."""
    model, said = objective.model, crossed.outputs[:, 0]
    if model.config.expert.kind == "linear":
        said = add_number_expert_crossed(objective, crossed)
    wanted = model.scale.restore(objective.train_targets[crossed.held])
    weights = objective.weights_of(crossed.held)
    return Finished(dict(number_scores(said, wanted, model.scale.deviation, weights)))
