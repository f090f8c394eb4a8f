"""Training a classifier of bags: the loss and the scores on dev."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.data.bags import Bag
from headwise.layers.classify import class_weights, classification_loss
from headwise.models.bag_model import BagModel
from headwise.scores.metrics import mean_loss, score


class BagObjective:
    """The loss on training bags and the scores on dev bags (see `headwise.train.objective`).

    Args:
        model: The classifier; its features are standardised by these training bags.
        train: Bags whose labels are the model's.
        dev: Likewise.
    """

    def __init__(self, model: BagModel, train: Sequence[Bag], dev: Sequence[Bag]):
        self.model = model
        self.train_bags = [bag.instances for bag in train]
        self.dev_bags = [bag.instances for bag in dev]
        self.train_targets, self.dev_targets = (bag_targets(part, model.labels) for part in (train, dev))
        model.standardize.fit(self.train_bags)
        settings = model.config.bags
        counts = np.bincount(self.train_targets, minlength=len(model.labels)).tolist()
        self._weights = class_weights(settings.class_weights, model.labels, counts)
        self._smoothing = settings.label_smoothing

    @property
    def lengths(self) -> np.ndarray:
        """Instances of each training bag."""
        return np.array([len(bag) for bag in self.train_bags], dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        """Sum of the losses of these training bags."""
        logits = self.model(self.model.batch([self.train_bags[bag] for bag in texts]))
        targets = torch.from_numpy(self.train_targets[list(texts)]).to(self.model.device)
        weights = None if self._weights is None else self._weights.to(self.model.device)
        return classification_loss(
            logits.float(), targets, label_smoothing=self._smoothing, weights=weights
        ).sum()

    def evaluate(self) -> Mapping[str, float]:
        logits = self.model.logits(self.dev_bags)
        scores = score(logits.argmax(axis=1), self.dev_targets, self.model.labels)
        return {
            "accuracy": scores.accuracy,
            "macro_f1": scores.macro_f1,
            "loss": mean_loss(logits, self.dev_targets),
        }


def bag_targets(bags: Sequence[Bag], labels: Sequence[str]) -> np.ndarray:
    """Label numbers of bags, `[bags]`."""
    number = {label: n for n, label in enumerate(labels)}
    return np.array([number[bag.label] for bag in bags], dtype=np.int64)
