"""fit_linear: the strongest linear classifier of labelled texts that we know to make, chosen by
cross-validation."""

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
"""How far apart the words of a pair of words are at most, and how many texts it takes to learn from others
than neighbours."""
MOST_EDGED = 200
"""Different words and word pairs of a text, in the mean, up to which the first and last words may be read
as such: in long texts they tell little, and reading them takes memory."""
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
MOST_LOUDER = 1.5
"""How many times as loud a model of more texts may be. What calibrates scores that tell nothing is chance:
one that is hardly heard may have a large weight, which one that is seventy times as loud must not get."""


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
    earlier: Earlier | None = None,
) -> LinearFit:
    """A linear classifier on words, word pairs and characters, and perhaps on vectors of the texts.

    Blocks, naive Bayes ratios and C are chosen by cross-validation (of very many texts or labels, on some
    texts that are held out), by log loss after calibration. Nothing is said of a text by a model that has
    seen its double (see `first_alike`).

    Args:
        texts: Training texts, or pairs of them.
        targets: Label numbers, or probabilities of labels (soft labels), or label sets, or numbers that are
            wanted (see `headwise.linear.targets.TargetArray`).
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
    wanted = Targets.of(targets, classes, class_weight)
    importance = Importance.of(wanted, sample_weight, class_weight, judged)
    beside: dict[str, Any] = {"dense": dense, "numbers": numbers, "earlier": earlier, "judged": judged}
    data = TrainingData.of(texts, wanted, importance, reader, max_features, **beside)
    large = len(texts) * classes > MOST_CELLS
    crossed = judged <= (MOST_PAIRS_CROSSED if pairs else MOST_CROSSED) and not large
    few = large or data.work > MOST_WORK or (pairs and not crossed)
    labels = wanted.labels[:judged]
    same = first_alike(texts[:judged], folds, labels.tolist())
    parts = _folds(labels, same, min(folds, 2) if few else folds, seed)
    if settings is None:
        settings = data.first_settings
        if data.work <= MOST_WORK and len(parts) > 1:
            if earlier is None and not pairs and data.blocks["words"][1].nnz <= MOST_EDGED * len(texts):
                data = data.with_edges(texts)
            compared = Comparison(data, parts) if crossed else Comparison(*_some(data, same, seed))
            settings = compared.choose(settings)
    elif settings.edges:
        data = data.with_edges(texts)
    if len(settings.blocks) == 1 and (widened := data.widened(settings, texts)):
        data = widened
    found, every = out_of_fold(data, [settings], parts)[0][:judged], np.arange(len(texts))
    calibrated = float(data.calibration(found, every[:judged])[0]) if len(parts) > 1 else 1.0
    if loudness is not None:
        calibrated = float(np.clip(calibrated, loudness / MOST_LOUDER, loudness * MOST_LOUDER))
    model = data.model(settings, data.fit(settings, every, seed), calibrated)
    score = wanted.take(every[:judged]).score(found) if judged else 0.0
    return LinearFit(model, found * np.float32(calibrated), Chosen(settings, calibrated), score)


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


def _some(
    data: TrainingData, same: NDArray[np.int64], seed: int
) -> tuple[TrainingData, Sequence[NDArray[np.int64]]]:
    """Some of the texts that are judged, and all others; and of the first the ones that are held out, with
    those that are the `same`."""
    judged = len(same)
    texts = np.random.default_rng(seed).permutation(judged)[:MOST_COMPARED]
    held = np.flatnonzero(np.isin(same[texts], same[texts[: len(texts) // 5]]))
    return data.take(np.append(texts, np.arange(judged, len(data)))), [held]
