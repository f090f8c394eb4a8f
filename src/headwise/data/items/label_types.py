"""Label types: a label, a set of labels, a number, tags, the next symbol, or masked words.

One item type can have different label types. A label type validates a training file, checks other files
against it, and gives the strata of a split.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from headwise.core.errors import HeadwiseError
from headwise.data.errors import DataError
from headwise.data.findings import abbreviate
from headwise.data.formats.tag_checks import marks_entities, span_type
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import DisplayNames
from headwise.data.items.labels import (
    all_labels,
    classification_targets,
    label_names,
    label_targets,
    multi_hot_targets,
)
from headwise.data.items.numeric_labels import parse_numeric_labels
from headwise.data.items.training_labels import check_label_names, drop_unknown_labels, respell_labels

_SKIP_ADVICE = "--split.unknown-labels skip leaves out what has such labels"


class LabelType:
    """The label type of items (base class)."""

    classes: ClassVar[bool] = True
    """Whether labels are recurring names rather than numbers."""

    one_label: ClassVar[bool] = False
    """Whether each item has exactly one label."""

    multi_label: ClassVar[bool] = False
    """Whether each item has a set of labels."""

    numeric: ClassVar[bool] = False
    """Whether each item has a number."""

    self_supervised: ClassVar[bool] = False
    """Whether the targets are part of the text itself, so that any text can be evaluated."""

    column: ClassVar[str] = "--label-column"
    """The command-line flag that names the label column."""

    noun: ClassVar[str] = "class"
    """The doctor's word for a recurring label."""

    def strata(self, items: Sequence[Any]) -> list[str | None]:
        """The stratum of each item for a stratified split; None for no stratum."""
        return [None] * len(items)

    def label_sets(self, items: Sequence[Any]) -> list[Collection[str]]:
        """The labels (or tags) of each item, which the training side of a split is to have; none where
        labels are no names."""
        return [()] * len(items)

    def names(self, items: Sequence[Any]) -> tuple[str, ...]:
        """The labels that a model of these items has, in order; none where labels are no names."""
        return ()

    def is_unlabelled(self, item: Any) -> bool:
        """Whether an item lacks a label of this type."""
        return False

    def check_items(self, items: Sequence[Any], part: str, nouns: DisplayNames) -> None:
        """Check that all items of a part of the data are labelled, wherever they come from.

        Raises:
            DataError: HW120 at the first item without a label.
        """
        for place, item in enumerate(items):
            if self.is_unlabelled(item):
                answer = getattr(item, "label", None) if not item.labels else item.labels
                problem = f"{nouns.one} {place + 1} of {part} has {answer!r} as its answer"
                advice = f"leave it out, or name the answers' column with {self.column}"
                raise DataError("HW120", problem, expected="a text", advice=advice, line=item.line or None)

    def check(self, data: Dataset, nouns: DisplayNames) -> None:
        """Check that a file can be trained on.

        Raises:
            HeadwiseError: HW406, there are too few distinct labels.
            DataError: A label is of another type.
        """

    def respell_as_training(
        self, training_labels: Sequence[str], data: Dataset
    ) -> tuple[Dataset, tuple[str, ...]]:
        """The data with labels spelt as in training (`1.0` as `1`), and notes for the user."""
        return data, ()

    def without_unknown_labels(
        self, training_labels: Sequence[str], data: Dataset, nouns: DisplayNames
    ) -> tuple[Dataset, tuple[str, ...]]:
        """The data without the items that have labels unknown to the model, and notes for the user;
        unchanged if no item would be left."""
        return data, ()

    def check_against_train(self, train: Dataset, held_out: Dataset) -> tuple[str, ...]:
        """Check a dev or test file against the training file, and return notes for the user.

        Raises:
            DataError: HW140 at the first item with a label that training lacks; HW287, a label is not a
                number.
        """
        return ()

    def training_notes(self, train: Sequence[Any], labels: Sequence[str]) -> tuple[str, ...]:
        """Notes for the user about the training part of a file that has these labels."""
        return ()

    def with_labels_of(self, items: Sequence[Any], labels: Collection[str]) -> list[Any]:
        """The items with these labels only; where labels are no names, all items."""
        return list(items)

    def fields(self, item: Any) -> str | None:
        """The label of an item as text, for the fingerprint."""
        return item.label

    def targets(self, items: Sequence[Any], labels: Sequence[str]) -> np.ndarray:
        """The targets of items by which a linear model is scored, `[items]` or `[items, labels]`.

        Raises:
            TypeError: Linear models of texts do not support the label type.
            DataError: HW287, a label is not a number.
        """
        raise TypeError(f"no linear model of texts for {type(self).__name__}")

    def training_targets(self, items: Sequence[Any], labels: Sequence[str]) -> np.ndarray:
        """The targets that a linear model is fitted to; unlike `targets`, they may be soft labels."""
        return self.targets(items, labels)

    def linear_score(self, scores: np.ndarray, targets: np.ndarray) -> float:
        """The primary metric of the scores of a linear model, `[items, outputs]`."""
        raise NotImplementedError


