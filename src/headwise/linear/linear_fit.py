"""fit_linear: fits a linear text classifier, with settings chosen by cross-validation.

`cross_validated` has the settings and out-of-fold scores alone; those who need no model of all texts, such
as a search for label errors, save its fit.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from headwise.data.items.label_types import SINGLE_LABEL_TYPE, LabelType
from headwise.data.splits.duplicates import first_in_group
from headwise.linear.large_fit import cross_validated_large, is_large
from headwise.linear.linear_model import LinearModel
from headwise.linear.linear_settings import (
    CrossValidatedSettings,
    LinearFit,
    LinearSettings,
    StepReporter,
    ignore_step,
)
from headwise.linear.linear_warm_start import LinearWarmStart
from headwise.linear.setting_search import (
    MOST_COMPARED,
    MOST_EDGED,
    MOST_WORK,
    SettingSearch,
    fit_out_of_fold,
)
from headwise.linear.targets import (
    UNCALIBRATED,
    TargetArray,
    TextWeights,
    TrainingTexts,
    VectorRows,
    linear_targets,
)
from headwise.linear.tfidf_features import BlockReader, LinearTexts
from headwise.linear.training_data import TrainingData

PAIR_REACH, LEAST_FAR = 3, 1_000
"""Maximum distance between the words of a pair, and the number of texts from which on pairs of words that
are not adjacent are used."""
MOST_CROSSED = 4_000
"""Number of texts up to which settings are chosen by cross-validation on all texts; beyond it, by one
held-out part."""
MOST_PAIRS_CROSSED = 1_000
"""The same for text pairs, which take several times as long."""
MOST_CELLS = 3_000_000
"""Texts times labels above which settings are chosen on a fifth of the texts, with two folds."""


@dataclass(frozen=True)
class LinearExamples:
    """What a linear model learns from: texts, or pairs of them, and their targets.

    Attributes:
        texts: Training texts, or pairs of them.
        targets: Label indices, label probabilities (soft labels), label sets, or numbers (see
            `headwise.linear.targets.TargetArray`).
        classes: Number of labels, two or more; for label sets one or more; for numbers 1.
        label_type: Label type of the targets, a row of `headwise.linear.targets.LINEAR_TARGETS`.
        dense: Vectors of the texts, `[texts, size]`, as an array or computed when they are needed.
        numbers: Comparison features of pairs, on any scale, or features of the columns beside the texts,
            with mean 0 (see `headwise.linear.tabular_features`), `[texts, numbers]`.
        pairs: Whether the items are text pairs.
        sample_weight: Weight of each text, `[texts]`.
        class_weight: Weight of the texts of each label, `[classes]`; for label sets, of texts with it
            relative to those without.
        tokenizer: Name of the tokenizer.
        label_name_count: Number of texts, at the end, that are in no fold: they are used for training,
            but not for evaluation.
    """

    texts: LinearTexts
    targets: TargetArray
    classes: int
    label_type: LabelType = SINGLE_LABEL_TYPE
    dense: VectorRows | None = None
    numbers: NDArray | None = None
    pairs: bool = False
    sample_weight: NDArray | None = None
    class_weight: NDArray | None = None
    tokenizer: str = "penn"
    label_name_count: int = 0

    def training_texts(self) -> TrainingTexts:
        """The texts with targets and weights for the solver.

        Raises:
            TypeError: Linear models do not support the label type, or the targets are of another one.
        """
        targets = linear_targets(self.label_type, self.targets, self.classes, self.class_weight)
        count = len(self.texts) - self.label_name_count
        importance = TextWeights.of(targets, self.sample_weight, self.class_weight, count)
        named = np.arange(len(self.texts)) >= count
        return TrainingTexts(self.texts, targets, importance, named, self.dense, self.numbers)


def fit_linear(examples: LinearExamples, **options: Any) -> LinearFit:
    """Fit a linear model on words, word pairs, character n-grams and, if given, vectors of the texts; see
    `cross_validated` for options and errors."""
    with cross_validated(examples, **options) as validated:
        model = validated.fit_model()
    return LinearFit(validated.oof_scores, validated.settings, validated.cv_score, model)


@contextmanager
def cross_validated(
    examples: LinearExamples,
    *,
    max_features: int = 1_000_000,
    folds: int = 5,
    seed: int = 0,
    settings: LinearSettings | None = None,
    calibrated: bool = True,
    previous: LinearWarmStart | None = None,
    step: StepReporter = ignore_step,
) -> Generator[CrossValidatedSettings]:
    """Context with the settings and the out-of-fold scores of a linear model of words, word pairs,
    character n-grams and, if given, vectors of the texts. Within it, the model can be fitted.

    Blocks, naive Bayes ratios and C are chosen by cross-validation (for very many texts or labels, on one
    held-out part), by log loss after calibration. Near-duplicates stay in the same fold (see
    `first_in_group`). Texts whose features are too many for memory are read from a file, see
    `headwise.linear.large_fit`; that holds for neither pairs nor a warm start.

    Args:
        examples: The training texts and their targets.
        max_features: Maximum number of words, word pairs and character n-grams; fewer if the weights would
            exceed `MOST_WEIGHTS`.
        folds: Number of folds.
        seed: Seed of the folds and of the order of the texts.
        settings: Use these settings instead of choosing.
        calibrated: Whether to compute out-of-fold scores and calibrate the scores by them; if not, the
            scores are margins. Who fits an ensemble weight on other texts needs neither.
        previous: A previous model to start from, with the same tokenizer and the same kind of vectors.
        step: Receives the name of each step.

    Raises:
        TypeError: Linear models do not support the label type, or the targets are of another one.
    """
    texts, classes, pairs = examples.texts, examples.classes, examples.pairs
    reach = PAIR_REACH if len(texts) >= LEAST_FAR and not pairs else 1
    reader = BlockReader("words", examples.tokenizer, pairs, reach)
    if previous is not None:
        reader = replace(reader, reach=max(reach, previous.model.reach), edges=previous.model.edges)
    source = examples.training_texts()
    if previous is None and not pairs and is_large(cast(Sequence[str], texts), reader, source.dense):
        with cross_validated_large(
            source, reader, max_features, seed=seed, settings=settings, calibrated=calibrated, step=step
        ) as validated:
            yield validated
        return
    step("counting words and character n-grams")
    data, text_count = TrainingData.of(source, reader, max_features, previous=previous), source.text_count
    large = len(texts) * classes > MOST_CELLS
    crossed = text_count <= (MOST_PAIRS_CROSSED if pairs else MOST_CROSSED) and not large
    few = large or data.work > MOST_WORK or (pairs and not crossed)
    labels = source.targets.labels[:text_count]
    same, parts = np.arange(text_count), []
    if settings is None or calibrated:
        step("finding near-duplicates")
        same = first_in_group(texts[:text_count], folds, labels.tolist())
        parts = _folds(labels, same, min(folds, 2) if few else folds, seed)
    search = None
    if settings is not None:
        data = data.with_edges(texts) if settings.edges else data
    elif data.work > MOST_WORK or len(parts) < 2:
        settings = data.first_settings
    else:
        step("choosing settings")
        settings = data.first_settings
        if previous is None and not pairs and data.blocks["words"][1].nnz <= MOST_EDGED * len(texts):
            data = data.with_edges(texts)
        search = SettingSearch(*((data, parts) if crossed else _search_sample(data, same, seed)))
        settings = search.choose(settings)
    if len(settings.blocks) == 1 and (widened := data.widened(settings, texts)):
        data = widened
    every, calibration = np.arange(len(texts)), UNCALIBRATED
    oof_scores = np.zeros((len(texts), classes), dtype=np.float32)
    if calibrated and len(parts) > 1:
        scores = search.scores_of(data, settings) if search is not None else None
        if scores is None:
            scores = fit_out_of_fold(data, [settings], parts, step=step)[0].scores
        oof_scores = scores
        calibration = data.calibration(oof_scores[:text_count], every[:text_count])
    oof_scores = calibration.logits(oof_scores[:text_count])
    score = source.targets.take(every[:text_count]).score(oof_scores) if text_count else 0.0

    def fit_model() -> LinearModel:
        return data.model(settings, data.fit(settings, every, seed), calibration)

    yield CrossValidatedSettings(oof_scores, settings, score, fit_model)


def _folds(
    targets: NDArray[np.int64], same: NDArray[np.int64], folds: int, seed: int
) -> list[NDArray[np.int64]]:
    """The texts of each fold, stratified by label; near-duplicates (`same`, see `first_in_group`) stay
    together."""
    order = np.random.default_rng(seed).permutation(len(targets))
    order = order[np.argsort(targets[order], kind="stable")]
    order = order[same[order] == order]
    folds, place = min(folds, len(order)), np.empty(len(targets), dtype=np.int64)
    place[order] = np.arange(len(order))
    return [np.flatnonzero(place[same] % folds == fold) for fold in range(folds)]


def _search_sample(
    data: TrainingData, same: NDArray[np.int64], seed: int
) -> tuple[TrainingData, Sequence[NDArray[np.int64]]]:
    """Data for the choice of settings on many texts: a sample of the real texts, and all label names; with
    it, the held-out texts of the sample, near-duplicates included."""
    text_count = len(same)
    texts = np.random.default_rng(seed).permutation(text_count)[:MOST_COMPARED]
    held = np.flatnonzero(np.isin(same[texts], same[texts[: len(texts) // 5]]))
    return data.take(np.append(texts, np.arange(text_count, len(data)))), [held]
