"""The fit after the last epoch of a training run: an encoder and a linear member become an ensemble.

The linear member is fitted on the training items, its ensemble weight on outputs for items that the encoder
was not trained on, and the ensemble is then calibrated. The held-out outputs are those for dev, or
out-of-fold outputs of all items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.data.items.dataset import in_chunks, items_at, subset_of
from headwise.linear.ensemble_weights import (
    EQUAL_WEIGHTS,
    MIN_CONTRIBUTION,
    NETWORK_ALONE,
    PRETRAINED_NETWORK,
    UNPRETRAINED_NETWORK,
    EnsembleWeights,
    WeightPrior,
    fit_binary_ensemble,
    fit_binary_temperature,
    fit_ensemble,
    fit_number_weights,
)
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_model import LinearModel
from headwise.linear.linear_settings import LinearFit, LinearSettings
from headwise.metrics.calibration import MAX_USUAL_TEMPERATURE
from headwise.metrics.metric_keys import NOVELTY
from headwise.metrics.regression_scores import number_scores
from headwise.metrics.thresholds import Weights
from headwise.nn.networks.bag_model import BagModel
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.text_model import TextEncoderModel
from headwise.runtime.ensemble_outputs import MOST_SCORED, scores_of
from headwise.training.cross_fitting import OutOfFold
from headwise.training.memoized_fits import memoized
from headwise.training.model_calibration import LABEL_SETS, SINGLE_LABEL, Calibration
from headwise.training.novelty_training import fit_novelty_detector
from headwise.training.text_objectives import (
    ClassificationObjective,
    MultiLabelObjective,
    NumberObjective,
    TextObjective,
)
from headwise.training.train_result import ModelEnsembleFitter, PostTrainingFit

AnyObjective = TypeVar("AnyObjective", bound=TextObjective[Any])


@dataclass(frozen=True)
class HeldOut:
    """Outputs of a network for items that it was not trained on.

    Attributes:
        outputs: Outputs of the network, `[items, outputs]`.
        targets: Targets of the items.
        weights: Weights of the items, `[items]`; None where all are equal.
        indices: Indices of the items in the training data, if the outputs are out of fold; None for the dev
            items.
    """

    outputs: NDArray[np.float32]
    targets: NDArray
    weights: Weights
    indices: NDArray[np.int64] | None = None


class TextEnsembleFitter(ModelEnsembleFitter, Generic[AnyObjective]):
    """Fits the ensemble of a model of texts, pairs or bags; bags have no linear member.

    Attributes:
        weights: The ensemble weights.
        linear_settings: Settings of the linear member; None before it is fitted.

    Args:
        objective: The objective with the items and the trained model.
    """

    def __init__(self, objective: AnyObjective):
        self.objective = objective
        self.model: Any = objective.model
        self.weights: EnsembleWeights = NETWORK_ALONE
        self.linear_settings: LinearSettings | None = None

    def encoder_is_unused(self) -> bool:
        objective = self.objective
        if not self.has_linear_member or not self.linear_fit.model.has_words:
            return False
        if objective.dev_logits is None:
            raise ValueError("the dev items have not been evaluated")
        held = HeldOut(objective.dev_logits, objective.dev_targets, objective.dev_weights)
        return not self.fit_weights(held, self.linear_dev_scores).encoder

    @cached_property
    def linear_fit(self) -> LinearFit:
        """The linear member, fitted to the training items."""
        return fit_linear_member(self.objective)

    @cached_property
    def linear_dev_scores(self) -> NDArray[np.float32]:
        """The scores of the linear member for the dev items."""
        return self.dev_scores(self.linear_fit.model)

    @property
    def has_linear_member(self) -> bool:
        """Whether the model gets a linear member."""
        model = self.model
        return not isinstance(model, BagModel) and model.config.linear_model.kind == "linear"

    def fit(self, out_of_fold: OutOfFold | None = None) -> PostTrainingFit:
        held = self.held_out(out_of_fold)
        return self.calibrate(held, self.fit_members(held) if self.has_linear_member else held.outputs)

    def held_out(self, out_of_fold: OutOfFold | None) -> HeldOut:
        """The held-out outputs: out of fold if there are some, else those for dev."""
        objective = self.objective
        if out_of_fold is None:
            outputs = self.model.outputs_of(objective.dev_items)
            return HeldOut(outputs, objective.dev_targets, objective.dev_weights)
        rows = out_of_fold.held
        return HeldOut(out_of_fold.outputs, objective.train_targets[rows], objective.weights_of(rows), rows)

    def fit_members(self, held: HeldOut) -> NDArray[np.float32]:
        """Fit the linear member on the training items, and the ensemble weights on held-out outputs. A
        member whose contribution is below `MIN_CONTRIBUTION` is dropped.

        Returns:
            The outputs of the ensemble for the held-out items, `[items, outputs]`.
        """
        on_dev = held.indices is None
        fitted = self.linear_fit if on_dev else fit_linear_member(self.objective, out_of_fold=True)
        if not fitted.model.has_words or not len(held.targets):
            return held.outputs
        scores = self.linear_dev_scores if on_dev else fitted.oof_scores[held.indices]
        self.weights, self.linear_settings = self.fit_weights(held, scores), fitted.settings
        self.set_members(fitted.model)
        if self.weights.shift is not None:
            # On dev the shifted scores are those of the stored 8-bit weights.
            scores = (
                self.model.linear_scores(self.objective.dev_items)
                if on_dev
                else scores + self.weights.shift
            )
        return self.weights.combine(held.outputs, scores)

    def dev_scores(self, linear: LinearModel) -> NDArray[np.float32]:
        """Scores of a linear model for the dev items, `[items, outputs]`, with its weights in 8 bits."""
        member = TextLinearBuffers.of(linear)
        return scores_of(member, self.model, self.objective.dev_items)

    def fit_weights(self, held: HeldOut, scores: NDArray[np.float32]) -> EnsembleWeights:
        """Fit the ensemble weights on held-out outputs and scores of the linear member."""
        raise NotImplementedError

    def weight_prior(self, held: HeldOut) -> WeightPrior:
        """What is expected of the weights of the network and the linear model."""
        return PRETRAINED_NETWORK if self.model.config.base.encoder == "on" else EQUAL_WEIGHTS

    def set_members(self, linear: LinearModel | None) -> None:
        """Set the linear member of the model, if its weight is not 0, and the weights of both members."""
        model, weights = self.model, self.weights
        if linear is None or not weights.linear_model:
            model.remove_linear_model()
            model.encoder_weight = weights.encoder
            return
        if weights.shift is not None:
            bias = linear.coefficients.bias + weights.shift
            linear = replace(linear, coefficients=replace(linear.coefficients, bias=bias))
        model.add_linear_model(
            TextLinearBuffers.of(linear),
            weights.linear_model,
            encoder_weight=weights.encoder,
            share=weights.share,
        )

    def calibrate(self, held: HeldOut, outputs: NDArray[np.float32]) -> PostTrainingFit:
        """Calibrate the model on the held-out outputs of the ensemble, `[items, outputs]`."""
        raise NotImplementedError

    def refit(self, first: "TextEnsembleFitter[AnyObjective]") -> None:
        self.weights, self.linear_settings = first.weights, first.linear_settings
        if self.linear_settings is not None:
            has_member = bool(self.weights.linear_model)
            self.set_members(
                fit_linear_member(self.objective, self.linear_settings).model if has_member else None
            )


class _ClassifierEnsembleFitter(TextEnsembleFitter[AnyObjective]):
    """Fits the ensemble of a classifier."""

    calibration: ClassVar[Calibration]

    def calibrate(self, held: HeldOut, outputs: NDArray[np.float32]) -> PostTrainingFit:
        items = held.targets, held.weights
        fitted = self.calibration.fit(self.model, held.outputs, outputs, *items, self.weights.temperature)
        if not self.detects_novelty:
            return fitted
        novelty = fit_novelty_detector(self.objective, outputs, held.targets, held.indices)
        return replace(fitted, dev=fitted.dev | {NOVELTY: novelty.to_json()})

    @property
    def detects_novelty(self) -> bool:
        """Whether the model gets a novelty detector."""
        return isinstance(self.model, TextEncoderModel) and self.model.config.unknown.detect

    def refit(self, first: "TextEnsembleFitter[AnyObjective]") -> None:
        super().refit(first)
        self.model.temperature, self.model.thresholds = first.model.temperature, first.model.thresholds
        if self.detects_novelty:  # its references are the texts that the held-out ones were compared with
            self.model.novelty = first.model.novelty
            self.model.set_references(first.model.references)


class SingleLabelEnsembleFitter(_ClassifierEnsembleFitter[ClassificationObjective[Any]]):
    """Fits the ensemble of a classifier with one label per item."""

    calibration = SINGLE_LABEL

    def fit_weights(self, held: HeldOut, scores: NDArray[np.float32]) -> EnsembleWeights:
        members = [held.outputs, scores]
        ensemble = fit_ensemble(members, held.targets, weights=held.weights, prior=self.weight_prior(held))
        encoder, linear_model = ensemble.weights
        if linear_model == 0:
            return NETWORK_ALONE
        ratio = linear_model / encoder if encoder else 1.0
        return EnsembleWeights(float(encoder > 0), ratio, ensemble.shares[1], 1 / (encoder or linear_model))

    def weight_prior(self, held: HeldOut) -> WeightPrior:
        config = self.model.config
        # Only a network that is refitted on more texts differs from the one whose outputs these are.
        if held.indices is None and not config.base.name and not config.pretrained.name:
            return UNPRETRAINED_NETWORK
        return super().weight_prior(held)


class MultiLabelEnsembleFitter(_ClassifierEnsembleFitter[MultiLabelObjective]):
    """Fits the ensemble of a multi-label classifier."""

    calibration = LABEL_SETS

    def dev_scores(self, linear: LinearModel) -> NDArray[np.float32]:
        parts = in_chunks(self.objective.dev_items, MOST_SCORED)
        scores = [linear.scores(*self.model.linear_inputs(part)) for part in parts]
        return np.concatenate([np.zeros((0, linear.classes), dtype=np.float32), *scores])

    def fit_weights(self, held: HeldOut, scores: NDArray[np.float32]) -> EnsembleWeights:
        outputs, items = held.outputs, (held.targets, held.weights)
        if fit_binary_temperature(outputs, *items) > MAX_USUAL_TEMPERATURE:  # it has diverged
            outputs = np.zeros_like(outputs)
        encoder, linear_model, shift = fit_binary_ensemble(outputs, scores, *items)
        sizes = np.array([np.abs(encoder * outputs).mean(), np.abs(linear_model * (scores + shift)).mean()])
        if sizes[1] <= MIN_CONTRIBUTION * sizes.sum():
            return NETWORK_ALONE
        if sizes[0] < MIN_CONTRIBUTION * sizes.sum():
            encoder = sizes[0] = 0.0
            _, linear_model, shift = fit_binary_ensemble(np.zeros_like(outputs), scores, *items)
        share, ratio = float(sizes[1] / sizes.sum()), linear_model / encoder if encoder else 1.0
        return EnsembleWeights(float(encoder > 0), ratio, share, 1 / (encoder or linear_model), shift)


class NumberEnsembleFitter(TextEnsembleFitter[NumberObjective[Any]]):
    """Fits the ensemble of a regressor. Held-out outputs are standardised, held-out targets are not."""

    def held_out(self, out_of_fold: OutOfFold | None) -> HeldOut:
        held = super().held_out(out_of_fold)
        if out_of_fold is None:
            return held
        scale = self.model.scale  # each fold has its own
        outputs = scale.standardize(held.outputs)
        return replace(held, outputs=outputs, targets=scale.restore(held.targets))

    def fit_weights(self, held: HeldOut, scores: NDArray[np.float32]) -> EnsembleWeights:
        targets = self.model.scale.deviations(held.targets)
        outputs, prior = held.outputs[:, 0], self.weight_prior(held)
        return fit_number_weights(outputs, scores[:, 0], targets, held.weights, prior)

    def calibrate(self, held: HeldOut, outputs: NDArray[np.float32]) -> PostTrainingFit:
        scale = self.model.scale
        predictions = scale.restore(outputs[:, 0])
        return PostTrainingFit(
            dict(number_scores(predictions, held.targets, scale.deviation, held.weights))
        )


_MOST_EAGER = 50_000
"""Number of texts whose vectors are computed at once and held in memory: 50 MB."""


@dataclass(frozen=True)
class _TextVectors:
    """The vectors of encoded texts from a base, `[texts, size]`, computed when they are needed."""

    model: TextEncoderModel[Any]
    items: Sequence[Any]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        vectors = self.model.base_vectors(items_at(self.items, texts))
        if vectors is None:
            raise ValueError("the model has no base")
        return vectors


def fit_linear_member(
    objective: TextObjective[Any], settings: LinearSettings | None = None, *, out_of_fold: bool = False
) -> LinearFit:
    """Fit a linear model of words, character n-grams and vectors to the training texts: labels, label sets
    or numbers, with given settings or chosen ones.

    Args:
        objective: The objective with the items and the model.
        settings: The settings; by default they are chosen.
        out_of_fold: Whether to compute out-of-fold scores of all training texts. Otherwise very many pairs
            are sampled, and the scores are not calibrated, as their ensemble weight does that.
    """
    model = objective.model
    places = np.arange(len(objective.train_items)) if out_of_fold else objective.sampled_indices
    items = subset_of(objective.train_items, places)
    eager = model.reads_pairs or len(items) <= _MOST_EAGER
    texts, vectors, numbers = model.linear_inputs(items, vectors=eager)
    if not eager and model.has_base_vectors:
        vectors = _TextVectors(model, items)
    examples = LinearExamples(
        texts,
        objective.train_targets[places],
        model.outputs.count,
        label_type=objective.label_type,
        dense=vectors,
        numbers=numbers,
        pairs=model.reads_pairs,
        sample_weight=objective.weights_of(places),
        class_weight=objective.class_weights,
        tokenizer=model.config.words.tokenizer,
        label_name_count=objective.label_name_count,
    )
    return memoized(
        fit_linear,
        examples,
        max_features=model.config.linear_model.max_features,
        settings=settings,
        calibrated=out_of_fold,
        previous=model.previous_linear_model,
    )
