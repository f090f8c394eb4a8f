"""Priors that learn how far each head looks.

LearnedSlope: ALiBi with learned slopes.

Kerple: a learned logarithmic or power-law decay (KERPLE).

Fire: a small network of the relative distance (FIRE).

AdaptiveSpan: a window of learned width with a soft edge (Sukhbaatar et al. 2019).

Forgetting: a decay that depends on the words between query and key (Forgetting Transformer).

Cope: positions that count only some of the words in between (contextual position encoding).
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import LearnedPrior, Pairs, Terms, check_number, check_whole
from headwise.nn.priors.distance import alibi_slopes
from headwise.nn.priors.learned import wide

_GAIN = 4.0
"""How many times the learning rate a logarithm moves in a step of Adam: a slope or a span has to be able to
double within a training of some hundred steps."""


def _positive(start: Tensor | float, raw: Tensor) -> Tensor:
    """`start` times a learned factor, at first 1."""
    return start * (_GAIN * wide(raw)).exp()


def _distance(pairs: Pairs, dtype: torch.dtype) -> Tensor:
    return (pairs.query - pairs.key).abs().to(dtype)


@dataclass(frozen=True)
class LearnedSlope(LearnedPrior):
    """Adds `-a |i - j|` with a learned slope `a > 0` for each head; ALiBi (Press et al. 2022) fixes them.

    The slopes begin with ALiBi's, `2^(-8 h / heads)` for head h from 1.
    """

    name: ClassVar[str] = "learned-slope"

    def module(self, heads: int, head_size: int, width: int) -> "SlopeTerms":
        return SlopeTerms(heads)

    def __str__(self) -> str:
        return "learned slope"


class SlopeTerms(Terms):
    """The factors of the slopes of `LearnedSlope`: exp(4 `raw`), `[heads]`."""

    def __init__(self, heads: int):
        super().__init__()
        self.start, self.raw = alibi_slopes(heads), nn.Parameter(torch.zeros(heads))

    def slope(self, head: int) -> Tensor:
        """The slope of a head."""
        return _positive(self.start[head], self.raw[head])

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
        slope = self.slope(head)
        return (-slope * _distance(pairs, slope.dtype)).to(query.dtype)

    def description(self, head: int) -> str:
        return f"slope {self.slope(head).item():.3g}"


@dataclass(frozen=True)
class Kerple(LearnedPrior):
    """Adds a learned decay for each head (KERPLE; Chi, Fan, Ramadge, Rudnicky 2022; Eq. 5 and 6):

        log:    -r1 log(1 + r2 |i - j|),   r1, r2 > 0
        power:  -r1 |i - j|^r2,            r1 > 0, 0 < r2 <= 2

    Both begin with r1 = 0.1 and r2 = 1.

    Args:
        form: "log" or "power".
    """

    form: Literal["log", "power"] = "log"
    name: ClassVar[str] = "kerple"

    def __post_init__(self) -> None:
        if self.form not in ("log", "power"):
            raise ConfigError(f"form must be log or power, got {self.form!r}")

    def module(self, heads: int, head_size: int, width: int) -> "KerpleTerms":
        return KerpleTerms(heads, self.form)

    def __str__(self) -> str:
        return f"kerple {self.form}"


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

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
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


@dataclass(frozen=True)
class Fire(LearnedPrior):
    """Adds a learned function of the relative distance (FIRE; Li et al. 2024; Eq. 8):

        f(psi(|i - j|) / psi(max(L, reach_i))) with the sign of j - i,   psi(x) = log(c x + 1)

    f is a network of one hidden layer of `hidden` ReLUs with an output for each head; c > 0 and L >= 0 are
    learned. FIRE is for causal heads, where a query can look back by its position: here `reach_i` is the
    larger of its distances to both ends of the text, and the sign tells the two sides apart. The scores
    begin with 0, that is with plain attention.

    Args:
        hidden: Units of the hidden layer.
    """

    hidden: int = 32
    name: ClassVar[str] = "fire"

    def __post_init__(self) -> None:
        check_whole(self, 1, "hidden")

    def module(self, heads: int, head_size: int, width: int) -> "FireTerms":
        return FireTerms(heads, self.hidden)

    def __str__(self) -> str:
        return f"fire {self.hidden}"


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

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
        scale, least = wide(self.log_scale).exp(), wide(self.log_least).exp()
        reach = torch.maximum(pairs.query, pairs.length - 1 - pairs.query).to(scale.dtype)
        offset = (pairs.key - pairs.query).to(scale.dtype)
        ratio = torch.log1p(scale * offset.abs()) / torch.log1p(scale * torch.maximum(least, reach))
        signed = (ratio * offset.sign())[..., None]
        hidden = torch.relu(wide(self.first.weight)[:, 0] * signed + wide(self.first.bias))
        return (hidden @ wide(self.last.weight[head])).to(query.dtype)


@dataclass(frozen=True)
class AdaptiveSpan(LearnedPrior):
    """A window of learned width with a soft edge (Sukhbaatar, Grave, Bojanowski, Joulin 2019; Eq. 5-6):

        weights ~ m(|i - j|) exp(logit_ij),   m(d) = min(max((R + z - d) / R, 0), 1)

    `z` is learned for each head. What is masked, m = 0, gets the weight exp(-80) relative to the others, so
    no row is ever empty. The paper adds a penalty on z to the loss; there is none here.

    Args:
        start: The first value of z, in positions, more than 0.
        ramp: R, the width of the edge, in positions, more than 0.
    """

    start: float = 16.0
    ramp: float = 8.0
    name: ClassVar[str] = "adaptive-span"

    def __post_init__(self) -> None:
        check_number(self, "start", "ramp")
        if not (self.start > 0 and self.ramp > 0):
            raise ConfigError(f"start and ramp must be more than 0, got {self.start:g} and {self.ramp:g}")

    def module(self, heads: int, head_size: int, width: int) -> "SpanTerms":
        return SpanTerms(heads, self.start, self.ramp)

    def __str__(self) -> str:
        return f"adaptive span from {self.start:g}"


class SpanTerms(Terms):
    """The factors of z of each head of `AdaptiveSpan`: exp(4 `raw`), `[heads]`."""

    def __init__(self, heads: int, start: float, ramp: float):
        super().__init__()
        self.start, self.ramp, self.raw = start, ramp, nn.Parameter(torch.zeros(heads))

    def span(self, head: int) -> Tensor:
        """z of a head."""
        return _positive(self.start, self.raw[head])

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
        span = self.span(head)
        mask = (self.ramp + span - _distance(pairs, span.dtype)) / self.ramp
        return mask.clamp(min=math.exp(-80)).clamp(max=1).log().to(query.dtype)

    def description(self, head: int) -> str:
        return f"span {self.span(head).item():.3g}"


@dataclass(frozen=True)
class Forgetting(LearnedPrior):
    """A decay that depends on the words in between (Forgetting Transformer; Lin et al. 2025; Eq. 4-6):

        score_ij = sum of log f_l over the l behind the first of i and j, up to the second,
        f_l = sigmoid(w . k_l + b)

    The paper is causal and computes its gates from the layer's input; here they come from the head's keys,
    and what stands behind the query decays in the same way. `w` begins with 0 and b with 3, so that a step
    costs 0.05 at first.
    """

    name: ClassVar[str] = "forgetting"

    def module(self, heads: int, head_size: int, width: int) -> "ForgettingTerms":
        return ForgettingTerms(heads, head_size)

    def __str__(self) -> str:
        return "forgetting"


class ForgettingTerms(Terms):
    """w, `[heads, size]`, and b = 3 + 4 `raw`, `[heads]`, of `Forgetting`."""

    def __init__(self, heads: int, head_size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(heads, head_size))
        self.raw = nn.Parameter(torch.zeros(heads))

    def bias(self, head: int) -> Tensor:
        """b of a head."""
        return 3 + _GAIN * wide(self.raw[head])

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
        # Sums of 32 bits or more: a difference of two sums over many words.
        gates = logsigmoid(wide(key) @ wide(self.weight[head]).to(wide(key).dtype) + self.bias(head))
        sums = gates.cumsum(dim=-1)
        return -(sums.unsqueeze(-1) - sums.unsqueeze(-2)).abs().to(query.dtype)

    def description(self, head: int) -> str:
        return f"mean gate {self.bias(head).sigmoid().item():.3g}"


@dataclass(frozen=True)
class Cope(LearnedPrior):
    """Contextual position encoding (CoPE; Golovneva, Wang, Weston, Sukhbaatar 2024; Eq. 3-6).

        g_il = sigmoid(q_i . k_l),   p_ij = sum of g_il over the l from i to j, both counted,
        logit_ij = q_i . (k_j + e_s[p_ij]) / sqrt(size)

    A position that is no whole number takes the vectors of its two neighbours in proportion. The paper is
    causal; here both sides s have a table e_s of their own, shared by the heads of a layer. The vectors
    begin with 0, that is with plain attention.

    Args:
        furthest: The largest position; all beyond share its vector.
    """

    furthest: int = 16
    name: ClassVar[str] = "cope"

    def __post_init__(self) -> None:
        check_whole(self, 1, "furthest")

    def module(self, heads: int, head_size: int, width: int) -> "CopeTerms":
        return CopeTerms(self.furthest, head_size)

    def __str__(self) -> str:
        return f"cope {self.furthest}"


class CopeTerms(Terms):
    """The tables of `Cope`, `[2, furthest + 1, size]`: for keys up to the query, and for those after it."""

    def __init__(self, furthest: int, head_size: int):
        super().__init__()
        self.furthest = furthest
        self.tables = nn.Parameter(torch.zeros(2, furthest + 1, head_size))

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
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
