"""Comparison: settings of a linear model, compared by what they do on texts that are held out."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headwise.linear.settings import STARTS, LinearSettings
from headwise.linear.solver import Floats
from headwise.linear.text_data import TrainingData
from headwise.linear.text_features import Block
from headwise.threads import run_jobs, usable_threads

MUCH_WORK, ROUGH = 2e7, 0.2
"""Features of all texts times columns, above which machines are trained side by side, and those that are
only compared may be further from their optimum (see `headwise.linear.solver.TOLERANCE`): that moves their
losses by a thousandth and takes half of the time. Of fewer texts it would decide what is chosen, and save
nothing that counts."""
MOST_SIDE_BY_SIDE = 30_000_000
"""Features times columns, together, of machines that are trained at the same time; each takes 20 bytes."""
_WORTH = 0.01
"""By which share of the loss the form of texts, or their first and last words, must help to be read: of few
texts they often seem to, a little, and tell nothing."""


def out_of_fold(
    data: TrainingData,
    several: Sequence[LinearSettings],
    parts: Sequence[NDArray[np.int64]],
    tolerance: float | None = None,
) -> list[Floats]:
    """For each settings, scores of each text of the folds by a machine that was trained on all others,
    `[texts, classes]`; 0 where there are none. Where there is much to do machines are trained side by side,
    as long as all fit into memory."""
    found = [np.zeros((len(data), data.targets.classes), dtype=np.float32) for _ in several]
    every = np.arange(len(data))

    def judge(job: tuple[int, int]) -> None:
        settings, held = several[job[0]], parts[job[1]]
        if len(others := np.setdiff1d(every, held)):
            machine = data.fit(settings, others, job[1], tolerance)
            found[job[0]][held] = data.scores(settings, machine, held)

    cells = data.targets.columns * sum(len(own) for own, _ in data.blocks.values())
    most = MOST_SIDE_BY_SIDE // max(cells, 1) if data.work > MUCH_WORK else 1
    threads = max(min(usable_threads(), most), 1)
    run_jobs(judge, [(own, fold) for own in range(len(several)) for fold in range(len(parts))], threads)
    return found


class Comparison:
    """Settings compared by what they do on texts that are held out.

    Args:
        data: The texts.
        parts: Those of each fold that is held out.
    """

    def __init__(self, data: TrainingData, parts: Sequence[NDArray[np.int64]]):
        self.data, self.parts = data, parts
        self.hurried = data.work > MUCH_WORK
        self.held = np.concatenate(parts)
        self.losses: dict[LinearSettings, float] = {}

    def judge(self, several: Sequence[LinearSettings]) -> list[float]:
        """The log loss of each after calibration, in nats a text."""
        new = [settings for settings in several if settings not in self.losses]
        tolerance = ROUGH if self.hurried else None
        for settings, scores in zip(new, out_of_fold(self.data, new, self.parts, tolerance), strict=True):
            self.losses[settings] = self.data.calibration(scores[self.held], self.held)[1]
        return [self.losses[settings] for settings in several]

    def choose(self, start: LinearSettings) -> LinearSettings:
        """One thing after the other is changed as long as that helps."""
        best = start
        if best.start:
            best = self.best(best, [replace(best, start=start) for start in STARTS[1:]])
        elif len(best.blocks) > 1:
            alone: tuple[tuple[Block, ...], ...] = (("words",), ("characters",))
            best = self.best(best, [replace(best, blocks=blocks) for blocks in alone])
        if self.data.may_have_ratios:
            best = self.best(best, [replace(best, ratios=not best.ratios)])
        if not self.data.reader.pairs:
            best = self.worth(best, replace(best, form=True))
        if self.data.edged is not None and "words" in best.blocks:
            best = self.worth(best, replace(best, edges=True))
        if best.dense:
            best = self.along(best, "dense", self.data.lengths)
        return self.along(best, "strength", self.data.strengths)

    def worth(self, start: LinearSettings, other: LinearSettings) -> LinearSettings:
        """The other where it is better by `_WORTH`."""
        before, after = self.judge([start, other])
        return other if after < (1 - _WORTH) * before else start

    def along(self, start: LinearSettings, name: str, values: Sequence[float]) -> LinearSettings:
        """The best of some values of a setting: of all of them, or, in a hurry, of the next on either side,
        and on as long as that helps."""
        if not self.hurried:
            return self.best(start, [replace(start, **{name: value}) for value in values[1:]])
        several = [replace(start, **{name: value}) for value in sorted(values)]
        at = several.index(start)
        best = self.best(start, several[max(at - 1, 0) : at + 2])
        while best != start:
            step = several.index(best) - several.index(start)
            start, after = best, several.index(best) + step
            if 0 <= after < len(several):
                best = self.best(start, [several[after]])
        return start

    def best(self, start: LinearSettings, others: Iterable[LinearSettings]) -> LinearSettings:
        """The best of some settings; the first where nothing is better."""
        several = [start, *others]
        losses = self.judge(several)
        return several[losses.index(min(losses))]
