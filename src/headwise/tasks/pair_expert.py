"""The linear expert of text pairs: a linear SVM on what two texts share and where they differ.

As for single texts (`headwise.tasks.linear_expert`), its say is added to the encoder's logits with a weight
that is fitted on dev: with a few thousand pairs, which words both texts have is evidence that an encoder
that reads them apart hardly learns.
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from headwise.features.ngrams import NgramVocabulary
from headwise.tasks.svm import fit_svm

NUMBERS = 8  # of `overlap`

Words = NDArray[np.int64]
"""Word numbers of a text; 0 is an unknown word."""


class PairExpert(nn.Module):
    """A linear classifier of pairs, as buffers: trained by scikit-learn, not by gradient.

    Args:
        features: Words and word pairs that it knows.
        classes: Number of labels.
    """

    keys: Tensor
    idf: Tensor
    weights: Tensor
    bias: Tensor

    def __init__(self, features: int, classes: int):
        super().__init__()
        self.register_buffer("keys", torch.zeros(features, dtype=torch.int64))
        self.register_buffer("idf", torch.zeros(features))
        self.register_buffer("weights", torch.zeros(4 * features + NUMBERS, classes))
        self.register_buffer("bias", torch.zeros(classes))

    def forward(self, firsts: Sequence[Words], seconds: Sequence[Words]) -> np.ndarray:
        """Word numbers of both texts of pairs -> scores `[pairs, classes]`, float32."""
        vocabulary = NgramVocabulary(self.keys.cpu().numpy(), self.idf.cpu().numpy())
        scores = pair_features(vocabulary, firsts, seconds) @ self.weights.cpu().numpy()
        return np.asarray(scores + self.bias.cpu().numpy(), dtype=np.float32)


def pair_features(vocabulary: NgramVocabulary, firsts: Sequence[Words], seconds: Sequence[Words]) -> Any:
    """`[pairs, 4 * features + 8]`, sparse: `compared` of both texts' TF-IDF, and their overlap."""
    numbers = [
        overlap(_told_apart(one, -1), _told_apart(other, -2))
        for one, other in zip(firsts, seconds, strict=True)
    ]
    dense = np.array(numbers, dtype=np.float32).reshape(-1, NUMBERS)
    return compared(vocabulary.transform(firsts), vocabulary.transform(seconds), dense)


def compared(a: Any, b: Any, numbers: np.ndarray) -> Any:
    """What two sparse matrices `[pairs, features]` share, `min(a, b)`; what only the first has, `max(a - b,
    0)`; what only the second has, `max(b - a, 0)`; the second; and further numbers, side by side."""
    difference = a - b
    groups = [a.minimum(b), difference.maximum(0), (-difference).maximum(0), b, numbers]
    return sparse.hstack([sparse.csr_matrix(group) for group in groups], format="csr")


def overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> tuple[float, ...]:
    """How the words of two texts overlap: the shares of the first's and the second's words that the other
    has; the Jaccard index; the same shares of neighbouring words; whether the texts are the same; and how
    the lengths compare, by their logarithms."""
    own, rival = set(first), set(second)
    pairs = [set(pairwise(words)) for words in (first, second)]
    shared = len(own & rival)
    return (
        shared / max(len(own), 1),
        shared / max(len(rival), 1),
        shared / max(len(own | rival), 1),
        len(pairs[0] & pairs[1]) / max(len(pairs[0]), 1),
        len(pairs[0] & pairs[1]) / max(len(pairs[1]), 1),
        float(list(first) == list(second)),
        float(np.log1p(len(first)) - np.log1p(len(second))),
        float(abs(np.log1p(len(first)) - np.log1p(len(second)))),
    )


def _told_apart(words: Words, unknown: int) -> list[int]:
    """Word numbers; unknown words get a number that no word of the other text has."""
    return np.where(words == 0, unknown, words).tolist()


def fit_pair_expert(
    train: tuple[Sequence[Words], Sequence[Words], np.ndarray],
    dev: tuple[Sequence[Words], Sequence[Words], np.ndarray],
    classes: int,
    *,
    max_features: int = 100_000,
) -> PairExpert | None:
    """A linear SVM on the training pairs, its C chosen on dev.

    Args:
        train: Word numbers of the first and of the second texts, and label numbers.
        dev: Likewise.
        classes: Number of labels.
        max_features: See `NgramVocabulary.build`.

    Returns:
        None where no text has a known word.
    """
    vocabulary = NgramVocabulary.build([*train[0], *train[1]], max_features=max_features)
    if len(vocabulary.keys) == 0:
        return None
    features, dev_features = (pair_features(vocabulary, *part[:2]) for part in (train, dev))
    best, _ = fit_svm((features, train[2]), (dev_features, dev[2]))
    expert = PairExpert(len(vocabulary.keys), classes)
    weights, bias = np.asarray(best.coef_).T, np.asarray(best.intercept_)
    if classes == 2:  # scikit-learn keeps one score, of the second label
        weights, bias = np.hstack([-weights, weights]) / 2, np.array([-bias[0], bias[0]]) / 2
    for buffer, value in (
        (expert.keys, vocabulary.keys),
        (expert.idf, vocabulary.idf),
        (expert.weights, weights),
        (expert.bias, bias),
    ):
        buffer.copy_(torch.from_numpy(value))
    return expert
