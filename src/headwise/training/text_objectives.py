"""Training losses and dev scores of models of texts, of text pairs and of bags.

`TextObjective` is the base class of the objectives of one label (`ClassificationObjective`), of label sets
(`MultiLabelObjective`) and of numbers (`NumberObjective`). The linear model joins the network after the
epochs: `headwise.training.ensembles`.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from headwise.data.items.dataset import items_at, lengths_of, subset_of
from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE, LabelType
from headwise.data.splits.duplicates import first_in_group
from headwise.metrics.classification_scores import (
    expected_values,
    hard_labels,
    is_soft,
    mean_loss,
    score_labels,
    weighted_rates,
)
from headwise.metrics.multi_label_scores import dev_scores
from headwise.metrics.operating_points import parse_operating_points
from headwise.metrics.regression_scores import number_scores
from headwise.nn.networks.bag_model import BagModel
from headwise.nn.networks.text_model import TextEncoderModel
from headwise.nn.networks.text_models import (
    MultiLabelModel,
    PairModel,
    PairScorer,
    TextClassifierModel,
    TextRegressorModel,
)
from headwise.nn.task_layers.output_layers import (
    class_weights,
    classification_loss,
    multi_label_loss,
    squared_error,
)
from headwise.training.label_names import append_label_names
from headwise.training.linear_probe import FOLDS, ProbeInputs, fit_linear_number_probe, fit_linear_probe
from headwise.training.target_labels import target_labels

AnyReader = TypeVar("AnyReader", bound=TextEncoderModel | BagModel)

MOST_PROBED = 100_000
"""Maximum number of texts that a linear probe is fitted to: with more, its few weights hardly change."""
MOST_PAIRS = 200_000
"""Maximum number of text pairs that linear models are fitted to (see `TextObjective.sampled_indices`)."""


ItemsWithTargets = tuple[Sequence[Any], np.ndarray]
"""Texts, text pairs or bags, and their targets, `[items, ...]`."""


class TextObjective(Generic[AnyReader]):
    """Encoded training and dev texts (or pairs) of a model (see `headwise.training.loop`).

    Attributes:
        label_type: Label type of the targets.
        train_targets: Targets of the training texts, `[texts, ...]`.
        dev_targets: Targets of the dev texts.
        text_weights: Weights of the training texts, `[texts]`; None where all are equal.
        dev_weights: Weights of the dev texts.
        label_weights: Class weights on the model's device, `[labels]`; None where all are equal.
        dev_logits: Outputs of the model for the dev texts when they were last evaluated, `[texts,
            outputs]`; None before that.

    Args:
        model: The model that encodes them.
        train: Training texts, pairs or bags, and their targets.
        dev: The same for dev.
        weights: Weights of the training texts, `[texts]`, 1 on average; None where all are equal.
        dev_weights: Weights of the dev texts.
    """

    label_type: ClassVar[LabelType]
    label_name_count = 0
    """Number of label names at the end of the training texts."""
    out_of_scope: Sequence[object] = ()
    """Texts of none of the labels, which choose the weights of the novelty detector."""

    def __init__(
        self,
        model: AnyReader,
        train: ItemsWithTargets,
        dev: ItemsWithTargets,
        weights: np.ndarray | None = None,
        dev_weights: np.ndarray | None = None,
    ):
        self.model, self.device = model, model.device
        self.train_items, self.train_targets = model.encoded(train[0]), train[1]
        self.dev_items, self.dev_targets = model.encoded(dev[0]), dev[1]
        self.text_weights, self.dev_weights = weights, dev_weights
        self.label_weights: Tensor | None = None
        self.dev_logits: np.ndarray | None = None
        model.remember(chain(self.train_items, self.dev_items))

    @property
    def sampled_indices(self) -> np.ndarray:
        """Indices of the training texts that linear models are fitted to: all, but a sample of `MOST_PAIRS`
        pairs at most, as pairs have very many features."""
        count = len(self.train_items)
        if not self.model.reads_pairs or count <= MOST_PAIRS:
            return np.arange(count)
        return np.sort(np.random.default_rng(0).permutation(count)[:MOST_PAIRS])

    @property
    def probed_indices(self) -> np.ndarray:
        """Indices of the training texts that a linear probe is fitted to: `sampled_indices`, but of more
        than `MOST_PROBED` a sample, and all label names."""
        sampled = self.sampled_indices
        count = len(sampled) - self.label_name_count
        if count <= MOST_PROBED:
            return sampled
        chosen = np.sort(np.random.default_rng(0).permutation(count)[:MOST_PROBED])
        return np.append(sampled[chosen], sampled[count:])

    def same(self, numbers: np.ndarray) -> np.ndarray:
        """The index of the first near-duplicate of each of these training texts (`first_in_group`); they
        are held out together."""
        texts = cast(Any, self.model).texts_of(subset_of(self.train_items, numbers))
        return first_in_group(texts, FOLDS, self.strata(numbers))

    def strata(self, numbers: np.ndarray) -> Sequence[Any] | None:
        """The labels of these training texts, by which near-duplicates are spread over the folds; None
        where they have no single certain label."""
        return None

    def fit_probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fit a linear probe from static-embedding vectors of training texts to their targets.

        Args:
            vectors: `[texts, size]`.
            targets: `[texts, ...]`.
            weights: Weights of the texts, `[texts]`; None where all are equal.
            same: The index of the first near-duplicate of each text; they are held out together.

        Returns:
            Weights `[outputs, size]` and biases `[outputs]`.
        """
        raise NotImplementedError

    def init_from_probe(self) -> None:
        """Initialise a model with static embeddings from a linear probe on their vectors; a warm start is
        left as it is."""
        model: Any = self.model
        if model.probe.weight.any() or model.head.layers[-1].weight.any():
            return
        texts = self.probed_indices
        inputs = ProbeInputs.of(model, subset_of(self.train_items, texts))
        targets, weights = self.train_targets[texts], self.weights_of(texts)
        inputs.add_to(model, *self.fit_probe(inputs.values, targets, weights, self.same(texts)))

    def evaluate(self) -> Mapping[str, float]:
        """See `headwise.training.loop.Objective`."""
        self.dev_logits = self.model.logits(self.dev_items)
        return self.score_dev(self.dev_logits)

    def score_dev(self, logits: np.ndarray) -> Mapping[str, float]:
        """The scores of the outputs of the model for the dev texts, `[texts, outputs]`."""
        raise NotImplementedError

    def held_out(self) -> np.ndarray:
        """The outputs of the network for the dev texts, `[texts, outputs]`, for
        `headwise.training.cross_fitting`."""
        return self.model.outputs_of(self.dev_items)

    @property
    def lengths(self) -> np.ndarray:
        return lengths_of(self.train_items)

    def outputs(self, numbers: Sequence[int]) -> Tensor:
        """The model's outputs for the training texts with these indices, `[numbers, outputs]` float32."""
        model = self.model
        return model(model.collate(items_at(self.train_items, numbers), self.device)).float()

    def weights_of(self, numbers: np.ndarray) -> np.ndarray | None:
        """Weights of the training texts with these indices; None where all are equal."""
        return None if self.text_weights is None else self.text_weights[numbers]

    @property
    def class_weights(self) -> np.ndarray | None:
        """`label_weights` as an array."""
        return None if self.label_weights is None else self.label_weights.numpy(force=True)

    def summed(self, losses: Tensor, numbers: Sequence[int]) -> Tensor:
        """The weighted sum of the losses of the training texts with these indices."""
        if self.text_weights is not None:
            losses = losses * self.to_device(self.text_weights[list(numbers)])
        return losses.sum()

    def to_device(self, values: np.ndarray) -> Tensor:
        """An array on the model's device."""
        return torch.from_numpy(values).to(self.device)


