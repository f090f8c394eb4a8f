"""fit_linear: fits a linear text classifier, with settings chosen by cross-validation.

Comparison: chooses the settings of a linear model by their log loss on held-out texts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonObject
from headwise.core.threads import run_jobs, usable_threads
from headwise.data.splits.duplicates import first_in_group
from headwise.linear.linear_model import TABULAR_SCALES, WARM_START_SCALES, LinearModel, LinearSettings
from headwise.linear.linear_warm_start import LinearWarmStart
from headwise.linear.svm_solver import Floats
from headwise.linear.targets import TargetArray, Targets, TextWeights
from headwise.linear.tfidf_features import BlockName, BlockReader, LinearTexts
from headwise.linear.training_data import TrainingData

PAIR_REACH, LEAST_FAR = 3, 1_000
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


@dataclass(frozen=True)
class LinearFit:
    """A fitted linear model, with its out-of-fold scores.

    Attributes:
        model: The model, trained on all texts.
        oof_scores: Calibrated out-of-fold logits of each text that is in a fold, `[texts, classes]`; 0 of a
            model that is not calibrated.
        settings: The chosen settings.
        cv_score: Accuracy of `oof_scores`; for label sets, the share of correct decisions; for numbers, the
            explained variance (R2).
    """

    model: LinearModel
    oof_scores: Floats
    settings: LinearSettings
    cv_score: float


def fit_linear(
    texts: LinearTexts,
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
    calibrated: bool = True,
    previous: LinearWarmStart | None = None,
) -> LinearFit:
    """Fit a linear model on words, word pairs, character n-grams and, if given, vectors of the texts.

    Blocks, naive Bayes ratios and C are chosen by cross-validation (for very many texts or labels, on one
    held-out part), by log loss after calibration. Near-duplicates stay in the same fold (see
    `first_in_group`).

    Args:
        texts: Training texts, or pairs of them.
        targets: Label indices, label probabilities (soft labels), label sets, or numbers (see
            `headwise.linear.targets.TargetArray`).
        classes: Number of labels, two or more; for label sets one or more; for numbers 1.
        dense: Vectors of the texts, `[texts, size]`.
        numbers: Comparison features of pairs, on any scale, or features of the columns beside the texts,
            with mean 0 (see `headwise.linear.tabular_features`), `[texts, numbers]`.
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
        calibrated: Whether to compute out-of-fold scores and calibrate the scores by them; if not, the
            scores are margins. Who fits an ensemble weight on other texts needs neither.
        previous: A previous model to start from, with the same tokenizer and the same kind of vectors.
    """
    reach = PAIR_REACH if len(texts) >= LEAST_FAR and not pairs else 1
    reader = BlockReader("words", tokenizer, pairs, reach)
    if previous is not None:
        reader = replace(reader, reach=max(reach, previous.model.reach), edges=previous.model.edges)
    judged = len(texts) - always
    training_targets = Targets.of(targets, classes, class_weight)
    importance = TextWeights.of(training_targets, sample_weight, class_weight, judged)
    inputs: JsonObject = {"dense": dense, "numbers": numbers, "previous": previous, "judged": judged}
    data = TrainingData.of(texts, training_targets, importance, reader, max_features, **inputs)
    large = len(texts) * classes > MOST_CELLS
    crossed = judged <= (MOST_PAIRS_CROSSED if pairs else MOST_CROSSED) and not large
    few = large or data.work > MOST_WORK or (pairs and not crossed)
    labels = training_targets.labels[:judged]
    same, parts = np.arange(judged), []
    if settings is None or calibrated:
        same = first_in_group(texts[:judged], folds, labels.tolist())
        parts = _folds(labels, same, min(folds, 2) if few else folds, seed)
    search = None
    if settings is None:
        settings = data.first_settings
        if data.work <= MOST_WORK and len(parts) > 1:
            if previous is None and not pairs and data.blocks["words"][1].nnz <= MOST_EDGED * len(texts):
                data = data.with_edges(texts)
            search = (
                SettingSearch(data, parts) if crossed else SettingSearch(*_search_sample(data, same, seed))
            )
            settings = search.choose(settings)
    elif settings.edges:
        data = data.with_edges(texts)
    if len(settings.blocks) == 1 and (widened := data.widened(settings, texts)):
        data = widened
    every, factor = np.arange(len(texts)), 1.0
    oof_scores = np.zeros((len(texts), classes), dtype=np.float32)
    if calibrated and len(parts) > 1:
        scores = search.scores_of(data, settings) if search is not None else None
        oof_scores = out_of_fold(data, [settings], parts)[0] if scores is None else scores
        factor = float(data.calibration(oof_scores[:judged], every[:judged])[0])
    oof_scores = oof_scores[:judged]
    model = data.model(settings, data.fit(settings, every, seed), factor)
    score = training_targets.take(every[:judged]).score(oof_scores) if judged else 0.0
    return LinearFit(model, oof_scores * np.float32(factor), settings, score)


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
    judged = len(same)
    texts = np.random.default_rng(seed).permutation(judged)[:MOST_COMPARED]
    held = np.flatnonzero(np.isin(same[texts], same[texts[: len(texts) // 5]]))
    return data.take(np.append(texts, np.arange(judged, len(data)))), [held]


LARGE_WORK, FAST_TOLERANCE = 2e7, 0.2
"""Where the non-zero features times columns exceed `LARGE_WORK`, models are trained in parallel, and those
that are only compared may stop further from their optimum (`FAST_TOLERANCE`, see
`headwise.linear.svm_solver.TOLERANCE`). That moves their losses by a thousandth and halves the time. With
less data it would change which settings are chosen, and save little."""
MOST_SIDE_BY_SIDE = 30_000_000
"""Maximum of features times columns, summed over the models that are trained at the same time; each takes
20 bytes."""
_WORTH = 0.01
"""The relative improvement of the loss from which on surface features, or the first and last words, are
used. On small data they often seem to help a little by chance."""


def out_of_fold(
    data: TrainingData,
    candidates: Sequence[LinearSettings],
    parts: Sequence[NDArray[np.int64]],
    tolerance: float | None = None,
) -> list[Floats]:
    """Out-of-fold scores for each candidate, `[texts, classes]`: each text is scored by a model trained on
    the other folds (0 where there are none). Large jobs run in parallel, as far as they fit into memory."""
    scores = [np.zeros((len(data), data.targets.classes), dtype=np.float32) for _ in candidates]
    every = np.arange(len(data))

    def judge(job: tuple[int, int]) -> None:
        settings, held = candidates[job[0]], parts[job[1]]
        if len(training := np.setdiff1d(every, held)):
            machine = data.fit(settings, training, job[1], tolerance)
            scores[job[0]][held] = data.scores(settings, machine, held)

    cells = data.targets.columns * sum(len(vocabulary) for vocabulary, _ in data.blocks.values())
    most = MOST_SIDE_BY_SIDE // max(cells, 1) if data.work > LARGE_WORK else 1
    threads = max(min(usable_threads(), most), 1)
    run_jobs(
        judge, [(place, fold) for place in range(len(candidates)) for fold in range(len(parts))], threads
    )
    return scores


class SettingSearch:
    """Compares settings by their log loss on held-out texts.

    Args:
        data: The training data.
        parts: The indices of the held-out texts of each fold.
    """

    def __init__(self, data: TrainingData, parts: Sequence[NDArray[np.int64]]):
        self.data, self.parts = data, parts
        self.hurried = data.work > LARGE_WORK
        self.held = np.concatenate(parts)
        self.losses: dict[LinearSettings, float] = {}
        self._scores: dict[LinearSettings, Floats] = {}  # of the best settings so far

    def scores_of(self, data: TrainingData, settings: LinearSettings) -> Floats | None:
        """The out-of-fold scores of the chosen settings; None if these data are not those of the search, or
        the models of the search stopped far from their optimum."""
        return self._scores.get(settings) if data is self.data and not self.hurried else None

    def judge(self, candidates: Sequence[LinearSettings]) -> list[float]:
        """The log loss of each candidate after calibration, in nats per text."""
        new = [settings for settings in candidates if settings not in self.losses]
        tolerance = FAST_TOLERANCE if self.hurried else None
        for settings, scores in zip(new, out_of_fold(self.data, new, self.parts, tolerance), strict=True):
            self.losses[settings] = self.data.calibration(scores[self.held], self.held)[1]
            self._scores[settings] = scores
        return [self.losses[settings] for settings in candidates]

    def choose(self, start: LinearSettings) -> LinearSettings:
        """Choose the settings by coordinate search: change one setting at a time, as long as that lowers
        the loss."""
        best = start
        if best.start:
            best = self.best(best, [replace(best, start=start) for start in WARM_START_SCALES[1:]])
        elif len(best.blocks) > 1:
            alone: tuple[tuple[BlockName, ...], ...] = (("words",), ("characters",))
            best = self.best(best, [replace(best, blocks=blocks) for blocks in alone])
        if self.data.may_have_ratios:
            best = self.best(best, [replace(best, ratios=not best.ratios)])
        if not self.data.reader.pairs:
            best = self.worth(best, replace(best, form=True))
        if self.data.edged is not None and "words" in best.blocks:
            best = self.worth(best, replace(best, edges=True))
        if best.tabular:
            best = self.line_search(best, "tabular", TABULAR_SCALES)
        if best.dense:
            best = self.line_search(best, "dense", self.data.lengths)
        return self.line_search(best, "strength", self.data.strengths)

    def worth(self, start: LinearSettings, candidate: LinearSettings) -> LinearSettings:
        """The candidate if its loss is lower by `_WORTH`, else `start`."""
        before, after = self.judge([start, candidate])
        return self._keep(candidate if after < (1 - _WORTH) * before else start)

    def line_search(self, start: LinearSettings, name: str, values: Sequence[float]) -> LinearSettings:
        """The best value of one setting. All values are tried; on large data, only the neighbours of the
        current value, and further in that direction as long as the loss falls."""
        if not self.hurried:
            return self.best(start, [replace(start, **{name: value}) for value in values[1:]])
        candidates = [replace(start, **{name: value}) for value in sorted(values)]
        at = candidates.index(start)
        best = self.best(start, candidates[max(at - 1, 0) : at + 2])
        while best != start:
            step = candidates.index(best) - candidates.index(start)
            start, after = best, candidates.index(best) + step
            if 0 <= after < len(candidates):
                best = self.best(start, [candidates[after]])
        return start

    def best(self, start: LinearSettings, alternatives: Iterable[LinearSettings]) -> LinearSettings:
        """The settings with the lowest loss; the first of equals."""
        candidates = [start, *alternatives]
        losses = self.judge(candidates)
        return self._keep(candidates[losses.index(min(losses))])

    def _keep(self, best: LinearSettings) -> LinearSettings:
        """Forget the scores of all settings but the best, which are returned."""
        self._scores = {settings: scores for settings, scores in self._scores.items() if settings == best}
        return best
