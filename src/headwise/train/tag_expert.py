"""The linear CRF beside the encoder of a tagger: fitted on the training sentences, weighed on dev."""

from typing import TYPE_CHECKING

import numpy as np
import torch

from headwise.features.tagged_words import words_of
from headwise.linear.mixture import LEAST_SHARE, shares_of
from headwise.linear.tag_crf import fit_crf
from headwise.linear.tag_expert import TagExpert
from headwise.models.tag_model import TagModel
from headwise.ragged import Layout, Ragged

if TYPE_CHECKING:
    from headwise.train.tagging import TaggingObjective

_PRIOR = 4.0  # nats that it costs, over all words together, to move a weight by 1 from a half


def add_expert(objective: "TaggingObjective") -> None:
    """Fit a linear CRF on the training sentences, and on dev how much say it and the encoder have. Either
    is dropped where next to nothing is left for it.

    Args:
        objective: With the sentences and the trained model.
    """
    model, expert = objective.model, _expert(objective)
    known = [n for n, own in enumerate(objective.dev_targets) if len(own) and own.min() >= 0]
    if expert is None or not known:
        return
    said, layout, targets = _scores(objective, expert, known)
    weights = _weigh(model, expert, said, layout, targets)
    shares = shares_of([own.cpu().numpy() for own in said], weights)
    if shares[0] < LEAST_SHARE:
        weights = _weigh(model, expert, said, layout, targets, encoder=False)
        shares = [0.0, 1.0]
    encoder, own = weights
    model.add_expert(expert, (float(encoder), float(own) if shares[1] >= LEAST_SHARE else 0.0), shares[1])


def add_expert_again(objective: "TaggingObjective", former: TagModel) -> None:
    """Give a tagger that was trained again, on more sentences, an expert on these and the former weights.

    Args:
        objective: With the sentences and the model.
        former: The tagger before.
    """
    expert = None if former.expert is None else _expert(objective)
    if expert is not None:
        weights = former.encoder_weight, former.expert_weight
        objective.model.add_expert(expert, weights, former.expert_share)


def _expert(objective: "TaggingObjective") -> TagExpert | None:
    """None where the sentences have no words."""
    model = objective.model
    if not any(len(own.tokens) for own in objective.train):
        return None
    crf = fit_crf(objective.train, model.written, inner=model.scheme)
    expert = TagExpert.of(crf, model.tags)
    return expert.to(model.device) if len(expert.keys) else None


@torch.no_grad()
def _scores(
    objective: "TaggingObjective", expert: TagExpert, known: list[int]
) -> tuple[list[torch.Tensor], Layout, torch.Tensor]:
    """What encoder and expert say of the words of dev sentences, `[total, tags]` each; the layout of these,
    and the true tags."""
    model, texts = objective.model, [objective.dev_texts[n] for n in known]
    said, order = ([], []), []
    for places, batch in model.batches(texts):
        said[0].append(model(batch).values.float())
        said[1].append(torch.from_numpy(expert(words_of(batch))).to(model.device))
        order += places
    targets = np.concatenate([objective.dev_targets[known[place]] for place in order])
    layout = Layout([len(texts[place]) for place in order], model.device)
    return [torch.cat(own) for own in said], layout, torch.from_numpy(targets).to(model.device)


def _weigh(
    model: TagModel,
    expert: TagExpert,
    said: list[torch.Tensor],
    layout: Layout,
    targets: torch.Tensor,
    *,
    encoder: bool = True,
) -> np.ndarray:
    """The weights of encoder and expert, none below 0, that make the true tags of whole sentences
    likeliest; with a prior for equal ones."""
    from scipy.optimize import minimize  # slow to load, and predictions do without

    def cost(values: np.ndarray) -> tuple[float, np.ndarray]:
        weights = torch.tensor(values, dtype=torch.float32, device=targets.device, requires_grad=True)
        mixed = Ragged(weights[0] * said[0] + weights[1] * said[1], layout)
        crf = model.tagger.beside(expert.transitions, (weights[0], weights[1]))
        found = crf.log_likelihood(mixed, targets)
        # What the scheme forbids has no likelihood.
        loss = _PRIOR * ((weights - 0.5) ** 2).sum() - found[found.isfinite()].sum()
        loss = loss / len(targets)
        (slopes,) = torch.autograd.grad(loss, [weights])
        return loss.item(), slopes.cpu().numpy().astype(np.float64)

    most = 5.0
    bounds = [(0.0, most if encoder else 0.0), (0.0, most)]
    start = np.array([0.5 if encoder else 0.0, 0.5])
    found = minimize(cost, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 20})
    return np.asarray(found.x)