AnyClassifier = TypeVar("AnyClassifier", TextClassifierModel, PairModel, BagModel, MultiLabelModel)


class LabelObjective(TextObjective[AnyClassifier]):
    """Base class of the objectives of labels: class weights, label smoothing, label names as texts."""

    def __init__(
        self,
        model: AnyClassifier,
        train: ItemsWithTargets,
        dev: ItemsWithTargets,
        weights: np.ndarray | None = None,
        dev_weights: np.ndarray | None = None,
    ):
        super().__init__(model, train, dev, weights, dev_weights)
        settings = model.config.bags if isinstance(model, BagModel) else model.config.classifier
        counts = target_labels(self.label_type).counts(self.train_targets, weights, len(model.labels))
        weighted = class_weights(settings.class_weights, model.labels, counts.tolist())
        self.label_weights = None if weighted is None else weighted.to(self.device)
        self._smoothing = settings.label_smoothing
        if not isinstance(model, BagModel):  # an unknown label is an error before training
            parse_operating_points(model.config.classifier.thresholds, model.labels)
        if isinstance(model, TextClassifierModel | MultiLabelModel) and model.config.base.names:
            append_label_names(self)


class ClassificationObjective(LabelObjective[AnyClassifier]):
    """The training loss of classifiers with one label per item, and their dev scores.

    Targets are label indices, or label probabilities where some labels are soft (see
    `headwise.metrics.classification_scores`).
    """

    label_type = SINGLE_LABEL_TYPE

    def loss(self, texts: Sequence[int]) -> Tensor:
        targets = self.to_device(self.train_targets[list(texts)])
        losses = classification_loss(
            self.outputs(texts),
            targets,
            label_smoothing=self._smoothing,
            weights=self.label_weights,
        )
        return self.summed(losses, texts)

    def strata(self, numbers: np.ndarray) -> Sequence[Any] | None:
        targets = self.train_targets[numbers]
        return None if is_soft(targets) else targets.tolist()

    def init_from_probe(self) -> None:
        """Initialise a classifier with static embeddings from a linear probe on their vectors; in a warm
        start, from a probe of what they add to the previous model."""
        model: Any = self.model
        texts = self.probed_indices
        targets = self.train_targets[texts]
        weights = self.weights_of(texts)
        if (of_labels := self.class_weights) is not None:
            factors = expected_values(targets, of_labels)
            weights = factors if weights is None else factors * weights
        items = subset_of(self.train_items, texts)
        silent = not (model.probe.weight.any() or model.head.layers[-1].weight.any())
        offsets = None if silent else model.outputs_of(items)
        inputs = ProbeInputs.of(model, items)
        fitted = fit_linear_probe(
            inputs.values,
            targets,
            len(model.labels),
            weights=weights,
            offsets=offsets,
            same=self.same(texts),
            label_name_count=self.label_name_count,
            center=model.reads_pairs,
        )
        inputs.add_to(model, *fitted)

    def score_dev(self, logits: np.ndarray) -> Mapping[str, float]:
        return label_dev_scores(logits, self.dev_targets, self.model.labels, self.dev_weights)


