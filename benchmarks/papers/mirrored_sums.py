"""Mirrored summation: products of vectors that mirror each other (MS-Trans, Guo et al. 2020, Fig. 2).

    a_1 .. a_N ~ U(0, 1)^d        y = sum_{i=1..K} a_i * a_{N-i+1}        (elementwise)

The places of a product are N - 2i + 1 apart, so a model must see far. For K > N / 2 a pair is met from both
of its ends and counts twice.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.nn.ragged import Ragged


def mirrored_sums(
    seed: int | Sequence[int],
    sequences: int = 128,
    *,
    terms: int,
    length: int = 100,
    features: int = 50,
) -> tuple[Ragged, Tensor]:
    """Sequences and their targets.

    Args:
        seed: Not negative; the same seed gives the same sequences.
        sequences: How many.
        terms: K.
        length: N, of every sequence.
        features: d, of a vector.

    Returns:
        Rows of `[features]`, and the targets `[sequences, features]`; both float32.

    Raises:
        ConfigError: `terms` is not between 1 and `length`.
    """
    _check(terms, length)
    random = np.random.default_rng(seed)
    a = random.random((sequences, length, features), dtype=np.float32)
    targets = np.einsum("skd,skd->sd", a[:, :terms], a[:, : -terms - 1 : -1])
    rows = torch.from_numpy(a.reshape(-1, features))
    return Ragged.from_lengths(rows, [length] * sequences), torch.from_numpy(targets)


def chance_error(terms: int, length: int = 100) -> float:
    """Mean squared error of a feature for the best constant guess, which is the variance of the target.

    A product of two numbers from U(0, 1) has the variance 7/144, twice the product four times that:
    K * 7/144 for K <= N / 2.

    Raises:
        ConfigError: `terms` is not between 1 and `length`.
    """
    return 7 / 144 * _spread(terms, length)


def linear_error(terms: int, length: int = 100) -> float:
    """The same for the best guess that is linear in the sequence: it adds up the vectors and multiplies
    nothing. A product ab is best predicted as (a + b) / 2 - 1/4, which leaves a variance of 1/144.

    Raises:
        ConfigError: `terms` is not between 1 and `length`.
    """
    return 1 / 144 * _spread(terms, length)


def _spread(terms: int, length: int) -> int:
    """Sum of the squares of how often each pair counts. The middle of an odd length is its own mirror: its
    square is no product of two numbers and has another variance, so odd lengths are an error.
    """
    _check(terms, length)
    if length % 2:
        raise ConfigError(f"the errors are known for an even length, got {length}")
    twice = max(0, terms - length // 2)
    return terms - 2 * twice + 4 * twice


def _check(terms: int, length: int) -> None:
    if not 1 <= terms <= length:
        raise ConfigError(f"the number of terms must be between 1 and the length {length}, got {terms}")
