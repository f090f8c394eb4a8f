"""LinearModel: a linear classifier of texts as arrays; numpy and Numba alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from headwise.linear.form import form_of
from headwise.linear.pair_features import GROUPS
from headwise.linear.solver import Floats, Machine, Rows
from headwise.linear.text_features import Block, BlockReader, Vocabulary


@dataclass(frozen=True)
class DenseScale:
    """How vectors of texts enter: less their mean, of length `weight`.

    Attributes:
        mean: Of the training texts' vectors, `[size]`.
        weight: Their length; words and characters have 1 each.
    """

    mean: Floats
    weight: float

    def __call__(self, vectors: NDArray) -> Floats:
        """`[texts, size]` -> likewise."""
        away = np.asarray(vectors, dtype=np.float32) - self.mean
        lengths = np.linalg.norm(away, axis=1, keepdims=True)
        return np.asarray(away * (self.weight / np.maximum(lengths, 1e-12)), dtype=np.float32)


@dataclass(frozen=True)
class LinearModel:
    """Linear scores of labels from words, characters and perhaps vectors of texts.

    Attributes:
        blocks: The vocabulary of each block that it reads.
        machine: The weights, of all blocks one after the other; temperature included.
        classes: Number of labels.
        tokenizer: Finds the words.
        scale: Of vectors; None where it reads none.
        pairs: It reads pairs of texts, and numbers that tell how they compare.
        reach: How far apart the words of a pair of words are at most.
        form: It reads the form of texts (see `headwise.linear.form`), behind vectors.
        edges: Words make pairs with the beginning and the end of a text too.
    """

    blocks: Mapping[Block, Vocabulary]
    machine: Machine
    classes: int
    tokenizer: str = "penn"
    scale: DenseScale | None = None
    pairs: bool = False
    reach: int = 1
    form: bool = False
    edges: bool = False

    def place(self, block: Block) -> slice:
        """Where the weights of a block stand in the machine."""
        names, groups = list(self.blocks), GROUPS if self.pairs else 1
        first = groups * sum(len(self.blocks[name]) for name in names[: names.index(block)])
        return slice(first, first + groups * len(self.blocks[block]))

    def rows(
        self, texts: Sequence[Any], dense: NDArray | None = None, numbers: NDArray | None = None
    ) -> Rows:
        """Texts or pairs as it reads them."""
        parts = [
            BlockReader(name, self.tokenizer, self.pairs, self.reach, self.edges).transform(texts, own)
            for name, own in self.blocks.items()
        ]
        if self.form:
            numbers = form_of(texts)
        return Rows(beside(parts, len(texts)), self.dense(len(texts), dense, numbers))

    def dense(self, texts: int, vectors: NDArray | None, numbers: NDArray | None) -> Floats:
        """What it reads beside words and characters, `[texts, size]`."""
        found = np.zeros((texts, 0), dtype=np.float32)
        if self.scale is not None:
            if vectors is None:
                raise ValueError("this linear model reads vectors of texts beside their words")
            found = self.scale(vectors)
        if numbers is not None:
            found = np.hstack([found, np.asarray(numbers, dtype=np.float32)])
        return found

    def scores(
        self, texts: Sequence[Any], dense: NDArray | None = None, numbers: NDArray | None = None
    ) -> Floats:
        """Calibrated logits, `[texts, classes]`.

        Args:
            texts: Any texts, or pairs of them.
            dense: Their vectors, if the model reads any, `[texts, size]`.
            numbers: Further numbers of each, of pairs, `[pairs, numbers]`.
        """
        return both(self.machine.scores(self.rows(texts, dense, numbers)), self.classes)


def both(scores: Floats, classes: int) -> Floats:
    """Scores of all labels; of two of which a text has one the machine has those of the second alone."""
    return np.hstack([-scores, scores]) / np.float32(2) if scores.shape[1] < classes else scores


def signs_of(targets: NDArray[np.int64], classes: int) -> NDArray[np.int8]:
    """1 for the label of a text, -1 for the others, `[texts, columns]`."""
    labels = np.arange(1, 2) if classes == 2 else np.arange(classes)
    return np.where(targets[:, None] == labels, 1, -1).astype(np.int8)


def beside(parts: Sequence[csr_matrix], texts: int) -> csr_matrix:
    """Blocks of features side by side, `[texts, features]` float32."""
    if not parts:
        return csr_matrix((texts, 0), dtype=np.float32)
    return parts[0] if len(parts) == 1 else csr_matrix(hstack(parts, format="csr", dtype=np.float32))
