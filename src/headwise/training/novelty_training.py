"""Fitting the novelty detector of a trained classifier (`headwise.metrics.novelty`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.items.dataset import items_at
from headwise.metrics.novelty import (
    MAX_REFERENCES,
    NoveltyFit,
    fit_novelty,
    mean_similarities,
    unit_vectors,
)
from headwise.runtime.novelty_member import familiarity
from headwise.training.target_labels import target_labels
from headwise.training.text_objectives import TextObjective

_LEAST_DISTANCE = 1e-4
"""Cosine distance below which a training text repeats a held-out text; it is then no reference for it."""


def fit_novelty_detector(
    objective: TextObjective[Any],
    logits: NDArray[np.floating],
    targets: NDArray,
    indices: NDArray[np.int64] | None,
) -> NoveltyFit:
    """Fit the novelty detector of a model, and store it in the model with vectors of training texts.

    Args:
        objective: The objective with the texts and the trained model.
        logits: Uncalibrated logits of the ensemble for held-out texts, `[texts, labels]`.
        targets: Targets of these texts.
        indices: Their indices in the training texts if the logits are out of fold; None for the dev texts.
    """
    model: Any = objective.model
    keep = model.config.unknown.keep
    random = np.random.default_rng(0)
    rows = _sample(_counted(objective), MAX_REFERENCES, random)
    vectors = model.base_vectors(items_at(objective.train_items, rows))
    model.set_references(vectors)
    references = model.references
    places = _sample(np.arange(len(logits)), MAX_REFERENCES, random)
    texts = (
        items_at(objective.dev_items, places)
        if indices is None
        else items_at(objective.train_items, indices[places])
    )
    excluded = without_label = None
    if references is not None:
        read = unit_vectors(model.base_vectors(texts))
        same_label = target_labels(objective.label_type).share_label(
            targets[places], objective.train_targets[rows]
        )
        if indices is not None:
            excluded = read @ unit_vectors(vectors).T > 1 - _LEAST_DISTANCE
            excluded |= indices[places][:, None] == rows
            same_label |= excluded
        without_label = mean_similarities(read, references, same_label)
    in_scope = familiarity(model, texts, logits[places], references, excluded)
    outside = None
    if len(objective.out_of_scope):
        encoded = model.encoded(objective.out_of_scope)
        outside = familiarity(model, encoded, model.logits(encoded), references)
    fitted = fit_novelty(in_scope, keep, without_label, outside)
    model.novelty = fitted.detector
    return fitted


def _counted(objective: TextObjective[Any]) -> NDArray[np.int64]:
    """Indices of the training texts with a positive weight, without label names."""
    count = len(objective.train_items) - objective.label_name_count
    if objective.text_weights is None:
        return np.arange(count)
    return np.flatnonzero(objective.text_weights[:count] > 0)


def _sample(places: NDArray[np.int64], most: int, random: np.random.Generator) -> NDArray[np.int64]:
    """A random sample of at most `most` of the places, in their order."""
    return places if len(places) <= most else np.sort(random.permutation(places)[:most])
