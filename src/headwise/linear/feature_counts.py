"""FeatureCounts: how often features occur in and outside the texts of each label."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from headwise.linear.linear_weights import Floats
from headwise.linear.svm_solver import LinearProblem


@dataclass
class FeatureCounts:
    """The total costs of the texts with each feature that have a label, and of those that do not.

    Attributes:
        inside, outside: `[features, columns]`.
    """

    inside: Floats
    outside: Floats

    @classmethod
    def of(cls, problems: Iterable[LinearProblem]) -> "FeatureCounts":
        """The costs of the texts of all problems, at least one."""
        total: FeatureCounts | None = None
        for problem in problems:
            sparse, signs, costs = problem.rows.sparse, problem.signs, problem.costs
            there = csr_matrix(
                (np.ones_like(sparse.data), sparse.indices, sparse.indptr), shape=sparse.shape
            )
            both = [np.where(sign * signs > 0, costs, 0) for sign in (1, -1)]
            inside, outside = np.hsplit(there.T @ np.hstack(both).astype(np.float32), 2)
            if total is None:
                total = cls(inside, outside)
            else:
                total.inside += inside
                total.outside += outside
        if total is None:
            raise ValueError("there are no texts")
        return total

    def ratios(self) -> Floats:
        """Naive Bayes ratios, `[features, columns]`: the mean of 1 and the absolute log ratio between the
        frequency of a feature inside and outside a label."""
        if not len(self.inside):
            return self.inside
        # Column by column, as sums and logarithms of short rows take several times as long.
        inside, outside = (np.ascontiguousarray(counts.T) + 1 for counts in (self.inside, self.outside))
        factors = (outside.sum(axis=1) / inside.sum(axis=1))[:, None]
        ratios = np.abs(np.log(inside * factors / outside))
        return np.ascontiguousarray((0.5 + 0.5 * ratios).T, dtype=np.float32)
