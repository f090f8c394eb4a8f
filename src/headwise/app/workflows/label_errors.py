"""Label errors: which labels, label sets or tags of a file are likely to be wrong.

Each text is judged by linear models (sentences by a linear CRF) that were trained without it. A finding
also names texts that are the same or nearly so, but have another label.
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
from headwise.data.items.item_types import ITEM_TYPES, infer_task, options_for, require_one_label_task
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
from headwise.linear.tabular_features import features_beside
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.label_quality import beats_label_frequencies, find_label_issues, separable
from headwise.metrics.tag_schemes import Scheme, TagSpan, detect_scheme, write_tags
from headwise.text.static_embeddings.base_choice import AUTO, choose_word_groups, vectors_of_texts
from headwise.text.static_embeddings.word_groups import WordClusters


@dataclass(frozen=True)
class LabelIssue:
    """A text whose label is likely to be wrong.

    Attributes:
        line: Of the file.
        label: As given.
        suggested: The most probable other label.
        given_probability: Of the given label.
        probability: Of the suggested one.
        text: As it stands in the file.
        twin: The line of the same or nearly the same text with another label; 0 where there is none.
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
        """What a list shows of the text, the narrowest passage first."""
        return (self.text,)


def conflicting_duplicates(texts: Sequence[str], answers: Sequence[Hashable]) -> dict[int, int]:
    """Of each text that has one, another that is the same or nearly so, but has another answer."""
    twins = dict[int, int]()
    for number, duplicates in find_near_duplicates([words_for_comparison(text) for text in texts]).items():
        twin = next((place for place in duplicates if answers[place] != answers[number]), None)
        if twin is not None:
            twins[number] = twin
    return twins


def unlikely_duplicates(
    twins: Mapping[int, int], doubtful: Collection[int], likely: Mapping[int, float]
) -> list[int]:
    """Of each text and its twin (see `conflicting_duplicates`) the one whose answer is less likely, the
    least likely
    first: of two answers to one text at least one is wrong, whatever a model thinks. Not where one of them
    is doubtful anyway."""
    doubtful_rows = set(doubtful)
    pairs = (pair for pair in twins.items() if doubtful_rows.isdisjoint(pair))
    less_likely = dict.fromkeys(min(pair, key=lambda number: (likely[number], -number)) for pair in pairs)
    return sorted(less_likely, key=likely.__getitem__)


MIN_TEXTS = 20


@renamed_parameters(listener="reporter")
def noise_file(
    file: Path | str,
    *,
    base: str = AUTO,
    reading: JsonMapping | None = None,
    reporter: Reporter = NULL_REPORTER,
) -> list[LabelIssue]:
    """The texts of a file whose labels are likely to be wrong, the likeliest first (of label sets see
    `headwise.app.workflows.label_errors`); of a file of tagged sentences the words, as
    `headwise.app.workflows.label_errors.TagIssue`s.

    Args:
        file: Texts with one label or a set of labels each, or tagged sentences; "-" is standard input.
        base: Whose vectors, of tagged sentences groups of words, are read beside the words: `auto`, `none`,
            or what `--base` takes.
        reading: How the file is read, where that is not to be guessed.
        reporter: Is told what happens.

    Raises:
        HeadwiseError: The file cannot be read, or its texts are too few.
    """
    file = file_name(file)
    if (tagged := _read_tagged_file(file, reading, MIN_TEXTS, reporter)) is not None:
        return [*find_tag_issues(tagged, reporter, base=base)]
    if (sets := _read_label_sets(file, reading, MIN_TEXTS, reporter)) is not None:
        return find_label_set_issues(sets, reporter, base=base)
    data, names = _read_labelled(file, reading, MIN_TEXTS, reporter)
    texts, labels = [item.text for item in data.items], [item.label for item in data.items]
    targets = label_targets(data.items, names)
    chances, note = out_of_fold_probabilities(
        texts,
        targets,
        len(names),
        base=base,
        weights=training_weights(data.items),
        numbers=features_beside(data.items),
    )
    if note:
        reporter.note(note)
    twins = conflicting_duplicates(texts, labels)
    doubtful: list[int] = []
    counts = evaluation_mask(data.items)  # what counts nothing may say anything
    if beats_label_frequencies(chances[counts], targets[counts]):
        suspect_rows = find_label_issues(chances, targets, counts)[0]
        other_chances = chances[suspect_rows]
        other_chances[np.arange(len(suspect_rows)), targets[suspect_rows]] = -1.0
        doubtful = suspect_rows[
            separable(chances, targets, suspect_rows, other_chances.argmax(axis=1), counts)
        ].tolist()
    else:
        reporter.warn(
            "a linear model tells the labels of texts that it was not trained on no better than how common "
            "the labels are, so it can call none unlikely; only equal texts with two labels are listed"
        )
    label_chances = chances[np.arange(len(texts)), targets]
    likely = dict(enumerate(label_chances.tolist()))
    unlikely = unlikely_duplicates(twins, doubtful, likely)
    apart = set(unlikely)
    listed = []
    for number in [*doubtful, *unlikely]:
        row, label_id, twin = chances[number].copy(), int(targets[number]), twins.get(number)
        row[label_id] = -1.0
        best = int(targets[twin]) if number in apart and twin is not None else int(row.argmax())
        chance, line = float(row[best]), 0 if twin is None else data.items[twin].line
        where, text = data.items[number].line, texts[number]
        listed.append(
            LabelIssue(
                where, names[label_id], names[best], float(label_chances[number]), chance, text, line
            )
        )
    return listed


