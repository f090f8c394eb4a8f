"""Label names as training texts: knowledge that needs no labelled text.

With static embeddings, the vector of the name `card_arrival` is near those of its texts (dataless
classification; Chang, Ratinov, Roth, Srikumar: Importance of semantic representation; AAAI 2008). So each
name becomes one more training text of its label, if the names predict the training labels better than
chance.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headwise.data.items.dataset import items_at, joined_items
from headwise.data.items.examples import Example
from headwise.text.text_features import TextFeatures

WEIGHT = 2.0
"""Weight of a label name; texts have weight 1."""
_ENOUGH = 3.0
"""Standard errors above chance by which the names alone must predict the training labels."""
_JUDGED = 5_000
"""Approximate number of training texts for that test."""
_BETWEEN = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{2}")


def label_counts(targets: np.ndarray, weights: np.ndarray | None, labels: int) -> np.ndarray:
    """The total weight of the texts of each label, `[labels]`; see `names_are_predictive` for `targets`."""
    if targets.ndim == 1:
        return np.bincount(targets, weights, minlength=labels)
    return (targets if weights is None else targets * weights[:, None]).sum(axis=0)


def named_labels(
    labels: Sequence[str], targets: np.ndarray, weights: np.ndarray | None = None
) -> dict[int, str]:
    """The words of each label name, by label index: `card_arrival` is `card arrival`. Labels without a
    word, or whose texts have total weight 0, are left out.

    Args:
        labels: All labels.
        targets: Targets of the texts, see `names_are_predictive`.
        weights: Weights of the texts, `[texts]`.
    """
    counts = label_counts(targets, weights, len(labels))
    return {
        number: " ".join(_BETWEEN.sub(" ", label).split())
        for number, label in enumerate(labels)
        if counts[number] > 0 and _WORD.search(label)
    }


def name_example(features: TextFeatures, text: str) -> Example:
    """A label name as an example; where texts need parses, each word depends on the one before."""
    heads = np.arange(len(features.tokenizer.words(text))) if features.trees != "none" else None
    return Example(text, parse=heads)


def names_are_predictive(
    names: np.ndarray, vectors: np.ndarray, targets: np.ndarray, numbers: Sequence[int]
) -> bool:
    """Whether the nearest label name predicts the labels of texts significantly better than chance.

    Args:
        names: Vectors of the names, `[names, size]`, of length 1.
        vectors: Vectors of training texts, `[texts, size]`, of length 1.
        targets: Label indices, `[texts]`, or label probabilities, `[texts, classes]`, or multi-hot labels,
            `[texts, classes]` bool.
        numbers: Label indices of the names.
    """
    if len(numbers) < 2:
        return False
    subset = slice(None, None, len(vectors) // _JUDGED + 1)
    vectors, targets = vectors[subset], targets[subset]
    if targets.dtype == np.bool_:
        has_label = targets[:, numbers]
    else:
        labels = targets if targets.ndim == 1 else targets.argmax(axis=1)
        has_label = labels[:, None] == np.array(numbers)
    named = has_label.any(axis=1)
    if not named.any():
        return False
    guesses, has_label = (vectors[named] @ names.T).argmax(axis=1), has_label[named]
    chance = float(np.bincount(guesses, minlength=len(numbers)) / len(has_label) @ has_label.mean(axis=0))
    spread = np.sqrt(chance * (1 - chance) / len(has_label))
    return float(has_label[np.arange(len(has_label)), guesses].mean()) > chance + _ENOUGH * spread


def append_label_names(objective: Any) -> None:
    """Append label names to the training texts of an objective, if they predict the labels.

    Args:
        objective: The objective; its `train_items`, `train_targets` and `text_weights` are extended, and
            its `label_name_count` is set to the number of names.
    """
    model, targets = objective.model, objective.train_targets
    words = named_labels(model.labels, targets, objective.text_weights)
    sample = np.arange(0, len(objective.train_items), len(objective.train_items) // _JUDGED + 1)
    vectors = model.base_vectors(items_at(objective.train_items, sample)) if words else None
    if vectors is None:
        return
    numbers = list(words)
    # A name has no columns beside it, and is read like a text with average ones.
    items = model.features.encode([name_example(model.features, text) for text in words.values()])
    if not names_are_predictive(model.base_vectors(items), vectors, targets[sample], numbers):
        return
    objective.label_name_count = len(items)
    objective.train_items = joined_items(objective.train_items, items)
    objective.train_targets, objective.text_weights = with_names(
        targets, objective.text_weights, numbers, len(model.labels)
    )
    model.config = replace(model.config, base=replace(model.config.base, named=len(items)))


def with_names(
    targets: np.ndarray, weights: np.ndarray | None, numbers: Sequence[int], classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Append the targets and weights of label names to those of the training texts."""
    name_targets = np.array(numbers) if targets.ndim == 1 else np.eye(classes)[numbers]
    before = np.ones(len(targets)) if weights is None else weights
    after = np.append(before, np.full(len(numbers), WEIGHT)).astype(np.float32)
    return np.concatenate([targets, name_targets.astype(targets.dtype)]), after
