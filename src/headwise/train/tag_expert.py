"""The linear CRF in the ensemble of a tagger: fitted on the training sentences, with its weight fitted on
dev.

The ensemble weights maximise the likelihood of the tag sequences. For tags that mark spans, likelihood is
too cautious, most of all where spans are rare and uncertain. There, the shares of the two and a penalty on
`O` maximise F1 instead, smoothed over neighbouring values as it is a step function. With few spans, F1 is
noisy, and dev has already chosen the encoder's best epoch, which favours the encoder. So other shares than
the usual one must gain more F1 the fewer spans there are. The penalty on `O` decides which tags are
predicted, and does not affect probabilities.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view

from headwise.features.bases.embedding import BaseEmbedding
from headwise.features.tagged_words import words_of
from headwise.linear.mixture import LEAST_SHARE, shares_of
from headwise.linear.tag_crf import fit_crf
from headwise.linear.tag_expert import TagExpert
from headwise.models.tag_model import TagModel
from headwise.ragged import Layout, Ragged
from headwise.scores.entities import count_entities, f1_of
from headwise.scores.schemes import read_spans
from headwise.train.remember import remembered

if TYPE_CHECKING:
    from headwise.train.tagging import TaggingObjective

_PRIOR = 4.0  # quadratic prior: nats, summed over all words, for a weight that is 1 away from 0.5
_SHARES = (
    0.0,
    0.1,
    0.2,
    0.35,
    0.5,
    0.65,
    0.8,
    1.0,
)  # candidate shares of the CRF in the sum of both weights
_OUTSIDE = (0.0, 0.5, 1.0, 1.5, 2.0)
_LOUDEST = 2.0  # bound of the log scale that is fitted once the shares are chosen
_USUAL = 0.8  # the share of the CRF that was best on average over many training runs
_AWAY = 3.0  # F1 that another share must gain: times its squared distance, over the root of the span count
_TIE = 1e-3  # F1 that a penalty of 1 on O must gain


def add_expert(objective: "TaggingObjective") -> None:
    """Fit a linear CRF on the training sentences, and the ensemble weights of it and the encoder on dev. A
    member with a share below `LEAST_SHARE` is dropped.

    Args:
        objective: The objective with the sentences and the trained model.
    """
    expert = _expert(objective)
    labelled = [n for n, tags in enumerate(objective.dev_targets) if len(tags) and tags.min() >= 0]
    if expert is None or not labelled:
        return
    held_out, outside = _said(objective, expert, labelled), 0.0
    encoder_weight, expert_weight = held_out.likeliest()
    if not encoder_weight and not expert_weight:  # dev contradicts both members: no shares can be fitted
        return
    if objective.model.scheme != "plain" and "O" in objective.model.tags:
        share, outside = held_out.best_of_spans(encoder_weight + expert_weight)
        total = encoder_weight + expert_weight
        encoder_weight, expert_weight = total * (1 - share), total * share
        loud = held_out.loudness(encoder_weight, expert_weight)  # a common factor changes no tag
        encoder_weight, expert_weight, outside = encoder_weight * loud, expert_weight * loud, outside * loud
    share = held_out.share(encoder_weight, expert_weight)
    if share > 1 - LEAST_SHARE:
        encoder_weight, share = 0.0, 1.0
    elif share < LEAST_SHARE:
        expert_weight = share = 0.0
    objective.model.add_expert(expert if share else None, (encoder_weight, expert_weight), share, outside)


def add_expert_again(objective: "TaggingObjective", first_model: TagModel) -> None:
    """Fit the linear CRF of a tagger refitted on more sentences, with the ensemble weights of the first
    one.

    Args:
        objective: The objective with the sentences and the model.
        first_model: The tagger whose ensemble weights are taken over.
    """
    expert = None if first_model.expert is None else _expert(objective)
    weights = first_model.encoder_weight, first_model.expert_weight
    objective.model.add_expert(expert, weights, first_model.expert_share, first_model.outside)


def _expert(objective: "TaggingObjective") -> TagExpert | None:
    """Fit the linear CRF; None where the sentences have no words."""
    model = objective.model
    if not any(len(sentence.tokens) for sentence in objective.train):
        return None
    groups = model.embedding.groups if isinstance(model.embedding, BaseEmbedding) else None
    crf = remembered(fit_crf, objective.train, model.written, groups=groups, inner=model.scheme)
    expert = TagExpert.of(crf, model.tags)
    return expert.to(model.device) if len(expert.keys) else None


@dataclass(frozen=True)
class _Said:
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

        how = {"jac": True, "bounds": [(0.0, 5.0)] * 2, "method": "L-BFGS-B", "options": {"maxiter": 20}}
        encoder, expert = minimize(self._cost, np.array([0.5, 0.5]), **how).x
        return float(encoder), float(expert)

    def loudness(self, encoder: float, expert: float) -> float:
        """The common factor of both weights that maximises the likelihood of the true tags."""
        from scipy.optimize import minimize_scalar

        def cost(log: float) -> float:
            return self._cost(np.exp(log) * np.array([encoder, expert]))[0]

        how = {"bounds": (-_LOUDEST, _LOUDEST), "method": "bounded", "options": {"xatol": 0.01}}
        solution: Any = minimize_scalar(cost, **how)
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
        with the best F1 of spans."""
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
        away = _AWAY * (np.array(_SHARES) - _USUAL) ** 2 / np.sqrt(max(1, sum(map(len, truth))))
        best = int((smooth - away[:, None] - _TIE * np.array(_OUTSIDE)).argmax())
        return _SHARES[best // len(_OUTSIDE)], _OUTSIDE[best % len(_OUTSIDE)]

    def share(self, encoder: float, expert: float) -> float:
        """The contribution of the linear CRF to the combined score with these weights."""
        scores = [member.cpu().numpy() for member in self.scores]
        return shares_of(scores, np.array([encoder, expert]))[1]


@torch.no_grad()
def _said(objective: "TaggingObjective", expert: TagExpert, numbers: list[int]) -> _Said:
    """Compute the scores of encoder and linear CRF on some dev sentences."""
    model, texts = objective.model, [objective.dev_texts[n] for n in numbers]
    scores: tuple[list, list] = ([], [])
    order = []
    for places, batch in model.batches(texts):
        scores[0].append(model(batch).values.float())
        scores[1].append(torch.from_numpy(expert(words_of(batch))).to(model.device))
        order += places
    targets = np.concatenate([objective.dev_targets[numbers[place]] for place in order])
    counts = np.ones(len(order), dtype=np.float32)
    if objective.dev_weights is not None:
        counts = objective.dev_weights[[numbers[place] for place in order]]
    return _Said(
        model,
        expert.transitions,
        (torch.cat(scores[0]), torch.cat(scores[1])),
        Layout([len(texts[place]) for place in order], model.device),
        torch.from_numpy(targets).to(model.device),
        torch.from_numpy(counts).to(model.device),
    )
