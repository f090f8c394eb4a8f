"""The models of the baselines, by scikit-learn: TF-IDF of words and word pairs, linear SVM, ridge
regression.

Strength and penalty are chosen on dev. Where a model is refitted on training and dev items, the baseline is
too (`train_plus_dev`). For label sets there is one SVM per label.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.core.tokenizer import get_tokenizer
from headwise.linear.ensemble_weights import fit_binary_temperature
from headwise.linear.large_fit import SAMPLED, fit_stored, is_large, sampled, scores_in_parts
from headwise.linear.linear_model import LinearModel
from headwise.linear.targets import MultiLabelTargets
from headwise.linear.tfidf_features import BlockReader
from headwise.metrics.target_scale import Scale
from headwise.metrics.thresholds import Targets, best_threshold, fit_thresholds

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC


Item = TypeVar("Item")


def train_plus_dev(
    train: tuple[Sequence[Item], np.ndarray], dev: tuple[Sequence[Item], np.ndarray]
) -> tuple[list[Item], np.ndarray]:
    """Concatenate training and dev items, and their targets, `[items, ...]`."""
    return [*train[0], *dev[0]], np.concatenate([train[1], dev[1]])


SVM_STRENGTHS = (0.1, 0.3, 1.0, 3.0)


def fit_svm(
    train: tuple[Any, np.ndarray], dev: tuple[Any, np.ndarray], class_weights: np.ndarray | None = None
) -> "tuple[LinearSVC, float]":
    """Fit a linear SVM for each C of `SVM_STRENGTHS`; the first with the best accuracy on dev, and that
    accuracy.

    Args:
        train: Features `[texts, features]` (sparse) and label indices.
        dev: The same for dev texts.
        class_weights: Weight of the texts of each label, `[classes]`.
    """
    from sklearn.svm import LinearSVC  # a second to load, and predictions do without

    weights = None if class_weights is None else class_weights[train[1]]
    svms = [
        LinearSVC(C=strength, random_state=0).fit(*train, sample_weight=weights)
        for strength in SVM_STRENGTHS
    ]
    accuracies = [float(np.mean(svm.predict(dev[0]) == dev[1])) for svm in svms]
    best = int(np.argmax(accuracies))
    return svms[best], accuracies[best]


def fit_tfidf(
    texts: Sequence[str], tokenizer: str, max_features: int | None = None
) -> "tuple[TfidfVectorizer, Any] | None":
    """Fit a TF-IDF vectorizer with logarithmic counts; returns it and the features of the texts, `[texts,
    features]` sparse.

    Args:
        texts: The training texts.
        tokenizer: The tokenizer of the model that the baseline is compared with, so that both read the same
            words.
        max_features: Maximum number of features, the most frequent first; by default all.

    Returns:
        The vectorizer and the features; None where the texts have no words at all.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to load, predictions do without

    vectorizer = TfidfVectorizer(
        tokenizer=get_tokenizer(tokenizer).words,
        token_pattern=None,
        ngram_range=(1, 2),
        sublinear_tf=True,
        max_features=max_features,
        dtype=np.float32,
    )
    try:
        return vectorizer, vectorizer.fit_transform(texts)
    except ValueError:  # sklearn's "empty vocabulary"
        return None


RIDGE_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)


class ScaledRidge:
    """Ridge regression on targets scaled to mean 0 and standard deviation 1.

    With 32-bit features, scikit-learn casts the targets to 32 bits too. Seconds since 1970 then lose their
    last two minutes, and a price of 1e40 overflows. Scaled targets lose nothing, and the regression is the
    same.

    Args:
        alpha: The penalty.
    """

    def __init__(self, alpha: float):
        from sklearn.linear_model import Ridge  # slow to load, and predictions do without

        self.alpha, self.scale = alpha, Scale(0.0, 1.0)
        self.ridge = Ridge(alpha=alpha, solver="sparse_cg", random_state=0)

    def fit(self, features: Any, targets: np.ndarray) -> Self:
        """Fit to features `[texts, features]` (sparse) and targets `[texts]`."""
        self.scale = Scale.of(targets)
        self.ridge.fit(features, self.scale.standardize(targets))
        return self

    def predict(self, features: Any) -> np.ndarray:
        """Predicted numbers, `[texts]`."""
        return self.scale.restore(np.asarray(self.ridge.predict(features)))


def fit_ridge(train: tuple[Any, np.ndarray], dev: tuple[Any, np.ndarray]) -> ScaledRidge:
    """Fit a ridge regression for each alpha of `RIDGE_STRENGTHS`; the one with the least squared error on
    dev.

    Args:
        train: Features `[texts, features]` (sparse) and targets.
        dev: The same for dev texts.
    """
    models = [ScaledRidge(alpha).fit(*train) for alpha in RIDGE_STRENGTHS]
    errors = [float(((model.predict(dev[0]) - dev[1]) ** 2).mean()) for model in models]
    return models[int(np.argmin(errors))]


MOST_WEIGHTS = 50_000_000
"""Maximum number of weights over all labels. With very many labels, the rarest features are dropped."""

