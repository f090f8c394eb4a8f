"""Which labels of a file are likely to be wrong, by a linear model that was trained without the text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from headwise.data.files import file_name
from headwise.data.labels import targets_of
from headwise.data.shares import counted, weights_of
from headwise.features.bases.choice import AUTO
from headwise.linear.text_fit import fit_linear
from headwise.scores.noise import suspects, tells_labels, told_apart
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import base_vectors, read_label_sets, read_labelled, read_tagged_file
from headwise.verbs.set_noise import suspect_sets
from headwise.verbs.suspect import Suspect, twins_of, unlikely_twins
from headwise.verbs.tag_noise import suspect_tags

LEAST_TEXTS = 20


def noise_file(
    file: Path | str,
    *,
    base: str = AUTO,
    reading: Mapping[str, Any] | None = None,
    listener: Listener = NOBODY,
) -> list[Suspect]:
    """The texts of a file whose labels are likely to be wrong, the likeliest first (of label sets see
    `headwise.verbs.set_noise`); of a file of tagged sentences the words, as
    `headwise.verbs.tag_noise.TagSuspect`s.

    Args:
        file: Texts with one label or a set of labels each, or tagged sentences; "-" is standard input.
        base: Whose vectors, of tagged sentences groups of words, are read beside the words: `auto`, `none`,
            or what `--base` takes.
        reading: How the file is read, where that is not to be guessed.
        listener: Is told what happens.

    Raises:
        HeadwiseError: The file cannot be read, or its texts are too few.
    """
    file = file_name(file)
    if (tagged := read_tagged_file(file, reading, LEAST_TEXTS, listener)) is not None:
        return [*suspect_tags(tagged, listener, base=base)]
    if (sets := read_label_sets(file, reading, LEAST_TEXTS, listener)) is not None:
        return suspect_sets(sets, listener, base=base)
    data, names = read_labelled(file, reading, LEAST_TEXTS, listener)
    texts, labels = [item.text for item in data.items], [item.label for item in data.items]
    targets = targets_of(data.items, names)
    chances, note = held_out(texts, targets, len(names), base=base, weights=weights_of(data.items))
    if note:
        listener.note(note)
    twins = twins_of(texts, labels)
    doubtful: list[int] = []
    counts = counted(data.items)  # what counts nothing may say anything
    if tells_labels(chances[counts], targets[counts]):
        suspect_rows = suspects(chances, targets, counts)[0]
        other_chances = chances[suspect_rows]
        other_chances[np.arange(len(suspect_rows)), targets[suspect_rows]] = -1.0
        doubtful = suspect_rows[
            told_apart(chances, targets, suspect_rows, other_chances.argmax(axis=1), counts)
        ].tolist()
    else:
        listener.warn(
            "a linear model tells the labels of texts that it was not trained on no better than how common "
            "the labels are, so it can call none unlikely; only equal texts with two labels are listed"
        )
    label_chances = chances[np.arange(len(texts)), targets]
    likely = dict(enumerate(label_chances.tolist()))
    unlikely = unlikely_twins(twins, doubtful, likely)
    apart = set(unlikely)
    listed = []
    for number in [*doubtful, *unlikely]:
        row, label_id, twin = chances[number].copy(), int(targets[number]), twins.get(number)
        row[label_id] = -1.0
        best = int(targets[twin]) if number in apart and twin is not None else int(row.argmax())
        chance, line = float(row[best]), 0 if twin is None else data.items[twin].line
        where, text = data.items[number].line, texts[number]
        listed.append(
            Suspect(where, names[label_id], names[best], float(label_chances[number]), chance, text, line)
        )
    return listed


def held_out(
    texts: Sequence[str],
    targets: NDArray[np.int64],
    classes: int,
    *,
    base: str = AUTO,
    weights: NDArray[np.floating] | None = None,
) -> tuple[NDArray[np.float64], str]:
    """Calibrated probabilities of each text by a linear model that was trained without its fold,
    `[texts, classes]`, and what there is to say of the base. `weights`: how much each text teaches."""
    dense, note = base_vectors(texts, base)
    scores = fit_linear(texts, targets, classes, dense=dense, sample_weight=weights).oof_scores
    return softmax(scores.astype(np.float64), axis=1), note
