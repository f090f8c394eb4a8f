"""Training a model of text pairs: the losses of training pairs and the scores of dev pairs."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.data.pair import Pair
from headwise.features.encoded_pairs import EncodedPair, batch_of_pairs
from headwise.features.pretrained import PretrainedEmbedding
from headwise.pair_model import PairModel, PairReader, PairScorer
from headwise.tasks.classify import class_weights, classification_loss
from headwise.tasks.metrics import mean_loss, score
from headwise.tasks.regress import number_scores, squared_error


class PairObjective:
    """The loss on training pairs and the scores on dev pairs (see `headwise.train.objective`).

    Args:
        model: The classifier; its features encode the pairs.
        train: Training pairs and label numbers.
        dev: Dev pairs and label numbers.
    """

    def __init__(
        self,
        model: PairModel,
        train: tuple[Sequence[Pair], np.ndarray],
        dev: tuple[Sequence[Pair], np.ndarray],
    ):
        self.model = model
        self.train_pairs, self.dev_pairs = encoded_once(model, train[0], dev[0])
        self.train_targets = train[1].astype(np.int64)
        self.dev_targets = dev[1].astype(np.int64)
        settings = model.config.classifier
        counts = np.bincount(self.train_targets, minlength=len(model.labels)).tolist()
        self._weights = class_weights(settings.class_weights, model.labels, counts)
        self._smoothing = settings.label_smoothing

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(pair) for pair in self.train_pairs], dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        device = self.model.device
        logits = self.model(batch_of_pairs([self.train_pairs[pair] for pair in texts], device))
        targets = torch.from_numpy(self.train_targets[list(texts)]).to(device)
        weights = None if self._weights is None else self._weights.to(device)
        return classification_loss(
            logits.float(), targets, label_smoothing=self._smoothing, weights=weights
        ).sum()

    def evaluate(self) -> Mapping[str, float]:
        logits = self.model.logits(self.dev_pairs)
        scores = score(logits.argmax(axis=1), self.dev_targets, self.model.labels)
        return {
            "accuracy": scores.accuracy,
            "macro_f1": scores.macro_f1,
            "loss": mean_loss(logits, self.dev_targets),
        }


class PairScoreObjective:
    """The squared error on training pairs and the errors on dev pairs (see `headwise.train.objective`).

    Args:
        model: Gives scores; its features encode the pairs.
        train: Training pairs and their scores.
        dev: Dev pairs and their scores.
    """

    def __init__(
        self,
        model: PairScorer,
        train: tuple[Sequence[Pair], np.ndarray],
        dev: tuple[Sequence[Pair], np.ndarray],
    ):
        self.model = model
        self.train_pairs, self.dev_pairs = encoded_once(model, train[0], dev[0])
        self.train_targets = model.scale.standardize(train[1])
        self.dev_targets = dev[1]

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(pair) for pair in self.train_pairs], dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        device = self.model.device
        outputs = self.model(batch_of_pairs([self.train_pairs[pair] for pair in texts], device))
        targets = torch.from_numpy(self.train_targets[list(texts)]).to(device)
        return squared_error(outputs, targets).sum()

    def evaluate(self) -> Mapping[str, float]:
        return number_scores(self.model.scores(self.dev_pairs), self.dev_targets, self.model.scale)


def encoded_once(
    model: PairReader, train: Sequence[Pair], dev: Sequence[Pair]
) -> tuple[list[EncodedPair], list[EncodedPair]]:
    """What the model reads of training and dev pairs; a frozen pretrained encoder reads each text once."""
    parts = model.encode_pairs(train), model.encode_pairs(dev)
    if isinstance(model.embedding, PretrainedEmbedding):
        pairs = [*parts[0], *parts[1]]
        model.embedding.remember([text.spelling for pair in pairs for text in (pair.first, pair.second)])
    return parts
