"""Label sets of a file that are likely to be wrong; each label is a binary classification."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.workflows.label_issues import (
    COMPARING,
    LabelIssue,
    conflicting_duplicates,
    unlikely_duplicates,
)
from headwise.core.activations import expit
from headwise.data.items.examples import MultiLabelExample, writable_separator
from headwise.data.items.label_types import LABEL_SET_TYPE
from headwise.data.items.labels import evaluation_mask, label_names, multi_hot_targets, training_weights
from headwise.linear.linear_fit import LinearExamples, cross_validated
from headwise.linear.tabular_features import tabular_features_of
from headwise.metrics.label_quality import beats_label_frequencies, find_label_issues, separable
from headwise.text.static_embeddings.base_choice import AUTO, vectors_of_texts

_SUFFICIENT_PROBABILITY = 0.98
"""Upper bound of the threshold for a confident prediction. The mean probability that a rare label is
absent is higher: with the bound, 5 to 7 points more errors of 111 rare labels are found at equal precision,
and the same errors of 4 and 17 others (benchmarks/defaults/set_noise.py)."""


def find_label_set_issues(
    data: Any, reporter: Reporter = NULL_REPORTER, *, base: str = AUTO
) -> list[LabelIssue]:
    """The texts whose label set is likely to be wrong, the most likely first. `suggested` is the set
    without unlikely labels and with those that seem to be missing; the probabilities are those of these
    labels only.

    Args:
        data: The data set of a file of label sets.
        reporter: Receives notes and warnings.
        base: See `noise_file`.
    """
    items: list[MultiLabelExample] = data.items
    texts = [item.text for item in items]
    names = label_names(label for item in items for label in item.labels)
    has, counts = multi_hot_targets(items, names), evaluation_mask(items)
    reporter.stage("computing the vectors of the texts")
    dense, note = vectors_of_texts(texts, base)
    reporter.notes([note] if note else [])
    examples = LinearExamples(
        texts,
        has,
        len(names),
        label_type=LABEL_SET_TYPE,
        dense=dense,
        numbers=tabular_features_of(items),
        sample_weight=training_weights(items),
    )
    with cross_validated(examples, step=reporter.stage) as validated:
        probabilities = expit(validated.oof_scores.astype(np.float64))
    wrong, is_predictable = wrong_labels(probabilities, has, counts)
    if not is_predictable.any():
        reporter.warn(
            "out of fold, a linear model predicts no label better than how common it is, so it can call "
            "none unlikely; only equal texts with two sets are listed"
        )
    given_probabilities = np.where(has, probabilities, 1 - probabilities)
    margins = np.where(wrong, 2 * given_probabilities - 1, 1.0).min(axis=1)
    issues = np.flatnonzero(wrong.any(axis=1))
    issues = issues[np.argsort(margins[issues], kind="stable")].tolist()
    reporter.stage(COMPARING)
    duplicates_of = conflicting_duplicates(texts, [frozenset(item.labels) for item in items])
    differs = {number: has[twin] != has[number] for number, twin in duplicates_of.items()}
    duplicates = unlikely_duplicates(
        duplicates_of,
        issues,
        {number: float(given_probabilities[number][labels].prod()) for number, labels in differs.items()},
    )
    for number in duplicates:
        wrong[number] = differs[number]
    separator = writable_separator(data)

    def issue(number: int) -> LabelIssue:
        item, doubtful = items[number], wrong[number]
        flipped = [names[label] for label in np.flatnonzero(doubtful)]
        suggested = [name for name in item.labels if name not in flipped]
        suggested += [name for name in flipped if name not in item.labels]
        return LabelIssue(
            item.line,
            separator.join(item.labels),
            separator.join(suggested),
            float(given_probabilities[number][doubtful].prod()),
            float((1 - given_probabilities[number][doubtful]).prod()),
            item.text,
            items[duplicates_of[number]].line if number in duplicates_of else 0,
        )

    return [issue(number) for number in (*issues, *duplicates)]


def wrong_labels(
    probabilities: NDArray[np.float64], has: NDArray[np.bool_], counts: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which labels of which texts are likely to be wrong, `[texts, labels]`, and which labels are predicted
    better than by their frequency, `[labels]`. Each label is a binary classification (see
    `headwise.metrics.label_quality`).

    Args:
        probabilities: Out-of-fold probabilities, `[texts, labels]`.
        has: The given labels, multi-hot, `[texts, labels]`.
        counts: Which texts set the thresholds, `[texts]`; all by default.
    """
    counts = np.ones(len(has), dtype=np.bool_) if counts is None else counts
    wrong, is_predictable = np.zeros_like(has), np.zeros(has.shape[1], dtype=np.bool_)
    for label, (probability, has_label) in enumerate(zip(probabilities.T, has.T, strict=True)):
        binary, targets = np.stack([1 - probability, probability], axis=1), has_label.astype(np.int64)
        is_predictable[label] = beats_label_frequencies(binary[counts], targets[counts])
        if is_predictable[label]:
            suspects = find_label_issues(binary, targets, counts, _SUFFICIENT_PROBABILITY)[0]
            confirmed = separable(binary, targets, suspects, 1 - targets[suspects], counts)
            wrong[suspects[confirmed], label] = True
    return wrong, is_predictable
