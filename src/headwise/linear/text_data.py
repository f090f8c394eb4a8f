"""TrainingData: training texts, or pairs of texts, in all that a linear model may read of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.linear.earlier import Earlier, Start
from headwise.linear.form import LEAST, WIDTHS, form_of
from headwise.linear.importance import Importance
from headwise.linear.settings import (
    DENSE,
    MOST_RATIO_CLASSES,
    PAIR_DENSE,
    PAIR_STRENGTHS,
    STARTS,
    STRENGTHS,
    LinearSettings,
)
from headwise.linear.solver import Floats, Machine, Rows, solve
from headwise.linear.targets import Amounts, Targets
from headwise.linear.text_features import Block, BlockReader, Vocabulary
from headwise.linear.text_model import DenseScale, LinearModel, beside, both
from headwise.linear.text_numbers import Numbers
from headwise.linear.text_vectors import Vectors

MOST_WEIGHTS = 120_000_000
"""Features times columns above which the rarest features are left out."""
LEAST_FEATURES = 20_000
RARE = 100_000
"""Features of a block up to which also those of one or two texts are kept."""

Blocks = dict[Block, tuple[Vocabulary, csr_matrix]]
"""Vocabulary and features, `[texts, features]`, of each block."""


@dataclass(frozen=True)
class TrainingData:
    """Training texts in all that may be read of them.

    Attributes:
        blocks: Vocabulary and features of each block.
        vectors: Of the texts.
        numbers: How pairs compare, or the form of texts.
        targets: What is to be learned of them.
        importance: How much each counts.
        most: Features that a block may have.
        reader: Of the first block.
        start: What an earlier model says of them, if there is one.
        edged: The block of words where these make pairs with the edges of texts, if that may be read.
    """

    blocks: Blocks
    vectors: Vectors
    numbers: Numbers
    targets: Targets
    importance: Importance
    most: int
    reader: BlockReader
    start: Start | None = None
    edged: tuple[Vocabulary, csr_matrix] | None = None
    cache: dict = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        texts: Sequence[Any],
        targets: Targets,
        importance: Importance,
        reader: BlockReader,
        max_features: int,
        *,
        dense: NDArray | None = None,
        numbers: NDArray | None = None,
        earlier: Earlier | None = None,
        judged: int | None = None,
    ) -> "TrainingData":
        """What may be read of training texts.

        Args:
            texts: Texts, or pairs of them.
            max_features: Of all blocks.
            dense: Vectors of the texts, `[texts, size]`.
            numbers: Of pairs, further numbers of each, `[pairs, numbers]`.
            earlier: A model of other texts, to go on from.
            judged: The texts behind so many first ones are names of labels.
        """
        most = min(max_features, max(MOST_WEIGHTS // targets.columns, LEAST_FEATURES)) // 2
        amounts = importance.amounts
        blocks = _blocks(texts, reader, most, amounts, earlier)
        scale = None if earlier is None else earlier.model.scale
        vectors = Vectors.of(dense, len(texts), amounts, None if scale is None else scale.mean)
        form = np.zeros((len(texts), 0), dtype=np.float32) if reader.pairs else form_of(texts)
        start = None
        if earlier is not None:
            own: dict[Block, Vocabulary] = {name: known for name, (known, _) in blocks.items()}
            sparse = beside([matrix for _, matrix in blocks.values()], len(texts))
            read = np.hstack([vectors.values, form]) if earlier.model.form else vectors.values
            start = Start.of(earlier.machine(own, vectors.size, targets.columns), Rows(sparse, read))
        if reader.pairs:
            further = Numbers.of(form if numbers is None else numbers, weights=amounts)
        else:
            further = Numbers.of(form, WIDTHS, LEAST, judged, amounts)
        led = vectors.led(importance.costs > 0)
        return cls(blocks, led, further, targets, importance, most, reader, start)

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def work(self) -> float:
        """Features of all texts, times columns."""
        own = sum(matrix.nnz for _, matrix in self.blocks.values())
        return float(own + self.vectors.values.size + self.numbers.values.size) * self.targets.columns

    @property
    def strengths(self) -> tuple[float, ...]:
        """What may be tried, the first to begin with."""
        return PAIR_STRENGTHS if self.reader.pairs else STRENGTHS

    @property
    def lengths(self) -> tuple[float, ...]:
        """Of the vectors, likewise."""
        return PAIR_DENSE if self.reader.pairs else DENSE

    @property
    def may_have_ratios(self) -> bool:
        """Whether naive Bayes ratios may be tried."""
        return not isinstance(self.targets, Amounts) and self.targets.classes <= MOST_RATIO_CLASSES

    @property
    def first_settings(self) -> LinearSettings:
        """What is compared with others."""
        dense = self.lengths[0] if self.vectors.size else 0.0
        start = STARTS[0] if self.start is not None else 0.0
        return LinearSettings(tuple(self.blocks), self.may_have_ratios, self.strengths[0], dense, start)

    @property
    def rare(self) -> int:
        """Features of a block up to which rare ones are kept."""
        return min(self.most, RARE)

    def widened(self, settings: LinearSettings, texts: Sequence[Any]) -> "TrainingData | None":
        """With the one block of the settings, which may have the features of two; None where there are no
        more."""
        name = settings.blocks[0]
        if self.start is not None or len(self.block(name, settings)[0]) < self.rare:
            return None
        reader = replace(self.reader, block=name, edges=settings.edges)
        most, rare = 2 * self.most, 2 * self.rare
        block = reader.fit(texts, max_features=most, rare=rare, weights=self.importance.amounts)
        return replace(self, blocks={name: block}, edged=block if settings.edges else None, cache={})

    def with_edges(self, texts: Sequence[Any]) -> "TrainingData":
        """With what is read of the edges of the texts."""
        reader = replace(self.reader, edges=True)
        block = reader.fit(texts, max_features=self.most, rare=self.rare, weights=self.importance.amounts)
        return replace(self, edged=block, cache={})

    def block(self, name: Block, settings: LinearSettings) -> tuple[Vocabulary, csr_matrix]:
        """A block as the settings say."""
        edged = settings.edges and name == "words"
        return self.edged if edged and self.edged is not None else self.blocks[name]

    def take(self, texts: NDArray[np.int64]) -> "TrainingData":
        """Some of the texts."""
        return replace(
            self,
            blocks={name: (own, matrix[texts]) for name, (own, matrix) in self.blocks.items()},
            edged=None if self.edged is None else (self.edged[0], self.edged[1][texts]),
            vectors=self.vectors.take(texts),
            numbers=self.numbers.take(texts),
            targets=self.targets.take(texts),
            importance=self.importance.take(texts),
            start=None if self.start is None else self.start.take(texts),
            cache={},
        )

    def rows(self, settings: LinearSettings, texts: NDArray[np.int64]) -> Rows:
        """Some texts as the settings say."""
        key = (settings.blocks, settings.edges)
        sparse = self.cache.get(key)
        if sparse is None:
            sparse = beside([self.block(name, settings)[1] for name in settings.blocks], len(self))
            self.cache.clear()
            self.cache[key] = sparse
        own = Rows(sparse, self.vectors.values).take(texts)
        wide = own.dense * np.float32(settings.dense) if settings.dense else own.dense[:, :0]
        return Rows(own.sparse, np.hstack([wide, self.numbers_of(settings).values[texts]]))

    def numbers_of(self, settings: LinearSettings) -> Numbers:
        """The numbers that are read: those of pairs always."""
        return self.numbers if self.reader.pairs or settings.form else self.numbers.none

    def offsets(self, settings: LinearSettings, texts: NDArray[np.int64]) -> Floats | None:
        """What the scores of a machine are added to, `[texts, columns]`; None where that is nothing."""
        if self.start is None or not settings.start:
            return None
        return self.start.offsets[texts] * np.float32(settings.start)

    def scores(self, settings: LinearSettings, machine: Machine, texts: NDArray[np.int64]) -> Floats:
        """What a machine says of some texts, `[texts, classes]`."""
        said, offsets = machine.scores(self.rows(settings, texts)), self.offsets(settings, texts)
        return both(said if offsets is None else said + offsets, self.targets.classes)

    def fit(
        self, settings: LinearSettings, texts: NDArray[np.int64], seed: int, tolerance: float | None = None
    ) -> Machine:
        """A machine that is trained on some texts, beside what their `offsets` say."""
        own = self.targets.take(texts).problem(
            self.rows(settings, texts),
            self.importance.costs[texts, None],
            self.offsets(settings, texts),
        )
        return solve(
            own.rows,
            own.signs,
            own.costs.astype(np.float32) * np.float32(settings.strength),
            ratios=_ratios(own.rows.sparse, own.signs, own.costs) if settings.ratios else None,
            offsets=own.offsets,
            wanted=own.wanted,
            seed=seed,
            tolerance=tolerance,
        )

    def calibration(self, scores: Floats, texts: NDArray[np.int64]) -> tuple[float, float]:
        """What calibrates scores of some texts, and how good they are then (see `Targets.calibration`)."""
        counts = self.importance.counts
        return self.targets.take(texts).calibration(scores, None if counts is None else counts[texts])

    def model(self, settings: LinearSettings, machine: Machine, loudness: float) -> LinearModel:
        """The model that a machine makes, of texts as they are: without what was done to vectors and
        numbers before it was trained, and with the earlier model that it goes on from.

        Args:
            loudness: What its scores are multiplied with.
        """
        size = self.vectors.size if settings.dense else 0
        numbers = self.numbers_of(settings)
        of_numbers = machine.dense[size:] / numbers.deviation[:, None]
        of_vectors = self.vectors.leading @ machine.dense[:size] if settings.dense else machine.dense[:0]
        bias = np.asarray(machine.bias - numbers.center @ of_numbers, dtype=np.float32)
        weights = machine.weights
        if self.start is not None and settings.start:
            begun, loud = self.start.machine, np.float32(settings.start)
            weights, bias = weights + loud * begun.weights, bias + loud * begun.bias
            of_base, of_form = np.split(begun.dense, [self.vectors.size])
            if settings.dense:
                of_vectors = of_vectors + (loud / np.float32(settings.dense)) * of_base
            if len(of_form):
                of_numbers = loud * of_form + (of_numbers if len(of_numbers) else 0)
        factor = np.float32(loudness)
        return LinearModel(
            {name: self.block(name, settings)[0] for name in settings.blocks},
            Machine(weights * factor, np.vstack([of_vectors, of_numbers]) * factor, bias * factor),
            self.targets.classes,
            self.reader.tokenizer,
            DenseScale(self.vectors.mean, settings.dense) if settings.dense else None,
            self.reader.pairs,
            self.reader.reach,
            form=not self.reader.pairs and len(of_numbers) > 0,
            edges=self.reader.edges or settings.edges,
        )


def _blocks(
    texts: Sequence[Any], reader: BlockReader, most: int, amounts: Floats | None, earlier: Earlier | None
) -> Blocks:
    """Words and characters; with an earlier model those of its blocks, and what it knows of them."""
    names: tuple[Block, ...] = ("words", "characters")
    blocks: Blocks = {}
    for name in names if earlier is None else earlier.model.blocks:
        own = replace(reader, block=name)
        blocks[name] = own.fit(texts, max_features=most, rare=min(most, RARE), weights=amounts)
        if earlier is not None:
            vocabulary = earlier.vocabulary(name, blocks[name][0], most)
            blocks[name] = vocabulary, own.transform(texts, vocabulary)
    return blocks


def _ratios(sparse: csr_matrix, signs: NDArray[np.int8], costs: NDArray) -> Floats:
    """Half of 1, and half of how far the logarithm of how much more often a feature is in the texts of a
    label than in the rest is from 0: `[features, columns]`."""
    there = csr_matrix((np.ones_like(sparse.data), sparse.indices, sparse.indptr), shape=sparse.shape)
    own = there.T @ np.where(signs > 0, costs, 0).astype(np.float32) + 1
    rest = there.T @ np.where(signs < 0, costs, 0).astype(np.float32) + 1
    ratios = np.log(own / own.sum(axis=0)) - np.log(rest / rest.sum(axis=0))
    return np.asarray(0.5 + 0.5 * np.abs(ratios), dtype=np.float32)
