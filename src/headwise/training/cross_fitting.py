"""Cross-fitting: networks trained without each fold, and their out-of-fold outputs.

The dev part of a small file is tiny: of 250 texts, 38 would decide the number of epochs, the ensemble
weights and the temperature. With cross-fitting, whatever is chosen after training is chosen on out-of-fold
outputs of all texts, and the last model is trained on all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from headwise.core.folder_layout import RUN_STATE
from headwise.data.errors import DataError
from headwise.data.items.dataset import items_at
from headwise.data.items.labels import evaluation_mask
from headwise.data.splits.data_parts import DataParts
from headwise.training.callbacks import EpochReport
from headwise.training.run_state import RunProgress, fold_folder
from headwise.training.settings import TrainConfig


@dataclass(frozen=True)
class OutOfFold:
    """The out-of-fold outputs of the networks trained without each fold.

    Attributes:
        outputs: Out-of-fold outputs of each item that is in a fold, `[held, outputs]`.
        held: Indices of these items.
        progress: Counters of the runs; the history is the mean over the folds, and the best epoch is chosen
            by it.
        folds: Number of folds that items are in.
    """

    outputs: np.ndarray
    held: np.ndarray
    progress: RunProgress
    folds: int


def cross_fit(
    learn: Callable[..., Any],
    all_parts: DataParts,
    config: TrainConfig,
    folder: Path,
    *,
    resume: bool,
    report: Callable[[EpochReport], None],
) -> OutOfFold:
    """Train a model on the complement of each fold, and collect the out-of-fold outputs.

    Args:
        learn: Trains a model on parts in a folder; its result has `model`, `objective` and `progress`.
        all_parts: Data with all items in `train`.
        config: Gives the number of folds, their seed, and the score that chooses the best epoch.
        folder: Folder of the run. The first fold uses it; those of the other folds are inside.
        resume: Whether to resume the run in the folder.
        report: Called after each update and each epoch.
    """
    items = all_parts.train
    numbers = np.array(all_parts.item_type.folds(items, config.folds, config.seed))
    numbers[~evaluation_mask(items)] = -1  # never held out
    used = np.unique(numbers[numbers >= 0])  # with few distinct items, some folds are empty
    folds = len(used)
    if not folds:
        nouns = all_parts.item_type.nouns
        raise DataError(
            "HW141",
            f"of {nouns.count(len(items))} none can be held out: each has weight 0, or is "
            "needed to learn its label",
            expected=f"a few different {nouns.many} of each label",
            advice=f"add {nouns.many}, or choose the epoch on dev with --folds 0",
        )
    outputs: dict[int, np.ndarray] = {}
    runs = []
    for fold in range(folds):
        part = f"fold {fold + 1} of {folds}, trained on the other folds"

        def report_fold(done: EpochReport, part: str = part) -> None:
            report(replace(done, part=part, scored="fold"))

        held_out, training = (
            np.flatnonzero(rows) for rows in (numbers == used[fold], numbers != used[fold])
        )
        parts = replace(all_parts, train=items_at(items, training), dev=items_at(items, held_out))
        place = fold_folder(folder, fold)
        goes_on = resume and (fold == 0 or (place / RUN_STATE).exists())
        done = learn(parts, place, resume=goes_on, report=report_fold)
        outputs |= dict(zip(held_out.tolist(), done.objective.held_out(), strict=True))
        runs.append(done.progress)
    held = np.array(sorted(outputs))
    held_outputs = np.stack([outputs[number] for number in held])
    return OutOfFold(held_outputs, held, _mean_progress(runs, config), folds)


def _mean_progress(runs: Sequence[RunProgress], config: TrainConfig) -> RunProgress:
    """Average the histories over the epochs that all runs have."""
    history = [
        {name: float(np.mean([entry[name] for entry in entries])) for name in entries[0]}
        for entries in zip(*(run.history for run in runs), strict=False)
    ]
    best = int(np.argmax([config.selection_score(epoch, entry) for epoch, entry in enumerate(history)]))
    for number, entry in enumerate(history):
        entry["epoch"] = number + 1
    seconds = sum(run.seconds for run in runs)
    return replace(runs[0], history=history, best_epoch=best, seconds=seconds)
