"""Label errors: labels, label sets and tags of a file that are likely to be wrong.

Linear models (for tagged sentences, linear CRFs) predict each text out of fold; confident learning then
finds labels that do not fit the probabilities (`headwise.metrics.label_quality`). Of near-duplicates with
different labels, the less probable label is also listed. This file searches single labels;
`headwise.app.workflows.label_set_errors` searches label sets, `headwise.app.workflows.tag_errors` tags.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.workflows.label_issues import (
    COMPARING,
    LabelIssue,
    conflicting_duplicates,
    unlikely_duplicates,
    without_given,
)
from headwise.app.workflows.label_set_errors import find_label_set_issues
from headwise.app.workflows.tag_errors import find_tag_issues
from headwise.core.activations import softmax
from headwise.core.config import JsonMapping
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.files.text_lines import file_name
from headwise.data.items.item_types import (
    ITEM_TYPES_BY_TASK,
    infer_task,
    options_for,
    require_one_label_task,
)
from headwise.data.items.labels import evaluation_mask, label_names, label_targets, training_weights
from headwise.linear.linear_fit import LinearExamples, cross_validated
from headwise.linear.linear_settings import StepReporter, ignore_step
from headwise.linear.tabular_features import tabular_features_of
from headwise.metrics.label_quality import beats_label_frequencies, find_label_issues, separable
from headwise.text.static_embeddings.base_choice import AUTO, vectors_of_texts

MIN_TEXTS = 20
"""Minimum number of texts or sentences."""


@renamed_parameters(listener="reporter")
def noise_file(
    file: Path | str,
    *,
    base: str = AUTO,
    reading: JsonMapping | None = None,
    reporter: Reporter = NULL_REPORTER,
) -> list[LabelIssue]:
    """The texts of a file whose label or label set is likely to be wrong, the most likely first; for tagged
    sentences, the words with such tags (`headwise.app.workflows.tag_errors.TagIssue`).

    Args:
        file: Texts with one label or a set of labels each, or tagged sentences; "-" is standard input.
        base: Static embeddings that the linear model reads with the words (for tagged sentences, their word
            groups): `auto`, `none`, or what `--base` takes.
        reading: Reading options; what they leave out is guessed.
        reporter: Receives notes and warnings.

    Raises:
        HeadwiseError: The file cannot be read, or has too few texts or labels.
    """
    file, options = file_name(file), dict(reading or {})
    task, why = infer_task(file, options)
    if ITEM_TYPES_BY_TASK[task].has_tags:
        reporter.note(f"a file of tagged sentences ({why})")
        data = _read_labelled(file, task, options, "tags", 2, reporter)
        return [*find_tag_issues(data, reporter, base=base)]
    if ITEM_TYPES_BY_TASK[task].label_type.multi_label:
        reporter.note(f"a file of label sets ({why})")
        data = _read_labelled(file, task, options, "labels in their sets", 1, reporter)
        return find_label_set_issues(data, reporter, base=base)
    data = _read_labelled(file, require_one_label_task(file, options), options, "labels", 2, reporter)
    return find_single_label_issues(data, reporter, base=base)


def _read_labelled(
    file: str, task: str, options: JsonMapping, what: str, min_labels: int, reporter: Reporter
) -> Any:
    """Read a labelled file.

    Raises:
        HeadwiseError: The file cannot be read, or has too few items or labels.
    """
    item_type = ITEM_TYPES_BY_TASK[task]
    data = item_type.read(file, options_for(task, options))
    reporter.notes(data.notes)
    labels = len(data.labels)
    if len(data.items) < MIN_TEXTS or labels < min_labels:
        many = item_type.nouns.many
        raise ConfigError(
            f"{data.path}: {len(data.items):,} {many} with {labels} {what}; expected {MIN_TEXTS} or more "
            f"{many} with {min_labels} or more {what}"
        )
    return data


def find_single_label_issues(
    data: Any, reporter: Reporter = NULL_REPORTER, *, base: str = AUTO
) -> list[LabelIssue]:
    """The texts whose label is likely to be wrong, the most likely first.

    Args:
        data: The data set of a file of texts with one label each.
        reporter: Receives notes and warnings.
        base: See `noise_file`.
    """
    texts, labels = [item.text for item in data.items], [item.label for item in data.items]
    names = label_names(labels)
    targets = label_targets(data.items, names)
    probabilities, note = out_of_fold_probabilities(
        texts,
        targets,
        len(names),
        base=base,
        weights=training_weights(data.items),
        numbers=tabular_features_of(data.items),
        step=reporter.stage,
    )
    if note:
        reporter.note(note)
    reporter.stage(COMPARING)
    duplicates_of = conflicting_duplicates(texts, labels)
    issues: list[int] = []
    counts = evaluation_mask(data.items)  # items of weight 0 set no thresholds
    if beats_label_frequencies(probabilities[counts], targets[counts]):
        suspects = find_label_issues(probabilities, targets, counts)[0]
        alternatives = without_given(probabilities, targets)[suspects].argmax(axis=1)
        issues = suspects[separable(probabilities, targets, suspects, alternatives, counts)].tolist()
    else:
        reporter.warn(
            "out of fold, a linear model predicts the labels no better than how common the labels are, so "
            "it can call none unlikely; only equal texts with two labels are listed"
        )
    given_probabilities = probabilities[np.arange(len(texts)), targets]
    duplicates = unlikely_duplicates(duplicates_of, issues, dict(enumerate(given_probabilities.tolist())))
    suggested = without_given(probabilities, targets).argmax(axis=1)
    for number in duplicates:
        suggested[number] = targets[duplicates_of[number]]
    return [
        LabelIssue(
            data.items[number].line,
            names[targets[number]],
            names[suggested[number]],
            float(given_probabilities[number]),
            float(probabilities[number, suggested[number]]),
            texts[number],
            data.items[duplicates_of[number]].line if number in duplicates_of else 0,
        )
        for number in [*issues, *duplicates]
    ]


def out_of_fold_probabilities(
    texts: Sequence[str],
    targets: NDArray[np.int64],
    classes: int,
    *,
    base: str = AUTO,
    weights: NDArray[np.floating] | None = None,
    numbers: NDArray[np.floating] | None = None,
    step: StepReporter = ignore_step,
) -> tuple[NDArray[np.float64], str]:
    """Calibrated out-of-fold probabilities of a linear model, `[texts, classes]`, and a note on the choice
    of the base.

    Args:
        texts: The texts.
        targets: Label indices, `[texts]`.
        classes: Number of labels.
        base: See `noise_file`.
        weights: Weights of the texts, `[texts]`.
        numbers: Features of further columns, `[texts, features]`.
        step: Receives the name of each step.
    """
    step("computing the vectors of the texts")
    dense, note = vectors_of_texts(texts, base)
    examples = LinearExamples(texts, targets, classes, dense=dense, numbers=numbers, sample_weight=weights)
    with cross_validated(examples, step=step) as validated:
        scores = validated.oof_scores
    return softmax(scores.astype(np.float64), axis=1), note
