"""fit_linear: the strongest linear classifier of labelled texts that we know to make, chosen by
cross-validation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.data.alike import first_alike
from headwise.linear.earlier import Earlier
from headwise.linear.solver import Floats, Machine
from headwise.linear.text_data import (
    MOST_RATIO_CLASSES,
    STARTS,
    LinearSettings,
    Targets,
    TrainingData,
    training_data,
)
from headwise.linear.text_features import Block, BlockReader, Vocabulary
from headwise.linear.text_model import DenseScale, LinearModel
from headwise.threads import run_jobs, usable_threads

FAR, LEAST_FAR = 3, 1_000
"""How far apart the words of a pair of words are at most, and how many texts it takes to learn from others
than neighbours."""
MOST_EDGED = 200
"""Different words and word pairs of a text, in the mean, up to which the first and last words may be read
as such: in long texts they tell little, and reading them takes memory."""
_WORTH = 0.01
"""By which share of the loss the form of texts, or their first and last words, must help to be read: of few
texts they often seem to, a little, and tell nothing."""
MOST_CROSSED = 4_000
"""Texts up to which settings are chosen by cross-validation on all of them; of more, some are held out."""
MOST_PAIRS_CROSSED = 1_000
"""Likewise of pairs, which take several times as long."""
MOST_COMPARED = 10_000
"""Texts that settings are chosen on where there are more of them."""
MOST_CELLS = 3_000_000
"""Texts times labels above which settings are chosen on a fifth of the texts, and two folds have to do."""
MOST_WORK = 4e9
"""Features of all texts times columns, above which settings are not compared and two folds have to do."""
MUCH_WORK, ROUGH = 2e7, 0.2
"""Features of all texts times columns, above which machines are trained side by side, and those that are
only compared may be further from their optimum (see `headwise.linear.solver.TOLERANCE`): that moves their
losses by a thousandth and takes half of the time. Of fewer texts it would decide what is chosen, and save
nothing that counts."""
MOST_SIDE_BY_SIDE = 30_000_000
"""Features times columns, together, of machines that are trained at the same time; each takes 20 bytes."""

MOST_LOUDER = 1.5
"""How many times as loud a model of more texts may be. What calibrates scores that tell nothing is chance:
one that is hardly heard may have a large weight, which one that is seventy times as loud must not get."""


class Chosen(NamedTuple):
    """What was chosen for a linear model, to make one like it of other texts.

    Attributes:
        settings: What it reads and how it is trained.
        loudness: What calibrates its scores: they are multiplied with it.
    """

    settings: LinearSettings
    loudness: float


@dataclass(frozen=True)
class LinearFit:
    """A linear model of texts, and how it does on texts that it was not trained on.

    Attributes:
        model: Trained on all texts.
        oof_scores: For each text that is in a fold the calibrated logits of a model that was trained
            without its fold, `[texts, classes]`.
        chosen: What was chosen.
        cv_score: Accuracy of `oof_scores`; of label sets, the share of answers that are right; of numbers,
            the share of their variance that is explained.
    """

    model: LinearModel
    oof_scores: Floats
    chosen: Chosen
    cv_score: float

    @property
    def settings(self) -> LinearSettings:
        """What it reads and how it is trained."""
        return self.chosen.settings


def fit_linear(
    texts: Sequence[Any],
    targets: Targets,
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
    earlier: Earlier | None = None,
) -> LinearFit:
    """A linear classifier on words, word pairs and characters, and perhaps on vectors of the texts.

    Blocks, naive Bayes ratios and C are chosen by cross-validation (of very many texts or labels, on some
    texts that are held out), by log loss after calibration. Nothing is said of a text by a model that has
    seen its double (see `first_alike`).

    Args:
        texts: Training texts, or pairs of them.
        targets: Label numbers, or probabilities of labels (soft labels), or label sets, or numbers that are
            wanted (see `headwise.linear.text_data.Targets`).
        classes: Number of labels, two or more; of label sets one or more; of numbers 1.
        dense: Vectors of the texts, `[texts, size]`.
        numbers: Of pairs, further numbers of each, on scales of any kind, `[pairs, numbers]`.
        pairs: They are pairs.
        sample_weight: How much each text counts, `[texts]`.
        class_weight: How much the texts of each label count, `[classes]`; of label sets, the texts with it
            beside those without.
        tokenizer: Finds the words.
        max_features: Most words, word pairs and runs of characters; fewer where there would be more
            than `MOST_WEIGHTS`.
        folds: Of the cross-validation.
        always: How many of the texts, the last, are in no fold: they are trained on, and not judged.
        seed: Of the folds and of the order of the texts.
        settings: Take these instead of choosing.
        loudness: That of a model of fewer texts, whose weight in a mixture this one is to have: what
            calibrates the scores is kept near it (see `MOST_LOUDER`).
        earlier: A model of other texts, of the same tokenizer and the same kind of vectors, to go on from.
    """
    reach = FAR if len(texts) >= LEAST_FAR and not pairs else 1
    reader = BlockReader("words", tokenizer, pairs, reach)
    if earlier is not None:
        reader = replace(reader, reach=max(reach, earlier.model.reach), edges=earlier.model.edges)
    judged = len(texts) - always
    weights = sample_weight, class_weight
    how = reader, max_features, earlier, judged
    data = training_data(texts, targets, classes, dense, numbers, *weights, *how)
    large = len(texts) * classes > MOST_CELLS
    crossed = judged <= (MOST_PAIRS_CROSSED if pairs else MOST_CROSSED) and not large
    few = large or data.work > MOST_WORK or (pairs and not crossed)
    same = first_alike(texts[:judged], folds, data.hard[:judged].tolist())
    parts = _folds(data.hard[:judged], same, min(folds, 2) if few else folds, seed)
    if settings is None:
        settings = data.first_settings
        if data.work <= MOST_WORK and len(parts) > 1:
            if earlier is None and not pairs and data.blocks["words"][1].nnz <= MOST_EDGED * len(texts):
                data = data.with_edges(texts)
            compared = _Comparison(data, parts) if crossed else _Comparison(*_some(data, same, seed))
            settings = compared.choose(settings)
    elif settings.edges:
        data = data.with_edges(texts)
    if len(settings.blocks) == 1 and (widened := data.widened(settings, texts)):
        data = widened
    found = _out_of_fold(data, [settings], parts)[0][:judged]
    calibrated = float(data.calibration(found, np.arange(judged))[0]) if len(parts) > 1 else 1.0
    if loudness is not None:
        calibrated = float(np.clip(calibrated, loudness / MOST_LOUDER, loudness * MOST_LOUDER))
    factor = np.float32(calibrated)
    machine = data.fit(settings, np.arange(len(texts)), seed)
    size = data.dense.shape[1] if settings.dense else 0
    numbers_read = data.numbers_of(settings)
    of_numbers = machine.dense[size:] / numbers_read.deviation[:, None]
    of_vectors = data.leading @ machine.dense[:size] if settings.dense else machine.dense[:0]
    bias = np.asarray(machine.bias - numbers_read.center @ of_numbers, dtype=np.float32)
    weights = machine.weights
    if data.start is not None and settings.start:
        begun, loud = data.start.machine, np.float32(settings.start)
        weights, bias = weights + loud * begun.weights, bias + loud * begun.bias
        of_base, of_form = np.split(begun.dense, [data.dense.shape[1]])
        if settings.dense:
            of_vectors = of_vectors + (loud / np.float32(settings.dense)) * of_base
        if len(of_form):
            of_numbers = loud * of_form + (of_numbers if len(of_numbers) else 0)
    scaled = Machine(weights * factor, np.vstack([of_vectors, of_numbers]) * factor, bias * factor)
    blocks: dict[Block, Vocabulary] = {name: data.block(name, settings)[0] for name in settings.blocks}
    scale = DenseScale(data.mean, settings.dense) if settings.dense else None
    form = not pairs and len(of_numbers) > 0
    edges = reader.edges or settings.edges
    model = LinearModel(blocks, scaled, classes, tokenizer, scale, pairs, reader.reach, form, edges)
    cv_score = _score(found, data, np.arange(judged))
    return LinearFit(model, found * factor, Chosen(settings, calibrated), cv_score)


def _score(found: Floats, data: TrainingData, texts: NDArray[np.int64]) -> float:
    """See `LinearFit.cv_score`."""
    if not len(texts):
        return 0.0
    if data.wanted is not None:
        return 1 - float(((found - data.wanted[texts]) ** 2).mean() / max(data.wanted[texts].var(), 1e-12))
    if data.sets is not None:
        return float(((found > 0) == data.sets[texts]).mean())
    return float((found.argmax(1) == data.hard[texts]).mean())


def _folds(
    targets: NDArray[np.int64], same: NDArray[np.int64], folds: int, seed: int
) -> list[NDArray[np.int64]]:
    """The texts of each fold; the texts of a label are spread evenly over them, and those that are the
    `same` (see `first_alike`) stay together."""
    order = np.random.default_rng(seed).permutation(len(targets))
    order = order[np.argsort(targets[order], kind="stable")]
    order = order[same[order] == order]
    folds, place = min(folds, len(order)), np.empty(len(targets), dtype=np.int64)
    place[order] = np.arange(len(order))
    return [np.flatnonzero(place[same] % folds == fold) for fold in range(folds)]


def _out_of_fold(
    data: TrainingData,
    several: Sequence[LinearSettings],
    parts: Sequence[NDArray[np.int64]],
    tolerance: float | None = None,
) -> list[Floats]:
    """For each settings, scores of each text of the folds by a machine that was trained on all others,
    `[texts, classes]`; 0 where there are none. Where there is much to do machines are trained side by side,
    as long as all fit into memory."""
    found = [np.zeros((len(data.hard), data.classes), dtype=np.float32) for _ in several]
    every = np.arange(len(data.hard))

    def judge(job: tuple[int, int]) -> None:
        settings, held = several[job[0]], parts[job[1]]
        if len(others := np.setdiff1d(every, held)):
            machine = data.fit(settings, others, job[1], tolerance)
            found[job[0]][held] = data.scores(settings, machine, held)

    cells = data.columns * sum(len(own) for own, _ in data.blocks.values())
    most = MOST_SIDE_BY_SIDE // max(cells, 1) if data.work > MUCH_WORK else 1
    threads = max(min(usable_threads(), most), 1)
    run_jobs(judge, [(own, fold) for own in range(len(several)) for fold in range(len(parts))], threads)
    return found


def _some(
    data: TrainingData, same: NDArray[np.int64], seed: int
) -> tuple[TrainingData, Sequence[NDArray[np.int64]]]:
    """Some of the texts that are judged, and all others; and of the first the ones that are held out, with
    those that are the `same`."""
    judged = len(same)
    texts = np.random.default_rng(seed).permutation(judged)[:MOST_COMPARED]
    held = np.flatnonzero(np.isin(same[texts], same[texts[: len(texts) // 5]]))
    return data.take(np.append(texts, np.arange(judged, len(data.hard)))), [held]


class _Comparison:
    """Settings compared by what they do on texts that are held out."""

    def __init__(self, data: TrainingData, parts: Sequence[NDArray[np.int64]]):
        self.data, self.parts = data, parts
        self.hurried = data.work > MUCH_WORK
        self.held = np.concatenate(parts)
        self.losses: dict[LinearSettings, float] = {}

    def judge(self, several: Sequence[LinearSettings]) -> list[float]:
        """The log loss of each after calibration, in nats a text."""
        new = [settings for settings in several if settings not in self.losses]
        tolerance = ROUGH if self.hurried else None
        for settings, scores in zip(new, _out_of_fold(self.data, new, self.parts, tolerance), strict=True):
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
        if self.data.wanted is None and self.data.classes <= MOST_RATIO_CLASSES:
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