TFIDF_ONE_VS_REST = "TF-IDF + one SVM per label"


@dataclass(frozen=True)
class OneVsRest:
    """A linear score for each label.

    Attributes:
        weights: `[features, labels]`, float32.
        bias: `[labels]`, float32.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def scores(self, features: Any) -> NDArray[np.float32]:
        """`[texts, features]` (sparse) -> `[texts, labels]`."""
        return np.asarray(features @ self.weights + self.bias, dtype=np.float32)


def fit_one_vs_rest(train: tuple[Any, Targets], dev: tuple[Any, Targets]) -> tuple[OneVsRest, float]:
    """Fit a linear SVM for each label. C is the first of `SVM_STRENGTHS` with the best micro F1 on dev, at
    the threshold that is best there; it is returned too. Labels that all training texts have, or none, get
    the score 1 or -1.

    Args:
        train: Features `[texts, features]` (sparse) and multi-hot labels `[texts, labels]`.
        dev: The same for dev texts.
    """

    def on_dev(candidate: tuple[OneVsRest, float]) -> float:
        return best_threshold(candidate[0].scores(dev[0]).ravel(), dev[1].ravel())[1]

    return max(((_fit_svms(train, strength), strength) for strength in SVM_STRENGTHS), key=on_dev)


def _fit_svms(train: tuple[Any, Targets], strength: float) -> OneVsRest:
    from sklearn.svm import LinearSVC  # slow to load, and predictions do without

    features, targets = train
    weights = np.zeros((features.shape[1], targets.shape[1]), dtype=np.float32)
    bias = np.where(targets.any(0), np.float32(1), np.float32(-1))
    for label in np.flatnonzero(targets.any(0) & ~targets.all(0)):
        svm = LinearSVC(C=strength, random_state=0).fit(features, targets[:, label])
        weights[:, label] = np.asarray(svm.coef_)[0]
        bias[label] = np.asarray(svm.intercept_)[0]
    return OneVsRest(weights, bias.astype(np.float32))


@dataclass(frozen=True)
class MultiLabelBaseline:
    """A fitted multi-label baseline: TF-IDF of words and word pairs, a linear SVM per label, and thresholds
    tuned on dev.

    Attributes:
        vectorizer: TF-IDF with logarithmic counts.
        linear: The linear SVMs.
        thresholds: The score from which on each label is predicted, `[labels]`.
        stored: The model of texts that are too many for memory, whose penalty and thresholds were chosen on
            a sample; it then decides in place of `linear`.
    """

    vectorizer: "TfidfVectorizer"
    linear: OneVsRest
    thresholds: NDArray[np.float64]
    stored: LinearModel | None = None

    @property
    def name(self) -> str:
        """Its name in reports."""
        return TFIDF_ONE_VS_REST + SAMPLED * (self.stored is not None)

    def scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """`[texts, labels]`."""
        if self.stored is not None:
            return scores_in_parts(self.stored, texts)
        return self.linear.scores(self.vectorizer.transform(texts))


def fit_multi_label_baseline(
    train: tuple[Sequence[str], Targets],
    dev: tuple[Sequence[str], Targets],
    *,
    tokenizer: str = "penn",
    min_texts: int = 1,
    refit: bool = False,
) -> MultiLabelBaseline | None:
    """Fit the linear baseline that multi-label models are compared with.

    Args:
        train: Texts and multi-hot labels.
        dev: The same for dev texts.
        tokenizer: The tokenizer of the model that it is compared with, so that both read the same words.
        min_texts: See `headwise.nn.task_layers.layer_configs.ThresholdConfig`.
        refit: Whether to fit again on training and dev texts together, once dev has chosen C and
            thresholds.

    Returns:
        The baseline; None where the texts have no words at all.
    """
    reader, labels = BlockReader("words", tokenizer), train[1].shape[1]
    large, most = is_large(train[0], reader), MOST_WEIGHTS // labels
    train_sample, dev_sample = (sampled(part, reader) if large else part for part in (train, dev))
    fitted = fit_tfidf(train_sample[0], tokenizer, most)
    if fitted is None:
        return None
    vectorizer, features = fitted
    dev_features = vectorizer.transform(dev_sample[0])
    linear, strength = fit_one_vs_rest((features, train_sample[1]), (dev_features, dev_sample[1]))
    margins = linear.scores(dev_features)
    temperature = fit_binary_temperature(margins, dev_sample[1])
    thresholds = temperature * fit_thresholds(margins / temperature, dev_sample[1], min_texts)
    if large:
        texts, targets = train_plus_dev(train, dev) if refit else train
        stored = fit_stored(texts, MultiLabelTargets.of(targets, labels), [reader], most, strength)
        return MultiLabelBaseline(vectorizer, linear, thresholds, LinearModel(*stored, labels, tokenizer))
    if refit:
        texts, targets = train_plus_dev(train, dev)
        linear = _fit_svms((vectorizer.fit_transform(texts), targets), strength)
    return MultiLabelBaseline(vectorizer, linear, thresholds)
