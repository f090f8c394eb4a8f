"""StoredProblems: the problem of a linear model in portions on the disk.

A portion takes 6 bytes per feature of a text: its number, and its value as a 16-bit float, which moves a
score by less than the 8 bits of a stored weight do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.core.scratch import ScratchFile, StoredArray
from headwise.linear.linear_weights import DesignMatrix
from headwise.linear.svm_solver import LinearProblem


@dataclass(frozen=True)
class _StoredPortion:
    """Where a portion is.

    Attributes:
        ends, indices, values: The sparse features.
        dense: The dense features.
        features: Number of sparse features.
        rest: The problem without its rows.
    """

    ends: StoredArray
    indices: StoredArray
    values: StoredArray
    dense: StoredArray
    features: int
    rest: LinearProblem


class StoredProblems(Sequence[LinearProblem]):
    """Problems whose features are in a scratch file; each item is read from there.

    Attributes:
        factor: Multiplies the costs of all.
        texts: The texts of each portion, `[texts]`.
        held_out: Whether a text has cost 0, `[all texts]`; None where none has.

    Args:
        file: The file.
        total: Number of texts of all portions.
    """

    def __init__(self, file: ScratchFile, total: int):
        self._file, self._total = file, total
        self._portions: list[_StoredPortion] = []
        self.texts: list[NDArray[np.int64]] = []
        self.factor = np.float32(1)
        self.held_out: NDArray[np.bool_] | None = None

    def append(self, texts: NDArray[np.int64], problem: LinearProblem) -> None:
        """Add a portion; where a text has several rows, all texts follow each other once, then again.

        Raises:
            HeadwiseError: HW412, the disk has no space for it or, by the first portion, for all of them.
        """
        sparse, write = problem.rows.sparse, self._file.write
        indptr, indices, data = (np.asarray(part) for part in (sparse.indptr, sparse.indices, sparse.data))
        nothing = DesignMatrix(sparse[:0], problem.rows.dense[:0])
        rest = LinearProblem(nothing, problem.signs, problem.costs, problem.offsets, problem.targets)
        self._portions.append(
            _StoredPortion(
                write(indptr.astype(np.int64)),
                write(indices.astype(np.int32)),
                write(data.astype(np.float16)),
                write(problem.rows.dense.astype(np.float16)),
                problem.rows.features,
                rest,
            )
        )
        self.texts.append(texts)
        if len(self.texts) == 1:
            self._file.require(self._file.size * (self._total - len(texts)) // max(len(texts), 1))

    def __len__(self) -> int:
        return len(self._portions)

    @overload
    def __getitem__(self, number: int) -> LinearProblem: ...
    @overload
    def __getitem__(self, number: slice) -> list[LinearProblem]: ...
    def __getitem__(self, number: int | slice) -> LinearProblem | list[LinearProblem]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        stored, rest = self._portions[number], self._portions[number].rest
        costs = np.asarray(rest.costs, dtype=np.float32) * self.factor
        if self.held_out is not None:
            held = self.held_out[self.texts[number]]
            costs = np.where(np.tile(held, len(costs) // len(held))[:, None], np.float32(0), costs)
        ends, indices = self._file.read(stored.ends), self._file.read(stored.indices)
        values = self._file.read(stored.values).astype(np.float32)
        sparse = csr_matrix((values, indices, ends), shape=(len(ends) - 1, stored.features))
        rows = DesignMatrix(sparse, self._file.read(stored.dense).astype(np.float32))
        return LinearProblem(rows, rest.signs, costs, rest.offsets, rest.targets)

    def rows_of(self, number: int) -> DesignMatrix:
        """The design matrix of the texts of a portion, one row per text."""
        return self[number].rows.take(np.arange(len(self.texts[number])))