def label_dev_scores(
    logits: np.ndarray, targets: np.ndarray, labels: Sequence[str], weights: np.ndarray | None
) -> dict[str, float]:
    """Weighted dev scores of logits `[texts, labels]`; for soft labels, the loss is the cross-entropy with
    their probabilities."""
    predicted, true_labels = logits.argmax(axis=1), hard_labels(targets)
    if weights is None:
        scores = score_labels(predicted, true_labels, labels)
        accuracy, macro_f1 = scores.accuracy, scores.macro_f1
    else:
        accuracy, macro_f1 = weighted_rates(predicted, true_labels, len(labels), weights)
    return {"accuracy": accuracy, "macro_f1": macro_f1, "loss": mean_loss(logits, targets, weights)}


class MultiLabelObjective(LabelObjective[MultiLabelModel]):
    """The training loss of multi-label classifiers, and their dev scores. Targets are multi-hot labels,
    `[texts, labels]`."""

    label_type = LABEL_SET_TYPE

    def loss(self, texts: Sequence[int]) -> Tensor:
        targets = self.to_device(self.train_targets[list(texts)].astype(np.float32))
        losses = multi_label_loss(
            self.outputs(texts),
            targets,
            label_smoothing=self._smoothing,
            weights=self.label_weights,
        )
        return self.summed(losses, texts)

    def fit_probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return fit_linear_probe(
            vectors,
            targets,
            len(self.model.labels),
            sets=True,
            weights=weights,
            same=same,
            label_name_count=self.label_name_count,
        )

    def score_dev(self, logits: np.ndarray) -> Mapping[str, float]:
        return dev_scores(logits, self.dev_targets, self.dev_weights)


AnyRegressor = TypeVar("AnyRegressor", TextRegressorModel, PairScorer)


class NumberObjective(TextObjective[AnyRegressor]):
    """The squared error on training texts or pairs, and the errors on dev. Targets are numbers, `[n]`."""

    label_type = NUMERIC_LABEL_TYPE

    def __init__(
        self,
        model: AnyRegressor,
        train: ItemsWithTargets,
        dev: ItemsWithTargets,
        weights: np.ndarray | None = None,
        dev_weights: np.ndarray | None = None,
    ):
        super().__init__(model, train, dev, weights, dev_weights)
        # A target of weight 0 may be too large for 32 bits.
        counted = train[1] if weights is None else np.where(weights > 0, train[1], model.scale.mean)
        self.train_targets = model.scale.standardize(counted)

    def loss(self, texts: Sequence[int]) -> Tensor:
        losses = squared_error(self.outputs(texts), self.to_device(self.train_targets[list(texts)]))
        return self.summed(losses, texts)

    def fit_probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return fit_linear_number_probe(vectors, targets, weights, same)

    def score_dev(self, logits: np.ndarray) -> Mapping[str, float]:
        scale = self.model.scale
        predictions = scale.restore(logits[:, 0])
        return number_scores(predictions, self.dev_targets, scale.deviation, self.dev_weights)

    def held_out(self) -> np.ndarray:
        """The dev outputs on the scale of the raw numbers, as each fold has its own training scale."""
        return self.model.scale.restore(super().held_out())
