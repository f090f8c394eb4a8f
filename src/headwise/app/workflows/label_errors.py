"""Label errors: labels, label sets and tags of a file that are likely to be wrong.

Linear models (for tagged sentences, linear CRFs) predict each text out of fold; confident learning then
finds labels that do not fit the probabilities (`headwise.metrics.label_quality`). Of near-duplicates with
different labels, the less probable label is also listed.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.core.activations import expit, softmax
from headwise.core.config import JsonMapping
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.files.text_lines import file_name
from headwise.data.items.examples import MultiLabelExample, TaggedSentence, writable_separator
from headwise.data.items.item_types import (
    ITEM_TYPES_BY_TASK,
    infer_task,
    options_for,
    require_one_label_task,
)
from headwise.data.items.label_types import LABEL_SET_TYPE
from headwise.data.items.labels import (
    evaluation_mask,
    label_names,
    label_targets,
    multi_hot_targets,
    training_weights,
)
from headwise.data.splits.duplicates import find_near_duplicates, first_in_group
from headwise.data.splits.text_signatures import words_for_comparison
from headwise.linear.linear_fit import fit_linear
from headwise.linear.tabular_features import tabular_features_of
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.label_quality import beats_label_frequencies, find_label_issues, separable
from headwise.metrics.tag_schemes import Scheme, TagSpan, detect_scheme, write_tags
from headwise.text.static_embeddings.base_choice import AUTO, choose_word_groups, vectors_of_texts
from headwise.text.static_embeddings.word_groups import WordClusters


@dataclass(frozen=True)
class LabelIssue:
    """A text whose label is likely to be wrong.

    Attributes:
        line: Line number in the file.
        label: The label in the file.
        suggested: The most probable other label.
        given_probability: Probability of the label in the file.
        probability: Probability of the suggested label.
        text: The text, as in the file.
        twin: Line number of a near-duplicate with another label; 0 without one.
    """

    line: int
    label: str
    suggested: str
    given_probability: float
    probability: float
    text: str
    twin: int = 0

    noun: ClassVar[str] = "label"

    @property
    def passages(self) -> tuple[str, ...]:
        """The passages to display, the narrowest first."""
        return (self.text,)


def conflicting_duplicates(texts: Sequence[str], answers: Sequence[Hashable]) -> dict[int, int]:
    """For each text that has one, the index of a near-duplicate with another label, label set or number."""
    conflicting = dict[int, int]()
    for number, duplicates in find_near_duplicates([words_for_comparison(text) for text in texts]).items():
        twin = next((place for place in duplicates if answers[place] != answers[number]), None)
        if twin is not None:
            conflicting[number] = twin
    return conflicting


def unlikely_duplicates(
    duplicates_of: Mapping[int, int], listed: Collection[int], probabilities: Mapping[int, float]
) -> list[int]:
    """The less probable text of each pair of conflicting duplicates, the least probable first: at least one
    label of the pair is wrong. Pairs with a text that is listed anyway are left out.

    Args:
        duplicates_of: See `conflicting_duplicates`.
        listed: The texts that are listed anyway.
        probabilities: Probability of the label of each text, by index.
    """
    listed_texts = set(listed)
    pairs = (pair for pair in duplicates_of.items() if listed_texts.isdisjoint(pair))
    less_likely = dict.fromkeys(
        min(pair, key=lambda number: (probabilities[number], -number)) for pair in pairs
    )
    return sorted(less_likely, key=probabilities.__getitem__)


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
    sentences, the words with such tags (`headwise.app.workflows.label_errors.TagIssue`).

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
    )
    if note:
        reporter.note(note)
    duplicates_of = conflicting_duplicates(texts, labels)
    issues: list[int] = []
    counts = evaluation_mask(data.items)  # items of weight 0 set no thresholds
    if beats_label_frequencies(probabilities[counts], targets[counts]):
        suspects = find_label_issues(probabilities, targets, counts)[0]
        alternatives = _without(probabilities, targets)[suspects].argmax(axis=1)
        issues = suspects[separable(probabilities, targets, suspects, alternatives, counts)].tolist()
    else:
        reporter.warn(
            "out of fold, a linear model predicts the labels no better than how common the labels are, so "
            "it can call none unlikely; only equal texts with two labels are listed"
        )
    given_probabilities = probabilities[np.arange(len(texts)), targets]
    duplicates = unlikely_duplicates(duplicates_of, issues, dict(enumerate(given_probabilities.tolist())))
    suggested = _without(probabilities, targets).argmax(axis=1)
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


def _without(probabilities: NDArray[np.float64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probabilities with -1 for the given label of each item."""
    remaining = probabilities.copy()
    remaining[np.arange(len(targets)), targets] = -1.0
    return remaining


