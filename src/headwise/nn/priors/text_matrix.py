"""Priors that read a matrix of scores for each text.

The matrix of `Matrix` comes with the batch, from the user. A subclass of `TextMatrix` computes it from the
words of a text.
"""

from __future__ import annotations  # the priors are read without torch

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from numpy.typing import ArrayLike

from headwise.core.errors import HeadwiseError
from headwise.nn.priors.base import PositionPairs, Prior, check_number

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Matrix(Prior):
    """Adds `scale * M(i, j)`, M a matrix `[n, n]` of finite numbers that comes with each text.

    The matrices come with the batch, by the name of the prior (`Layout.matrices`). Pairs with a
    classification node get 0.

    Args:
        scale: In units of the scaled logits, for each 1 of the matrix.
    """

    scale: float = 1.0
    name: ClassVar[str] = "matrix"

    def __post_init__(self) -> None:
        check_number(self, "scale")

    def score(self, pairs: PositionPairs) -> Tensor:
        """`scale` times the matrix.

        Raises:
            HeadwiseError: HW313, the batch has no matrices of this name.
        """
        if self.name not in pairs.matrices:
            raise HeadwiseError(
                f"a head adds a matrix to its scores, but the batch has none of the name {self.name!r}; "
                f"give Layout(lengths, matrices={{{self.name!r}: ...}}) one for each text, or, for models "
                "that read texts, register a subclass of headwise.nn.priors.TextMatrix that computes it",
                code="HW313",
            )
        return self.scale * pairs.matrices[self.name]

    @property
    def matrices(self) -> frozenset[Prior]:
        return frozenset({self})

    def __str__(self) -> str:
        return self.name.replace("-", " ") + (f" {self.scale:g}" if self.scale != 1 else "")


@dataclass(frozen=True)
class TextMatrix(Matrix):
    """Base of priors that compute the matrix of a text from its words. Override `matrix`, give the class a
    name, and register it (`headwise.nn.priors.register`)."""

    name: ClassVar[str] = "text-matrix"

    def matrix(self, words: Sequence[str]) -> ArrayLike:
        """The matrix of a text, `[words, words]`, finite numbers; rows are queries, columns keys."""
        raise NotImplementedError
