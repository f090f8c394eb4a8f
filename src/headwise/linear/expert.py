"""The linear expert: a linear SVM on words and word pairs whose say is added to the encoder's.

The logits of a model are `(encoder(text) + weight * expert(text)) / temperature`. Both numbers are fitted
on dev, so an expert that does not help gets no say, and a model is hardly ever worse than its linear part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from headwise.features.ngrams import NgramVocabulary
from headwise.linear.svm import fit_svm


@dataclass(frozen=True)
class ExpertConfig:
    """The linear expert beside the encoder."""

    kind: Literal["linear", "none"] = "linear"
    """linear: a linear SVM on words, word pairs and characters (for label sets on words and word pairs, for
    text pairs on what both texts share and where they differ) adds its say, as much as dev asks for;
    none: the encoder alone."""
    max_features: int = 200_000
    """Most features of texts that it reads: words, word pairs, runs of characters."""
    features: int = 0
    """How many it found in training; not to be set."""
    words: int = 0
    """How many of them are words and word pairs, where it reads characters too; not to be set."""
    characters: int = 0
    """How many of them are runs of characters; not to be set."""
    vectors: int = 0
    """Numbers of the vectors of texts that it reads beside them; not to be set."""
    kept: int = 0
    """How many weights it keeps, where it has many labels and not all are worth it; not to be set."""

    SIZES: ClassVar[tuple[str, ...]] = ("features", "words", "characters", "vectors", "kept")
    """What training finds out."""


class LinearExpert(nn.Module):
    """A linear classifier of words and word pairs, as buffers: trained by scikit-learn, not by gradient.

    What it reads of a text are its word numbers, `[words]` int64, 0 for an unknown word.

    Args:
        features: Words and word pairs that it knows.
        classes: Number of labels.
        vectors: Numbers that it reads beside them.
    """

    keys: Tensor
    idf: Tensor
    weights: Tensor
    bias: Tensor

    def __init__(self, features: int, classes: int, vectors: int = 0):
        super().__init__()
        self.vectors = vectors
        self.register_buffer("keys", torch.zeros(features, dtype=torch.int64))
        self.register_buffer("idf", torch.zeros(features))
        self.register_buffer("weights", torch.zeros(self.columns(features) + vectors, classes))
        self.register_buffer("bias", torch.zeros(classes))

    def sizes(self) -> dict[str, int]:
        """What `ExpertConfig` is to say of it."""
        return {"features": len(self.keys), "vectors": self.vectors}

    @staticmethod
    def columns(features: int) -> int:
        """Columns of `matrix` without vectors, for this many words and word pairs."""
        return features

    @staticmethod
    def texts(items: Sequence[Any]) -> Sequence[np.ndarray]:
        """All texts in what it reads."""
        return items

    @staticmethod
    def matrix(vocabulary: NgramVocabulary, items: Sequence[Any]) -> Any:
        """What it sees of them, sparse `[items, columns]`."""
        return vocabulary.transform(items)

    def forward(self, items: Sequence[Any]) -> np.ndarray:
        """What it reads of texts (or of pairs) -> scores `[items, classes]`, float32."""
        vocabulary = NgramVocabulary(self.keys.cpu().numpy(), self.idf.cpu().numpy())
        scores = self.matrix(vocabulary, items) @ self.weights.cpu().numpy()
        return np.asarray(scores + self.bias.cpu().numpy(), dtype=np.float32)

    @classmethod
    def of(cls, vocabulary: NgramVocabulary, weights: np.ndarray, bias: np.ndarray) -> Self:
        """An expert with these weights, `[columns, classes]`."""
        features = len(vocabulary.keys)
        expert = cls(features, len(bias), len(weights) - cls.columns(features))
        values = {"keys": vocabulary.keys, "idf": vocabulary.idf, "weights": weights, "bias": bias}
        for name, value in values.items():
            getattr(expert, name).copy_(torch.from_numpy(value))
        return expert


Kind = TypeVar("Kind", bound=LinearExpert)


def fit_linear_expert(
    train: tuple[Sequence[Any], np.ndarray],
    dev: tuple[Sequence[Any], np.ndarray],
    classes: int,
    *,
    max_features: int = 200_000,
    kind: type[Kind] = LinearExpert,
    class_weights: np.ndarray | None = None,
) -> Kind | None:
    """A linear SVM on the training texts, its C chosen on dev.

    Args:
        train: What the expert reads of the texts, and label numbers.
        dev: Likewise.
        classes: Number of labels.
        max_features: See `NgramVocabulary.build`.
        kind: An expert of texts or of pairs.
        class_weights: How much the texts of each label count, `[classes]`.

    Returns:
        None where no text has a known word.
    """
    vocabulary = NgramVocabulary.build(kind.texts(train[0]), max_features=max_features)
    if len(vocabulary.keys) == 0:
        return None
    features, dev_features = (kind.matrix(vocabulary, part[0]) for part in (train, dev))
    best, _ = fit_svm((features, train[1]), (dev_features, dev[1]), class_weights)
    weights, bias = np.asarray(best.coef_).T, np.asarray(best.intercept_)
    if classes == 2:  # scikit-learn keeps one score, of the second label
        weights, bias = np.hstack([-weights, weights]) / 2, np.array([-bias[0], bias[0]]) / 2
    return kind.of(vocabulary, weights, bias)