def out_of_fold_probabilities(
    texts: Sequence[str],
    targets: NDArray[np.int64],
    classes: int,
    *,
    base: str = AUTO,
    weights: NDArray[np.floating] | None = None,
    numbers: NDArray[np.floating] | None = None,
) -> tuple[NDArray[np.float64], str]:
    """Calibrated probabilities of each text by a linear model that was trained without its fold,
    `[texts, classes]`, and what there is to say of the base. `weights`: how much each text teaches;
    `numbers`: features of the columns beside the texts."""
    dense, note = vectors_of_texts(texts, base)
    scores = fit_linear(
        texts, targets, classes, dense=dense, numbers=numbers, sample_weight=weights
    ).oof_scores
    return softmax(scores.astype(np.float64), axis=1), note


_SUFFICIENT_PROBABILITY = 0.98
"""A probability of a label, or of none, that is enough where the mean is higher, as that of none is where a
label is rare: of 111 such labels 5 to 7 points more of what is wrong are found, as precisely, and of 4 and
17 others nothing else (benchmarks/defaults/set_noise.py)."""


def find_label_set_issues(
    data: Any, reporter: Reporter = NULL_REPORTER, *, base: str = AUTO
) -> list[LabelIssue]:
    """The texts whose sets of labels are likely to be wrong, the likeliest first; `suggested` is the set
    without the labels that are unlikely, and with those that seem to be missing. The probabilities are of
    these labels alone: that they are as given, and as suggested.

    Args:
        data: Of a file of label sets.
        reporter: Is told where nothing can be said.
        base: Whose vectors are read beside the words: `auto`, `none`, or what `--base` takes.
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
        dense=dense,
        numbers=features_beside(items),
        sample_weight=training_weights(items),
    )
    chances = expit(fitted.oof_scores.astype(np.float64))
    wrong, is_predictable = wrong_labels(chances, has, counts)
    if not is_predictable.any():
        reporter.warn(
            "a linear model tells no label of texts that it was not trained on better than how common it "
            "is, so it can call none unlikely; only equal texts with two sets are listed"
        )
    set_chances = np.where(has, chances, 1 - chances)
    margins = np.where(wrong, 2 * set_chances - 1, 1.0).min(axis=1)
    doubtful = np.flatnonzero(wrong.any(axis=1))
    doubtful = doubtful[np.argsort(margins[doubtful], kind="stable")].tolist()
    twins = conflicting_duplicates(texts, [frozenset(item.labels) for item in items])
    apart = {number: has[twin] != has[number] for number, twin in twins.items()}
    likely = {number: float(set_chances[number][cells].prod()) for number, cells in apart.items()}
    unlikely = unlikely_duplicates(twins, doubtful, likely)
    for number in unlikely:
        wrong[number] = apart[number]
    separator = writable_separator(data)
    listed = []
    for number in [*doubtful, *unlikely]:
        item, twin, doubted = items[number], twins.get(number), wrong[number]
        flipped = [names[label] for label in np.flatnonzero(doubted)]
        better = [name for name in item.labels if name not in flipped]
        better += [name for name in flipped if name not in item.labels]
        chance, rather = set_chances[number][doubted].prod(), (1 - set_chances[number][doubted]).prod()
        line = 0 if twin is None else items[twin].line
        cells = separator.join(item.labels), separator.join(better)
        listed.append(LabelIssue(item.line, *cells, float(chance), float(rather), item.text, line))
    return listed


def wrong_labels(
    chances: NDArray[np.float64], has: NDArray[np.bool_], counts: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each text is likely to be wrong about each label, `[texts, labels]`, and whether the
    probabilities tell anything of the label, `[labels]`: each is judged for itself, as a label of two (see
    `headwise.metrics.label_quality`).

    Args:
        chances: By models that were trained without the text, `[texts, labels]`.
        has: The labels that are given, `[texts, labels]`.
        counts: Which texts say what is usual, `[texts]`; all by default.
    """
    counted_rows = np.ones(len(has), dtype=np.bool_) if counts is None else counts
    wrong, is_predictable = np.zeros_like(has), np.zeros(has.shape[1], dtype=np.bool_)
    for label, (chance, has_label) in enumerate(zip(chances.T, has.T, strict=True)):
        both, targets = np.stack([1 - chance, chance], axis=1), has_label.astype(np.int64)
        if told_of := beats_label_frequencies(both[counted_rows], targets[counted_rows]):
            suspect_rows = find_label_issues(both, targets, counted_rows, _SUFFICIENT_PROBABILITY)[0]
            wrong[
                suspect_rows[
                    separable(both, targets, suspect_rows, 1 - targets[suspect_rows], counted_rows)
                ],
                label,
            ] = True
        is_predictable[label] = told_of
    return wrong, is_predictable


