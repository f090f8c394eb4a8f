"""SettingSearch: chooses the settings of a linear model by their log loss on held-out texts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonObject
from headwise.core.threads import raise_if_halted, run_jobs, usable_threads
from headwise.linear.linear_settings import (
    TABULAR_SCALES,
    WARM_START_SCALES,
    LinearSettings,
    StepReporter,
    fold_step,
    ignore_step,
)
from headwise.linear.linear_weights import Floats
from headwise.linear.split_features import SplitFeatures
from headwise.linear.tfidf_features import BlockName
from headwise.linear.training_data import TrainingData

MOST_EDGED = 200
"""Mean number of distinct words and word pairs per text up to which edge pairs may be used: in long texts
they tell little and take memory."""
MOST_COMPARED = 10_000
"""Maximum number of texts for the choice of settings."""
MOST_WORK = 4e9
"""Non-zero features times columns above which settings are not compared and two folds are used."""
LARGE_WORK, FAST_TOLERANCE = 2e7, 0.2
"""Where the non-zero features times columns exceed `LARGE_WORK`, models are trained in parallel, and those
that are only compared may stop further from their optimum (`FAST_TOLERANCE`, see
`headwise.linear.svm_solver.TOLERANCE`). That moves their losses by a thousandth and halves the time. With
less data it would change which settings are chosen, and save little."""
MOST_SIDE_BY_SIDE = 30_000_000
"""Maximum of features times columns, summed over the models that are trained at the same time; each takes
20 bytes."""


@dataclass(frozen=True)
class OutOfFoldFit:
    """The models of some settings that are trained without each fold.

    Attributes:
        settings: The settings.
        scores: The score of each text by the model trained on the other folds, `[texts, classes]`; 0 where
            there are no others.
        duals: The dual variables of the models by fold, see `fit_svm_path`.
        features: Their sparse features by fold; none of large data, which would fill the memory.
    """

    settings: LinearSettings
    scores: Floats
    duals: dict[int, Floats] = field(default_factory=dict)
    features: dict[int, SplitFeatures] = field(default_factory=dict)

    def features_for(self, settings: LinearSettings, fold: int) -> SplitFeatures | None:
        """The sparse features of a fold, if they are the same under other settings."""
        names = "blocks", "edges", "ratios"
        same = all(getattr(settings, name) == getattr(self.settings, name) for name in names)
        return self.features.get(fold) if same else None


def fit_out_of_fold(
    data: TrainingData,
    candidates: Sequence[LinearSettings],
    parts: Sequence[NDArray[np.int64]],
    tolerance: float | None = None,
    start: OutOfFoldFit | None = None,
    step: StepReporter = ignore_step,
) -> list[OutOfFoldFit]:
    """Fit each candidate without each fold. Large jobs run in parallel, as far as they fit into memory.

    Args:
        data: The training data.
        candidates: The settings.
        parts: The indices of the held-out texts of each fold.
        tolerance: See `fit_svm_path`.
        start: The fit of similar settings, from whose solutions the solver starts.
        step: Receives the number of each fold when it begins.
    """
    shape = len(data), data.targets.classes
    fits = [OutOfFoldFit(settings, np.zeros(shape, dtype=np.float32)) for settings in candidates]
    every = np.arange(len(data))

    def fit_fold(job: tuple[OutOfFoldFit, int]) -> None:
        (fit, fold), held = job, parts[job[1]]
        step(fold_step(fold, len(parts)))
        if not len(training := np.setdiff1d(every, held)):
            return
        settings, subset = fit.settings, data.problem(fit.settings, training)
        duals, features = np.zeros(subset.signs.shape, dtype=np.float32), None
        if start is not None:
            duals, features = start.duals[fold].copy(), start.features_for(settings, fold)
        raise_if_halted()
        features = features or data.split(settings, subset)
        coefficients = data.solve(settings, subset, features, seed=fold, tolerance=tolerance, duals=duals)
        fit.scores[held] = data.scores(settings, coefficients, held)
        fit.duals[fold] = duals
        if data.work <= LARGE_WORK:
            fit.features[fold] = features

    cells = data.targets.columns * sum(len(vocabulary) for vocabulary, _ in data.blocks.values())
    most = MOST_SIDE_BY_SIDE // max(cells, 1) if data.work > LARGE_WORK else 1
    threads = max(min(usable_threads(), most), 1)
    run_jobs(fit_fold, [(fit, fold) for fit in fits for fold in range(len(parts))], threads)
    return fits


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
        self._best: OutOfFoldFit | None = None
        self._fits: dict[LinearSettings, OutOfFoldFit] = {}  # since the last choice

    def scores_of(self, data: TrainingData, settings: LinearSettings) -> Floats | None:
        """The out-of-fold scores of the chosen settings; None if these data are not those of the search, or
        the models of the search stopped far from their optimum."""
        fit = self._best
        if fit is None or fit.settings != settings or data is not self.data or self.hurried:
            return None
        return fit.scores

    def losses_of(self, candidates: Sequence[LinearSettings]) -> list[float]:
        """The log loss of each candidate after calibration, in nats per text."""
        new = [settings for settings in candidates if settings not in self.losses]
        tolerance = FAST_TOLERANCE if self.hurried else None
        for fit in fit_out_of_fold(self.data, new, self.parts, tolerance, self._best):
            self.losses[fit.settings] = self.data.calibration(fit.scores[self.held], self.held).loss
            self._fits[fit.settings] = fit
        return [self.losses[settings] for settings in candidates]

    def choose(self, start: LinearSettings) -> LinearSettings:
        """Choose the settings by coordinate search: change one setting at a time, as long as that lowers
        the loss."""
        best = start if self.hurried else self.best(start, [])  # the other fits begin there
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
        """The candidate if its loss is lower by `Targets.least_gain`, else `start`."""
        before, after = self.losses_of([start, candidate])
        return self._keep(candidate if after < (1 - self.data.targets.least_gain) * before else start)

    def line_search(self, start: LinearSettings, name: str, values: Sequence[float]) -> LinearSettings:
        """The best value of one setting: the neighbours of the current value are tried, and further values
        in the direction of the better one as long as the loss falls."""
        changes: list[JsonObject] = [{name: value} for value in sorted(values)]
        candidates = [replace(start, **change) for change in changes]
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
        losses = self.losses_of(candidates)
        return self._keep(candidates[losses.index(min(losses))])

    def _keep(self, best: LinearSettings) -> LinearSettings:
        """Forget the fits of all settings but the best, which are returned."""
        self._best, self._fits = self._fits.pop(best, self._best), {}
        return best
