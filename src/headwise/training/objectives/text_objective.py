"""TextObjective: base class of the objectives of models that read texts or text pairs."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from headwise.data.items.batching import items_at
from headwise.data.splits.duplicates import first_in_group
from headwise.nn.networks.bag_model import BagModel
from headwise.nn.networks.text_model import TextEncoderModel
from headwise.training.linear_probe import FOLDS

AnyReader = TypeVar("AnyReader", bound=TextEncoderModel | BagModel)

MOST_PAIRS = 200_000
"""Maximum number of text pairs that linear models are fitted to (see `TextObjective.sampled_indices`)."""


class TextObjective(Generic[AnyReader]):
    """Encoded training and dev texts (or pairs) of a model (see `headwise.training.loop`).

    Attributes:
        train_targets: Targets of the training texts, `[texts, ...]`.
        dev_targets: Targets of the dev texts.
        text_weights: Weights of the training texts, `[texts]`; None where all are equal.
        dev_weights: Weights of the dev texts.
        label_weights: Class weights, `[labels]`; None where all are equal.

    Args:
        model: The model that encodes them.
        train: Training texts or pairs.
        dev: Dev texts or pairs.
    """

    train_targets: np.ndarray
    dev_targets: np.ndarray
    names = 0
    """Number of label names at the end of the training texts."""

    def __init__(self, model: AnyReader, train: Sequence[Any], dev: Sequence[Any]):
        self.model = model
        self.text_weights: np.ndarray | None = None
        self.dev_weights: np.ndarray | None = None
        self.label_weights: Tensor | None = None
        self.train_items = model.encoded(train)
        self.dev_items = model.encoded(dev)
        model.remember([*self.train_items, *self.dev_items])

    @property
    def sampled_indices(self) -> np.ndarray:
        """Indices of the training texts that linear models are fitted to: all, but a sample of `MOST_PAIRS`
        pairs at most, as pairs have very many features."""
        count = len(self.train_items)
        if not self.model.reads_pairs or count <= MOST_PAIRS:
            return np.arange(count)
        return np.sort(np.random.default_rng(0).permutation(count)[:MOST_PAIRS])

    def same(self, numbers: np.ndarray) -> np.ndarray:
        """The index of the first near-duplicate of each of these training texts (`first_in_group`); they
        are held out together."""
        model, targets = cast(Any, self.model), self.train_targets[numbers]
        strata = targets.tolist() if targets.ndim == 1 and targets.dtype == np.int64 else None
        return first_in_group(model.texts_of(items_at(self.train_items, numbers)), FOLDS, strata)

    def probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fit a linear probe from static-embedding vectors of training texts, `[texts, size]`, to their
        targets: weights `[outputs, size]` and biases `[outputs]`. `same` gives near-duplicates, which are
        held out together."""
        raise NotImplementedError

    def init_from_probe(self) -> None:
        """Initialise a model with static embeddings from a linear probe on their vectors; a warm start is
        left as it is."""
        model: Any = self.model
        if model.probe.weight.any() or model.head.layers[-1].weight.any():
            return
        probe, texts = model.probe, self.sampled_indices
        vectors = model.base_vectors(items_at(self.train_items, texts))
        fitted = self.probe(vectors, self.train_targets[texts], self.weights_of(texts), self.same(texts))
        with torch.no_grad():
            for parameter, values in zip((probe.weight, probe.bias), fitted, strict=True):
                parameter.copy_(torch.from_numpy(values))

    def held_out(self) -> np.ndarray:
        """The outputs of the network for the dev texts, `[texts, outputs]`, for
        `headwise.training.cross_fitting`."""
        return self.model.outputs_of(self.dev_items)

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(item) for item in self.train_items], dtype=np.int64)

    def outputs(self, numbers: Sequence[int]) -> Tensor:
        """The model's outputs for the training texts with these indices, `[numbers, outputs]` float32."""
        model = self.model
        return model(model.collate([self.train_items[number] for number in numbers], model.device)).float()

    def weights_of(self, numbers: np.ndarray) -> np.ndarray | None:
        """Weights of the training texts with these indices; None where all are equal."""
        return None if self.text_weights is None else self.text_weights[numbers]

    @property
    def class_weights(self) -> np.ndarray | None:
        """`label_weights` as an array."""
        return None if self.label_weights is None else self.label_weights.numpy()

    @property
    def class_weights_on_device(self) -> Tensor | None:
        """`label_weights` on the model's device."""
        return None if self.label_weights is None else self.label_weights.to(self.model.device)

    def summed(self, losses: Tensor, numbers: Sequence[int]) -> Tensor:
        """The weighted sum of the losses of the training texts with these indices."""
        if self.text_weights is not None:
            losses = losses * self.to_device(self.text_weights[list(numbers)])
        return losses.sum()

    def to_device(self, values: np.ndarray) -> Tensor:
        """An array on the model's device."""
        return torch.from_numpy(values).to(self.model.device)