_LEAST_SCALE_POINTS = 4
"""Least number of different whole-number labels that may be meant as a scale rather than as classes."""


def too_few_labels_error(
    data: Dataset, problem: str, needed: str, nouns: DisplayNames, column: str
) -> HeadwiseError:
    """HW406: the error for a file with too few labels to train on."""
    return HeadwiseError(
        f"{data.path}: {problem} in {nouns.count(len(data.items))} (read as {data.format}); {needed}. If "
        f"another column holds them, name it with {column}",
        code="HW406",
    )


def require_two_labels(data: Dataset, noun: str, nouns: DisplayNames, column: str) -> None:
    """Check that a file has two or more labels, or tags; `noun` is the word for one."""
    if len(data.labels) < 2:
        problem = f"only the {noun} {next(iter(data.labels))!r}" if data.labels else f"no {noun}s"
        raise too_few_labels_error(data, problem, f"two or more {noun}s are needed", nouns, column)


class NamedLabelType(LabelType):
    """Labels that are names, which files may spell in several ways (base class)."""

    def respell_as_training(
        self, training_labels: Sequence[str], data: Dataset
    ) -> tuple[Dataset, tuple[str, ...]]:
        return respell_labels(training_labels, data)

    def without_unknown_labels(
        self, training_labels: Sequence[str], data: Dataset, nouns: DisplayNames
    ) -> tuple[Dataset, tuple[str, ...]]:
        return drop_unknown_labels(training_labels, data, nouns)


class SingleLabelType(NamedLabelType):
    """One of two or more labels."""

    one_label = True

    def is_unlabelled(self, item) -> bool:
        return not isinstance(item.label, str)

    def with_labels_of(self, items, labels: Collection[str]) -> list:
        return [item for item in items if item.label in labels]

    def strata(self, items) -> list[str | None]:
        return [item.label for item in items]

    def label_sets(self, items) -> list[Collection[str]]:
        return [(item.label,) for item in items]

    def names(self, items) -> tuple[str, ...]:
        return tuple(all_labels(items))

    def targets(self, items, labels) -> np.ndarray:
        return label_targets(items, labels)

    def training_targets(self, items, labels) -> np.ndarray:
        return classification_targets(items, labels)

    def linear_score(self, scores, targets) -> float:
        """The accuracy."""
        return float((scores.argmax(axis=1) == targets).mean())

    def check(self, data: Dataset, nouns: DisplayNames) -> None:
        if len(all_labels(data.items)) < 2:  # soft labels may name more labels
            require_two_labels(data, "label", nouns, self.column)

    def check_against_train(self, train: Dataset, held_out: Dataset) -> tuple[str, ...]:
        training_labels = dict.fromkeys([*train.labels, *all_labels(train.items)])
        check_label_names(list(training_labels), held_out, train.path, _SKIP_ADVICE)
        return ()

    def training_notes(self, train, labels: Sequence[str]) -> tuple[str, ...]:
        numbers = sorted(int(label) for label in labels if label.isascii() and label.isdecimal())
        if len(numbers) < max(len(labels), _LEAST_SCALE_POINTS) or numbers[-1] - numbers[0] >= 2 * len(
            numbers
        ):
            return ()
        message = f"labels are whole numbers, {numbers[0]} to {numbers[-1]}, read as classes"
        return (f"{message}; --task regress (of pairs pair-score) takes numbers",)


class LabelSetType(NamedLabelType):
    """Any number of labels, including none (multi-label)."""

    noun, multi_label = "label", True

    def is_unlabelled(self, item) -> bool:
        return not all(isinstance(label, str) for label in item.labels)

    def with_labels_of(self, items, labels: Collection[str]) -> list:
        return [
            replace(item, labels=tuple(label for label in item.labels if label in labels)) for item in items
        ]

    def strata(self, items) -> list[str | None]:
        """The rarest label of each item, so that rare labels are spread over all parts."""
        counts = Counter(label for item in items for label in item.labels)
        return [min(item.labels, key=lambda label: (counts[label], label), default="") for item in items]

    def label_sets(self, items) -> list[Collection[str]]:
        return [item.labels for item in items]

    def names(self, items) -> tuple[str, ...]:
        return tuple(label_names(label for item in items for label in item.labels))

    def targets(self, items, labels) -> np.ndarray:
        return multi_hot_targets(items, labels)

    def linear_score(self, scores, targets) -> float:
        """The micro-averaged F1."""
        from headwise.metrics.multi_label_scores import micro_f1, set_counts

        return float(micro_f1(set_counts(scores > 0, targets).sum(axis=0)))

    def check(self, data: Dataset, nouns: DisplayNames) -> None:
        if not data.labels:
            raise too_few_labels_error(data, "no labels", "one or more are needed", nouns, self.column)

    def check_against_train(self, train: Dataset, held_out: Dataset) -> tuple[str, ...]:
        check_label_names(train.labels, held_out, train.path, _SKIP_ADVICE)
        return ()

    def training_notes(self, train, labels: Sequence[str]) -> tuple[str, ...]:
        training_labels = {label for item in train for label in item.labels}
        lost = [repr(label) for label in labels if label not in training_labels]
        if not lost:
            return ()
        return (f"labels that only dev or test has, which cannot be learnt: {abbreviate(lost)}",)


