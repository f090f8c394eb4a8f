"""TransformerXL: relative positions as sinusoids that the content looks at (Dai et al. 2019)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor, nn

from headwise.keeping import outlasts, to_be_kept
from headwise.priors.base import LearnedPrior, Pairs, Terms
from headwise.priors.learned import pick


@dataclass(frozen=True)
class TransformerXL(LearnedPrior):
    """Relative positions of Transformer-XL (Dai, Yang, Yang, Carbonell, Le, Salakhutdinov; ACL 2019; 3.3).

        logit_ij = ((q_i + u) . k_j + (q_i + v) . W_R R_{i-j}) / sqrt(size)

    R is sinusoidal, u, v and W_R belong to each head. The released code's shift of the scores is right
    only for keys at or before the query; here every distance in both directions has its own row of R, so
    that it serves encoders.
    """

    name: ClassVar[str] = "transformer-xl"

    def module(self, heads: int, head_size: int, width: int) -> "TransformerXLTerms":
        return TransformerXLTerms(heads, head_size, width)

    def __str__(self) -> str:
        return "transformer-xl"


class TransformerXLTerms(Terms):
    """u, v and W_R of each head of `TransformerXL`."""

    def __init__(self, heads: int, head_size: int, width: int):
        super().__init__()
        self.u = nn.Parameter(nn.init.normal_(torch.empty(heads, head_size), std=0.02))
        self.v = nn.Parameter(nn.init.normal_(torch.empty(heads, head_size), std=0.02))
        self.relative = nn.Parameter(torch.empty(heads, head_size, width))
        nn.init.xavier_uniform_(self.relative.view(heads * head_size, width))

    def score(self, query: Tensor, key: Tensor, pairs: Pairs, head: int) -> Tensor:
        n, (size, width) = query.shape[-2], self.relative[head].shape
        u, v, w = (x[head].to(query.dtype) for x in (self.u, self.v, self.relative))
        r = sinusoids(n, width, query.dtype, query.device) @ w.T  # [2n + 1, size]
        to_content = (key @ u).unsqueeze(-2)
        to_place = pick((query + v) @ r.T, pairs.query - pairs.key + n)
        return (to_content + to_place) / size**0.5


def sinusoids(reach: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """R for the distances -reach to reach, `[2 * reach + 1, width]`: sines, then cosines."""
    made = max(16, 1 << (reach - 1).bit_length())  # one table for all lengths up to a power of two
    make = _table if outlasts() else _table.__wrapped__
    table = make(made, width, dtype, device)
    return table[made - reach : made + reach + 1]


@lru_cache(maxsize=8)
def _table(reach: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    with to_be_kept():
        distance = torch.arange(-reach, reach + 1, dtype=torch.float64, device="cpu")[:, None]
        half = torch.arange(0, width, 2, dtype=torch.float64, device="cpu")
        angle = distance * 10000.0 ** (-half / width)
        return torch.cat([angle.sin(), angle.cos()], dim=1)[:, :width].to(device, dtype)
