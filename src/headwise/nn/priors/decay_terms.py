"""The parameters of priors that learn how far each head looks (`headwise.nn.priors.learned_decay`)."""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from headwise.nn.priors.base import PositionPairs
from headwise.nn.priors.distance import alibi_slopes
from headwise.nn.priors.terms import Terms, wide

_GAIN = 4.0
"""How many times the learning rate a logarithm moves in a step of Adam: a slope or a span has to be able to
double within a training of some hundred steps."""


def _positive(start: Tensor | float, raw: Tensor) -> Tensor:
    """`start` times a learned factor, at first 1."""
    return start * (_GAIN * wide(raw)).exp()


def _distance(pairs: PositionPairs, dtype: torch.dtype) -> Tensor:
    return (pairs.query - pairs.key).abs().to(dtype)


class SlopeTerms(Terms):
    """The factors of the slopes of `LearnedSlope`: exp(4 `raw`), `[heads]`."""

    def __init__(self, heads: int):
        super().__init__()
        self.start, self.raw = alibi_slopes(heads), nn.Parameter(torch.zeros(heads))

    def slope(self, head: int) -> Tensor:
        """The slope of a head."""
        return _positive(self.start[head], self.raw[head])

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        slope = self.slope(head)
        return (-slope * _distance(pairs, slope.dtype)).to(query.dtype)

    def description(self, head: int) -> str:
        return f"slope {self.slope(head).item():.3g}"


class KerpleTerms(Terms):
    """r1 and r2 of each head of `Kerple`, from the rows of `raw`, `[2, heads]`: 0.1 exp(4 raw); exp(4 raw)
    ("log") or 2 sigmoid(4 raw) ("power")."""

    def __init__(self, heads: int, form: Literal["log", "power"]):
        super().__init__()
        self.form, self.raw = form, nn.Parameter(torch.zeros(2, heads))

    def rates(self, head: int) -> tuple[Tensor, Tensor]:
        """r1 and r2 of a head."""
        first, second = self.raw[:, head]
        power = 2 * (_GAIN * wide(second)).sigmoid()
        return _positive(0.1, first), _positive(1.0, second) if self.form == "log" else power

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        first, second = self.rates(head)
        distance = _distance(pairs, first.dtype)
        if self.form == "log":
            decay = torch.log1p(second * distance)
        else:  # 0^r2 is 0, but its gradient is none
            decay = distance.clamp(min=1) ** second * (distance > 0)
        return (-first * decay).to(query.dtype)

    def description(self, head: int) -> str:
        first, second = self.rates(head)
        return f"{self.form}, r1 {first.item():.3g}, r2 {second.item():.3g}"


class FireTerms(Terms):
    """The network, c and L of `Fire`; c = exp(log_scale) begins with 0.1, L = exp(log_least) with 16."""

    def __init__(self, heads: int, hidden: int):
        super().__init__()
        # A constant on all keys would change nothing: the last layer has no bias.
        self.first, self.last = nn.Linear(1, hidden), nn.Linear(hidden, heads, bias=False)
        nn.init.uniform_(self.first.weight, -1, 1)
        nn.init.uniform_(self.first.bias, -1, 1)
        nn.init.zeros_(self.last.weight)
        self.log_scale = nn.Parameter(torch.tensor(math.log(0.1)))
        self.log_least = nn.Parameter(torch.tensor(math.log(16.0)))

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        scale, least = wide(self.log_scale).exp(), wide(self.log_least).exp()
        reach = torch.maximum(pairs.query, pairs.length - 1 - pairs.query).to(scale.dtype)
        offset = (pairs.key - pairs.query).to(scale.dtype)
        ratio = torch.log1p(scale * offset.abs()) / torch.log1p(scale * torch.maximum(least, reach))
        signed = (ratio * offset.sign())[..., None]
        hidden = torch.relu(wide(self.first.weight)[:, 0] * signed + wide(self.first.bias))
        return (hidden @ wide(self.last.weight[head])).to(query.dtype)


class SpanTerms(Terms):
    """The factors of z of each head of `AdaptiveSpan`: exp(4 `raw`), `[heads]`."""

    def __init__(self, heads: int, start: float, ramp: float):
        super().__init__()
        self.start, self.ramp, self.raw = start, ramp, nn.Parameter(torch.zeros(heads))

    def span(self, head: int) -> Tensor:
        """z of a head."""
        return _positive(self.start, self.raw[head])

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        span = self.span(head)
        mask = (self.ramp + span - _distance(pairs, span.dtype)) / self.ramp
        return mask.clamp(min=math.exp(-80)).clamp(max=1).log().to(query.dtype)

    def description(self, head: int) -> str:
        return f"span {self.span(head).item():.3g}"


class ForgettingTerms(Terms):
    """w, `[heads, size]`, and b = 3 + 4 `raw`, `[heads]`, of `Forgetting`."""

    def __init__(self, heads: int, head_size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(heads, head_size))
        self.raw = nn.Parameter(torch.zeros(heads))

    def bias(self, head: int) -> Tensor:
        """b of a head."""
        return 3 + _GAIN * wide(self.raw[head])

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        # Sums of 32 bits or more: a difference of two sums over many words.
        gates = logsigmoid(wide(key) @ wide(self.weight[head]).to(wide(key).dtype) + self.bias(head))
        sums = gates.cumsum(dim=-1)
        return -(sums.unsqueeze(-1) - sums.unsqueeze(-2)).abs().to(query.dtype)

    def description(self, head: int) -> str:
        return f"mean gate {self.bias(head).sigmoid().item():.3g}"


class CopeTerms(Terms):
    """The tables of `Cope`, `[2, furthest + 1, size]`: for keys up to the query, and for those after it."""

    def __init__(self, furthest: int, head_size: int):
        super().__init__()
        self.furthest = furthest
        self.tables = nn.Parameter(torch.zeros(2, furthest + 1, head_size))

    def score(self, query: Tensor, key: Tensor, pairs: PositionPairs, head: int) -> Tensor:
        query, dtype = wide(query), query.dtype
        gates = (query @ wide(key).transpose(-1, -2)).sigmoid()  # [..., n, n]
        sums, at_query = gates.cumsum(dim=-1), gates.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
        until_query = sums.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
        after = pairs.key > pairs.query
        place = torch.where(after, sums - until_query + at_query, until_query - sums + gates)
        place = place.clamp(max=self.furthest)
        # nan_to_num: a text with NaN has no places, and must not index beside the table.
        below = place.detach().nan_to_num().floor().clamp(max=self.furthest - 1).long()
        tables = wide(self.tables).to(query.dtype).flatten(0, 1)
        products = query @ tables.T / query.shape[-1] ** 0.5  # [..., n, 2 * (furthest + 1)]
        index = below + after * (self.furthest + 1)
        low, high = products.gather(-1, index), products.gather(-1, index + 1)
        return torch.lerp(low, high, place - below).to(dtype)