class NumericLabelType(LabelType):
    """A number, such as a score or a price."""

    classes, numeric = False, True

    def is_unlabelled(self, item) -> bool:
        return item.label is None

    def check(self, data: Dataset, nouns: DisplayNames) -> None:
        if len(data.labels) < 2:
            problem = f"only the number {next(iter(data.labels))}" if data.labels else "no numbers"
            raise too_few_labels_error(
                data, problem, "two or more different ones are needed", nouns, self.column
            )
        self.numbers(data.items, data.path)

    def check_against_train(self, train: Dataset, held_out: Dataset) -> tuple[str, ...]:
        self.numbers(held_out.items, held_out.path)
        return ()

    def targets(self, items, labels) -> np.ndarray:
        return self.numbers(items)

    def linear_score(self, scores, targets) -> float:
        """The mean absolute error."""
        return float(np.abs(scores[:, 0] - targets).mean())

    def numbers(self, items, path: str = "") -> np.ndarray:
        """The numbers of items, `[items]`, float64.

        Raises:
            DataError: HW287, one is not a number.
        """
        return parse_numeric_labels([item.label for item in items], [item.line for item in items], path)


class TagSequenceType(LabelType):
    """A tag for each word."""

    column = "--tag-column"

    def label_sets(self, items) -> list[Collection[str]]:
        return [{*item.tags} for item in items]

    def is_unlabelled(self, item) -> bool:
        return len(item.tags) != len(item.tokens)

    def check(self, data: Dataset, nouns: DisplayNames) -> None:
        require_two_labels(data, "tag", nouns, self.column)

    def check_against_train(self, train: Dataset, held_out: Dataset) -> tuple[str, ...]:
        strange = [tag for tag in held_out.labels if tag not in train.labels]
        spans, held_out_spans = marks_entities(train.labels), marks_entities(held_out.labels)
        if strange and spans != held_out_spans:
            raise _span_marking_error(train, held_out, spans, strange)
        types = {span_type(tag) for tag in train.labels}
        written_otherwise = [tag for tag in strange if spans and span_type(tag) in types]
        unknown = [tag for tag in strange if tag not in written_otherwise]
        notes = []
        if unknown:
            notes.append(f"tags that training does not have: {', '.join(unknown[:8])}")
        if written_otherwise:
            shown = ", ".join(written_otherwise[:8])
            notes.append(f"tags of another scheme than in training, which mark the same spans: {shown}")
        return tuple(notes)

    def fields(self, item) -> str | None:
        return "\n".join(item.tags)


def _span_marking_error(train: Dataset, held_out: Dataset, spans: bool, strange: list[str]) -> DataError:
    """The error that one of two files marks spans, and the other does not."""
    first = next(item for item in held_out.items if not {*strange}.isdisjoint(item.tags))
    tag = next(tag for tag in first.tags if tag in strange)
    problem = f"the tag {tag!r} marks {'no span' if spans else 'a span'}"
    expected = f"tags as in {train.path}: {', '.join([*train.labels][:4])}"
    advice = "write B- before the type where a span begins and I- where it goes on, in both files"
    return DataError(
        "HW140", problem, expected=expected, advice=advice, path=held_out.path, line=first.line
    )


class NextSymbolType(LabelType):
    """The next symbol of a text (language modelling)."""

    classes, self_supervised = False, True

    def check_items(self, items, part: str, nouns: DisplayNames) -> None:
        """Never fails: every symbol but the last has a next one."""


class MaskedWordType(LabelType):
    """The text's own words, some of them masked (masked language modelling)."""

    classes, self_supervised = False, True

    def check(self, data: Dataset, nouns: DisplayNames) -> None:
        if not any(item.text.strip() for item in data.items):
            raise HeadwiseError(
                f"{data.path}: none of {len(data.items):,} {nouns.many} has words", code="HW406"
            )


SINGLE_LABEL_TYPE = SingleLabelType()
LABEL_SET_TYPE = LabelSetType()
NUMERIC_LABEL_TYPE = NumericLabelType()
TAGS = TagSequenceType()
NEXT_SYMBOL = NextSymbolType()
MASKED_WORD_TYPE = MaskedWordType()
