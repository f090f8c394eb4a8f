"""Training a text classifier: from labelled texts to a model and its scores."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.data.example import Example
from headwise.features.encoded import batch_of
from headwise.features.pretrained import PretrainedEmbedding
from headwise.model import Model
from headwise.tasks.classify import class_weights, classification_loss
from headwise.tasks.metrics import mean_loss, score


class ClassificationObjective:
    """The loss on training texts and the scores on dev texts (see `headwise.train.objective`).

    Args:
        model: The classifier; its features encode the texts.
        train: Training texts and label numbers.
        dev: Dev texts and label numbers.
    """

    def __init__(
        self,
        model: Model,
        train: tuple[Sequence[str | Example], np.ndarray],
        dev: tuple[Sequence[str | Example], np.ndarray],
    ):
        self.model = model
        self.train_texts = model.features.encode(train[0])
        self.train_targets = train[1].astype(np.int64)
        self.dev_texts = model.features.encode(dev[0])
        self.dev_targets = dev[1].astype(np.int64)
        if isinstance(model.embedding, PretrainedEmbedding):  # if it is frozen, each text is read once
            texts = [*self.train_texts, *self.dev_texts]
            model.embedding.remember([text.spelling for text in texts])
        settings = model.config.classifier
        counts = np.bincount(self.train_targets, minlength=len(model.labels)).tolist()
        self._weights = class_weights(settings.class_weights, model.labels, counts)
        self._smoothing = settings.label_smoothing

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(text) for text in self.train_texts], dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        device = self.model.device
        logits = self.model(batch_of([self.train_texts[text] for text in texts], device))
        targets = torch.from_numpy(self.train_targets[list(texts)]).to(device)
        weights = None if self._weights is None else self._weights.to(device)
        return classification_loss(
            logits.float(), targets, label_smoothing=self._smoothing, weights=weights
        ).sum()

    def evaluate(self) -> Mapping[str, float]:
        logits = self.model.logits(self.dev_texts)
        scores = score(logits.argmax(axis=1), self.dev_targets, self.model.labels)
        return {
            "accuracy": scores.accuracy,
            "macro_f1": scores.macro_f1,
            "loss": mean_loss(logits, self.dev_targets),
        }
