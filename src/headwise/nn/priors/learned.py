"""Priors with parameters: what they add to attention, and the modules that hold the parameters.

A learned prior is data like any other. Its parameters live in a module that `SelfAttention` makes once for
all of its heads that have this prior and then, before it attends, puts into the prior's place (`tune`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from headwise.nn.priors.base import PositionPairs, Prior
from headwise.nn.priors.terms import Terms, wide


@dataclass(frozen=True, eq=False)
class Tuned(Prior):
    """A head's prior with the modules of its learned parts: only for the duration of a call.

    It equals nothing but itself, so that nothing that depends on parameters is found in a cache. The part
    without parameters, `prior`, can be cached.

    Attributes:
        prior: As it was given, for who sees whom, fixed scores and rotations.
        terms: The modules, each with this head's number among those that share it.
    """

    prior: Prior
    terms: tuple[tuple[Terms, int], ...]
    name: ClassVar[str] = "tuned"

    def visible(self, pairs: PositionPairs) -> Tensor:
        return self.prior.visible(pairs)

    def score(self, pairs: PositionPairs) -> Tensor | None:
        return self.prior.score(pairs)

    def rotate(self, rows: Tensor, place: Tensor) -> Tensor:
        return self.prior.rotate(rows, place)

    @property
    def sees_self(self) -> bool:
        return self.prior.sees_self

    def add_scores(self, logits: Tensor, query: Tensor, key: Tensor, pairs: PositionPairs) -> Tensor:
        """The logits `[..., n, n]` with the scores of all terms; see `Terms.score`."""
        for terms, head in self.terms:
            score = terms.score(query, key, pairs, head)
            logits = logits if score is None else logits + score
        return logits

    def add_sinks(self, weights: Tensor, logits: Tensor) -> Tensor:
        """The weights of the keys `[..., n, n]`, less what sinks take of them; see `Terms.sink`.

        Args:
            weights: The softmax of the logits, 0 in rows that see nothing.
            logits: The final logits, of which rows that see nothing are finite.
        """
        for terms, head in self.terms:
            sink = terms.sink(head)
            if sink is not None:
                total = wide(logits).logsumexp(dim=-1, keepdim=True)
                weights = weights * (total - sink).sigmoid().to(weights.dtype)
                logits = torch.logaddexp(total, sink)
        return weights

    def add_values(self, output: Tensor, weights: Tensor, pairs: PositionPairs) -> Tensor:
        """The output `[..., n, value size]` with the values of all terms; see `Terms.value`."""
        for terms, head in self.terms:
            value = terms.value(weights, pairs, head)
            output = output if value is None else output + value
        return output

    def __str__(self) -> str:
        return str(self.prior)


def learned_modules(priors: Sequence[Prior], head_size: int, width: int) -> list[Terms]:
    """The modules of all learned priors of a layer, one for each, in the order in which they come."""
    heads = Counter(part for prior in priors for part in prior.learned)
    return [cast(Terms, part.module(count, head_size, width)) for part, count in heads.items()]


def attach_terms(priors: Sequence[Prior], terms: Iterable[nn.Module]) -> Sequence[Prior]:
    """The priors of all heads of a layer with the modules that `learned_modules` made attached."""
    parts = dict.fromkeys(part for prior in priors for part in prior.learned)
    of_part = dict(zip(parts, cast(Iterable[Terms], terms), strict=True))
    if not of_part:
        return priors
    used = dict.fromkeys(of_part, 0)
    tuned: list[Prior] = []
    for prior in priors:
        terms_of_prior = []
        for part in prior.learned:
            terms_of_prior.append((of_part[part], used[part]))
            used[part] += 1
        tuned.append(Tuned(prior, tuple(terms_of_prior)) if terms_of_prior else prior)
    return tuned
