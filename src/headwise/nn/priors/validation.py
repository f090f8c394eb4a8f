"""Validation of user-defined priors on first use; the priors of headwise have unit tests.

check_meaning: `visible` and `score` have the types and shapes that attention expects, and do not depend on
other texts of the batch. check_band: the band of a prior agrees with them. Fast kernels use the band only,
so a wrong band would silently compute another prior.
"""

from functools import lru_cache

import torch
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import Band, PositionPairs, Prior

_LENGTHS = (0, 1, 2, 3, 7, 24)
_LONGEST = 512  # longest text of the current batch that is checked too
_TOLERANCE = 1e-4

_checked: set[Prior] = set()
_validated: set[Prior] = set()
_BATCH = (1, 2, 3, 7)  # lengths of the test texts, evaluated alone and as one batch
_UNSEEN = -1e300  # marks invisible pairs, so that scores that are not finite can be detected


def check_meaning(prior: Prior) -> None:
    """Validate a user-defined prior on short texts, once.

    Raises:
        ConfigError: The prior raises an error; its `visible` is not boolean, or its `score` is not finite
            for visible pairs; they do not have the shape of the pairs; they depend on other texts of the
            batch; or `sees_self` or `is_identity` is wrong.
    """
    if prior in _validated or is_built_in(prior):
        return
    with torch.device("cpu"), torch.no_grad():  # also while a model is built without memory
        batched = _evaluated(prior, _side_by_side(prior), (len(_BATCH), max(_BATCH), max(_BATCH)))
        for place, size in enumerate(_BATCH):
            tree = None if prior.tree_use == "none" else _chain(torch.arange(size))
            marks = {name: _thirds(torch.arange(size)) for name in prior.marks}
            matrices = _random_matrices(prior, size)
            pairs = PositionPairs.of_length(size, tree=tree, marks=marks, matrices=matrices)
            alone = _evaluated(prior, pairs, (size, size))
            _compare_said(prior, alone, batched[place, :size, :size], size)
    _validated.add(prior)


def _chain(place: Tensor) -> Tensor:
    """Distances in a dependency tree in which each word depends on the previous word."""
    return (place[:, None] - place).abs()


def _thirds(place: Tensor) -> Tensor:
    """Marks of words, such as sentences of three words."""
    return place // 3


def _random_matrices(prior: Prior, size: int) -> dict[str, Tensor]:
    """A matrix for each prior with one, the upper left part of that of a longer text."""
    place = torch.arange(size)
    return {part.name: (place[:, None] * 3.7 + place).sin() for part in prior.matrices}


def _side_by_side(prior: Prior) -> PositionPairs:
    """All pairs of texts that are padded to the longest."""
    place = torch.arange(max(_BATCH))
    tree = None if prior.tree_use == "none" else _chain(place).expand(len(_BATCH), -1, -1)
    unit = _thirds(place).expand(len(_BATCH), -1)
    marks = dict.fromkeys(prior.marks, (unit[:, :, None], unit[:, None]))
    lengths = torch.tensor(_BATCH)[:, None, None]
    matrices = _random_matrices(prior, max(_BATCH))
    return PositionPairs(place[None, :, None], place[None, None], lengths, tree, marks, matrices)


def _evaluated(prior: Prior, pairs: PositionPairs, shape: tuple[int, ...]) -> Tensor:
    """Scores of a prior for pairs, like `Prior.bias`, but `_UNSEEN` for invisible pairs.

    Raises:
        ConfigError: See `check_meaning`.
    """
    try:
        visible, score = prior.visible(pairs), prior.score(pairs)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        if prior.tree_use == "none" and "NoneType" in why:
            why += '; a prior that looks at pairs.tree has to say tree_use = "error"'
        raise _wrong(prior, f"cannot be asked about pairs of the shape {list(shape)} ({why})") from error
    if not isinstance(visible, Tensor) or visible.dtype != torch.bool:
        raise _wrong(prior, f"has a visible that gives {_kind_of(visible)}; expected a boolean tensor")
    if score is not None and not isinstance(score, Tensor):
        raise _wrong(prior, f"has a score that gives {_kind_of(score)}; expected a tensor, or None")
    for name, tensor in (("visible", visible), ("score", score)):
        if tensor is not None and not _broadcasts(tensor, shape):
            problem = f"gives the shape {list(tensor.shape)} for pairs of the shape {list(shape)}"
            raise _wrong(
                prior, f"has a {name} that {problem}; make it of pairs.query, pairs.key and length"
            )
    scores = torch.zeros((), dtype=torch.float64) if score is None else score.double()
    return torch.where(visible, scores, _UNSEEN).expand(shape)


