"""What labels are called, as training texts: knowledge that is there before any label is given.

With a base, the vector of `card_arrival` lies near those of the texts that mean it (dataless
classification; Chang, Ratinov, Roth, Srikumar: Importance of semantic representation; AAAI 2008). So each
name is one more training text of its label, where names tell the training texts apart at all.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headwise.data.example import Example
from headwise.features.words import TextFeatures

WEIGHT = 2.0
"""What a name counts; texts count 1."""
_ENOUGH = 3.0
"""Standard errors above chance by which names alone must tell the training texts apart."""
_JUDGED = 5_000
"""Training texts, about, on which that is found out."""
_BETWEEN = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{2}")


def label_counts(targets: np.ndarray, weights: np.ndarray | None, labels: int) -> np.ndarray:
    """How much the texts of each label count together, `[labels]`; see `names_tell` and `named_labels`."""
    if targets.ndim == 1:
        return np.bincount(targets, weights, minlength=labels)
    return (targets if weights is None else targets * weights[:, None]).sum(axis=0)


def named_labels(
    labels: Sequence[str], targets: np.ndarray, weights: np.ndarray | None = None
) -> dict[int, str]:
    """The number of each label whose name has a word, and the words: `card_arrival` is `card arrival`. A
    label whose texts count nothing, all together, has no name.

    Args:
        labels: All labels.
        targets: Of the texts, see `names_tell`.
        weights: How much each text counts, `[texts]`.
    """
    counts = label_counts(targets, weights, len(labels))
    return {
        number: " ".join(_BETWEEN.sub(" ", label).split())
        for number, label in enumerate(labels)
        if counts[number] > 0 and _WORD.search(label)
    }


def name_example(features: TextFeatures, text: str) -> Example:
    """A name as a text; where texts must be parsed, each of its words hangs on the one before."""
    heads = np.arange(len(features.tokenizer.words(text))) if features.trees != "none" else None
    return Example(text, heads=heads)


def names_tell(names: np.ndarray, vectors: np.ndarray, targets: np.ndarray, numbers: Sequence[int]) -> bool:
    """Whether the nearest name is that of a text's own label more often than by chance.

    Args:
        names: Vectors of the names, `[names, size]`, of length 1.
        vectors: Vectors of training texts, `[texts, size]`, of length 1.
        targets: The number of the label of each text, `[texts]`, or probabilities, `[texts, classes]`, or
            label sets, likewise but bool.
        numbers: Those of the labels that have a name.
    """
    if len(numbers) < 2:
        return False
    some = slice(None, None, len(vectors) // _JUDGED + 1)
    vectors, targets = vectors[some], targets[some]
    if targets.dtype == np.bool_:
        own = targets[:, numbers]
    else:
        labels = targets if targets.ndim == 1 else targets.argmax(axis=1)
        own = labels[:, None] == np.array(numbers)
    named = own.any(axis=1)
    if not named.any():
        return False
    guesses, own = (vectors[named] @ names.T).argmax(axis=1), own[named]
    chance = float(np.bincount(guesses, minlength=len(numbers)) / len(own) @ own.mean(axis=0))
    spread = np.sqrt(chance * (1 - chance) / len(own))
    return float(own[np.arange(len(own)), guesses].mean()) > chance + _ENOUGH * spread


def learn_names(objective: Any) -> None:
    """Let the names of labels be training texts too, behind the others, if they tell these apart.

    Args:
        objective: With `model`; its `train_items`, `train_targets` and `text_weights` are made longer, and
            its `names` says by how many.
    """
    model, targets = objective.model, objective.train_targets
    words = named_labels(model.labels, targets, objective.text_weights)
    vectors = model.base_vectors(objective.train_items) if words else None
    if vectors is None:
        return
    numbers = list(words)
    items = model.encoded([name_example(model.features, own) for own in words.values()])
    if not names_tell(model.base_vectors(items), vectors, targets, numbers):
        return
    objective.names = len(items)
    objective.train_items = [*objective.train_items, *items]
    objective.train_targets, objective.text_weights = with_names(
        targets, objective.text_weights, numbers, len(model.labels)
    )
    model.config = replace(model.config, base=replace(model.config.base, named=len(items)))


def with_names(
    targets: np.ndarray, weights: np.ndarray | None, numbers: Sequence[int], classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Targets and weights of training texts, and behind them those of the names of labels."""
    own = np.array(numbers) if targets.ndim == 1 else np.eye(classes)[numbers]
    before = np.ones(len(targets)) if weights is None else weights
    after = np.append(before, np.full(len(numbers), WEIGHT)).astype(np.float32)
    return np.concatenate([targets, own.astype(targets.dtype)]), after
