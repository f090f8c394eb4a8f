"""Priors that learn how far each head looks.

- `LearnedSlope`, `Kerple`, `Fire`: the score falls with the distance, along a line with a learned slope, by
  a logarithm or power with learned parameters, or as a small network computes it.
- `AdaptiveSpan`: a window of learned width with a soft edge.
- `Forgetting`, `Cope`: decay and positions that depend on the words between query and key.
"""

from __future__ import annotations  # the priors are read without torch

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import LearnedPrior, check_number, check_whole

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class LearnedSlope(LearnedPrior):
    """Adds `-a |i - j|` with a learned slope `a > 0` for each head; ALiBi (Press et al. 2022) fixes them.

    The slopes begin with ALiBi's, `2^(-8 h / heads)` for head h from 1.
    """

    name: ClassVar[str] = "learned-slope"

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.decay_terms import SlopeTerms

        return SlopeTerms(heads)

    def __str__(self) -> str:
        return "learned slope"


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

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.decay_terms import KerpleTerms

        return KerpleTerms(heads, self.form)

    def __str__(self) -> str:
        return f"kerple {self.form}"


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

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.decay_terms import FireTerms

        return FireTerms(heads, self.hidden)

    def __str__(self) -> str:
        return f"fire {self.hidden}"


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

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.decay_terms import SpanTerms

        return SpanTerms(heads, self.start, self.ramp)

    def __str__(self) -> str:
        return f"adaptive span from {self.start:g}"


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

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.decay_terms import ForgettingTerms

        return ForgettingTerms(heads, head_size)

    def __str__(self) -> str:
        return "forgetting"


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

    def module(self, heads: int, head_size: int, width: int) -> nn.Module:
        from headwise.nn.priors.decay_terms import CopeTerms

        return CopeTerms(self.furthest, head_size)

    def __str__(self) -> str:
        return f"cope {self.furthest}"
