"""Scores of taggers: of spans that match exactly (precision, recall, F1), and of single words.

A predicted span is right if the text has a span of the same type over the same words. Spans are read from
tags by `headwise.metrics.tag_schemes.read_spans`; the scores are then those of conlleval and of seqeval.
Scores of words are for tags such as parts of speech.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.metrics.classification_scores import score_labels
from headwise.metrics.resampling import Counts, ScoreDifference, bootstrap_interval, compare_counts
from headwise.metrics.tag_schemes import TagSpan

Spans = Sequence[TagSpan]
"""The spans of one text."""


@dataclass(frozen=True)
class TypeScore:
    """Scores of the spans of one type.

    Attributes:
        type: The type; empty for spans without a type.
        precision: Fraction of the predicted spans that are right; 0 where none is predicted.
        recall: Fraction of the true spans that are predicted; 0 where there is none.
        f1: Harmonic mean of the two; 0 where nothing is right.
        spans: Number of true spans of this type.
        predicted: Number of predicted spans of this type.
    """

    type: str
    precision: float
    recall: float
    f1: float
    spans: int
    predicted: int


@dataclass(frozen=True)
class EntityScores:
    """Scores of a tagger on texts with known spans.

    Attributes:
        texts: Number of texts.
        precision: Micro-averaged precision over all types; see `TypeScore`.
        recall: Micro-averaged recall.
        f1: Micro-averaged F1.
        f1_interval: 95 % bootstrap interval of the F1, over texts.
        macro_f1: Mean F1 of the types that occur in the texts or in the predictions; 0 where none does.
        spans: Number of true spans.
        predicted: Number of predicted spans.
        types: The scores of each type, in alphabetical order.
    """

    texts: int
    precision: float
    recall: float
    f1: float
    f1_interval: tuple[float, float]
    macro_f1: float
    spans: int
    predicted: int
    types: tuple[TypeScore, ...]


def score_entities(predicted: Sequence[Spans], targets: Sequence[Spans]) -> EntityScores:
    """Scores of the predicted spans of each text against the true ones.

    Raises:
        ValueError: There are no texts, or more of the one than of the other.
    """
    counts = count_entities(predicted, targets)
    there, predicted_counts, right = Counter(), Counter(), Counter()
    for guess, truth in zip(predicted, targets, strict=True):
        there.update(span.type for span in truth)
        predicted_counts.update(span.type for span in guess)
        right.update(span.type for span in set(guess) & set(truth))
    types = tuple(
        TypeScore(
            kind,
            *_rates(right[kind], predicted_counts[kind], there[kind]),
            there[kind],
            predicted_counts[kind],
        )
        for kind in sorted(there | predicted_counts)
    )
    precision, recall, f1 = _rates(right.total(), predicted_counts.total(), there.total())
    return EntityScores(
        texts=len(targets),
        precision=precision,
        recall=recall,
        f1=f1,
        f1_interval=bootstrap_interval(counts, f1_of),
        macro_f1=sum(score.f1 for score in types) / max(len(types), 1),
        spans=there.total(),
        predicted=predicted_counts.total(),
        types=types,
    )


def count_entities(predicted: Sequence[Spans], targets: Sequence[Spans]) -> Counts:
    """Right, predicted and true spans of each text, `[texts, 3]`.

    Raises:
        ValueError: There are no texts, or more of the one than of the other.
    """
    if len(targets) == 0:
        raise ValueError("no texts to score")
    return np.array(
        [
            (len(set(guess) & set(truth)), len(guess), len(truth))
            for guess, truth in zip(predicted, targets, strict=True)
        ],
        dtype=np.int64,
    )


def f1_of(counts: Counts | NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 from right, predicted and true spans: `[..., 3]` -> `[...]`; 0 where nothing is right."""
    return 2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1)


def compare_entities(
    first: Sequence[Spans], second: Sequence[Spans], targets: Sequence[Spans]
) -> ScoreDifference:
    """Paired comparison of the F1 of two taggers on the same texts."""
    return compare_counts(count_entities(first, targets), count_entities(second, targets), f1_of)


def _rates(right: int, predicted: int, spans: int) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    return right / max(predicted, 1), right / max(spans, 1), 2 * right / max(predicted + spans, 1)


@dataclass(frozen=True)
class TagScore:
    """Scores of one tag; `words` is the number of words with this tag."""

    tag: str
    precision: float
    recall: float
    f1: float
    words: int


@dataclass(frozen=True)
class TokenScores:
    """Scores of a tagger on tagged texts.

    Attributes:
        texts: Number of texts.
        words: Number of words of all texts.
        accuracy: Fraction of the words with the right tag.
        accuracy_interval: 95 % bootstrap interval of the accuracy, over texts.
        macro_f1: Mean F1 of the tags that occur in the texts or in the predictions.
        tags: The scores of each tag.
    """

    texts: int
    words: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    macro_f1: float
    tags: tuple[TagScore, ...]


def score_tags(
    predicted: Sequence[np.ndarray], targets: Sequence[np.ndarray], tags: Sequence[str]
) -> TokenScores:
    """Scores of predicted tag indices against the true ones, both `[words]` for each text.

    Raises:
        ValueError: There are no words, or not as many of the one as of the other.
    """
    counts = count_tags(predicted, targets)
    scores = score_labels(np.concatenate(predicted), np.concatenate(targets), tags)
    return TokenScores(
        texts=len(targets),
        words=scores.texts,
        accuracy=scores.accuracy,
        accuracy_interval=bootstrap_interval(counts, accuracy_of),
        macro_f1=scores.macro_f1,
        tags=tuple(
            TagScore(row.label, row.precision, row.recall, row.f1, row.texts) for row in scores.labels
        ),
    )


def count_tags(predicted: Sequence[np.ndarray], targets: Sequence[np.ndarray]) -> Counts:
    """The number of rightly tagged words, and of words, of each text, `[texts, 2]`.

    Raises:
        ValueError: There are no words, or not as many of the one as of the other.
    """
    lengths = [len(truth) for truth in targets]
    if [len(guess) for guess in predicted] != lengths:
        raise ValueError("the predicted and the true tags are not of the same words")
    if sum(lengths) == 0:
        raise ValueError("no words to score")
    right = [int((guess == truth).sum()) for guess, truth in zip(predicted, targets, strict=True)]
    return np.array([right, lengths], dtype=np.int64).T


def accuracy_of(counts: Counts) -> NDArray[np.float64]:
    """Accuracy from the numbers of rightly tagged words and of words: `[..., 2]` -> `[...]`."""
    return counts[..., 0] / np.maximum(counts[..., 1], 1)


def compare_tags(
    first: Sequence[np.ndarray], second: Sequence[np.ndarray], targets: Sequence[np.ndarray]
) -> ScoreDifference:
    """Paired comparison of the accuracy of two taggers on the same texts."""
    return compare_counts(count_tags(first, targets), count_tags(second, targets), accuracy_of)
