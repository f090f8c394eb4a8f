"""The linear CRF beside the encoder of a tagger: fitted on the training sentences, weighed on dev.

The weights of the two are those under which the true tags of whole sentences are likeliest. Where tags mark
spans, likelihood is too cautious, most of all where spans are rare and no one is sure of them: the shares
of the two, and what is taken off the score of `O`, are then those of the best F1, which is smoothed as it
jumps from share to share. Few spans tell little, and those of dev have chosen the encoder's best epoch, so
its shares look better than they are: others than the usual one must bring more the fewer spans there are.
What is taken off decides which tags are said, and is no part of their probabilities.
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

_PRIOR = 4.0  # nats that it costs, over all words together, to move a weight by 1 from a half
_SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)  # of the expert in the sum of both weights
_OUTSIDE = (0.0, 0.5, 1.0, 1.5, 2.0)
_LOUDEST = 2.0  # e-folds that a weight can be too low or too high once the shares are chosen
_USUAL = 0.8  # the share of the expert that does best in the mean of many trainings
_AWAY = 3.0  # times a share's squared distance from that, over the root of the spans: F1 that it must bring
_TIE = 1e-3  # F1 that 1 less for O must bring


def add_expert(objective: "TaggingObjective") -> None:
    """Fit a linear CRF on the training sentences, and on dev how much say it and the encoder have. Either
    is dropped where next to nothing is left for it.

    Args:
        objective: With the sentences and the trained model.
    """
    expert = _expert(objective)
    known = [n for n, own in enumerate(objective.dev_targets) if len(own) and own.min() >= 0]
    if expert is None or not known:
        return
    said, outside = _said(objective, expert, known), 0.0
    encoder, own = said.likeliest()
    if not encoder and not own:  # dev contradicts both: no shares can be told
        return
    if objective.model.scheme != "plain" and "O" in objective.model.tags:
        share, outside = said.best_of_spans(encoder + own)
        encoder, own = (encoder + own) * (1 - share), (encoder + own) * share
        loud = said.loudness(encoder, own)  # which changes no tag
        encoder, own, outside = encoder * loud, own * loud, outside * loud
    share = said.share(encoder, own)
    if share > 1 - LEAST_SHARE:
        encoder, share = 0.0, 1.0
    elif share < LEAST_SHARE:
        own = share = 0.0
    objective.model.add_expert(expert if share else None, (encoder, own), share, outside)


def add_expert_again(objective: "TaggingObjective", former: TagModel) -> None:
    """Give a tagger that was trained again, on more sentences, an expert on these and the former weights.

    Args:
        objective: With the sentences and the model.
        former: The tagger before.
    """
    expert = None if former.expert is None else _expert(objective)
    weights = former.encoder_weight, former.expert_weight
    objective.model.add_expert(expert, weights, former.expert_share, former.outside)


def _expert(objective: "TaggingObjective") -> TagExpert | None:
    """None where the sentences have no words."""
    model = objective.model
    if not any(len(own.tokens) for own in objective.train):
        return None
    groups = model.embedding.groups if isinstance(model.embedding, BaseEmbedding) else None
    crf = remembered(fit_crf, objective.train, model.written, groups=groups, inner=model.scheme)
    expert = TagExpert.of(crf, model.tags)
    return expert.to(model.device) if len(expert.keys) else None


@dataclass(frozen=True)
class _Said:
    """What encoder and expert say of held-out sentences, `[total, tags]` each, the true tags, and how much
    each sentence counts, `[sentences]`."""

    model: TagModel
    transitions: torch.Tensor
    scores: tuple[torch.Tensor, torch.Tensor]
    layout: Layout
    targets: torch.Tensor
    counts: torch.Tensor

    def likeliest(self) -> tuple[float, float]:
        """The weights of encoder and expert that make the true tags of whole sentences likeliest, with a
        prior for equal ones."""
        from scipy.optimize import minimize  # slow to load, and predictions do without

        how = {"jac": True, "bounds": [(0.0, 5.0)] * 2, "method": "L-BFGS-B", "options": {"maxiter": 20}}
        encoder, expert = minimize(self._cost, np.array([0.5, 0.5]), **how).x
        return float(encoder), float(expert)

    def loudness(self, encoder: float, expert: float) -> float:
        """What both weights are to be multiplied by, that the true tags are likeliest."""
        from scipy.optimize import minimize_scalar

        def cost(log: float) -> float:
            return self._cost(np.exp(log) * np.array([encoder, expert]))[0]

        how = {"bounds": (-_LOUDEST, _LOUDEST), "method": "bounded", "options": {"xatol": 0.01}}
        found: Any = minimize_scalar(cost, **how)
        return float(np.exp(found.x))

    def _cost(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """Nats a word with these weights, and its slopes."""
        weights = torch.tensor(values, dtype=torch.float32, device=self.targets.device, requires_grad=True)
        mixed = Ragged(weights[0] * self.scores[0] + weights[1] * self.scores[1], self.layout)
        crf = self.model.tagger.beside(self.transitions, (weights[0], weights[1]))
        found = crf.log_likelihood(mixed, self.targets)
        # What the scheme forbids has no likelihood.
        known = found.isfinite()
        loss = _PRIOR * ((weights - 0.5) ** 2).sum() - (found * self.counts)[known].sum()
        loss = loss / len(self.targets)
        (slopes,) = torch.autograd.grad(loss, [weights])
        return loss.item(), slopes.cpu().numpy().astype(np.float64)

    @torch.no_grad()
    def best_of_spans(self, scale: float) -> tuple[float, float]:
        """The share of the expert in this sum of both weights, and what to take off the score of `O`, for
        the best F1 of spans."""
        tags, cuts = self.model.tags, self.layout.offsets[1:-1].tolist()

        def spans(numbers: torch.Tensor) -> list:
            each = np.split(numbers.cpu().numpy(), cuts)
            return [read_spans([tags[n] for n in own]) for own in each]

        truth, outside = spans(self.targets), tags.index("O")
        counts = self.counts.cpu().double().numpy()
        scores = np.zeros((len(_SHARES), len(_OUTSIDE)))
        for row, share in enumerate(_SHARES):
            weights = scale * (1 - share), scale * share
            crf = self.model.tagger.beside(self.transitions, weights)
            for column, less in enumerate(_OUTSIDE):
                mixed = weights[0] * self.scores[0] + weights[1] * self.scores[1]
                mixed[:, outside] -= less
                found = spans(crf.viterbi(Ragged(mixed, self.layout))[0])
                scores[row, column] = f1_of(counts @ count_entities(found, truth))
        smooth = sliding_window_view(np.pad(scores, 1, mode="edge"), (3, 3)).mean(axis=(2, 3))
        away = _AWAY * (np.array(_SHARES) - _USUAL) ** 2 / np.sqrt(max(1, sum(map(len, truth))))
        best = int((smooth - away[:, None] - _TIE * np.array(_OUTSIDE)).argmax())
        return _SHARES[best // len(_OUTSIDE)], _OUTSIDE[best % len(_OUTSIDE)]

    def share(self, encoder: float, expert: float) -> float:
        """How much of the say the expert has with these weights."""
        each = [own.cpu().numpy() for own in self.scores]
        return shares_of(each, np.array([encoder, expert]))[1]


@torch.no_grad()
def _said(objective: "TaggingObjective", expert: TagExpert, known: list[int]) -> _Said:
    """What encoder and expert say of those of the dev sentences."""
    model, texts = objective.model, [objective.dev_texts[n] for n in known]
    said: tuple[list, list] = ([], [])
    order = []
    for places, batch in model.batches(texts):
        said[0].append(model(batch).values.float())
        said[1].append(torch.from_numpy(expert(words_of(batch))).to(model.device))
        order += places
    targets = np.concatenate([objective.dev_targets[known[place]] for place in order])
    counts = np.ones(len(order), dtype=np.float32)
    if objective.dev_weights is not None:
        counts = objective.dev_weights[[known[place] for place in order]]
    return _Said(
        model,
        expert.transitions,
        (torch.cat(said[0]), torch.cat(said[1])),
        Layout([len(texts[place]) for place in order], model.device),
        torch.from_numpy(targets).to(model.device),
        torch.from_numpy(counts).to(model.device),
    )
