"""Which texts have a label too many or too few, by linear models that were trained without the text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from headwise.data.label_set import LabelSetExample, separator_in
from headwise.data.labels import indicators, label_names
from headwise.data.shares import counted, weights_of
from headwise.features.bases.choice import AUTO
from headwise.linear.text_fit import fit_linear
from headwise.scores.noise import suspects, tells_labels, told_apart
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import base_vectors
from headwise.verbs.suspect import Suspect, twins_of, unlikely_twins

_ENOUGH = 0.98
"""A probability of a label, or of none, that is enough where the mean is higher, as that of none is where a
label is rare: of 111 such labels 5 to 7 points more of what is wrong are found, as precisely, and of 4 and
17 others nothing else (benchmarks/set_noise.py)."""


def suspect_sets(data: Any, listener: Listener = NOBODY, *, base: str = AUTO) -> list[Suspect]:
    """The texts whose sets of labels are likely to be wrong, the likeliest first; `suggested` is the set
    without the labels that are unlikely, and with those that seem to be missing. The probabilities are of
    these labels alone: that they are as given, and as suggested.

    Args:
        data: Of a file of label sets.
        listener: Is told where nothing can be said.
        base: Whose vectors are read beside the words: `auto`, `none`, or what `--base` takes.
    """
    items: list[LabelSetExample] = data.items
    texts, names = (
        [item.text for item in items],
        label_names(label for item in items for label in item.labels),
    )
    has, counts = indicators(items, names), counted(items)
    dense, note = base_vectors(texts, base)
    if note:
        listener.note(note)
    fitted = fit_linear(texts, has, len(names), dense=dense, sample_weight=weights_of(items))
    chances = expit(fitted.oof_scores.astype(np.float64))
    wrong, is_predictable = wrong_labels(chances, has, counts)
    if not is_predictable.any():
        listener.warn(
            "a linear model tells no label of texts that it was not trained on better than how common it "
            "is, so it can call none unlikely; only equal texts with two sets are listed"
        )
    set_chances = np.where(has, chances, 1 - chances)
    margins = np.where(wrong, 2 * set_chances - 1, 1.0).min(axis=1)
    doubtful = np.flatnonzero(wrong.any(axis=1))
    doubtful = doubtful[np.argsort(margins[doubtful], kind="stable")].tolist()
    twins = twins_of(texts, [frozenset(item.labels) for item in items])
    apart = {number: has[twin] != has[number] for number, twin in twins.items()}
    likely = {number: float(set_chances[number][cells].prod()) for number, cells in apart.items()}
    unlikely = unlikely_twins(twins, doubtful, likely)
    for number in unlikely:
        wrong[number] = apart[number]
    separator = separator_in(data)
    listed = []
    for number in [*doubtful, *unlikely]:
        item, twin, doubted = items[number], twins.get(number), wrong[number]
        flipped = [names[label] for label in np.flatnonzero(doubted)]
        better = [name for name in item.labels if name not in flipped]
        better += [name for name in flipped if name not in item.labels]
        chance, rather = set_chances[number][doubted].prod(), (1 - set_chances[number][doubted]).prod()
        line = 0 if twin is None else items[twin].line
        cells = separator.join(item.labels), separator.join(better)
        listed.append(Suspect(item.line, *cells, float(chance), float(rather), item.text, line))
    return listed


def wrong_labels(
    chances: NDArray[np.float64], has: NDArray[np.bool_], counts: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each text is likely to be wrong about each label, `[texts, labels]`, and whether the
    probabilities tell anything of the label, `[labels]`: each is judged for itself, as a label of two (see
    `headwise.scores.noise`).

    Args:
        chances: By models that were trained without the text, `[texts, labels]`.
        has: The labels that are given, `[texts, labels]`.
        counts: Which texts say what is usual, `[texts]`; all by default.
    """
    counted_rows = np.ones(len(has), dtype=np.bool_) if counts is None else counts
    wrong, is_predictable = np.zeros_like(has), np.zeros(has.shape[1], dtype=np.bool_)
    for label, (chance, has_label) in enumerate(zip(chances.T, has.T, strict=True)):
        both, targets = np.stack([1 - chance, chance], axis=1), has_label.astype(np.int64)
        if told_of := tells_labels(both[counted_rows], targets[counted_rows]):
            suspect_rows = suspects(both, targets, counted_rows, _ENOUGH)[0]
            wrong[
                suspect_rows[
                    told_apart(both, targets, suspect_rows, 1 - targets[suspect_rows], counted_rows)
                ],
                label,
            ] = True
        is_predictable[label] = told_of
    return wrong, is_predictable
