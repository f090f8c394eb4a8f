"""Cross-fitting: what is chosen after training is chosen on all texts, each judged by a model that was
trained without it.

A dev part of a small file is smaller still: of 250 texts 38 would say when to stop, how far to trust whom,
and how sure to be. With folds every text says so once, and the last model is trained on all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from headwise.data.chunks import some
from headwise.data.parts import Parts
from headwise.data.shares import counted
from headwise.train.config import TrainConfig
from headwise.train.loop import STATE, Report, fold_folder
from headwise.train.state import Progress


@dataclass(frozen=True)
class Crossed:
    """What the models of the folds say.

    Attributes:
        outputs: Of the network that was trained without an item, for each that is in a fold, `[held,
            outputs]`.
        held: The numbers of these items.
        progress: The history is the mean over the folds, and so is the choice of the best epoch.
    """

    outputs: np.ndarray
    held: np.ndarray
    progress: Progress


def cross(
    learn: Callable[..., Any],
    whole: Parts[Any],
    config: TrainConfig,
    folder: Path,
    *,
    resume: bool,
    report: Callable[[Report], None],
) -> Crossed:
    """Train a model without each fold.

    Args:
        learn: Trains one on parts, in a folder, and gives `model`, `objective` and `progress`.
        whole: With all items in `train`.
        config: How many folds there are, the seed that they are drawn with, and the score that is to be
            best.
        folder: Of the run; that of the first fold, with those of the others in it.
        resume: Go on with the run in the folder.
        report: Called after each update and each epoch.
    """
    items = whole.train
    numbers = np.array(whole.kind.folds(items, config.folds, config.seed))
    numbers[~counted(items)] = -1  # they are always trained on
    used = np.unique(numbers[numbers >= 0])  # of few different items some folds are empty
    folds = len(used)
    said: dict[int, np.ndarray] = {}
    runs = []
    for fold in range(folds):
        part = f"without part {fold + 1} of {folds}, which is its dev"

        def told(done: Report, part: str = part) -> None:
            report(replace(done, part=part))

        own, others = (np.flatnonzero(rows) for rows in (numbers == used[fold], numbers != used[fold]))
        parts = replace(whole, train=some(items, others), dev=some(items, own))
        place = fold_folder(folder, fold)
        goes_on = resume and (fold == 0 or (place / STATE).exists())
        done = learn(parts, place, resume=goes_on, report=told)
        said |= dict(zip(own.tolist(), done.objective.held_out(), strict=True))
        runs.append(done.progress)
    held = np.array(sorted(said))
    return Crossed(np.stack([said[number] for number in held]), held, _together(runs, config))


def _together(runs: Sequence[Progress], config: TrainConfig) -> Progress:
    """The mean of the histories, as far as all of them go."""
    history = [
        {name: float(np.mean([entry[name] for entry in entries])) for name in entries[0]}
        for entries in zip(*(run.history for run in runs), strict=False)
    ]
    best = int(np.argmax([config.merit(epoch, entry) for epoch, entry in enumerate(history)]))
    for number, entry in enumerate(history):
        entry["epoch"] = number + 1
    seconds = sum(run.seconds for run in runs)
    return replace(runs[0], history=history, best_epoch=best, seconds=seconds)
