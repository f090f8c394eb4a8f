"""Linear models, and linear baselines, of texts whose features are too many for memory.

The features are chosen in one or two passes over the texts (`BlockReader.choose`), the settings on a sample
of `MOST_COMPARED` texts, as for all data above a few thousand texts. The features of all texts are then
written to a file, portion by portion in random order, which the solver reads once per pass. Memory grows by
a few bytes per text and column. Of a baseline, blocks and penalty are chosen on a sample (`sampled`).
"""

import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from headwise.core.allocator import release_freed_memory
from headwise.core.scratch import ScratchFile
from headwise.data.items.dataset import chunks_by_length, items_at
from headwise.data.splits.duplicates import first_in_group
from headwise.linear.linear_model import LinearModel, expand_columns, stack_blocks
from headwise.linear.linear_settings import (
    CrossValidatedSettings,
    LinearSettings,
    StepReporter,
    fold_step,
    ignore_step,
)
from headwise.linear.linear_weights import DesignMatrix, Floats, LinearWeights
from headwise.linear.setting_search import MOST_COMPARED, MOST_EDGED, MOST_WORK, SettingSearch
from headwise.linear.stored_problems import StoredProblems
from headwise.linear.svm_solver import fit_svm_portions, naive_bayes_ratios
from headwise.linear.targets import UNCALIBRATED, Targets, TrainingTexts, VectorRows
from headwise.linear.tfidf_features import BLOCK_NAMES, BlockName, BlockReader, FeatureVocabulary
from headwise.linear.training_data import (
    LEAST_FEATURES,
    MOST_WEIGHTS,
    RARE,
    TrainingData,
)

MOST_ENTRIES = 60_000_000
"""Number of features, summed over the texts, that are held in memory, where two numbers of a vector count
as one: those of some 23,000 reviews, or 190,000 short sentences, which take 3 GB. Beyond it, `fit_large`
fits the model."""
_PORTION_ENTRIES = 16_000_000  # features of a portion, summed over its texts
_SAMPLE = 1_000
_ENTRIES_PER_CHARACTER = 8  # at most
_FOLDS = 2


def is_large(texts: Sequence[str], reader: BlockReader, dense: VectorRows | None = None) -> bool:
    """Whether the features of texts exceed `MOST_ENTRIES`, by those of a sample.

    Args:
        texts: The texts.
        reader: Feature extractor of the words.
        dense: Their vectors; None without.
    """
    size = 0 if dense is None else dense[np.arange(min(1, len(texts)))].shape[1]
    numbers = len(texts) * size / 2
    if sum(map(len, texts)) * _ENTRIES_PER_CHARACTER + numbers <= MOST_ENTRIES:
        return False
    return entries_per_text(texts, reader) * len(texts) + numbers > MOST_ENTRIES


def entries_per_text(texts: Sequence[str], reader: BlockReader) -> float:
    """The mean number of different features of a text, by those of a sample."""
    sample = items_at(texts, np.linspace(0, len(texts) - 1, min(_SAMPLE, len(texts))).astype(np.int64))
    counted = (replace(reader, block=name).fit(sample, max_features=1 << 30)[1].nnz for name in BLOCK_NAMES)
    return sum(counted) / max(len(sample), 1)


