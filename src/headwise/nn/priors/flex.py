"""flex_mods: priors for `torch.nn.attention.flex_attention`."""

from __future__ import annotations  # the priors are read without torch

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import PositionPairs, Prior

if TYPE_CHECKING:
    from torch import Tensor

    ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
    MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def flex_mods(priors: Sequence[Prior], lengths: Tensor) -> tuple[ScoreMod, MaskMod]:
    """The `score_mod` and the `mask_mod` of fixed priors, for PyTorch's flexible attention.

        score_mod, mask_mod = flex_mods(priors, lengths)
        mask = create_block_mask(mask_mod, B=len(lengths), H=len(priors), Q_LEN=n, KV_LEN=n)
        output = flex_attention(query, key, value, score_mod=score_mod, block_mask=mask)

    Queries, keys and values are padded, `[texts, heads, n, size]`. A padded query sees itself alone; its
    output means nothing. A query that sees nothing gets 0, as in headwise.

    Args:
        priors: One per head.
        lengths: The lengths of the texts, `[texts]`, on the device of the queries.

    Raises:
        ConfigError: A prior is learned, turns queries and keys, or needs dependency trees or sentences.
    """
    import torch

    for prior in priors:
        turns = type(prior).rotate is not Prior.rotate and _turns(prior)
        if prior.learned or turns or prior.tree_use == "error" or prior.marks or prior.matrices:
            raise ConfigError(
                f"{prior} is not a function of positions alone; only fixed priors without trees and "
                "sentences fit"
            )

    def score_mod(score: Tensor, text: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        pairs = PositionPairs(query, key, lengths[text])
        for number, prior in enumerate(priors):
            added = prior.score(pairs)
            if added is not None:
                score = torch.where(head == number, score + added.to(score.dtype), score)
        return score

    def mask_mod(text: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        length = lengths[text]
        pairs = PositionPairs(query, key, length)
        padded = (query >= length) & (query == key)
        inside = (query < length) & (key < length)
        visible = torch.zeros_like(inside)
        for number, prior in enumerate(priors):
            visible = torch.where(head == number, prior.visible(pairs), visible)
        return (visible & inside) | padded

    return score_mod, mask_mod


def _turns(prior: Prior) -> bool:
    """Whether a prior changes queries and keys."""
    import torch

    rows = torch.ones(2, 2)
    return not torch.equal(prior.rotate(rows, torch.arange(2)), rows)