_FOLDS = 5


@dataclass(frozen=True)
class TagIssue(LabelIssue):
    """Neighbouring words of a sentence whose tags are likely to be wrong in the same way; `line` is that of
    the sentence, `twin` that of an equal one with another tag there.

    Attributes:
        words: The words in question.
        place: Where the first of them stands, `file:line`.
    """

    words: str = ""
    place: str = ""

    noun: ClassVar[str] = "tag"

    @property
    def passages(self) -> tuple[str, ...]:
        return self.words, self.text


def find_tag_issues(data: Any, reporter: Reporter = NULL_REPORTER, *, base: str = AUTO) -> list[TagIssue]:
    """The words of tagged sentences whose tags are likely to be wrong, the likeliest first.

    What is judged is the type of the span that a word is in (of tags that mark no spans the tag), not where
    a span begins.

    Args:
        data: Of a file of tagged sentences.
        reporter: Is told where nothing can be said.
        base: Whose groups of words are read beside the words: `auto`, `none`, or what `--base` takes.
    """
    items: list[TaggedSentence] = data.items
    scheme = detect_scheme(item.tags for item in items).scheme
    kinds = [[_type(tag, scheme) for tag in item.tags] for item in items]
    names = sorted({kind for row in kinds for kind in row})
    number = {name: place for place, name in enumerate(names)}
    targets = np.array([number[kind] for row in kinds for kind in row])
    groups, note = choose_word_groups((item.tokens for item in items), base)
    if note:
        reporter.note(note)
    chances = out_of_fold_type_probabilities(items, scheme, number, groups)
    if not beats_label_frequencies(chances, targets, calibrated=False):
        reporter.warn(
            "a linear CRF tells the tags of sentences that it was not trained on no better than how common "
            "the tags are, so it can call none unlikely"
        )
        return []
    suspect_words, margins = find_label_issues(chances, targets)
    other_chances = chances.copy()
    other_chances[np.arange(len(targets)), targets] = -1.0
    best = other_chances.argmax(axis=1)
    distinct = separable(chances, targets, suspect_words, best[suspect_words])
    margin = dict(zip(suspect_words[distinct].tolist(), margins[distinct].tolist(), strict=True))
    starts = np.cumsum([0, *map(len, kinds)]).tolist()
    runs = []
    for item, (start, stop) in enumerate(pairwise(starts)):
        groups_alike = groupby(range(start, stop), lambda n: (n in margin, int(targets[n]), int(best[n])))
        runs += [(item, [n - start for n in group]) for (doubtful, *_), group in groups_alike if doubtful]
    runs.sort(key=lambda run: min(margin[starts[run[0]] + n] for n in run[1]))
    twins = _tags_by_words(items)
    listed = []
    for item, places in runs:
        sentence, worst = items[item], min((starts[item] + n for n in places), key=lambda n: margin[n])
        first, suggested_type = places[0], names[best[worst]]
        apart = (line for line, tags in twins[sentence.tokens] if tags[first] != sentence.tags[first])
        listed.append(
            TagIssue(
                sentence.line,
                sentence.tags[first],
                _tag(suggested_type, scheme),
                float(chances[worst, targets[worst]]),
                float(chances[worst, best[worst]]),
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
    """Probabilities of the types of each word by CRFs that were trained without its sentence and those like
    it (see `near_duplicate_keys`), `[words, types]`."""
    chances = [np.zeros((len(item.tokens), len(number))) for item in items]
    first = first_in_group([" ".join(item.tokens) for item in items], _FOLDS)
    part = np.random.default_rng(0).permutation(len(items))[first] % _FOLDS
    for fold in range(_FOLDS):
        held_out = np.flatnonzero(part == fold).tolist()
        rest = np.flatnonzero(part != fold).tolist()
        if not held_out or not rest:
            continue
        crf = fit_crf([items[n] for n in rest], scheme, groups=groups)
        probabilities, ends = crf.marginals([items[n].tokens for n in held_out])
        columns = [number[_type(tag, scheme)] for tag in crf.tags]
        for item, start, stop in zip(held_out, ends, ends[1:], strict=False):
            np.add.at(chances[item].T, columns, probabilities[start:stop].T)
    return np.concatenate(chances)


def _type(tag: str, scheme: Scheme) -> str:
    return tag if scheme == "plain" or tag == "O" else tag.partition("-")[2]


def _tag(kind: str, scheme: Scheme) -> str:
    """The tag of the first word of a span of a type."""
    return kind if scheme == "plain" or kind == "O" else write_tags([TagSpan(0, 1, kind)], 1, scheme)[0]


def _tags_by_words(
    items: Sequence[TaggedSentence],
) -> dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
    """Lines and tags of the sentences of the same words."""
    tags_by_words: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
    for sentence in items:
        tags_by_words.setdefault(sentence.tokens, []).append((sentence.line, sentence.tags))
    return tags_by_words


def _read_labelled(
    file: str, reading: JsonMapping | None, least: int, reporter: Reporter
) -> tuple[Any, list[str]]:
    """A file of texts with one label each, and the names of the labels.

    Args:
        file: The file; "-" is standard input.
        reading: How it is read, where that is not to be guessed.
        least: How many texts it must have.
        reporter: Is told what was noticed.

    Raises:
        HeadwiseError: The file cannot be read, or has too few texts or labels.
    """
    item_type, options = ITEM_TYPES["classify"], dict(reading or {})
    task = require_one_label_task(file, options)
    data = item_type.read(file, options_for(task, options))
    reporter.notes(data.notes)
    names = label_names(item.label for item in data.items)
    if len(data.items) < least or len(names) < 2:
        raise ConfigError(
            f"{data.path}: {len(data.items):,} texts with {len(names)} labels; expected {least} or more "
            "texts with two or more labels"
        )
    return data, names


def _read_tagged_file(file: str, reading: JsonMapping | None, least: int, reporter: Reporter) -> Any | None:
    """A file of tagged sentences, likewise; None if it is none."""
    data = _read_items_of("tag", "tagged sentences", file, reading, reporter)
    if data is not None and (len(data.items) < least or len(data.labels) < 2):
        raise ConfigError(
            f"{data.path}: {len(data.items):,} sentences with {len(data.labels)} tags; expected {least} or "
            "more sentences with two or more tags"
        )
    return data


def _read_label_sets(file: str, reading: JsonMapping | None, least: int, reporter: Reporter) -> Any | None:
    """A file of texts with any number of labels, likewise; None if it is none."""
    data = _read_items_of("multi-label", "label sets", file, reading, reporter)
    if data is not None and (len(data.items) < least or not any(item.labels for item in data.items)):
        raise ConfigError(
            f"{data.path}: {len(data.items):,} texts with sets of labels; expected {least} or more texts, "
            "and a label"
        )
    return data


def _read_items_of(
    task_name: str, what: str, file: str, reading: JsonMapping | None, reporter: Reporter
) -> Any | None:
    """The data set of a file with the items of a task; None if the file has items of another type."""
    item_type, options = ITEM_TYPES[task_name], dict(reading or {})
    task, why = infer_task(file, options)
    if ITEM_TYPES[task] is not item_type:
        return None
    reporter.note(f"a file of {what} ({why})")
    data = item_type.read(file, options_for(task, options))
    reporter.notes(data.notes)
    return data
