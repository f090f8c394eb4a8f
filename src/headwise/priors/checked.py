"""check_band: whether the band of a prior says the same as its `visible` and `score`.

Fast kernels compute from the band alone, so a band that says something else would be another prior in
silence. Those of headwise are compared in its tests, those of users where they are first used.
"""

import torch
from torch import Tensor

from headwise.errors import ConfigError
from headwise.priors.base import Band, Pairs, Prior

_LENGTHS = (0, 1, 2, 3, 7, 24)
_LONGEST = 512  # of the texts at hand that are looked at too
_TOLERANCE = 1e-4

_checked: set[Prior] = set()


def check_band(prior: Prior, lengths: Tensor) -> None:
    """Compare the band of a prior that is not headwise's own with the prior itself, once.

    Args:
        prior: It has a band.
        lengths: `[texts]`, of the texts that it is used on; the longest that is not too long is looked at.

    Raises:
        ConfigError: They say different things; names the pair and what each says.
    """
    if prior in _checked or _ours(prior):
        return
    sizes = [*_LENGTHS, *lengths[lengths <= _LONGEST].sort().values[-1:].tolist()]
    band = prior.band(torch.tensor(sizes, dtype=torch.int64))
    if band is None:
        return
    for place, size in enumerate(sizes):
        _compare(prior, band, place, size)
    _checked.add(prior)


def _ours(prior: Prior) -> bool:
    """Whether a prior and all that it consists of is defined by headwise."""
    values = (value if isinstance(value, tuple) else (value,) for value in vars(prior).values())
    inside = (own for value in values for own in value if isinstance(own, Prior))
    return type(prior).__module__.startswith("headwise.") and all(map(_ours, inside))


def _compare(prior: Prior, band: Band, place: int, size: int) -> None:
    """Compare what both say of a text of `size` words, the one of the band's `place`."""
    pairs = Pairs.of_length(size)
    wanted = prior.bias(pairs, torch.float64).expand(size, size)
    away = pairs.key - pairs.query
    seen = (away >= -band.left[place]) & (away <= band.right[place])
    said = torch.where(seen, -float(band.slope) * away.abs().double(), float("-inf"))
    close = (wanted - said).abs() <= _TOLERANCE * (1 + wanted.abs())
    differ = torch.where(wanted.isfinite() & seen, ~close, wanted != said)
    if differ.any():
        query, key = differ.nonzero()[0].tolist()
        raise ConfigError(
            f"the band of the prior {str(prior)!r} is not what its visible and score say: in a text of "
            f"{size} words, word {key} adds {_told(said[query, key])} for word {query} by the band, and "
            f"{_told(wanted[query, key])} by visible and score. Mend {type(prior).__name__}.band, or leave "
            "it out: then the prior runs as a dense mask"
        )
    if prior.sees_self and not seen.diagonal().all():
        raise ConfigError(
            f"the prior {str(prior)!r} says that every word sees itself (sees_self), and in a text of "
            f"{size} words one does not"
        )


def _told(score: Tensor) -> str:
    return "nothing (it is not seen)" if score == float("-inf") else f"{float(score):.4g}"
