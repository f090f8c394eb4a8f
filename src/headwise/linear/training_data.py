"""TrainingData: the features of training texts, or text pairs, for linear models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from headwise.core.surface_features import LEAST, WIDTHS, surface_features
from headwise.core.tokenizer import get_tokenizer
from headwise.linear.dense_features import CentredVectors, StandardizedFeatures
from headwise.linear.linear_model import DenseScale, LinearModel, expand_columns, stack_blocks
from headwise.linear.linear_settings import (
    DENSE,
    MOST_RATIO_CLASSES,
    PAIR_DENSE,
    PAIR_STRENGTHS,
    STRENGTHS,
    TABULAR_SCALES,
    WARM_START_SCALES,
    LinearSettings,
)
from headwise.linear.linear_warm_start import LinearWarmStart, PriorScores
from headwise.linear.linear_weights import DesignMatrix, Floats, LinearWeights
from headwise.linear.split_features import SplitFeatures
from headwise.linear.svm_solver import LinearProblem, fit_svm_columns, naive_bayes_ratios
from headwise.linear.targets import (
    FittedCalibration,
    NumericTargets,
    ScoreCalibration,
    Targets,
    TextWeights,
    TrainingTexts,
)
from headwise.linear.tfidf_features import (
    BLOCK_NAMES,
    BlockName,
    BlockReader,
    FeatureVocabulary,
    LinearTexts,
)

MOST_WEIGHTS = 120_000_000
"""Maximum of features times columns; the rarest features beyond it are dropped."""
LEAST_FEATURES = 20_000
RARE = 100_000
"""Block size up to which features of one or two texts are kept."""

Blocks = dict[BlockName, tuple[FeatureVocabulary, csr_matrix]]
"""Vocabulary and feature matrix, `[texts, features]`, of each block."""


@dataclass(frozen=True)
class TrainingData:
    """Training texts with all features that a model may use.

    Attributes:
        blocks: Vocabulary and feature matrix of each block.
        vectors: Vectors of the texts.
        numbers: Comparison features of pairs, or surface features of texts.
        tabular: Features of the columns beside the texts, `[texts, size]`; the size may be 0.
        targets: The targets.
        importance: Weights of the texts.
        most: Maximum number of features per block.
        reader: Feature extractor of the first block.
        start: Weights and scores of a previous model, in a warm start.
        edged: The word block with edge pairs (see `LinearSettings.edges`), if these may be used.
    """

    blocks: Blocks
    vectors: CentredVectors
    numbers: StandardizedFeatures
    tabular: Floats
    targets: Targets
    importance: TextWeights
    most: int
    reader: BlockReader
    start: PriorScores | None = None
    edged: tuple[FeatureVocabulary, csr_matrix] | None = None
    cache: dict = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        source: TrainingTexts,
        reader: BlockReader,
        max_features: int,
        *,
        previous: LinearWarmStart | None = None,
        vocabularies: Mapping[BlockName, FeatureVocabulary] | None = None,
    ) -> "TrainingData":
        """Extract the features of training texts.

        Args:
            source: The texts or pairs.
            reader: Feature extractor of the words.
            max_features: Maximum number of features over all blocks.
            previous: A previous model to start from.
            vocabularies: The features of each block; by default they are chosen from the texts.
        """
        texts, targets, importance = source.texts, source.targets, source.importance
        dense, numbers, amounts = source.vectors(), source.numbers, importance.amounts
        most = min(max_features, max(MOST_WEIGHTS // targets.columns, LEAST_FEATURES)) // 2
        if vocabularies is None:
            blocks = _blocks(texts, reader, most, amounts, previous)
        else:
            blocks = {
                name: (vocabulary, replace(reader, block=name).transform(texts, vocabulary))
                for name, vocabulary in vocabularies.items()
            }
        scale = None if previous is None else previous.model.scale
        vectors = CentredVectors.of(dense, len(texts), amounts, None if scale is None else scale.mean)
        tabular = form = np.zeros((len(texts), 0), dtype=np.float32)
        if not reader.pairs:
            form = _surface(cast("Sequence[str]", texts), reader)
            if numbers is not None:
                tabular = np.asarray(numbers, dtype=np.float32)
        start = None
        if previous is not None:
            chosen = {name: vocabulary for name, (vocabulary, _) in blocks.items()}
            sparse = stack_blocks([matrix for _, matrix in blocks.values()], len(texts))
            read = np.hstack([vectors.values, form]) if previous.model.form else vectors.values
            coefficients = previous.coefficients(chosen, vectors.size, targets.columns)
            start = PriorScores.of(coefficients, DesignMatrix(sparse, read))
        if reader.pairs:
            further = StandardizedFeatures.of(form if numbers is None else numbers, weights=amounts)
        else:
            further = StandardizedFeatures.of(form, WIDTHS, LEAST, source.text_count, amounts)
        led = vectors.with_covariance_root(importance.costs > 0)
        return cls(blocks, led, further, tabular, targets, importance, most, reader, start)

    def of_texts(self, source: TrainingTexts, settings: LinearSettings) -> "TrainingData":
        """The data of other texts, with the features and scales of these, as far as the settings need them;
        neither may be pairs, nor have a previous model."""
        texts, dense, numbers = cast("Sequence[str]", source.texts), source.vectors(), source.numbers
        blocks: Blocks = {}
        for name in settings.blocks:
            vocabulary = self.block(name, settings)[0]
            reader = replace(self.reader, block=name, edges=self.reader.edges or settings.edges)
            blocks[name] = vocabulary, reader.transform(texts, vocabulary)
        further = (_surface(texts, self.reader) - self.numbers.center) / self.numbers.deviation
        further[source.named] = 0
        vectors = tabular = np.zeros((len(texts), 0), dtype=np.float32)
        if self.vectors.size and settings.dense and dense is not None:
            vectors = DenseScale(self.vectors.mean, 1.0)(dense) @ self.vectors.leading
        if numbers is not None:
            tabular = np.asarray(numbers, dtype=np.float32)
        return replace(
            self,
            blocks=blocks,
            vectors=replace(self.vectors, values=np.asarray(vectors, dtype=np.float32)),
            numbers=replace(self.numbers, values=np.asarray(further, dtype=np.float32)),
            tabular=tabular,
            targets=source.targets,
            importance=source.importance,
            edged=blocks["words"] if settings.edges and "words" in blocks else None,
            cache={},
        )

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def work(self) -> float:
        """Non-zero features of all texts times columns: a measure of the cost of training."""
        entries = sum(matrix.nnz for _, matrix in self.blocks.values())
        dense = self.vectors.values.size + self.numbers.values.size + self.tabular.size
        return float(entries + dense) * self.targets.columns

    @property
    def strengths(self) -> tuple[float, ...]:
        """Candidate values of C; the first is the initial one."""
        return PAIR_STRENGTHS if self.reader.pairs else STRENGTHS

    @property
    def lengths(self) -> tuple[float, ...]:
        """Candidate lengths of the vectors; the first is the initial one."""
        return PAIR_DENSE if self.reader.pairs else DENSE

    @property
    def may_have_ratios(self) -> bool:
        """Whether naive Bayes ratios may be tried."""
        return not isinstance(self.targets, NumericTargets) and self.targets.classes <= MOST_RATIO_CLASSES

    @property
    def first_settings(self) -> LinearSettings:
        """The initial settings of the search."""
        dense = self.lengths[0] if self.vectors.size else 0.0
        start = WARM_START_SCALES[0] if self.start is not None else 0.0
        tabular = TABULAR_SCALES[0] if self.tabular.shape[1] else 0.0
        return LinearSettings(
            tuple(self.blocks), self.may_have_ratios, self.strengths[0], dense, start, tabular=tabular
        )

    @property
    def rare(self) -> int:
        """Block size up to which rare features are kept."""
        return min(self.most, RARE)

    def widened(self, settings: LinearSettings, texts: LinearTexts) -> "TrainingData | None":
        """The data with twice as many features in the only block of the settings; None if there are no
        more."""
        name = settings.blocks[0]
        if self.start is not None or len(self.block(name, settings)[0]) < self.rare:
            return None
        reader = replace(self.reader, block=name, edges=settings.edges)
        most, rare = 2 * self.most, 2 * self.rare
        block = reader.fit(texts, max_features=most, rare=rare, weights=self.importance.amounts)
        return replace(self, blocks={name: block}, edged=block if settings.edges else None, cache={})

    def with_edges(self, texts: LinearTexts) -> "TrainingData":
        """The same data with edge pairs in the word block."""
        reader = replace(self.reader, edges=True)
        block = reader.fit(texts, max_features=self.most, rare=self.rare, weights=self.importance.amounts)
        return replace(self, edged=block, cache={})

    def block(self, name: BlockName, settings: LinearSettings) -> tuple[FeatureVocabulary, csr_matrix]:
        """The block that the settings select."""
        edged = settings.edges and name == "words"
        return self.edged if edged and self.edged is not None else self.blocks[name]

    def take(self, texts: NDArray[np.int64]) -> "TrainingData":
        """The data of a subset of the texts."""
        return replace(
            self,
            blocks={
                name: (vocabulary, matrix[texts]) for name, (vocabulary, matrix) in self.blocks.items()
            },
            edged=None if self.edged is None else (self.edged[0], self.edged[1][texts]),
            vectors=self.vectors.take(texts),
            numbers=self.numbers.take(texts),
            tabular=self.tabular[texts],
            targets=self.targets.take(texts),
            importance=self.importance.take(texts),
            start=None if self.start is None else self.start.take(texts),
            cache={},
        )

    def rows(self, settings: LinearSettings, texts: NDArray[np.int64]) -> DesignMatrix:
        """The design matrix of some texts under the settings."""
        key = (settings.blocks, settings.edges)
        sparse = self.cache.get(key)
        if sparse is None:
            sparse = stack_blocks([self.block(name, settings)[1] for name in settings.blocks], len(self))
            self.cache.clear()
            self.cache[key] = sparse
        selected = DesignMatrix(sparse, self.vectors.values)
        if not np.array_equal(texts, np.arange(len(self))):  # a copy of all takes much memory
            selected = selected.take(texts)
        wide = selected.dense * np.float32(settings.dense) if settings.dense else selected.dense[:, :0]
        parts = [wide, self.numbers_of(settings).values[texts]]
        if settings.tabular:
            parts.append(self.tabular[texts] * np.float32(settings.tabular))
        return DesignMatrix(selected.sparse, np.hstack(parts))

    def numbers_of(self, settings: LinearSettings) -> StandardizedFeatures:
        """The numeric features in use; those of pairs always are."""
        return self.numbers if self.reader.pairs or settings.form else self.numbers.none

    def offsets(self, settings: LinearSettings, texts: NDArray[np.int64]) -> Floats | None:
        """The offsets of the scores by the previous model, `[texts, columns]`; None without."""
        if self.start is None or not settings.start:
            return None
        return self.start.offsets[texts] * np.float32(settings.start)

    def scores(
        self, settings: LinearSettings, coefficients: LinearWeights, texts: NDArray[np.int64]
    ) -> Floats:
        """The scores of some texts, `[texts, classes]`."""
        margins, offsets = coefficients.scores(self.rows(settings, texts)), self.offsets(settings, texts)
        return expand_columns(margins if offsets is None else margins + offsets, self.targets.classes)

    def fit(self, settings: LinearSettings, texts: NDArray[np.int64], seed: int) -> LinearWeights:
        """Fit the weights on some texts, given their `offsets`."""
        subset = self.problem(settings, texts)
        return self.solve(settings, subset, self.split(settings, subset), seed=seed)

    def solve(
        self, settings: LinearSettings, subset: LinearProblem, features: SplitFeatures, **more: Any
    ) -> LinearWeights:
        """Fit the weights on a `problem` with its `split` features; `more` are other arguments of
        `fit_svm_columns`."""
        costs = subset.costs.astype(np.float32) * np.float32(settings.strength)
        return fit_svm_columns(replace(subset, costs=costs), features=features, **more)

    def split(self, settings: LinearSettings, subset: LinearProblem) -> SplitFeatures:
        """The sparse features of a `problem`; they depend on blocks, edges and ratios of the settings."""
        ratios = naive_bayes_ratios([subset]) if settings.ratios else None
        return SplitFeatures.of(subset.rows.sparse, ratios)

    def problem(self, settings: LinearSettings, texts: NDArray[np.int64]) -> LinearProblem:
        """The problem for the solver, without the strength of the settings."""
        rows, offsets = self.rows(settings, texts), self.offsets(settings, texts)
        return self.targets.take(texts).problem(rows, self.importance.costs[texts, None], offsets)

    def calibration(self, scores: Floats, texts: NDArray[np.int64]) -> FittedCalibration:
        """What calibrates the scores of some texts (see `Targets.calibration`)."""
        counts = self.importance.counts
        return self.targets.take(texts).calibration(scores, None if counts is None else counts[texts])

    def model(
        self, settings: LinearSettings, coefficients: LinearWeights, calibration: ScoreCalibration
    ) -> LinearModel:
        """Convert fitted weights to a model of raw texts: undo the scaling of vectors and numbers, and add
        the previous model of a warm start.

        Args:
            calibration: What calibrates its scores.
        """
        size = self.vectors.size if settings.dense else 0
        numbers = self.numbers_of(settings)
        of_numbers, of_tabular = np.split(coefficients.dense[size:], [len(numbers.deviation)])
        of_numbers = of_numbers / numbers.deviation[:, None]
        of_tabular = of_tabular * np.float32(settings.tabular)
        of_vectors = coefficients.dense[:size]
        if settings.dense:
            of_vectors = self.vectors.leading @ of_vectors
        bias = np.asarray(coefficients.bias - numbers.center @ of_numbers, dtype=np.float32)
        weights = coefficients.weights
        if self.start is not None and settings.start:
            previous, start_scale = self.start.coefficients, np.float32(settings.start)
            weights, bias = weights + start_scale * previous.weights, bias + start_scale * previous.bias
            of_base, of_form = np.split(previous.dense, [len(self.vectors.leading)])
            if settings.dense:
                of_vectors = of_vectors + (start_scale / np.float32(settings.dense)) * of_base
            if len(of_form):
                of_numbers = start_scale * of_form + (of_numbers if len(of_numbers) else 0)
        factor, dense = np.float32(calibration.factor), np.vstack([of_vectors, of_numbers, of_tabular])
        shifted = calibration.logits(bias.astype(np.float32))
        return LinearModel(
            {name: self.block(name, settings)[0] for name in settings.blocks},
            LinearWeights(weights * factor, dense * factor, shifted),
            self.targets.classes,
            self.reader.tokenizer,
            DenseScale(self.vectors.mean, settings.dense) if settings.dense else None,
            self.reader.pairs,
            self.reader.reach,
            form=not self.reader.pairs and len(of_numbers) > 0,
            edges=self.reader.edges or settings.edges,
            tabular=len(of_tabular),
        )


def _blocks(
    texts: LinearTexts,
    reader: BlockReader,
    most: int,
    amounts: Floats | None,
    previous: LinearWarmStart | None,
) -> Blocks:
    """The word and character blocks; in a warm start, the blocks and vocabulary of the previous model are
    included."""
    blocks: Blocks = {}
    for name in BLOCK_NAMES if previous is None else previous.model.blocks:
        block_reader = replace(reader, block=name)
        blocks[name] = block_reader.fit(texts, max_features=most, rare=min(most, RARE), weights=amounts)
        if previous is not None:
            vocabulary = previous.vocabulary(name, blocks[name][0], most)
            blocks[name] = vocabulary, block_reader.transform(texts, vocabulary)
    return blocks


def _surface(texts: Sequence[str], reader: BlockReader) -> Floats:
    """The surface features of texts, `[texts, numbers]`."""
    return surface_features(list(map(get_tokenizer(reader.tokenizer).normalize, texts)))