def _compare_said(prior: Prior, alone: Tensor, batched: Tensor, size: int) -> None:
    """Compare the scores of a text of `size` words alone and in a batch, and check `sees_self` and
    `is_identity`."""
    seen, where = alone != _UNSEEN, f"in a text of {size} words"
    if not alone.isfinite().all():
        query, key = (~alone.isfinite()).nonzero()[0].tolist()
        raise _wrong(
            prior,
            f"has the score {float(alone[query, key])} for the word {key} that word {query} sees {where}; "
            "scores are finite, and what is not to be seen is left out by visible",
        )
    if not torch.allclose(alone, batched, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True):
        raise _wrong(
            prior,
            f"says something else {where} where longer texts stand beside it; take pairs.length, which is "
            "that of each text, in place of a size or a largest position",
        )
    if prior.sees_self and not seen.diagonal().all():
        raise _wrong(prior, f"says that every word sees itself (sees_self), and {where} one does not")
    if prior.is_identity and not seen.equal(torch.eye(size, dtype=torch.bool)):
        raise _wrong(
            prior, f"says that every word sees itself alone (is_identity), and {where} it is not so"
        )


def _broadcasts(tensor: Tensor, shape: tuple[int, ...]) -> bool:
    try:
        return torch.broadcast_shapes(tensor.shape, shape) == shape
    except RuntimeError:
        return False


def _kind_of(result: object) -> str:
    return f"one of {result.dtype}" if isinstance(result, Tensor) else repr(result)


def _wrong(prior: Prior, what: str) -> ConfigError:
    return ConfigError(f"the prior {str(prior)!r} {what}")


def check_band(prior: Prior, lengths: Tensor) -> None:
    """Compare the band of a prior that is not headwise's own with the prior itself, once.

    Args:
        prior: It has a band.
        lengths: `[texts]`, of the texts that it is used on; the longest that is not too long is looked at.

    Raises:
        ConfigError: They say different things; names the pair and what each says.
    """
    if prior in _checked or is_built_in(prior):
        return
    sizes = [*_LENGTHS, *lengths[lengths <= _LONGEST].sort().values[-1:].tolist()]
    band = prior.band(torch.tensor(sizes, dtype=torch.int64, device="cpu"))
    if band is None:
        return
    for place, size in enumerate(sizes):
        _compare_on_text(prior, band, place, size)
    _checked.add(prior)


@lru_cache(maxsize=1024)
def is_built_in(prior: Prior) -> bool:
    """Whether a prior and all that it consists of is defined by headwise."""
    values = (value if isinstance(value, tuple) else (value,) for value in vars(prior).values())
    inside = (part for value in values for part in value if isinstance(part, Prior))
    return type(prior).__module__.startswith("headwise.") and all(map(is_built_in, inside))


def _compare_on_text(prior: Prior, band: Band, place: int, size: int) -> None:
    """Compare a prior with its band on a text of `size` words, text number `place` of the band."""
    pairs = PositionPairs.of_length(size)
    expected = prior.bias(pairs, torch.float64).expand(size, size)
    away = pairs.key - pairs.query
    seen = (away >= -band.left[place]) & (away <= band.right[place])
    banded = torch.where(seen, -float(band.slope) * away.abs().double(), float("-inf"))
    close = (expected - banded).abs() <= _TOLERANCE * (1 + expected.abs())
    differ = torch.where(expected.isfinite() & seen, ~close, expected != banded)
    if differ.any():
        query, key = differ.nonzero()[0].tolist()
        raise ConfigError(
            f"the band of the prior {str(prior)!r} is not what its visible and score say: in a text of "
            f"{size} words, word {key} adds {_shown(banded[query, key])} for word {query} by the band, and "
            f"{_shown(expected[query, key])} by visible and score. Mend {type(prior).__name__}.band, or "
            "leave it out: then the prior runs as a dense mask"
        )
    if prior.sees_self and not seen.diagonal().all():
        raise ConfigError(
            f"the prior {str(prior)!r} says that every word sees itself (sees_self), and in a text of "
            f"{size} words one does not"
        )


def _shown(score: Tensor) -> str:
    return "nothing (it is not seen)" if score == float("-inf") else f"{float(score):.4g}"
