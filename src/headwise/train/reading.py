"""ReaderObjective: what the objectives of models that read texts, or pairs of texts, have in common."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from headwise.data.alike import first_alike
from headwise.data.chunks import some
from headwise.models.bag_model import BagModel
from headwise.models.text_model import Reader
from headwise.train.probe import FOLDS

AnyReader = TypeVar("AnyReader", bound=Reader | BagModel)

MOST_PAIRS = 200_000
"""See `ReaderObjective.sampled`."""


class ReaderObjective(Generic[AnyReader]):
    """Training and dev texts (or pairs) as the model reads them (see `headwise.train.objective`).

    Attributes:
        train_targets: The answers of the training texts, one after the other.
        text_weights: How much each training text counts, `[texts]`; None where all count the same.
        dev_weights: The same of the dev texts.
        label_weights: How much the texts of each label count, `[labels]`, likewise.

    Args:
        model: Encodes them.
        train: Training texts or pairs.
        dev: Dev texts or pairs.
    """

    train_targets: np.ndarray
    names = 0
    """How many of the training texts, the last, are names of labels."""

    def __init__(self, model: AnyReader, train: Sequence[Any], dev: Sequence[Any]):
        self.model = model
        self.text_weights: np.ndarray | None = None
        self.dev_weights: np.ndarray | None = None
        self.label_weights: Tensor | None = None
        self.train_items = model.encoded(train)
        self.dev_items = model.encoded(dev)
        model.remember([*self.train_items, *self.dev_items])

    @property
    def sampled(self) -> np.ndarray:
        """The numbers of the training texts that linear models are fitted to: of all, but of `MOST_PAIRS`
        pairs at most, as very much is read of a pair."""
        count = len(self.train_items)
        if not self.model.reads_pairs or count <= MOST_PAIRS:
            return np.arange(count)
        return np.sort(np.random.default_rng(0).permutation(count)[:MOST_PAIRS])

    def same(self, numbers: np.ndarray) -> np.ndarray:
        """Which of the training texts with these numbers are held out together (`first_alike`)."""
        model, targets = cast(Any, self.model), self.train_targets[numbers]
        strata = targets.tolist() if targets.ndim == 1 and targets.dtype == np.int64 else None
        return first_alike(model.texts_of(some(self.train_items, numbers)), FOLDS, strata)

    def probe(
        self, vectors: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, same: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What vectors of training texts by a base, `[texts, size]`, say by themselves of their targets,
        each text as much as it counts: weights `[outputs, size]` and biases `[outputs]`. `same` says which
        texts are held out together."""
        raise NotImplementedError

    def begin_with_probe(self) -> None:
        """Let a model with a base begin as what the vectors of the base say by themselves; one that goes on
        from an earlier model is left as it is."""
        model: Any = self.model
        if model.probe.weight.any() or model.head.layers[-1].weight.any():
            return
        probe, texts = model.probe, self.sampled
        vectors = model.base_vectors(some(self.train_items, texts))
        found = self.probe(vectors, self.train_targets[texts], self.weights_of(texts), self.same(texts))
        with torch.no_grad():
            for own, values in zip((probe.weight, probe.bias), found, strict=True):
                own.copy_(torch.from_numpy(values))

    def held_out(self) -> np.ndarray:
        """What the network says of the dev texts, `[texts, outputs]`, for `headwise.train.crossing`."""
        return self.model.outputs_of(self.dev_items)

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(item) for item in self.train_items], dtype=np.int64)

    def outputs(self, numbers: Sequence[int]) -> Tensor:
        """The model's outputs for the training texts with these numbers, `[numbers, outputs]` float32."""
        model = self.model
        return model(model.collate([self.train_items[number] for number in numbers], model.device)).float()

    def weights_of(self, numbers: np.ndarray) -> np.ndarray | None:
        """How much the training texts with these numbers count; None where all count the same."""
        return None if self.text_weights is None else self.text_weights[numbers]

    @property
    def class_weights(self) -> np.ndarray | None:
        """`label_weights` as an array."""
        return None if self.label_weights is None else self.label_weights.numpy()

    @property
    def weights_there(self) -> Tensor | None:
        """`label_weights` on the model's device."""
        return None if self.label_weights is None else self.label_weights.to(self.model.device)

    def summed(self, losses: Tensor, numbers: Sequence[int]) -> Tensor:
        """The sum of the losses of the training texts with these numbers, each as much as it counts."""
        if self.text_weights is not None:
            losses = losses * self.there(self.text_weights[list(numbers)])
        return losses.sum()

    def there(self, values: np.ndarray) -> Tensor:
        """An array on the model's device."""
        return torch.from_numpy(values).to(self.model.device)
