"""Training of taggers: the objective with its dev scores, and the ensemble with a linear CRF.

The linear CRF is fitted on the training sentences, and the ensemble weights on dev, where they maximise the
likelihood of the tag sequences. For tags that mark spans, likelihood is too cautious, most of all where
spans are rare and uncertain. There, the two weights and a penalty on `O` maximise F1 instead, smoothed over
neighbouring values as it is a step function. With few spans, F1 is noisy, and dev has already chosen the
encoder's best epoch, which favours the encoder. So weights and penalties other than the usual ones must
gain more F1 the fewer spans there are. The penalty on `O` decides which tags are predicted, and does not
affect probabilities.

The usual penalty follows from F1 itself. Where F is the best F1 that can be reached, it is reached by
predicting what has a probability above F / 2 (Lipton, Elkan, Naryanaswamy; ECML 2014), that is
log((2 - F) / F) below even odds. In a warm start, the usual weights and penalty are those of the previous
tagger, which were chosen on more sentences.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor

from headwise.core.config import JsonObject
from headwise.core.tokenizer import normalize_tokens
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.labels import evaluation_weights, training_weights
from headwise.linear.ensemble_weights import MIN_CONTRIBUTION, contributions
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.tag_schemes import read_spans
from headwise.metrics.tagging_scores import count_entities, f1_of
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.embeddings.encoded_batches import batch_of
from headwise.nn.embeddings.pretrained import PretrainedEmbedding
from headwise.nn.embeddings.word_embedding import tagger_words
from headwise.nn.layout import Layout
from headwise.nn.networks.linear_members import TagLinearBuffers
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.ragged import Ragged
from headwise.training.cross_fitting import OutOfFold
from headwise.training.memoized_fits import memoized
from headwise.training.train_result import ModelEnsembleFitter, PostTrainingFit


class TaggingObjective:
    """The training loss of taggers, and their dev scores (see `headwise.training.loop`).

    Args:
        model: The tagger; it must have every tag of the training sentences.
        train: Tagged sentences.
        dev: Tagged sentences; tags that training does not have count as wrong.
    """

    def __init__(self, model: TagModel, train: Sequence[TaggedSentence], dev: Sequence[TaggedSentence]):
        self.model = model
        self.train = list(train)
        self.train_texts = model.encode_sentences(train)
        self.train_targets = [model.targets(sentence) for sentence in train]
        self.dev = list(dev)
        self.dev_texts = model.encode_sentences(dev)
        self.dev_targets = [model.targets(sentence) for sentence in dev]
        self.weights, self.dev_weights = training_weights(self.train), evaluation_weights(self.dev)
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
        """Mean negative log-likelihood of the true tags of a sentence, over those whose tags are known."""
        labelled = [n for n, tags in enumerate(self.dev_targets) if len(tags) and tags.min() >= 0]
        weights = np.ones(len(self.dev)) if self.dev_weights is None else self.dev_weights
        total = 0.0
        for places, batch in self.model.batches([self.dev_texts[n] for n in labelled]):
            targets = np.concatenate([self.dev_targets[labelled[place]] for place in places])
            scores = self.model(batch)
            losses = self.model.tagger.loss(scores, torch.from_numpy(targets).to(scores.device))
            counts = weights[[labelled[place] for place in places]]
            # Tag sequences that the scheme forbids have likelihood 0.
            losses = losses.cpu().double().numpy()
            total += float(counts @ np.where(np.isfinite(losses), losses, 0.0))
        return total / (weights[labelled].sum().item() or 1)


def tag_scores(
    model: TagModel,
    numbers: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    sentences: Sequence[TaggedSentence],
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


_PRIOR = 4.0  # quadratic prior: nats, summed over all words, for a weight that is 1 away from 0.5
# Candidate shares of the CRF in the sum of both weights.
_SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
_OUTSIDE = (0.0, 0.5, 1.0, 1.5, 2.0)
_MAX_LOG_SCALE = 2.0  # bound of the log scale that is fitted once the shares are chosen
_USUAL = 0.8  # the share of the CRF that was best on average over many training runs
# F1 that another share, or another penalty on O, must gain: times its squared distance, over the root of
# the span count.
_AWAY, _AWAY_OUTSIDE = 3.0, 0.3
_LEAST_F1 = 0.05


class TagEnsembleFitter(ModelEnsembleFitter):
    """Fits the ensemble of a tagger: its own CRF and a linear CRF.

    Args:
        objective: The objective with the sentences and the trained model.
        score: Computes the dev scores of the model.
    """

    def __init__(self, objective: TaggingObjective, score: Callable[[], JsonObject]):
        super().__init__(score)
        self.objective, self.model = objective, objective.model

    def fit(self, out_of_fold: OutOfFold | None = None) -> PostTrainingFit:
        if self.model.config.linear_model.kind == "linear":
            self.fit_members()
        return super().fit(out_of_fold)

    def fit_members(self) -> None:
        """Fit a linear CRF on the training sentences, and the ensemble weights of it and the encoder on
        dev. A member with a share below `MIN_CONTRIBUTION` is dropped."""
        objective, model = self.objective, self.model
        linear_model = self._linear_member()
        labelled = [n for n, tags in enumerate(objective.dev_targets) if len(tags) and tags.min() >= 0]
        if linear_model is None or not labelled:
            return
        held_out, outside = _held_out_scores(objective, linear_model, labelled), 0.0
        encoder_weight, linear_weight = held_out.likeliest()
        if not encoder_weight and not linear_weight:  # dev contradicts both members: nothing can be fitted
            return
        if model.scheme != "plain" and "O" in model.tags:
            share, outside = held_out.best_of_spans(encoder_weight + linear_weight)
            total = encoder_weight + linear_weight
            encoder_weight, linear_weight = total * (1 - share), total * share
            factor = held_out.common_factor(encoder_weight, linear_weight)  # a common factor changes no tag
            encoder_weight, linear_weight = encoder_weight * factor, linear_weight * factor
            outside *= factor
        share = held_out.share(encoder_weight, linear_weight)
        if share > 1 - MIN_CONTRIBUTION:
            encoder_weight, share = 0.0, 1.0
        elif share < MIN_CONTRIBUTION:
            linear_weight = share = 0.0
        model.add_linear_model(
            linear_model if share else None, (encoder_weight, linear_weight), share, outside
        )

    def refit(self, first: "TagEnsembleFitter") -> None:
        before = first.model
        linear_model = None if before.linear_model is None else self._linear_member()
        weights = before.encoder_weight, before.linear_weight
        self.model.add_linear_model(linear_model, weights, before.linear_share, before.outside)

    def _linear_member(self) -> TagLinearBuffers | None:
        """Fit the linear CRF; None where the sentences have no words."""
        model, sentences = self.model, self.objective.train
        if not any(len(sentence.tokens) for sentence in sentences):
            return None
        groups = model.embedding.groups if isinstance(model.embedding, BaseEmbedding) else None
        tokenizer = model.features.tokenizer
        sentences = [
            replace(sentence, tokens=tuple(normalize_tokens(tokenizer, sentence.tokens)))
            for sentence in sentences
        ]
        crf = memoized(
            fit_crf,
            sentences,
            model.written,
            groups=groups,
            inner=model.scheme,
            more_tags=model.tags,
            previous=model.previous_linear_model,
        )
        linear_model = TagLinearBuffers.of(crf, model.tags, model.clusters)
        return linear_model.to(model.device) if len(linear_model.keys) else None


@dataclass(frozen=True)
class _HeldOutScores:
    """Emission scores of held-out sentences by encoder and linear CRF, `[total, tags]` each, with the true
    tags and the sentence weights, `[sentences]`."""

    model: TagModel
    transitions: torch.Tensor
    scores: tuple[torch.Tensor, torch.Tensor]
    layout: Layout
    targets: torch.Tensor
    counts: torch.Tensor

    def likeliest(self) -> tuple[float, float]:
        """The ensemble weights that maximise the likelihood of the true tag sequences, with a prior for
        equal weights."""
        from scipy.optimize import minimize  # slow to load, and predictions do without

        encoder, linear_model = minimize(
            self._cost,
            np.array([0.5, 0.5]),
            jac=True,
            bounds=[(0.0, 5.0)] * 2,
            method="L-BFGS-B",
            options={"maxiter": 20},
        ).x
        return float(encoder), float(linear_model)

    def common_factor(self, encoder: float, linear_model: float) -> float:
        """The common factor of both weights that maximises the likelihood of the true tags."""
        from scipy.optimize import minimize_scalar

        def cost(log: float) -> float:
            return self._cost(np.exp(log) * np.array([encoder, linear_model]))[0]

        solution: Any = minimize_scalar(
            cost, bounds=(-_MAX_LOG_SCALE, _MAX_LOG_SCALE), method="bounded", options={"xatol": 0.01}
        )
        return float(np.exp(solution.x))

    def _cost(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss in nats per word for these weights, and its gradient."""
        weights = torch.tensor(values, dtype=torch.float32, device=self.targets.device, requires_grad=True)
        mixed = Ragged(weights[0] * self.scores[0] + weights[1] * self.scores[1], self.layout)
        crf = self.model.tagger.combined_crf(self.transitions, (weights[0], weights[1]))
        likelihoods = crf.log_likelihood(mixed, self.targets)
        # Tag sequences that the scheme forbids have likelihood 0.
        is_possible = likelihoods.isfinite()
        loss = _PRIOR * ((weights - 0.5) ** 2).sum() - (likelihoods * self.counts)[is_possible].sum()
        loss = loss / len(self.targets)
        (slopes,) = torch.autograd.grad(loss, [weights])
        return loss.item(), slopes.cpu().numpy().astype(np.float64)

    @torch.no_grad()
    def best_of_spans(self, scale: float) -> tuple[float, float]:
        """The share of the linear CRF in this sum of both weights, and the penalty on the score of `O`,
        with the best F1 of spans; the fewer spans there are, the nearer to the usual ones."""
        tags, cuts = self.model.tags, self.layout.offsets[1:-1].tolist()

        def spans(numbers: torch.Tensor) -> list:
            sequences = np.split(numbers.cpu().numpy(), cuts)
            return [read_spans([tags[n] for n in sequence]) for sequence in sequences]

        truth, outside = spans(self.targets), tags.index("O")
        counts = self.counts.cpu().double().numpy()
        scores = np.zeros((len(_SHARES), len(_OUTSIDE)))
        for row, share in enumerate(_SHARES):
            weights = scale * (1 - share), scale * share
            crf = self.model.tagger.combined_crf(self.transitions, weights)
            for column, less in enumerate(_OUTSIDE):
                mixed = weights[0] * self.scores[0] + weights[1] * self.scores[1]
                mixed[:, outside] -= less
                predicted = spans(crf.viterbi(Ragged(mixed, self.layout))[0])
                scores[row, column] = f1_of(counts @ count_entities(predicted, truth))
        smooth = sliding_window_view(np.pad(scores, 1, mode="edge"), (3, 3)).mean(axis=(2, 3))
        usual_share, usual_outside = _USUAL, _usual_penalty(smooth.max())
        if self.model.usual_weights is not None:
            usual_share, usual_outside = self.model.usual_weights[0], scale * self.model.usual_weights[1]
        away = (
            _AWAY * (np.array(_SHARES)[:, None] - usual_share) ** 2
            + _AWAY_OUTSIDE * (np.array(_OUTSIDE) - usual_outside) ** 2
        )
        best = int((smooth - away / np.sqrt(max(1, sum(map(len, truth))))).argmax())
        return _SHARES[best // len(_OUTSIDE)], _OUTSIDE[best % len(_OUTSIDE)]

    def share(self, encoder: float, linear_model: float) -> float:
        """The contribution of the linear CRF to the combined score with these weights."""
        scores = [member.cpu().numpy() for member in self.scores]
        return contributions(scores, np.array([encoder, linear_model]))[1]


def _usual_penalty(f1: float) -> float:
    """The penalty on `O` that suits a best F1, within `_OUTSIDE`."""
    return min(np.log((2 - f1) / max(f1, _LEAST_F1)), _OUTSIDE[-1])


@torch.no_grad()
def _held_out_scores(
    objective: TaggingObjective, linear_model: TagLinearBuffers, numbers: list[int]
) -> _HeldOutScores:
    """Compute the scores of encoder and linear CRF on some dev sentences."""
    model, texts = objective.model, [objective.dev_texts[n] for n in numbers]
    scores: tuple[list, list] = ([], [])
    order = []
    for places, batch in model.batches(texts):
        scores[0].append(model(batch).values.float())
        scores[1].append(torch.from_numpy(linear_model(tagger_words(batch))).to(model.device))
        order += places
    targets = np.concatenate([objective.dev_targets[numbers[place]] for place in order])
    counts = np.ones(len(order), dtype=np.float32)
    if objective.dev_weights is not None:
        counts = objective.dev_weights[[numbers[place] for place in order]]
    return _HeldOutScores(
        model,
        linear_model.transitions,
        (torch.cat(scores[0]), torch.cat(scores[1])),
        Layout([len(texts[place]) for place in order], model.device),
        torch.from_numpy(targets).to(model.device),
        torch.from_numpy(counts).to(model.device),
    )