@contextmanager
def cross_validated_large(
    source: TrainingTexts,
    reader: BlockReader,
    max_features: int,
    *,
    seed: int = 0,
    settings: LinearSettings | None = None,
    calibrated: bool = True,
    step: StepReporter = ignore_step,
) -> Generator[CrossValidatedSettings]:
    """What `headwise.linear.linear_fit.cross_validated` gives, for very many texts.

    Vectors and numbers are scaled by those of the sample. Out-of-fold scores are those of two folds, which
    only equal texts share.

    Args:
        source: The texts; no pairs.
        reader: Feature extractor of the words.
        max_features: As that of `cross_validated`.
        seed: Seed of the sample, the folds and the order of the texts.
        settings: Use these settings instead of choosing.
        calibrated, step: As those of `cross_validated`.
    """
    step("choosing words and character n-grams")
    columns = source.targets.columns
    most = min(max_features, max(MOST_WEIGHTS // columns, LEAST_FEATURES)) // 2
    vocabularies = _Vocabularies(source, reader, most)
    chosen = np.random.default_rng(seed).permutation(source.text_count)[:MOST_COMPARED]
    sampled = source.take(np.append(chosen, np.arange(source.text_count, len(source))))
    texts, labels = _texts_of(sampled), sampled.targets.labels[: len(chosen)]
    blocks = {name: vocabularies.of(name) for name in BLOCK_NAMES}
    step("choosing settings")
    data = TrainingData.of(sampled, reader, max_features, vocabularies=blocks)
    if settings is None:
        settings = data.first_settings
        if data.work <= MOST_WORK:
            if data.blocks["words"][1].nnz <= MOST_EDGED * len(texts):
                data = _with_edges(data, texts, vocabularies)
            same = first_in_group(texts[: len(chosen)], 5, labels.tolist())
            held = np.flatnonzero(np.isin(same, same[: len(chosen) // 5]))
            settings = SettingSearch(data, [held]).choose(settings)
    elif settings.edges:
        data = _with_edges(data, texts, vocabularies)
    if len(settings.blocks) == 1 and len(data.block(settings.blocks[0], settings)[0]) >= data.rare:
        data = _widened(data, settings, texts, vocabularies)
    entries = sum(data.block(name, settings)[1].nnz for name in settings.blocks) / max(len(data), 1)
    data = data.take(np.zeros(0, dtype=np.int64))  # from here on, only its vocabularies and scales are read
    release_freed_memory()
    with closing(ScratchFile()) as file:
        step("counting words and character n-grams")
        problems = StoredProblems(file, len(source))
        for places in _portions(len(source), entries + data.vectors.size, np.random.default_rng(seed)):
            part = data.of_texts(source.take(places), settings)
            problems.append(places, part.problem(settings, np.arange(len(places))))
        calibration = UNCALIBRATED
        oof_scores = np.zeros((source.text_count, source.targets.classes), dtype=np.float32)
        real_texts = np.arange(source.text_count)
        if calibrated:
            oof_scores = _out_of_fold(source, problems, settings, seed, step)[: source.text_count]
            calibrating = replace(data, targets=source.targets, importance=source.importance)
            calibration = calibrating.calibration(oof_scores, real_texts)
            oof_scores = calibration.logits(oof_scores)
        score = source.targets.take(real_texts).score(oof_scores) if source.text_count else 0.0

        def fit_model() -> LinearModel:
            return data.model(settings, _fitted(problems, settings, seed), calibration)

        yield CrossValidatedSettings(oof_scores, settings, score, fit_model)
    release_freed_memory()


def _texts_of(source: TrainingTexts) -> Sequence[str]:
    return cast("Sequence[str]", source.texts)


@dataclass(frozen=True)
class _Vocabularies:
    """Chooses the features of blocks from all texts."""

    source: TrainingTexts
    reader: BlockReader
    most: int

    def of(self, block: BlockName, *, edges: bool = False, factor: int = 1) -> FeatureVocabulary:
        """The features of a block, `factor` times as many as usual."""
        reader = replace(self.reader, block=block, edges=self.reader.edges or edges)
        rare, weights = factor * min(self.most, RARE), self.source.importance.amounts
        return reader.choose(
            _texts_of(self.source), max_features=factor * self.most, rare=rare, weights=weights
        )


def _with_edges(data: TrainingData, texts: Sequence[str], vocabularies: _Vocabularies) -> TrainingData:
    """The data of the sample with edge pairs in the word block."""
    vocabulary = vocabularies.of("words", edges=True)
    matrix = replace(data.reader, edges=True).transform(texts, vocabulary)
    return replace(data, edged=(vocabulary, matrix), cache={})


def _widened(
    data: TrainingData, settings: LinearSettings, texts: Sequence[str], vocabularies: _Vocabularies
) -> TrainingData:
    """The data of the sample with twice as many features in the only block of the settings."""
    name = settings.blocks[0]
    vocabulary = vocabularies.of(name, edges=settings.edges, factor=2)
    reader = replace(data.reader, block=name, edges=data.reader.edges or settings.edges)
    block = vocabulary, reader.transform(texts, vocabulary)
    return replace(data, blocks={name: block}, edged=block if settings.edges else None, cache={})


def _portions(texts: int, entries: float, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """The places of the texts of each portion, in random order."""
    size = int(max(_PORTION_ENTRIES / max(entries, 1), 1))
    order = random.permutation(texts)
    for start in range(0, texts, size):
        yield order[start : start + size]


def _fitted(problems: StoredProblems, settings: LinearSettings, seed: int) -> LinearWeights:
    """The weights fitted on the texts that are not held out."""
    problems.factor = np.float32(1)
    ratios = naive_bayes_ratios(problems) if settings.ratios else None
    problems.factor = np.float32(settings.strength)
    return fit_svm_portions(problems, ratios=ratios, seed=seed)


def _out_of_fold(
    source: TrainingTexts, problems: StoredProblems, settings: LinearSettings, seed: int, step: StepReporter
) -> Floats:
    """The scores of each text by a model of the other fold, `[texts, classes]`; label names are in none."""
    hashes = (zlib.crc32(text.encode("utf-8", "surrogatepass"), seed) for text in _texts_of(source))
    folds = np.fromiter(hashes, np.uint32, len(source)) % _FOLDS
    scores = np.zeros((len(source), source.targets.classes), dtype=np.float32)
    real = np.arange(len(source)) < source.text_count
    for fold in range(_FOLDS):
        step(fold_step(fold, _FOLDS))
        problems.held_out = held = real & (folds == fold)
        coefficients = _fitted(problems, settings, fold)
        for number, places in enumerate(problems.texts):
            rows = np.flatnonzero(held[places])
            margins = coefficients.scores(problems.rows_of(number).take(rows))
            scores[places[rows]] = expand_columns(margins, source.targets.classes)
    problems.held_out = None
    return scores


SAMPLED = " (penalty by a sample)"
"""What follows the name of a baseline whose penalty was chosen on a sample, as all texts were too many for
memory."""
MOST_CHOSEN_ON = 25_000_000
"""Number of features, summed over the texts, of the training texts, and of the dev texts, that blocks and
penalty are chosen on: some 12,000 reviews, or 200,000 short sentences."""
_SCORED = 1 << 22  # characters of the texts that are scored at once


def sample_step(texts: Sequence[str], reader: BlockReader) -> int:
    """Every how many texts one is taken, so that the features of the sample do not exceed
    `MOST_CHOSEN_ON`."""
    return max(1, -int(-len(texts) * entries_per_text(texts, reader) // MOST_CHOSEN_ON))


def sampled(
    part: tuple[Sequence[str], np.ndarray], reader: BlockReader
) -> tuple[Sequence[str], np.ndarray]:
    """A sample of texts and their targets, `[texts, ...]`; see `sample_step`."""
    texts, targets = part
    step = sample_step(texts, reader)
    return texts[::step], targets[::step]


def fit_stored(
    texts: Sequence[str], targets: Targets, readers: Sequence[BlockReader], max_features: int, cost: float
) -> tuple[dict[BlockName, FeatureVocabulary], LinearWeights]:
    """Choose the features of all texts, and fit the weights to them, from a file.

    Args:
        texts: The texts.
        targets: Their targets.
        readers: The feature extractor of each block.
        max_features: Maximum number of features per block.
        cost: The penalty parameter C of each text.

    Raises:
        HeadwiseError: HW412, the disk is full or cannot be written.
    """
    vocabularies: dict[BlockName, FeatureVocabulary] = {
        reader.block: reader.choose(texts, max_features=max_features) for reader in readers
    }
    release_freed_memory()
    with closing(ScratchFile()) as file:
        problems = StoredProblems(file, len(texts))
        entries = entries_per_text(texts, readers[0])
        for places in _portions(len(texts), entries, np.random.default_rng(0)):
            listed = items_at(texts, places)
            parts = [reader.transform(listed, vocabularies[reader.block]) for reader in readers]
            rows = DesignMatrix(stack_blocks(parts, len(listed)), np.zeros((len(listed), 0), np.float32))
            costs = np.full((len(listed), 1), cost, dtype=np.float32)
            problems.append(places, targets.take(places).problem(rows, costs, None))
        weights = fit_svm_portions(problems)
    release_freed_memory()
    return vocabularies, weights


def scores_in_parts(model: LinearModel, texts: Sequence[str]) -> Floats:
    """The scores of very many texts, `[texts, classes]`."""
    parts = [model.scores(part) for part in chunks_by_length(texts, _SCORED)]
    return np.concatenate([np.zeros((0, model.classes), dtype=np.float32), *parts])