def out_of_fold_probabilities(
    texts: Sequence[str],
    targets: NDArray[np.int64],
    classes: int,
    *,
    base: str = AUTO,
    weights: NDArray[np.floating] | None = None,
    numbers: NDArray[np.floating] | None = None,
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
    """
    dense, note = vectors_of_texts(texts, base)
    scores = fit_linear(
        texts, targets, classes, dense=dense, numbers=numbers, sample_weight=weights
    ).oof_scores
    return softmax(scores.astype(np.float64), axis=1), note


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
    texts, names = (
        [item.text for item in items],
        label_names(label for item in items for label in item.labels),
    )
    has, counts = multi_hot_targets(items, names), evaluation_mask(items)
    dense, note = vectors_of_texts(texts, base)
    if note:
        reporter.note(note)
    fitted = fit_linear(
        texts,
        has,
        len(names),
        label_type=LABEL_SET_TYPE,
        dense=dense,
        numbers=tabular_features_of(items),
        sample_weight=training_weights(items),
    )
    probabilities = expit(fitted.oof_scores.astype(np.float64))
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
    listed = []
    for number in [*issues, *duplicates]:
        item, doubtful = items[number], wrong[number]
        flipped = [names[label] for label in np.flatnonzero(doubtful)]
        suggested = [name for name in item.labels if name not in flipped]
        suggested += [name for name in flipped if name not in item.labels]
        listed.append(
            LabelIssue(
                item.line,
                separator.join(item.labels),
                separator.join(suggested),
                float(given_probabilities[number][doubtful].prod()),
                float((1 - given_probabilities[number][doubtful]).prod()),
                item.text,
                items[duplicates_of[number]].line if number in duplicates_of else 0,
            )
        )
    return listed


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


_FOLDS = 5


@dataclass(frozen=True)
class TagIssue(LabelIssue):
    """Consecutive words of a sentence whose tags are likely to be wrong in the same way. `line` is that of
    the sentence, `twin` that of an equal sentence with another tag there.

    Attributes:
        words: The words.
        place: Place of the first word, `file:line`.
    """

    words: str = ""
    place: str = ""

    noun: ClassVar[str] = "tag"

    @property
    def passages(self) -> tuple[str, ...]:
        return self.words, self.text


def find_tag_issues(data: Any, reporter: Reporter = NULL_REPORTER, *, base: str = AUTO) -> list[TagIssue]:
    """The words of tagged sentences whose tags are likely to be wrong, the most likely first.

    Compared are the types of the spans (without spans, the tags), not where spans begin.

    Args:
        data: The data set of a file of tagged sentences.
        reporter: Receives notes and warnings.
        base: See `noise_file`.
    """
    items: list[TaggedSentence] = data.items
    scheme = detect_scheme(item.tags for item in items).scheme
    span_types = [[_span_type(tag, scheme) for tag in item.tags] for item in items]
    names = sorted({name for row in span_types for name in row})
    number = {name: place for place, name in enumerate(names)}
    targets = np.array([number[name] for row in span_types for name in row])
    groups, note = choose_word_groups((item.tokens for item in items), base)
    if note:
        reporter.note(note)
    probabilities = out_of_fold_type_probabilities(items, scheme, number, groups)
    if not beats_label_frequencies(probabilities, targets, calibrated=False):
        reporter.warn(
            "out of fold, a linear CRF predicts the tags no better than how common the tags are, so it can "
            "call none unlikely"
        )
        return []
    suspects, margins = find_label_issues(probabilities, targets)
    best = _without(probabilities, targets).argmax(axis=1)
    distinct = separable(probabilities, targets, suspects, best[suspects])
    margin = dict(zip(suspects[distinct].tolist(), margins[distinct].tolist(), strict=True))
    starts = np.cumsum([0, *map(len, span_types)]).tolist()
    runs = []
    for item, (start, stop) in enumerate(pairwise(starts)):
        same_error = groupby(range(start, stop), lambda n: (n in margin, int(targets[n]), int(best[n])))
        runs += [(item, [n - start for n in group]) for (doubtful, *_), group in same_error if doubtful]
    runs.sort(key=lambda run: min(margin[starts[run[0]] + n] for n in run[1]))
    tags_of_words = _tags_by_words(items)
    listed = []
    for item, places in runs:
        sentence, worst = items[item], min((starts[item] + n for n in places), key=lambda n: margin[n])
        first, suggested_type = places[0], names[best[worst]]
        apart = (
            line for line, tags in tags_of_words[sentence.tokens] if tags[first] != sentence.tags[first]
        )
        listed.append(
            TagIssue(
                sentence.line,
                sentence.tags[first],
                _single_word_tag(suggested_type, scheme),
                float(probabilities[worst, targets[worst]]),
                float(probabilities[worst, best[worst]]),
                sentence.text or " ".join(sentence.tokens),
                next(apart, 0),
                " ".join(sentence.tokens[n] for n in places),
                data.where(item, first),
            )
        )
    return listed


def out_of_fold_type_probabilities(
    items: Sequence[TaggedSentence],
    scheme: Scheme,
    number: dict[str, int],
    groups: WordClusters | None = None,
) -> NDArray[np.float64]:
    """Out-of-fold probabilities of the types of each word, `[words, types]`, by linear CRFs;
    near-duplicates are held out together.

    Args:
        items: The sentences.
        scheme: The tag scheme.
        number: Index of each type.
        groups: Word groups that the CRFs read with the words.
    """
    out_of_fold = [np.zeros((len(item.tokens), len(number))) for item in items]
    first = first_in_group([" ".join(item.tokens) for item in items], _FOLDS)
    part = np.random.default_rng(0).permutation(len(items))[first] % _FOLDS
    for fold in range(_FOLDS):
        held_out = np.flatnonzero(part == fold).tolist()
        rest = np.flatnonzero(part != fold).tolist()
        if not held_out or not rest:
            continue
        crf = fit_crf([items[n] for n in rest], scheme, groups=groups)
        probabilities, ends = crf.marginals([items[n].tokens for n in held_out])
        columns = [number[_span_type(tag, scheme)] for tag in crf.tags]
        for item, start, stop in zip(held_out, ends, ends[1:], strict=False):
            np.add.at(out_of_fold[item].T, columns, probabilities[start:stop].T)
    return np.concatenate(out_of_fold)


def _span_type(tag: str, scheme: Scheme) -> str:
    return tag if scheme == "plain" or tag == "O" else tag.partition("-")[2]


def _single_word_tag(span_type: str, scheme: Scheme) -> str:
    if scheme == "plain" or span_type == "O":
        return span_type
    return write_tags([TagSpan(0, 1, span_type)], 1, scheme)[0]


def _tags_by_words(
    items: Sequence[TaggedSentence],
) -> dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
    """Lines and tags of the sentences with the same words, by these words."""
    tags_by_words: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
    for sentence in items:
        tags_by_words.setdefault(sentence.tokens, []).append((sentence.line, sentence.tags))
    return tags_by_words
