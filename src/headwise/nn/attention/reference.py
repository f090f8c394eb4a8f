"""The definition of attention: plain, readable, exact. Every faster path is compared with this one."""

from collections.abc import Sequence

import torch
from torch import Tensor

from headwise.nn.layout import Layout
from headwise.nn.priors import PositionPairs, Prior
from headwise.nn.priors.learned import Tuned


def attention(query: Tensor, key: Tensor, value: Tensor, priors: Sequence[Prior], layout: Layout) -> Tensor:
    """Multi-head attention with a prior on every head, within each text.

    For head h and query i of a text, over the keys j that `priors[h]` makes visible to i:

        out_i = sum_j softmax_j(q_i . k_j / sqrt(size) + score_h(i, j)) v_j

    Before their product, queries and keys are turned as the prior says (`Prior.rotate`). A prior with
    parameters (`headwise.nn.priors.learned`) adds its own terms to the scores and to the output. A query
    that sees nothing gets 0, and so does its gradient.

    Args:
        query: `[total, heads, size]`, the rows of all texts one after the other.
        key: Like `query`.
        value: `[total, heads, value size]`.
        priors: One per head.
        layout: Where each text begins and ends.

    Returns:
        `[total, heads, value size]`.
    """
    outputs = []
    trees = layout.trees or [None] * layout.texts
    rows = zip(*(x.split(layout.sizes) for x in (query, key, value)), strict=True)
    for text, (q, k, v) in enumerate(rows):
        parts = layout.marks_of(text), layout.matrices_of(text)
        pairs = PositionPairs.of_length(len(q), q.device, trees[text], *parts)
        heads = [
            mix(head_weights(q[:, h], k[:, h], prior, pairs), v[:, h], prior, pairs)
            for h, prior in enumerate(priors)
        ]
        outputs.append(torch.stack(heads, dim=1))
    return torch.cat(outputs) if outputs else value  # no texts: no rows either


def head_weights(q: Tensor, k: Tensor, prior: Prior, pairs: PositionPairs) -> Tensor:
    """Attention weights of one head in one text: queries and keys `[n, size]` -> `[n, n]`."""
    place = pairs.query[:, 0]
    logits = prior.rotate(q, place) @ prior.rotate(k, place).T / q.shape[-1] ** 0.5
    if isinstance(prior, Tuned):
        logits = prior.add_scores(logits, q, k, pairs)
    score = prior.score(pairs)
    if score is not None:
        logits = logits + score.to(logits.dtype)
    visible = prior.visible(pairs).expand_as(logits)
    # Rows without a visible key would be softmax over nothing: give them finite logits, then zero them.
    empty = ~visible.any(dim=-1, keepdim=True)
    logits = logits.masked_fill(~visible & ~empty, float("-inf"))
    weights = logits.softmax(dim=-1).masked_fill(empty, 0.0)
    return prior.add_sinks(weights, logits) if isinstance(prior, Tuned) else weights


def mix(weights: Tensor, v: Tensor, prior: Prior, pairs: PositionPairs) -> Tensor:
    """The output of one head of one text: its weights `[n, n]`, `[n, value size]` -> `[n, value size]`."""
    output = weights @ v
    return prior.add_values(output, weights, pairs) if isinstance(prior, Tuned) else output
