"""Warm start of a linear model from a previous one, and pruning of weights.

The weights are regularised towards those of the previous model instead of towards 0 (Chelba & Acero:
Adaptation of maximum entropy capitalizer; EMNLP 2004). The result is one linear model over the features of
both. With very many labels, only the important weights are kept (`prune`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from headwise.linear.linear_model import LinearModel
from headwise.linear.linear_weights import DesignMatrix, Floats, LinearWeights
from headwise.linear.tfidf_features import BlockName, FeatureVocabulary

FEW_LABELS = 32
"""Number of labels up to which all weights are kept."""
LEAST_SHARE = 0.05
"""Weights below this share of their feature's largest weight are dropped. With 77, 150 and 2,000 labels,
16, 9 and 3 % of the weights remain, at a cost of at most 0.1 points."""
MOST_KEPT = 2_000_000
"""Maximum number of weights after pruning, 3 bytes each; those with the largest shares are kept."""
_PORTION = 1 << 22  # weights per portion


def prune(weights: Floats | csr_matrix) -> Floats | csr_matrix:
    """Prune weights `[features, columns]` to a sparse matrix; they are returned as they are where there are
    few columns, or where they are sparse already."""
    if isinstance(weights, csr_matrix) or weights.shape[1] <= FEW_LABELS:
        return weights
    portion = max(_PORTION // weights.shape[1], 1)
    parts = [_above(weights[at : at + portion]) for at in range(0, len(weights), portion)]
    sparse = csr_matrix(vstack(parts or [csr_matrix(weights)], format="csr", dtype=np.float32))
    if sparse.nnz > MOST_KEPT:
        shares = np.abs(sparse.data) / np.repeat(
            max_abs_weights(sparse), np.diff(np.asarray(sparse.indptr))
        )
        least = np.partition(shares, -MOST_KEPT)[-MOST_KEPT]
        sparse.data[shares < least] = 0
        sparse.eliminate_zeros()
    return sparse


def max_abs_weights(weights: Floats | csr_matrix) -> NDArray[np.float32]:
    """The largest absolute weight of each feature, `[features]`."""
    if not isinstance(weights, csr_matrix):
        return np.abs(weights).max(axis=1, initial=0)
    sizes = np.diff(np.asarray(weights.indptr))
    maxima = np.zeros(len(sizes), dtype=np.float32)
    np.maximum.at(maxima, np.repeat(np.arange(len(sizes)), sizes), np.abs(weights.data))
    return maxima


def _above(weights: Floats) -> csr_matrix:
    """The weights above `LEAST_SHARE`, as a sparse matrix."""
    sizes = np.abs(weights)
    return csr_matrix(np.where(sizes >= LEAST_SHARE * sizes.max(axis=1, keepdims=True), weights, 0))


@dataclass(frozen=True)
class LinearWarmStart:
    """A previous linear model to start from, and how its labels map to the new ones.

    Attributes:
        model: The previous model.
        labels: For each new label its index among those of the previous model; -1 for a label that it
            lacks.
    """

    model: LinearModel
    labels: tuple[int, ...]

    def vocabulary(
        self, block: BlockName, new_vocabulary: FeatureVocabulary, most: int
    ) -> FeatureVocabulary:
        """The union of the features of the new texts and `most` features of the previous model, those with
        the largest weights. The latter keep their inverse document frequency."""
        theirs = self.model.blocks[block]
        if len(theirs) > most:
            sizes = max_abs_weights(self.model.coefficients.weights[self.model.place(block)])
            selected = np.sort(np.argsort(-sizes, kind="stable")[:most])
            theirs = FeatureVocabulary(theirs.keys[selected], theirs.idf[selected])
        keys = np.union1d(new_vocabulary.keys, theirs.keys)
        idf = np.empty(len(keys), dtype=np.float32)
        for source in (new_vocabulary, theirs):
            idf[np.searchsorted(keys, source.keys)] = source.idf
        return FeatureVocabulary(keys, idf)

    def coefficients(
        self, blocks: Mapping[BlockName, FeatureVocabulary], size: int, columns: int
    ) -> LinearWeights:
        """The weights of the previous model, rearranged for the features, the vector size and the label
        columns of the new one. Vectors are centred and of length 1. If the previous model reads surface
        features, their weights come last."""
        coefficients, scale = self.model.coefficients, self.model.scale
        weights = (
            coefficients.weights.toarray()
            if isinstance(coefficients.weights, csr_matrix)
            else coefficients.weights
        )
        wide = np.zeros((sum(map(len, blocks.values())), columns), dtype=np.float32)
        begin = 0
        for name, vocabulary in blocks.items():
            theirs = self.model.blocks[name]
            there = np.isin(theirs.keys, vocabulary.keys)
            places = np.searchsorted(vocabulary.keys, theirs.keys[there])
            wide[begin + places] = self._columns(weights[self.model.place(name)][there], columns)
            begin += len(vocabulary)
        dense = np.zeros((size, columns), dtype=np.float32)
        if scale is not None and len(scale.mean) == size:
            dense = self._columns(coefficients.dense[:size] * np.float32(scale.weight), columns)
        if self.model.form:
            dense = np.vstack([dense, self._columns(coefficients.dense[self.model.form_place], columns)])
        return LinearWeights(wide, dense, self._columns(coefficients.bias[None], columns)[0])

    def _columns(self, values: Floats, columns: int) -> Floats:
        """Map label columns `[rows, columns]` of the previous model to those of the new labels."""
        if self.model.classes > values.shape[1]:  # with two labels, only the second has a column
            values = np.hstack([-values, values])
        positions = np.array(self.labels)
        mapped = np.where(positions >= 0, values[:, np.maximum(positions, 0)], 0).astype(np.float32)
        if columns == len(positions):
            return mapped
        return (mapped[:, 1:] - mapped[:, :1]) / np.float32(max((positions >= 0).sum(), 1))


@dataclass(frozen=True)
class PriorScores:
    """Weights and scores of a previous model on the new texts, scaled so that the mean absolute score is 1.

    Attributes:
        coefficients: The scaled weights, over the features of the new model.
        offsets: The scaled scores of the texts, `[texts, columns]`.
    """

    coefficients: LinearWeights
    offsets: Floats

    @classmethod
    def of(cls, coefficients: LinearWeights, rows: DesignMatrix) -> "PriorScores | None":
        """Score texts by the previous weights and scale both; None if all scores are 0."""
        scores = coefficients.scores(rows)
        size = np.float32(np.abs(scores).mean() if scores.size else 0)
        if not size > 0:
            return None
        normalized = LinearWeights(
            coefficients.weights / size, coefficients.dense / size, coefficients.bias / size
        )
        return cls(normalized, scores / size)

    def take(self, texts: NDArray[np.int64]) -> "PriorScores":
        """The scores of a subset of the texts."""
        return replace(self, offsets=self.offsets[texts])
