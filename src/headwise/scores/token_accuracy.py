"""Token-level scores of taggers, e.g. for part-of-speech tags."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.scores.metrics import score
from headwise.scores.resample import Counts, ScoreDifference, bootstrap_interval, compare_counts


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
    scores = score(np.concatenate(predicted), np.concatenate(targets), tags)
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
