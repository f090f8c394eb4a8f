"""Earlier: a linear model of other texts, which a new one goes on from.

What is learnt of new texts adds to what the earlier model says of them: the weights are drawn to its
weights in place of 0 (Chelba & Acero: Adaptation of maximum entropy capitalizer; EMNLP 2004).
What comes out is one linear model of the words and characters that either knows.
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
    """An earlier linear model of texts.

    Attributes:
        model: The model.
        labels: For each label of the new one its number among those of the earlier; -1 where it is new.
    """

    model: LinearModel
    labels: tuple[int, ...]

    def vocabulary(self, block: Block, own: Vocabulary, most: int) -> Vocabulary:
        """The features of new texts, and `most` of those of the earlier model, the ones with the largest
        weights, which keep how rare they were."""
        theirs = self.model.blocks[block]
        if len(theirs) > most:
            sizes = largest(self.model.machine.weights[self.model.place(block)])
            kept = np.sort(np.argsort(-sizes, kind="stable")[:most])
            theirs = Vocabulary(theirs.keys[kept], theirs.idf[kept])
        keys = np.union1d(own.keys, theirs.keys)
        idf = np.empty(len(keys), dtype=np.float32)
        for known in (own, theirs):
            idf[np.searchsorted(keys, known.keys)] = known.idf
        return Vocabulary(keys, idf)

    def machine(self, blocks: Mapping[Block, Vocabulary], size: int, columns: int) -> Machine:
        """Its weights, of the new labels and of features and vectors of this size that a new model has; of
        vectors that have length 1 about its mean; and of the form of texts, if it reads it."""
        machine, scale = self.model.machine, self.model.scale
        weights = machine.weights.toarray() if isinstance(machine.weights, csr_matrix) else machine.weights
        wide = np.zeros((sum(map(len, blocks.values())), columns), dtype=np.float32)
        begin = 0
        for name, own in blocks.items():
            theirs = self.model.blocks[name]
            there = np.isin(theirs.keys, own.keys)
            places = np.searchsorted(own.keys, theirs.keys[there])
            wide[begin + places] = self._columns(weights[self.model.place(name)][there], columns)
            begin += len(own)
        dense = np.zeros((size, columns), dtype=np.float32)
        if scale is not None and len(scale.mean) == size:
            dense = self._columns(machine.dense[:size] * np.float32(scale.weight), columns)
        if self.model.form:
            dense = np.vstack([dense, self._columns(machine.dense[-FORM:], columns)])
        return Machine(wide, dense, self._columns(machine.bias[None], columns)[0])

    def _columns(self, values: Floats, columns: int) -> Floats:
        """What belongs to the columns of a machine, `[rows, columns]`, for the new labels."""
        if self.model.classes > values.shape[1]:  # of two labels the second
            values = np.hstack([-values, values])
        known = np.array(self.labels)
        each = np.where(known >= 0, values[:, np.maximum(known, 0)], 0).astype(np.float32)
        if columns == len(known):
            return each
        return (each[:, 1:] - each[:, :1]) / np.float32(max((known >= 0).sum(), 1))


@dataclass(frozen=True)
class Start:
    """What an earlier model says of new texts, on a scale on which that is 1 in the mean.

    Attributes:
        machine: Its weights, for what the new one reads.
        offsets: What it says of each text, `[texts, columns]`.
    """

    machine: Machine
    offsets: Floats

    @classmethod
    def of(cls, machine: Machine, rows: Rows) -> "Start | None":
        """What a machine says of texts; None if that is nothing."""
        said = machine.scores(rows)
        size = np.float32(np.abs(said).mean() if said.size else 0)
        if not size > 0:
            return None
        whole = Machine(machine.weights / size, machine.dense / size, machine.bias / size)
        return cls(whole, said / size)

    def take(self, texts: NDArray[np.int64]) -> "Start":
        """Of some of the texts."""
        return replace(self, offsets=self.offsets[texts])
