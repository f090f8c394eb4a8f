"""fit_linear: fits a linear text classifier, with settings chosen by cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.alike import first_alike
from headwise.linear.comparison import Comparison, out_of_fold
from headwise.linear.earlier import Earlier
from headwise.linear.importance import Importance
from headwise.linear.settings import Chosen, LinearSettings
from headwise.linear.solver import Floats
from headwise.linear.targets import TargetArray, Targets
from headwise.linear.text_data import TrainingData
from headwise.linear.text_features import BlockReader
from headwise.linear.text_model import LinearModel

FAR, LEAST_FAR = 3, 1_000
"""Maximum distance between the words of a pair, and the number of texts from which on pairs of words that
are not adjacent are used."""
MOST_EDGED = 200
"""Mean number of distinct words and word pairs per text up to which edge pairs may be used: in long texts
they tell little and take memory."""
MOST_CROSSED = 4_000
"""Number of texts up to which settings are chosen by cross-validation on all texts; beyond it, by one
held-out part."""
MOST_PAIRS_CROSSED = 1_000
"""The same for text pairs, which take several times as long."""
MOST_COMPARED = 10_000
"""Maximum number of texts for the choice of settings."""
MOST_CELLS = 3_000_000
"""Texts times labels above which settings are chosen on a fifth of the texts, with two folds."""
MOST_WORK = 4e9
"""Non-zero features times columns above which settings are not compared and two folds are used."""
MOST_LOUDER = 1.5
"""Bounds of the calibration factor when a model is fitted again on more texts, relative to the first. The
calibration of uninformative scores is random: a model with nearly no effect may have a large ensemble
weight, which one with 70 times the scale must not get."""


@dataclass(frozen=True)
class LinearFit:
    """A fitted linear model, with its out-of-fold scores.

    Attributes:
        model: The model, trained on all texts.
        oof_scores: Calibrated out-of-fold logits of each text that is in a fold, `[texts, classes]`.
        chosen: The chosen settings and calibration.
        cv_score: Accuracy of `oof_scores`; for label sets, the share of correct decisions; for numbers, the
            explained variance (R2).
    """

    model: LinearModel
    oof_scores: Floats
    chosen: Chosen
    cv_score: float

    @property
    def settings(self) -> LinearSettings:
        """The chosen settings."""
        return self.chosen.settings


def fit_linear(
    texts: Sequence[Any],
    targets: TargetArray,
    classes: int,
    *,
    dense: NDArray | None = None,
    numbers: NDArray | None = None,
    pairs: bool = False,
    sample_weight: NDArray | None = None,
    class_weight: NDArray | None = None,
    tokenizer: str = "penn",
    max_features: int = 1_000_000,
    folds: int = 5,
    always: int = 0,
    seed: int = 0,
    settings: LinearSettings | None = None,
    loudness: float | None = None,
    previous: Earlier | None = None,
) -> LinearFit:
    """Fit a linear model on words, word pairs, character n-grams and, if given, vectors of the texts.

    Blocks, naive Bayes ratios and C are chosen by cross-validation (for very many texts or labels, on one
    held-out part), by log loss after calibration. Near-duplicates stay in the same fold (see
    `first_alike`).

    Args:
        texts: Training texts, or pairs of them.
        targets: Label indices, label probabilities (soft labels), label sets, or numbers (see
            `headwise.linear.targets.TargetArray`).
        classes: Number of labels, two or more; for label sets one or more; for numbers 1.
        dense: Vectors of the texts, `[texts, size]`.
        numbers: Comparison features of pairs, on any scale, `[pairs, numbers]`.
        pairs: Whether the items are text pairs.
        sample_weight: Weight of each text, `[texts]`.
        class_weight: Weight of the texts of each label, `[classes]`; for label sets, of texts with it
            relative to those without.
        tokenizer: Name of the tokenizer.
        max_features: Maximum number of words, word pairs and character n-grams; fewer if the weights would
            exceed `MOST_WEIGHTS`.
        folds: Number of folds.
        always: Number of texts, at the end, that are in no fold: they are used for training, but not for
            evaluation.
        seed: Seed of the folds and of the order of the texts.
        settings: Use these settings instead of choosing.
        loudness: Calibration factor of a model of fewer texts, whose ensemble weight this one takes over:
            the calibration is kept near it (see `MOST_LOUDER`).
        previous: A previous model to start from, with the same tokenizer and the same kind of vectors.
    """
    reach = FAR if len(texts) >= LEAST_FAR and not pairs else 1
    reader = BlockReader("words", tokenizer, pairs, reach)
    if previous is not None:
        reader = replace(reader, reach=max(reach, previous.model.reach), edges=previous.model.edges)
    judged = len(texts) - always
    training_targets = Targets.of(targets, classes, class_weight)
    importance = Importance.of(training_targets, sample_weight, class_weight, judged)
    inputs: dict[str, Any] = {"dense": dense, "numbers": numbers, "previous": previous, "judged": judged}
    data = TrainingData.of(texts, training_targets, importance, reader, max_features, **inputs)
    large = len(texts) * classes > MOST_CELLS
    crossed = judged <= (MOST_PAIRS_CROSSED if pairs else MOST_CROSSED) and not large
    few = large or data.work > MOST_WORK or (pairs and not crossed)
    labels = training_targets.labels[:judged]
    same = first_alike(texts[:judged], folds, labels.tolist())
    parts = _folds(labels, same, min(folds, 2) if few else folds, seed)
    if settings is None:
        settings = data.first_settings
        if data.work <= MOST_WORK and len(parts) > 1:
            if previous is None and not pairs and data.blocks["words"][1].nnz <= MOST_EDGED * len(texts):
                data = data.with_edges(texts)
            compared = Comparison(data, parts) if crossed else Comparison(*_some(data, same, seed))
            settings = compared.choose(settings)
    elif settings.edges:
        data = data.with_edges(texts)
    if len(settings.blocks) == 1 and (widened := data.widened(settings, texts)):
        data = widened
    oof_scores, every = out_of_fold(data, [settings], parts)[0][:judged], np.arange(len(texts))
    calibrated = float(data.calibration(oof_scores, every[:judged])[0]) if len(parts) > 1 else 1.0
    if loudness is not None:
        calibrated = float(np.clip(calibrated, loudness / MOST_LOUDER, loudness * MOST_LOUDER))
    model = data.model(settings, data.fit(settings, every, seed), calibrated)
    score = training_targets.take(every[:judged]).score(oof_scores) if judged else 0.0
    return LinearFit(model, oof_scores * np.float32(calibrated), Chosen(settings, calibrated), score)


def _folds(
    targets: NDArray[np.int64], same: NDArray[np.int64], folds: int, seed: int
) -> list[NDArray[np.int64]]:
    """The texts of each fold, stratified by label; near-duplicates (`same`, see `first_alike`) stay
    together."""
    order = np.random.default_rng(seed).permutation(len(targets))
    order = order[np.argsort(targets[order], kind="stable")]
    order = order[same[order] == order]
    folds, place = min(folds, len(order)), np.empty(len(targets), dtype=np.int64)
    place[order] = np.arange(len(order))
    return [np.flatnonzero(place[same] % folds == fold) for fold in range(folds)]


def _some(
    data: TrainingData, same: NDArray[np.int64], seed: int
) -> tuple[TrainingData, Sequence[NDArray[np.int64]]]:
    """Data for the choice of settings on many texts: a sample of the real texts, and all label names; with
    it, the held-out texts of the sample, near-duplicates included."""
    judged = len(same)
    texts = np.random.default_rng(seed).permutation(judged)[:MOST_COMPARED]
    held = np.flatnonzero(np.isin(same[texts], same[texts[: len(texts) // 5]]))
    return data.take(np.append(texts, np.arange(judged, len(data)))), [held]
