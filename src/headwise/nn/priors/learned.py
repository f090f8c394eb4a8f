"""Priors with parameters: what they add to attention, and the modules that hold the parameters.

A learned prior is data like any other. Its parameters live in a module that `SelfAttention` makes once for
all of its heads that have this prior and then, before it attends, puts into the prior's place (`tune`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from headwise.nn.priors.base import LearnedPrior, Pairs, Prior, Terms


class Buckets(Terms):
    """A learned number for each head and bucket of pairs; they begin with 0, that is with no prior at all.

    Args:
        bucket: The bucket of each pair, int64.
        heads: How many heads have a table.
        buckets: How many buckets there are.
    """

    def __init__(self, bucket: Callable[[Pairs], Tensor], heads: int, buckets: int):
        super().__init__()
        self.bucket = bucket
        self.bias = nn.Parameter(torch.zeros(heads, buckets))

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
        # Indexed in 32 bits or more: the gradient of a bucket is a sum over all pairs in it.
        return wide(self.bias[head])[self.bucket(pairs)].to(query.dtype)


@dataclass(frozen=True, eq=False)
class Tuned(Prior):
    """A head's prior with the modules of its learned parts: only for the duration of a call.

    It equals nothing but itself, so that nothing that depends on parameters is taken for something else
    that was remembered; what can be remembered is the part without parameters, `prior`.

    Attributes:
        prior: As it was given, for who sees whom, fixed scores and rotations.
        terms: The modules, each with this head's number among those that share it.
    """

    prior: Prior
    terms: tuple[tuple[Terms, int], ...]
    name: ClassVar[str] = "tuned"

    def visible(self, pairs: Pairs) -> Tensor:
        return self.prior.visible(pairs)

    def score(self, pairs: Pairs) -> Tensor | None:
        return self.prior.score(pairs)

    def rotate(self, rows: Tensor, place: Tensor) -> Tensor:
        return self.prior.rotate(rows, place)

    @property
    def sees_self(self) -> bool:
        return self.prior.sees_self

    def add_scores(self, logits: Tensor, query: Tensor, key: Tensor, pairs: Pairs) -> Tensor:
        """The logits `[..., n, n]` with the scores of all terms; see `Terms.score`."""
        for terms, head in self.terms:
            score = terms.score(query, key, pairs, head)
            logits = logits if score is None else logits + score
        return logits

    def add_values(self, output: Tensor, weights: Tensor, pairs: Pairs) -> Tensor:
        """The output `[..., n, value size]` with the values of all terms; see `Terms.value`."""
        for terms, head in self.terms:
            value = terms.value(weights, pairs, head)
            output = output if value is None else output + value
        return output

    def __str__(self) -> str:
        return str(self.prior)


def modules(priors: Sequence[Prior], head_size: int, width: int) -> list[Terms]:
    """The modules of all learned priors of a layer, one for each, in the order in which they come."""
    heads = Counter(part for prior in priors for part in prior.learned)
    return [part.module(count, head_size, width) for part, count in heads.items()]


def tune(priors: Sequence[Prior], terms: Iterable[nn.Module]) -> Sequence[Prior]:
    """The priors of all heads of a layer with the modules that `modules` made put in."""
    of_part = dict(zip(_parts(priors), cast(Iterable[Terms], terms), strict=True))
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


def _parts(priors: Sequence[Prior]) -> list[LearnedPrior]:
    """The different learned priors of a layer."""
    return list(dict.fromkeys(part for prior in priors for part in prior.learned))


def pick(scores: Tensor, index: Tensor) -> Tensor:
    """For each query the scores that `index` names: `[..., n, m]` -> `[..., n, n]`.

    Args:
        scores: Scores of each query with each of `m` buckets or distances.
        index: The bucket of each pair of query and key, `[n, n]` or `[1, n, n]`.
    """
    # In 32 bits or more: the gradient of a bucket is a sum over all keys in it.
    picked = wide(scores).gather(-1, index.expand(*scores.shape[:-1], index.shape[-1]))
    return picked.to(scores.dtype)


def wide(values: Tensor) -> Tensor:
    """Floating-point values with at least 32 bits, for sums over many."""
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
