"""The linear expert: a linear SVM on words and word pairs whose say is added to the encoder's.

The logits of a model are `(encoder(text) + weight * expert(text)) / temperature`. Both numbers are fitted
on dev, so an expert that does not help gets no say, and a model is hardly ever worse than its linear part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from headwise.features.ngrams import NgramVocabulary
from headwise.tasks.svm import fit_svm


@dataclass(frozen=True)
class ExpertConfig:
    """The linear expert beside the encoder."""

    kind: Literal["linear", "none"] = "linear"
    """linear: a linear SVM on words and word pairs adds its say, as much as dev asks for; none: the encoder
    alone."""
    max_features: int = 200_000
    """Most words and word pairs that it reads."""
    features: int = 0
    """How many it found in training; not to be set."""


class LinearExpert(nn.Module):
    """A linear classifier of words and word pairs, as buffers: trained by scikit-learn, not by gradient.

    Args:
        features: Words and pairs that it knows.
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
        self.register_buffer("weights", torch.zeros(features, classes))
        self.register_buffer("bias", torch.zeros(classes))

    def forward(self, texts: Sequence[np.ndarray]) -> np.ndarray:
        """Word numbers of texts -> scores `[texts, classes]`, float32."""
        vocabulary = NgramVocabulary(self.keys.cpu().numpy(), self.idf.cpu().numpy())
        scores = vocabulary.transform(texts) @ self.weights.cpu().numpy()
        return np.asarray(scores + self.bias.cpu().numpy(), dtype=np.float32)


def fit_linear_expert(
    train: tuple[Sequence[np.ndarray], np.ndarray],
    dev: tuple[Sequence[np.ndarray], np.ndarray],
    classes: int,
    *,
    max_features: int = 200_000,
) -> LinearExpert | None:
    """A linear SVM on the training texts, its C chosen on dev.

    Args:
        train: Word numbers of the texts, and label numbers.
        dev: Likewise.
        classes: Number of labels.
        max_features: See `NgramVocabulary.build`.

    Returns:
        None where no text has a known word.
    """
    vocabulary = NgramVocabulary.build(train[0], max_features=max_features)
    if len(vocabulary.keys) == 0:
        return None
    features, dev_features = vocabulary.transform(train[0]), vocabulary.transform(dev[0])
    best, _ = fit_svm((features, train[1]), (dev_features, dev[1]))
    expert = LinearExpert(len(vocabulary.keys), classes)
    weights, bias = np.asarray(best.coef_).T, np.asarray(best.intercept_)
    if classes == 2:  # scikit-learn keeps one score, of the second label
        weights, bias = np.hstack([-weights, weights]) / 2, np.array([-bias[0], bias[0]]) / 2
    expert.keys.copy_(torch.from_numpy(vocabulary.keys))
    expert.idf.copy_(torch.from_numpy(vocabulary.idf))
    expert.weights.copy_(torch.from_numpy(weights))
    expert.bias.copy_(torch.from_numpy(bias))
    return expert


def fit_mixture(encoder: np.ndarray, expert: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """The temperature and the expert's weight that make held-out labels most likely.

    Args:
        encoder: Logits `[texts, classes]`.
        expert: Scores `[texts, classes]`.
        targets: Label numbers `[texts]`.

    Returns:
        `(temperature, weight)` for `(encoder + weight * expert) / temperature`; the weight is not negative.
    """
    from scipy.optimize import minimize  # a second to load, and predictions do without
    from scipy.special import log_softmax

    rows = np.arange(len(targets))
    encoder, expert = encoder.astype(np.float64), expert.astype(np.float64)

    def loss(factors: np.ndarray) -> float:
        mixed = log_softmax(factors[0] * encoder + factors[1] * expert, axis=1)
        return float(-mixed[rows, targets].mean())

    bounds = [(1 / 20, 20.0), (0.0, 40.0)]
    found = minimize(loss, x0=np.array([1.0, 1.0]), bounds=bounds, method="L-BFGS-B")
    return 1.0 / float(found.x[0]), float(found.x[1] / found.x[0])
