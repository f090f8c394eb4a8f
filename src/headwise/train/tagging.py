"""Training of taggers: the objective and its dev scores."""

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
    """The training loss of taggers, and their dev scores (see `headwise.train.objective`).

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
        if isinstance(model.embedding, PretrainedEmbedding):  # a frozen encoder reads each text once
            texts = [*self.train_texts, *self.dev_texts]
            model.embedding.remember([text.spelling.pieces for text in texts])

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(text) for text in self.train_texts], dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        scores = self.model(batch_of([self.train_texts[text] for text in texts], self.model.device))
        targets = np.concatenate([self.train_targets[text] for text in texts])
        losses = self.model.tagger.loss(scores, torch.from_numpy(targets).to(self.model.device))
        if self.weights is not None:
            losses = losses * torch.from_numpy(self.weights[list(texts)]).to(losses)
        return losses.sum()

    def evaluate(self) -> Mapping[str, float]:
        numbers, _ = self.model.decode(self.dev_texts)
        scores = tag_scores(self.model, numbers, self.dev_targets, self.dev, self.dev_weights)
        return {**scores, "loss": self._dev_loss()}

    @torch.no_grad()
    def _dev_loss(self) -> float:
        """Mean negative log-likelihood of the true tags per word, over sentences whose tags are known."""
        labelled = [n for n, tags in enumerate(self.dev_targets) if len(tags) and tags.min() >= 0]
        weights = np.ones(len(self.dev)) if self.dev_weights is None else self.dev_weights
        total, words = 0.0, 0.0
        for places, batch in self.model.batches([self.dev_texts[n] for n in labelled]):
            targets = np.concatenate([self.dev_targets[labelled[place]] for place in places])
            scores = self.model(batch)
            losses = self.model.tagger.loss(scores, torch.from_numpy(targets).to(scores.device))
            counts = weights[[labelled[place] for place in places]]
            # Tag sequences that the scheme forbids have likelihood 0.
            losses = losses.cpu().double().numpy()
            total += float(counts @ np.where(np.isfinite(losses), losses, 0.0))
            words += float(counts @ [len(self.dev_targets[labelled[place]]) for place in places])
        return total / (words or 1)


def tag_scores(
    model: TagModel,
    numbers: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    sentences: Sequence[Tagged],
    weights: np.ndarray | None = None,
) -> dict[str, float]:
    """Word accuracy, and F1: of spans where tags mark some, else the macro mean over the tags. Sentences
    are weighted by `weights`, `[sentences]`."""
    counted = np.ones(len(targets)) if weights is None else weights.astype(np.float64)
    word_weights = np.repeat(counted, [len(sentence_targets) for sentence_targets in targets])
    counting = word_weights > 0
    guess, truth, word_weights = (
        np.concatenate(numbers)[counting],
        np.concatenate(targets)[counting],
        word_weights[counting],
    )
    accuracy = float(np.average(guess == truth, weights=word_weights)) if len(truth) else 0.0
    if model.scheme == "plain":
        from sklearn.metrics import f1_score  # slow to load, and predictions do without

        f1 = f1_score(truth, guess, average="macro", sample_weight=word_weights)
        return {"accuracy": accuracy, "macro_f1": float(f1)}
    predicted = [read_spans([model.tags[n] for n in sequence]) for sequence in numbers]
    counts = count_entities(predicted, [read_spans(sentence.tags) for sentence in sentences])
    return {"accuracy": accuracy, "f1": float(f1_of(counted @ counts))}
