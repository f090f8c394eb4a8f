"""Training of regressors of texts, or pairs of texts.

The linear model in the ensemble of a regressor: fitted on training texts, with its weight fitted on
held-out ones.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from headwise.metrics.regression_scores import number_scores
from headwise.nn.layers.output_layers import squared_error
from headwise.nn.networks.text_models import PairScorer, TextRegressorModel
from headwise.training.linear_probe import fit_linear_number_probe
from headwise.training.objectives.text_objective import TextObjective

AnyRegressor = TypeVar("AnyRegressor", TextRegressorModel, PairScorer)


class NumberObjective(TextObjective[AnyRegressor]):
    """The squared error on training texts, and the errors on dev texts (see `headwise.training.loop`).

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
        losses = squared_error(self.outputs(texts), self.to_device(self.train_targets[list(texts)]))
        return self.summed(losses, texts)

    def probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return fit_linear_number_probe(vectors, targets, weights, same)

    def evaluate(self) -> Mapping[str, float]:
        predictions, deviation = self.model.scores(self.dev_items), self.model.scale.deviation
        return number_scores(predictions, self.dev_targets, deviation, self.dev_weights)

    def held_out(self) -> np.ndarray:
        """The dev outputs on the scale of the raw numbers, as each fold has its own training scale."""
        return self.model.scale.restore(super().held_out())
