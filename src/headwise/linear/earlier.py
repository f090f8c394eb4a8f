"""Warm start of a linear model from a previous one.

The weights are regularised towards those of the previous model instead of towards 0 (Chelba & Acero:
Adaptation of maximum entropy capitalizer; EMNLP 2004). The result is one linear model over the features of
both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.linear.form import FORM
from headwise.linear.solver import Floats, Machine, Rows
from headwise.linear.text_features import Block, Vocabulary
from headwise.linear.text_model import LinearModel
from headwise.linear.thinning import largest


@dataclass(frozen=True)
class Earlier:
    """A previous linear model to start from, and how its labels map to the new ones.

    Attributes:
        model: The previous model.
        labels: For each new label its index among those of the previous model; -1 for a label that it
            lacks.
    """

    model: LinearModel
    labels: tuple[int, ...]

    def vocabulary(self, block: Block, new_vocabulary: Vocabulary, most: int) -> Vocabulary:
        """The union of the features of the new texts and `most` features of the previous model, those with
        the largest weights. The latter keep their inverse document frequency."""
        theirs = self.model.blocks[block]
        if len(theirs) > most:
            sizes = largest(self.model.machine.weights[self.model.place(block)])
            selected = np.sort(np.argsort(-sizes, kind="stable")[:most])
            theirs = Vocabulary(theirs.keys[selected], theirs.idf[selected])
        keys = np.union1d(new_vocabulary.keys, theirs.keys)
        idf = np.empty(len(keys), dtype=np.float32)
        for source in (new_vocabulary, theirs):
            idf[np.searchsorted(keys, source.keys)] = source.idf
        return Vocabulary(keys, idf)

    def machine(self, blocks: Mapping[Block, Vocabulary], size: int, columns: int) -> Machine:
        """The weights of the previous model, rearranged for the features, the vector size and the label
        columns of the new one. Vectors are centred and of length 1. If the previous model reads surface
        features, their weights come last."""
        machine, scale = self.model.machine, self.model.scale
        weights = machine.weights.toarray() if isinstance(machine.weights, csr_matrix) else machine.weights
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
            dense = self._columns(machine.dense[:size] * np.float32(scale.weight), columns)
        if self.model.form:
            dense = np.vstack([dense, self._columns(machine.dense[-FORM:], columns)])
        return Machine(wide, dense, self._columns(machine.bias[None], columns)[0])

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
class Start:
    """Weights and scores of a previous model on the new texts, scaled so that the mean absolute score is 1.

    Attributes:
        machine: The scaled weights, over the features of the new model.
        offsets: The scaled scores of the texts, `[texts, columns]`.
    """

    machine: Machine
    offsets: Floats

    @classmethod
    def of(cls, machine: Machine, rows: Rows) -> "Start | None":
        """Score texts by the previous weights and scale both; None if all scores are 0."""
        scores = machine.scores(rows)
        size = np.float32(np.abs(scores).mean() if scores.size else 0)
        if not size > 0:
            return None
        normalized = Machine(machine.weights / size, machine.dense / size, machine.bias / size)
        return cls(normalized, scores / size)

    def take(self, texts: NDArray[np.int64]) -> "Start":
        """The same for a subset of the texts."""
        return replace(self, offsets=self.offsets[texts])
