"""Training a tagger: from tagged sentences to a model and its scores."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.data.sentence import Tagged
from headwise.data.shares import held_weights_of, weights_of
from headwise.features.encoded import batch_of
from headwise.features.pretrained import PretrainedEmbedding
from headwise.models.tag_model import TagModel
from headwise.scores.entities import count_entities, f1_of
from headwise.scores.schemes import read_spans


class TaggingObjective:
    """The loss on training sentences and the scores on dev sentences (see `headwise.train.objective`).

    Args:
        model: The tagger; it must have every tag of the training sentences.
        train: Tagged sentences.
        dev: Tagged sentences; tags that training does not have count as wrong.
    """

    def __init__(self, model: TagModel, train: Sequence[Tagged], dev: Sequence[Tagged]):
        self.model = model
        self.train = list(train)
        self.train_texts = model.encode_sentences(train)
        self.train_targets = [model.targets(sentence) for sentence in train]
        self.dev = list(dev)
        self.dev_texts = model.encode_sentences(dev)
        self.dev_targets = [model.targets(sentence) for sentence in dev]
        self.weights, self.dev_weights = weights_of(self.train), held_weights_of(self.dev)
        if isinstance(model.embedding, PretrainedEmbedding):  # if it is frozen, each text is read once
            texts = [*self.train_texts, *self.dev_texts]
            model.embedding.remember([text.spelling.pieces for text in texts])

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(text) for text in self.train_texts], dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        scores = self.model(batch_of([self.train_texts[text] for text in texts], self.model.device))
        targets = np.concatenate([self.train_targets[text] for text in texts])
        found = self.model.tagger.loss(scores, torch.from_numpy(targets).to(self.model.device))
        if self.weights is not None:
            found = found * torch.from_numpy(self.weights[list(texts)]).to(found)
        return found.sum()

    def evaluate(self) -> Mapping[str, float]:
        numbers, _ = self.model.decode(self.dev_texts)
        scores = tag_scores(self.model, numbers, self.dev_targets, self.dev, self.dev_weights)
        return {**scores, "loss": self._dev_loss()}

    @torch.no_grad()
    def _dev_loss(self) -> float:
        """Mean negative log-likelihood of the true tags per word, over sentences whose tags are known."""
        known = [n for n, own in enumerate(self.dev_targets) if len(own) and own.min() >= 0]
        weights = np.ones(len(self.dev)) if self.dev_weights is None else self.dev_weights
        total, words = 0.0, 0.0
        for places, batch in self.model.batches([self.dev_texts[n] for n in known]):
            targets = np.concatenate([self.dev_targets[known[place]] for place in places])
            scores = self.model(batch)
            losses = self.model.tagger.loss(scores, torch.from_numpy(targets).to(scores.device))
            counts = weights[[known[place] for place in places]]
            # What the scheme forbids has no likelihood.
            losses = losses.cpu().double().numpy()
            total += float(counts @ np.where(np.isfinite(losses), losses, 0.0))
            words += float(counts @ [len(self.dev_targets[known[place]]) for place in places])
        return total / (words or 1)


def tag_scores(
    model: TagModel,
    numbers: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    sentences: Sequence[Tagged],
    weights: np.ndarray | None = None,
) -> dict[str, float]:
    """Accuracy of the words, and F1: of spans where tags mark some, else the mean over the tags. Sentences
    count as `weights` say, `[sentences]`."""
    counted = np.ones(len(targets)) if weights is None else weights.astype(np.float64)
    each = np.repeat(counted, [len(own) for own in targets])
    kept = each > 0
    guess, truth, each = np.concatenate(numbers)[kept], np.concatenate(targets)[kept], each[kept]
    accuracy = float(np.average(guess == truth, weights=each)) if len(truth) else 0.0
    if model.scheme == "plain":
        from sklearn.metrics import f1_score  # slow to load, and predictions do without

        f1 = f1_score(truth, guess, average="macro", sample_weight=each)
        return {"accuracy": accuracy, "macro_f1": float(f1)}
    predicted = [read_spans([model.tags[n] for n in own]) for own in numbers]
    counts = count_entities(predicted, [read_spans(own.tags) for own in sentences])
    return {"accuracy": accuracy, "f1": float(f1_of(counted @ counts))}
