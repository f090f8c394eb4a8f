"""BandedPlan: the work items of attention within bands, for the kernel `native.banded_forward`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.threads import run_jobs, usable_threads

Reaches = NDArray[np.int64]
_PIECE = 512  # rows of a text that are one item of work
_LOST = 18.0  # exp(-18) is less than half of the last bit of a float32
_SHORT = 32  # words of a text below which no keys are left out
_ALONE = 200_000  # pairs of a query and a key from which more threads than one are worth it


@dataclass(frozen=True)
class Band:
    """A prior compiled to what a fast kernel needs: a hard band and a slope on the distance.

    Query `i` of text `t` sees the keys `i - left[t] .. i + right[t]`, cut at the ends of the text, with
    `-slope * |i - j|` added to the score. Where nothing is left of that, it sees nothing.

    Attributes:
        left: `[texts]`, int64, at most the text's length - 1 (0 for an empty text); -1 leaves out the own
            position and all before it. An array, or a tensor of PyTorch.
        right: Number of visible positions to the right; like `left`.
        slope: Nonnegative or negative; 0 for a plain window.
    """

    left: Any
    right: Any
    slope: float = 0.0


def cut_texts(lengths: Reaches, rows: int) -> tuple[Reaches, Reaches]:
    """Cut texts into pieces of at most `rows` rows: the text of each piece, and its first row in that text,
    `[pieces]`."""
    counts = -(-lengths // rows)
    text = np.repeat(np.arange(len(lengths)), counts)
    return text, (np.arange(len(text)) - np.repeat(counts.cumsum() - counts, counts)) * rows


@dataclass(frozen=True)
class BandedPlan:
    """Work items of the heads of a layer on the texts of a batch.

    Attributes:
        items: `[items, 8]`, int64: head, value head, start and length of the text, first and last query,
            reach to the left and right (`BandedItem` in `native/attention.h`); those of a text together.
        pairs: `[items]`: about how many pairs of query and key each item and those before it have.
        slopes: `[heads]`, float64.
        value_heads: The heads that have no query and key: their output is their value.
    """

    items: NDArray[np.int64]
    pairs: NDArray[np.int64]
    slopes: NDArray[np.float64]
    value_heads: list[int]

    @classmethod
    def of(
        cls, lengths: Reaches, heads: int, attending: Sequence[int], bands: Sequence[Band]
    ) -> "BandedPlan":
        """The plan for texts of these lengths.

        Args:
            lengths: Rows of each text, `[texts]`; the texts follow one another.
            heads: Number of heads.
            attending: The heads that have queries and keys.
            bands: Their bands.
        """
        starts = lengths.cumsum() - lengths
        text, begin = cut_texts(lengths, _PIECE)
        end = np.minimum(begin + _PIECE, lengths[text])
        items = np.empty((len(text), len(bands), 8), np.int64)
        items[:, :, 0] = np.arange(len(bands))
        items[:, :, 1] = attending
        for place, column in enumerate((starts[text], lengths[text], begin, end), start=2):
            items[:, :, place] = column[:, None]
        for head, band in enumerate(bands):
            items[:, head, 6] = np.asarray(band.left)[text]
            items[:, head, 7] = np.asarray(band.right)[text]
        items = items.reshape(-1, 8)
        seen = np.maximum(np.minimum(items[:, 6] + items[:, 7] + 1, items[:, 3]), 0)
        pairs = ((items[:, 5] - items[:, 4]) * (seen + 16)).cumsum()
        value_heads = [head for head in range(heads) if head not in attending]
        return cls(items, pairs, np.array([band.slope for band in bands]), value_heads)

    def without_lost_keys(self, query: NDArray[np.float32], key: NDArray[np.float32]) -> "BandedPlan":
        """The plan without the keys whose weight a slope makes so small that it is lost in the rounding of
        float32.

        Two logits of a query q differ by `2 max|q| max|k| / sqrt(size)` at most, but for the slope; so from
        some distance on, all keys together have less than `exp(-18)` of the weight.

        Args:
            query: Queries, `[rows, heads, size]`.
            key: Keys, `[rows, heads, size]`.
        """
        if not (self.slopes > 0).any():
            return self
        steep = self.slopes[self.items[:, 0]] > 0
        if not steep.any() or self.items[:, 3].max() < _SHORT:
            return self
        text, head, left, right = self.items[:, 2], self.items[:, 0], self.items[:, 6], self.items[:, 7]
        starts, places = np.unique(text, return_inverse=True)
        longest = [
            np.maximum.reduceat(np.sqrt(np.einsum("rhs,rhs->rh", x, x)), starts, axis=0).astype(np.float64)
            for x in (query, key)
        ]
        spread = 2 * longest[0] * longest[1] / np.sqrt(query.shape[2])  # [texts, heads]
        slopes = np.where(steep, self.slopes[head], 1.0)
        lost = _LOST + np.log(2 / -np.expm1(-slopes))  # the weights beyond are a geometric series, twice
        nearest = np.maximum(0, -np.minimum(left, right))  # the distance of the first key that is seen
        reach = np.ceil((spread[places, head] + lost) / slopes) + nearest
        cut = steep & (reach < np.maximum(left, right))  # never where a reach is not a number
        reach = np.where(cut, reach, 0).astype(np.int64)
        items = self.items.copy()
        items[:, 6] = np.where(cut, np.minimum(left, reach), left)
        items[:, 7] = np.where(cut, np.minimum(right, reach), right)
        return replace(self, items=items)

    def run(self, kernel: Callable[..., None], arrays: Sequence[NDArray]) -> None:
        """Call a kernel for all items, in several threads where that is worth it."""
        if not len(self.items):
            return

        def work(job: tuple[int, int]) -> None:
            kernel(*arrays, self.items[slice(*job)], self.slopes)

        threads = usable_threads() if self.pairs[-1] > _ALONE else 1
        run_jobs(work, self._jobs(1 if threads == 1 else 4 * threads), threads)

    def _jobs(self, count: int) -> list[tuple[int, int]]:
        """Up to `count` ranges of items with about the same number of pairs."""
        if count == 1:
            return [(0, len(self.items))]
        cuts = np.searchsorted(self.pairs, self.pairs[-1] * np.arange(1, count) / count)
        return list(pairwise(sorted({0, *cuts.tolist(), len(self.items)})))

    def value_runs(self) -> list[slice]:
        """The heads without query and key, neighbouring ones as one slice."""
        runs: list[slice] = []
        for head in self.value_heads:
            if runs and runs[-1].stop == head:
                runs[-1] = slice(runs[-1].start, head + 1)
            else:
                runs.append(slice(head, head + 1))
        return runs
