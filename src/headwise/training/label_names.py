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
from headwise.data.items.label_types import LabelType
from headwise.text.text_features import TextFeatures
from headwise.training.target_labels import target_labels

WEIGHT = 2.0
"""Weight of a label name; texts have weight 1."""
_ENOUGH = 3.0
"""Standard errors above chance by which the names alone must predict the training labels."""
_JUDGED = 5_000
"""Approximate number of training texts for that test."""
_BETWEEN = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{2}")


def named_labels(labels: Sequence[str], counts: np.ndarray) -> dict[int, str]:
    """The words of each label name, by label index: `card_arrival` is `card arrival`. Labels without a
    word, or without texts, are left out.

    Args:
        labels: All labels.
        counts: The total weight of the texts of each label, `[labels]`.
    """
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
    label_type: LabelType,
    names: np.ndarray,
    vectors: np.ndarray,
    targets: np.ndarray,
    numbers: Sequence[int],
) -> bool:
    """Whether the nearest label name predicts the labels of texts significantly better than chance.

    Args:
        label_type: Label type of the texts.
        names: Vectors of the names, `[names, size]`, of length 1.
        vectors: Vectors of training texts, `[texts, size]`, of length 1.
        targets: Targets of the texts, `[texts, ...]`.
        numbers: Label indices of the names.
    """
    if len(numbers) < 2:
        return False
    subset = slice(None, None, len(vectors) // _JUDGED + 1)
    vectors = vectors[subset]
    has_label = target_labels(label_type).has_labels(targets[subset], numbers)
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
    label_type, classes = objective.label_type, len(model.labels)
    counts = target_labels(label_type).counts(targets, objective.text_weights, classes)
    words = named_labels(model.labels, counts)
    sample = np.arange(0, len(objective.train_items), len(objective.train_items) // _JUDGED + 1)
    vectors = model.base_vectors(items_at(objective.train_items, sample)) if words else None
    if vectors is None:
        return
    numbers = list(words)
    # A name has no columns beside it, and is read like a text with average ones.
    items = model.features.encode([name_example(model.features, text) for text in words.values()])
    if not names_are_predictive(label_type, model.base_vectors(items), vectors, targets[sample], numbers):
        return
    objective.label_name_count = len(items)
    objective.train_items = joined_items(objective.train_items, items)
    objective.train_targets, objective.text_weights = with_names(
        label_type, targets, objective.text_weights, numbers, classes
    )
    model.config = replace(model.config, base=replace(model.config.base, named=len(items)))


def with_names(
    label_type: LabelType,
    targets: np.ndarray,
    weights: np.ndarray | None,
    numbers: Sequence[int],
    classes: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Append the targets and weights of label names to those of the training texts."""
    before = np.ones(len(targets)) if weights is None else weights
    after = np.append(before, np.full(len(numbers), WEIGHT)).astype(np.float32)
    return target_labels(label_type).extended(targets, numbers, classes), after
