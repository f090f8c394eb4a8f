"""TrainingData: training texts, or pairs of texts, in all that a linear model may read of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from headwise.linear.earlier import Earlier, Start
from headwise.linear.form import LEAST, WIDTHS, form_of
from headwise.linear.leading import leading
from headwise.linear.mixture import fit_mixture
from headwise.linear.solver import Floats, Machine, Rows, solve
from headwise.linear.text_features import Block, BlockReader, Vocabulary
from headwise.linear.text_model import DenseScale, beside, both, signs_of
from headwise.scores.binary import fit_binary_temperature, mean_binary_loss

Targets = NDArray[np.int64] | NDArray[np.floating] | NDArray[np.bool_]
"""Label numbers, `[texts]`, or probabilities, `[texts, classes]`, or, of label sets, whether a text has
each label, `[texts, classes]` bool; or numbers of mean 0 and deviation 1, `[texts]` float."""

STRENGTHS, DENSE = (0.5, 0.15, 1.5, 4.0), (1.0, 0.5, 2.0, 4.0)
"""What a mistake costs and how long vectors are, as far as it is tried; the first of each to begin with."""
PAIR_STRENGTHS, PAIR_DENSE = (0.05, 0.015, 0.15, 0.5), (4.0, 2.0)
"""Likewise of pairs: few of their many features tell anything, and vectors say most of how they compare."""
STARTS = (1.0, 0.5, 2.0, 0.0)
"""How loud an earlier model is, where there is one: what it says of a text in the mean, in margins."""
MOST_RATIO_CLASSES = 20
"""Labels up to which naive Bayes ratios are tried; with 77 and 150 they cost 0.9 points."""
MOST_WEIGHTS = 120_000_000
"""Features times columns above which the rarest features are left out."""
LEAST_FEATURES = 20_000
RARE = 100_000
"""Features of a block up to which also those of one or two texts are kept."""
_OF_NUMBERS = 0.3  # the standard deviation of those of pairs beside vectors and features of length 1


@dataclass(frozen=True)
class LinearSettings:
    """What cross-validation chooses.

    Attributes:
        blocks: What is read of the texts.
        ratios: Whether features count for more that tell a label from the rest, by their naive Bayes ratio.
        strength: What a mistake costs (C).
        dense: Length of the vectors beside words and characters, which have 1 each; 0 without.
        start: How loud the earlier model is that it goes on from; 0 without.
        form: Whether the form of texts is read (see `headwise.linear.form`).
        edges: Whether words make pairs with the beginning and the end of a text too.
    """

    blocks: tuple[Block, ...] = ("words", "characters")
    ratios: bool = True
    strength: float = 0.5
    dense: float = 0.0
    start: float = 0.0
    form: bool = False
    edges: bool = False


@dataclass(frozen=True)
class Numbers:
    """Numbers of texts, `[texts, numbers]`, less their `center` and divided by `deviation`, `[numbers]`."""

    values: Floats
    center: Floats
    deviation: Floats

    @classmethod
    def of(
        cls,
        numbers: NDArray,
        widths: Any = _OF_NUMBERS,
        least: Any = 0.0,
        judged: int | None = None,
        weights: NDArray | None = None,
    ) -> "Numbers":
        """Those of training texts; numbers that are all the same say nothing.

        Args:
            numbers: Of each text.
            widths: What each is to differ by.
            least: What each is taken to differ by at least.
            judged: The texts behind so many first ones are not like others: their numbers say nothing.
            weights: How much each text counts in mean and deviation, if they differ.
        """
        own = np.asarray(numbers, dtype=np.float64)
        some, counts = own[:judged], None if weights is None else weights[:judged]
        center, spread = np.zeros(own.shape[1]), np.zeros(own.shape[1])
        if some.size:
            center = np.average(some, axis=0, weights=counts)
            spread = np.sqrt(np.average((some - center) ** 2, axis=0, weights=counts))
        deviation = np.where(spread > 1e-6, np.maximum(spread, least), np.inf) / widths
        values = (own - center) / deviation
        values[len(some) :] = 0
        return cls(values.astype(np.float32), center.astype(np.float32), deviation.astype(np.float32))


@dataclass(frozen=True)
class TrainingData:
    """Training texts in all that may be read of them.

    Attributes:
        blocks: Vocabulary and features of each block.
        dense: Vectors of length 1 about the mean, times `leading`, `[texts, size]`; the size may be 0.
        mean: Of the vectors as given.
        leading: What makes their large directions count for more (see `headwise.linear.leading`).
        numbers: How pairs compare, or the form of texts.
        soft: Probability of each label, `[texts, classes]`, or None where labels are certain.
        hard: Numbers of the (likeliest) labels; of label sets, of one of them.
        sets: Of label sets whether a text has each label, `[texts, classes]`, else None.
        wanted: Numbers that are wanted in place of labels, `[texts, 1]`, else None.
        label_weights: Of label sets what a text with the label counts beside one without, `[classes]`.
        importance: How much each text counts, `[texts]`, 1 in the mean of those that do.
        counts: The same where texts are held out, without the weights of labels; None where all count the
            same.
        amounts: The same in what is counted of their words and numbers; names of labels count 1.
        classes: Number of labels.
        most: Features that a block may have.
        reader: Of the first block.
        start: What an earlier model says of them, if there is one.
        edged: The block of words where these make pairs with the edges of texts, if that may be read.
    """

    blocks: dict[Block, tuple[Vocabulary, csr_matrix]]
    dense: Floats
    mean: Floats
    leading: Floats
    numbers: "Numbers"
    soft: Floats | None
    hard: NDArray[np.int64]
    sets: NDArray[np.bool_] | None
    wanted: Floats | None
    label_weights: Floats
    importance: Floats
    counts: Floats | None
    amounts: Floats | None
    classes: int
    most: int
    reader: BlockReader
    start: Start | None = None
    edged: tuple[Vocabulary, csr_matrix] | None = None
    cache: dict = field(default_factory=dict)

    @property
    def columns(self) -> int:
        return 1 if self.classes == 2 and self.sets is None else self.classes

    @property
    def work(self) -> float:
        """Features of all texts, times columns."""
        own = (
            sum(matrix.nnz for _, matrix in self.blocks.values())
            + self.dense.size
            + self.numbers.values.size
        )
        return float(own) * self.columns

    @property
    def strengths(self) -> tuple[float, ...]:
        """What may be tried, the first to begin with."""
        return PAIR_STRENGTHS if self.reader.pairs else STRENGTHS

    @property
    def lengths(self) -> tuple[float, ...]:
        """Of the vectors, likewise."""
        return PAIR_DENSE if self.reader.pairs else DENSE

    @property
    def first_settings(self) -> LinearSettings:
        """What is compared with others."""
        ratios = self.wanted is None and self.classes <= MOST_RATIO_CLASSES
        dense = self.lengths[0] if self.dense.shape[1] else 0.0
        start = STARTS[0] if self.start is not None else 0.0
        return LinearSettings(tuple(self.blocks), ratios, self.strengths[0], dense, start)

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
        block = reader.fit(texts, max_features=most, rare=rare, weights=self.amounts)
        return replace(self, blocks={name: block}, edged=block if settings.edges else None, cache={})

    def with_edges(self, texts: Sequence[Any]) -> "TrainingData":
        """With what is read of the edges of the texts."""
        reader = replace(self.reader, edges=True)
        block = reader.fit(texts, max_features=self.most, rare=self.rare, weights=self.amounts)
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
            dense=self.dense[texts],
            numbers=replace(self.numbers, values=self.numbers.values[texts]),
            soft=None if self.soft is None else self.soft[texts],
            hard=self.hard[texts],
            sets=None if self.sets is None else self.sets[texts],
            wanted=None if self.wanted is None else self.wanted[texts],
            importance=self.importance[texts],
            counts=None if self.counts is None else self.counts[texts],
            amounts=None if self.amounts is None else self.amounts[texts],
            start=None if self.start is None else self.start.take(texts),
            cache={},
        )

    def rows(self, settings: LinearSettings, texts: NDArray[np.int64]) -> Rows:
        """Some texts as the settings say."""
        key = (settings.blocks, settings.edges)
        sparse = self.cache.get(key)
        if sparse is None:
            sparse = beside([self.block(name, settings)[1] for name in settings.blocks], len(self.hard))
            self.cache.clear()
            self.cache[key] = sparse
        own = Rows(sparse, self.dense).take(texts)
        wide = own.dense * np.float32(settings.dense) if settings.dense else own.dense[:, :0]
        return Rows(own.sparse, np.hstack([wide, self.numbers_of(settings).values[texts]]))

    def numbers_of(self, settings: LinearSettings) -> Numbers:
        """The numbers that are read: those of pairs always."""
        own, read = self.numbers, self.reader.pairs or settings.form
        return own if read else Numbers(own.values[:, :0], own.center[:0], own.deviation[:0])

    def offsets(self, settings: LinearSettings, texts: NDArray[np.int64]) -> Floats | None:
        """What the scores of a machine are added to, `[texts, columns]`; None where that is nothing."""
        if self.start is None or not settings.start:
            return None
        return self.start.offsets[texts] * np.float32(settings.start)

    def scores(self, settings: LinearSettings, machine: Machine, texts: NDArray[np.int64]) -> Floats:
        """What a machine says of some texts, `[texts, classes]`."""
        said, offsets = machine.scores(self.rows(settings, texts)), self.offsets(settings, texts)
        return both(said if offsets is None else said + offsets, self.classes)

    def fit(
        self, settings: LinearSettings, texts: NDArray[np.int64], seed: int, tolerance: float | None = None
    ) -> Machine:
        """A machine that is trained on some texts, beside what their `offsets` say."""
        rows = self.rows(settings, texts)
        importance, offsets = self.importance[texts, None], self.offsets(settings, texts)
        if self.wanted is not None:
            signs = np.ones((len(texts), 1), dtype=np.int8)
            costs = importance
        elif self.sets is not None:
            own = self.sets[texts]
            signs = np.where(own, 1, -1).astype(np.int8)
            costs = importance * np.where(own, self.label_weights, np.float32(1))
        elif self.soft is None:
            signs = signs_of(self.hard[texts], self.classes)
            costs = importance
        else:  # each text once with the label and once without it, by the probabilities
            shares = self.soft[texts][:, -self.columns :]
            sparse = csr_matrix(vstack([rows.sparse, rows.sparse], format="csr"))
            rows = Rows(sparse, np.vstack([rows.dense, rows.dense]))
            signs = np.ones(shares.shape, dtype=np.int8)
            signs = np.vstack([signs, -signs])
            costs = np.vstack([shares * importance, (1 - shares) * importance])
            offsets = None if offsets is None else np.vstack([offsets, offsets])
        ratios = None
        if settings.ratios:
            ratios = _ratios(rows.sparse, signs, costs)
        strength = np.float32(settings.strength)
        wanted = None if self.wanted is None else self.wanted[texts]
        return solve(
            rows,
            signs,
            costs.astype(np.float32) * strength,
            ratios=ratios,
            offsets=offsets,
            wanted=wanted,
            seed=seed,
            tolerance=tolerance,
        )

    def calibration(self, scores: Floats, texts: NDArray[np.int64]) -> tuple[float, float]:
        """What scores `[texts, classes]` are multiplied by to become logits, and their log loss; of numbers
        1 and the mean squared error."""
        counts = None if self.counts is None else self.counts[texts]
        if self.wanted is not None:
            return 1.0, float(np.average(((scores - self.wanted[texts]) ** 2)[:, 0], weights=counts))
        if self.sets is None:
            targets = self.hard if self.soft is None else self.soft
            mixture = fit_mixture([scores], targets[texts], texts=counts)
            return mixture.weights[0], mixture.loss
        factor = 1 / fit_binary_temperature(scores, self.sets[texts], counts)
        return factor, mean_binary_loss(scores * np.float32(factor), self.sets[texts], counts)


def training_data(
    texts: Sequence[Any],
    targets: Targets,
    classes: int,
    dense: NDArray | None,
    numbers: NDArray | None,
    sample_weight: NDArray | None,
    class_weight: NDArray | None,
    reader: BlockReader,
    max_features: int,
    earlier: Earlier | None = None,
    judged: int | None = None,
) -> TrainingData:
    sets = targets.astype(np.bool_) if targets.dtype == np.bool_ else None
    soft = targets.astype(np.float32) if targets.ndim == 2 and sets is None else None
    wanted = None
    hard = targets.argmax(axis=1) if targets.ndim == 2 else targets.astype(np.int64)
    if targets.ndim == 1 and np.issubdtype(targets.dtype, np.floating):
        wanted, hard = targets.astype(np.float32)[:, None], np.zeros(len(targets), dtype=np.int64)
    importance = (
        np.ones(len(texts)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    )
    label_weights = np.ones(classes) if class_weight is None else np.asarray(class_weight)
    counting, counts, amounts = importance > 0, None, None
    if sample_weight is not None and counting.any():
        counts = (importance / importance[counting].mean()).astype(np.float32)
        amounts = _amounts(counts, judged)
    if class_weight is not None and sets is None:
        own = np.asarray(class_weight, dtype=np.float64)
        importance = importance * (own[hard] if soft is None else soft @ own)
    if importance.sum() > 0:
        importance = importance / importance[counting].mean()
    columns = 1 if classes == 2 and sets is None else classes
    most = min(max_features, max(MOST_WEIGHTS // columns, LEAST_FEATURES)) // 2
    names: tuple[Block, ...] = ("words", "characters")
    blocks: dict[Block, tuple[Vocabulary, csr_matrix]] = {}
    for name in names if earlier is None else earlier.model.blocks:
        own = replace(reader, block=name)
        blocks[name] = own.fit(texts, max_features=most, rare=min(most, RARE), weights=amounts)
        if earlier is not None:
            vocabulary = earlier.vocabulary(name, blocks[name][0], most)
            blocks[name] = vocabulary, own.transform(texts, vocabulary)
    size = 0 if dense is None else np.asarray(dense).shape[1]
    mean = np.zeros(size, dtype=np.float32)
    vectors = np.zeros((len(texts), size), dtype=np.float32)
    turn = np.eye(size, dtype=np.float32)
    if dense is not None and len(texts):
        if amounts is None:
            mean = np.asarray(dense).mean(axis=0, dtype=np.float64).astype(np.float32)
        else:
            mean = np.average(dense, axis=0, weights=amounts.astype(np.float64)).astype(np.float32)
        if earlier is not None and earlier.model.scale is not None:
            mean = earlier.model.scale.mean
        vectors = DenseScale(mean, 1.0)(dense)
    form = np.zeros((len(texts), 0), dtype=np.float32) if reader.pairs else form_of(texts)
    start = None
    if earlier is not None:
        machine = earlier.machine({name: own for name, (own, _) in blocks.items()}, size, columns)
        sparse = beside([matrix for _, matrix in blocks.values()], len(texts))
        read = np.hstack([vectors, form]) if earlier.model.form else vectors
        start = Start.of(machine, Rows(sparse, read))
    if size and len(texts):
        turn = leading(vectors[importance > 0])
        vectors = np.asarray(vectors @ turn, dtype=np.float32)
    if reader.pairs:
        further = Numbers.of(form if numbers is None else numbers, weights=amounts)
    else:
        further = Numbers.of(form, WIDTHS, LEAST, judged, amounts)
    weights = label_weights.astype(np.float32), importance.astype(np.float32), counts, amounts
    return TrainingData(
        blocks,
        vectors,
        mean,
        turn,
        further,
        soft,
        hard,
        sets,
        wanted,
        *weights,
        classes,
        most,
        reader,
        start,
    )


def _amounts(counts: Floats, judged: int | None) -> Floats | None:
    """How much each text counts in what is counted of all; None where they count the same. Names of labels,
    behind those that are judged, weigh more than they say of how rare words are."""
    own = counts[:judged]
    if not own.any() or (own == own[0]).all():
        return None
    own = own / own[own > 0].mean()
    return np.append(own, np.ones(len(counts) - len(own))).astype(np.float32)


def _ratios(sparse: csr_matrix, signs: NDArray[np.int8], costs: NDArray) -> Floats:
    """Half of 1, and half of how far the logarithm of how much more often a feature is in the texts of a
    label than in the rest is from 0: `[features, columns]`."""
    there = csr_matrix((np.ones_like(sparse.data), sparse.indices, sparse.indptr), shape=sparse.shape)
    own = there.T @ np.where(signs > 0, costs, 0).astype(np.float32) + 1
    rest = there.T @ np.where(signs < 0, costs, 0).astype(np.float32) + 1
    ratios = np.log(own / own.sum(axis=0)) - np.log(rest / rest.sum(axis=0))
    return np.asarray(0.5 + 0.5 * np.abs(ratios), dtype=np.float32)
