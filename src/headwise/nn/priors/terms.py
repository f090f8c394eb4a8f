"""Terms: the parameters of priors that learn, as modules of torch."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn

from headwise.nn.priors.base import PositionPairs
from headwise.nn.torch_modes import cacheable_tensors, is_cacheable


class Terms(nn.Module):
    """The parameters of a learned prior, which add to scores or outputs of heads. Override one or both
    methods.

    Both look at one head, which is named by its number among those that share the module. Queries and keys
    are `[..., n, size]`, where `...` is nothing for one text or the texts of a padded batch; `pairs` has
    their positions in the last two sizes, which broadcast to `[..., n, n]`.
    """

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor | None:
        """What is added to the scaled logits, broadcasts to `[..., n, n]`; None for nothing. Queries and
        keys are as they were before any rotation."""
        return None

    def value(self, weights: Tensor, pairs: PositionPairs, head: int) -> Tensor | None:
        """What is added to the head's output `[..., n, value size]`, given the weights `[..., n, n]` of
        the keys; None for nothing."""
        return None

    def sink(self, head: int) -> Tensor | None:
        """The logit of a key without a value that all queries of the head see, too; None for none."""
        return None

    def description(self, head: int) -> str | None:
        """What a head has learned, in a few words; None where its numbers say little by themselves."""
        return None


class Buckets(Terms):
    """A learned number for each head and bucket of pairs; they begin with 0, that is with no prior at all.

    Args:
        bucket: The bucket of each pair, int64.
        heads: How many heads have a table.
        buckets: How many buckets there are.
    """

    def __init__(self, bucket: Callable[[PositionPairs], Tensor], heads: int, buckets: int):
        super().__init__()
        self.bucket = bucket
        self.bias = nn.Parameter(torch.zeros(heads, buckets))

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        # Indexed in 32 bits or more: the gradient of a bucket is a sum over all pairs in it.
        return wide(self.bias[head])[self.bucket(pairs)].to(query.dtype)


class NamedBuckets(Buckets):
    """Buckets with names, for `TreeRelations`."""

    def __init__(self, bucket: Callable[[PositionPairs], Tensor], heads: int, names: Sequence[str]):
        super().__init__(bucket, heads, len(names))
        self.names = tuple(names)

    def description(self, head: int) -> str:
        numbers = self.bias[head].tolist()
        return ", ".join(f"{name} {number:+.2g}" for name, number in zip(self.names, numbers, strict=True))


class SinkTerms(Terms):
    """The logits of `Sink`, 4 `raw`, `[heads]`."""

    def __init__(self, heads: int):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(heads))

    def sink(self, head: int) -> Tensor:
        return 4 * wide(self.raw[head])

    def description(self, head: int) -> str:
        return f"sink {self.sink(head).item():+.2g}"


class ShawTerms(Terms):
    """The tables aK and aV of `Shaw`, from the distance -K (to the left) to K."""

    def __init__(self, span: int, head_size: int, *, values: bool):
        super().__init__()
        self.span = span
        self.keys = nn.Parameter(nn.init.xavier_uniform_(torch.empty(2 * span + 1, head_size)))
        self.values = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(2 * span + 1, head_size))) if values else None
        )

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        products = query @ self.keys.to(query.dtype).T  # [..., n, 2K + 1]: never n x n x size
        return pick(products, self._distance(pairs)) / query.shape[-1] ** 0.5

    def value(self, weights: Tensor, pairs: PositionPairs, head: int) -> Tensor | None:
        if self.values is None:
            return None
        index = self._distance(pairs).expand_as(weights)
        summands = wide(weights)
        sums = summands.new_zeros(*weights.shape[:-1], len(self.values)).scatter_add(-1, index, summands)
        return sums.to(weights.dtype) @ self.values.to(weights.dtype)

    def _distance(self, pairs: PositionPairs) -> Tensor:
        return (pairs.key - pairs.query).clamp(-self.span, self.span) + self.span


class TransformerXLTerms(Terms):
    """u, v and W_R of each head of `TransformerXL`."""

    def __init__(self, heads: int, head_size: int, width: int):
        super().__init__()
        self.u = nn.Parameter(nn.init.normal_(torch.empty(heads, head_size), std=0.02))
        self.v = nn.Parameter(nn.init.normal_(torch.empty(heads, head_size), std=0.02))
        self.relative = nn.Parameter(torch.empty(heads, head_size, width))
        nn.init.xavier_uniform_(self.relative.view(heads * head_size, width))

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        n, (size, width) = query.shape[-2], self.relative[head].shape
        u, v, w = (x[head].to(query.dtype) for x in (self.u, self.v, self.relative))
        r = distance_sinusoids(n, width, query.dtype, query.device) @ w.T  # [2n + 1, size]
        to_content = (key @ u).unsqueeze(-2)
        to_place = pick((query + v) @ r.T, pairs.query - pairs.key + n)
        return (to_content + to_place) / size**0.5


def distance_sinusoids(reach: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """R for the distances -reach to reach, `[2 * reach + 1, width]`: sines, then cosines."""
    made = max(16, 1 << (reach - 1).bit_length())  # one table for all lengths up to a power of two
    make = _table if is_cacheable() else _table.__wrapped__
    table = make(made, width, dtype, device)
    return table[made - reach : made + reach + 1]


@lru_cache(maxsize=8)
def _table(reach: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    with cacheable_tensors():
        distance = torch.arange(-reach, reach + 1, dtype=torch.float64, device="cpu")[:, None]
        half = torch.arange(0, width, 2, dtype=torch.float64, device="cpu")
        angle = distance * 10000.0 ** (-half / width)
        return torch.cat([angle.sin(), angle.cos()], dim=1)[:, :width].to(device, dtype)


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
