"""The linear baselines that models are compared with, by what is predicted.

- texts with labels: TF-IDF and a linear SVM; words and word pairs, with or without character n-grams,
  whichever is more accurate on dev
- texts with numbers: TF-IDF of words and word pairs, and ridge regression
- text pairs: TF-IDF of shared and differing words, and a linear SVM
- bags of vectors: mean, minimum and maximum of each feature, and a linear SVM
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, hstack

from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.examples import Pair
from headwise.data.readers.bags import Bag
from headwise.linear.large_fit import SAMPLED, fit_stored, is_large, sample_step, sampled, scores_in_parts
from headwise.linear.linear_fit import MOST_CELLS
from headwise.linear.linear_model import LinearModel, expand_columns, signs_of, stack_blocks
from headwise.linear.linear_weights import DesignMatrix
from headwise.linear.pair_features import OVERLAPS, compare_matrices, overlap
from headwise.linear.sklearn_models import SVM_STRENGTHS, fit_ridge, fit_svm, fit_tfidf, train_plus_dev
from headwise.linear.svm_solver import LinearProblem, fit_svm_columns, fit_svm_path
from headwise.linear.targets import LabelTargets, NumericTargets
from headwise.linear.tfidf_features import BLOCK_NAMES, BlockName, BlockReader
from headwise.metrics.target_scale import Scale

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

TFIDF_SVM = "TF-IDF + linear SVM"
BLOCKS: tuple[tuple[BlockName, ...], ...] = (("words",), BLOCK_NAMES)
MOST_FEATURES = 1_000_000
"""Maximum number of features per block."""
MOST_WEIGHTS = 100_000_000
"""Maximum number of weights per block, over all labels. With very many labels, the rarest features are
dropped."""


@dataclass(frozen=True)
class LinearBaseline:
    """A fitted linear classifier.

    Attributes:
        model: Linear support vector machines on TF-IDF with logarithmic counts.
        strength: The penalty parameter C of the SVMs, chosen on dev.
        dev_accuracy: Accuracy on dev of the chosen blocks and C.
        sampled: Whether the texts were too many for memory: blocks and C were then chosen on a sample of
            training and dev texts, and the features are stored with 16 bits.
    """

    model: LinearModel
    strength: float
    dev_accuracy: float
    sampled: bool = False

    @property
    def name(self) -> str:
        """Its name in reports."""
        return TFIDF_SVM + SAMPLED * self.sampled

    @property
    def blocks(self) -> tuple[BlockName, ...]:
        """The feature blocks in use: words, or words and characters."""
        return tuple(self.model.blocks)

    def predict(self, texts: Sequence[str]) -> np.ndarray:
        """The predicted label indices, `[texts]`."""
        return scores_in_parts(self.model, texts).argmax(axis=1)


def fit_baseline(
    train: tuple[Sequence[str], np.ndarray],
    dev: tuple[Sequence[str], np.ndarray],
    *,
    tokenizer: str = "penn",
    refit: bool = False,
) -> LinearBaseline | None:
    """Fit TF-IDF and a linear SVM on the training texts. The blocks and C are the first that are most
    accurate on dev.

    Where texts times labels exceed `MOST_CELLS`, the choice is made on a fifth of the training texts, as
    for the linear model of the ensemble.

    Args:
        train: Texts and label indices.
        dev: Texts and label indices.
        tokenizer: The tokenizer of the model that it is compared with, so that both read the same words.
        refit: Whether to fit again on training and dev texts together, once dev has chosen.

    Returns:
        The baseline; None where the texts have no words at all.
    """
    classes = max(2, 1 + int(max(train[1].max(initial=0), dev[1].max(initial=0))))
    readers: list[BlockReader] = [BlockReader(name, tokenizer) for name in BLOCK_NAMES]
    most = min(MOST_FEATURES, MOST_WEIGHTS // classes)
    large, step = is_large(train[0], readers[0]), 5 if len(train[0]) * classes > MOST_CELLS else 1
    subset = slice(None, None, max(step, sample_step(train[0], readers[0])) if large else step)
    train_sample, targets = train[0][subset], train[1][subset]
    dev_sample = slice(None, None, sample_step(dev[0], readers[0]) if large else 1)
    dev_texts, dev_targets = dev[0][dev_sample], dev[1][dev_sample]
    fitted = {reader.block: reader.fit(train_sample, max_features=most) for reader in readers}
    if not any(len(vocabulary) for vocabulary, _ in fitted.values()):
        return None
    held = {reader.block: reader.transform(dev_texts, fitted[reader.block][0]) for reader in readers}
    costs = np.ones((len(targets), 1), dtype=np.float32)
    best: LinearBaseline | None = None
    for blocks in BLOCKS:
        rows = _design_matrix([fitted[name][1] for name in blocks], len(targets))
        dev_rows = _design_matrix([held[name] for name in blocks], len(dev_texts))
        path = fit_svm_path(LinearProblem(rows, signs_of(targets, classes), costs), SVM_STRENGTHS)
        for strength, coefficients in zip(SVM_STRENGTHS, path, strict=True):
            guessed = expand_columns(coefficients.scores(dev_rows), classes).argmax(axis=1)
            accuracy = float(np.mean(guessed == dev_targets))
            if best is None or accuracy > best.dev_accuracy:
                vocabularies = {name: fitted[name][0] for name in blocks}
                model = LinearModel(vocabularies, coefficients, classes, tokenizer)
                best = LinearBaseline(model, strength, accuracy, large)
    if best is None or (not refit and not large and len(targets) == len(train[1])):
        return best
    texts, labels = train_plus_dev(train, dev) if refit else train
    readers = [reader for reader in readers if reader.block in best.blocks]
    if large:
        fitted, held = {}, {}  # those of the sample
        stored = fit_stored(texts, LabelTargets.of(labels, classes), readers, most, best.strength)
        return replace(best, model=LinearModel(*stored, classes, tokenizer))
    fitted = {reader.block: reader.fit(texts, max_features=most) for reader in readers}
    rows = _design_matrix([features for _, features in fitted.values()], len(texts))
    costs = np.full((len(texts), 1), best.strength, dtype=np.float32)
    coefficients = fit_svm_columns(LinearProblem(rows, signs_of(labels, classes), costs))
    vocabularies = {name: vocabulary for name, (vocabulary, _) in fitted.items()}
    return replace(best, model=LinearModel(vocabularies, coefficients, classes, tokenizer))


def _design_matrix(parts: list, texts: int) -> DesignMatrix:
    return DesignMatrix(stack_blocks(parts, texts), np.zeros((texts, 0), dtype=np.float32))


TFIDF_RIDGE = "TF-IDF + ridge regression"


def is_number_sampled(texts: Sequence[str], tokenizer: str) -> bool:
    """Whether the penalty of the baseline of numbers is chosen on a sample of the training texts."""
    return is_large(texts, BlockReader("words", tokenizer))


def predict_number_baseline(
    train: tuple[Sequence[str], np.ndarray],
    dev: tuple[Sequence[str], np.ndarray],
    test: Sequence[str],
    *,
    tokenizer: str = "penn",
    refit: bool = False,
) -> np.ndarray | None:
    """Predict the numbers of test texts by ridge regression, with the penalty chosen on dev.

    Args:
        train: Texts and numbers.
        dev: Texts and numbers.
        test: Texts.
        tokenizer: The tokenizer of the model that it is compared with, so that both read the same words.
        refit: Whether to fit again on training and dev texts together, once dev has chosen.

    Returns:
        The predictions, `[texts]`; None where the training texts have no words at all.
    """
    reader, large = BlockReader("words", tokenizer), is_number_sampled(train[0], tokenizer)
    train_sample, dev_sample = (sampled(part, reader) if large else part for part in (train, dev))
    fitted = fit_tfidf(train_sample[0], tokenizer)
    if fitted is None:
        return None
    vectorizer, features = fitted
    ridge = fit_ridge((features, train_sample[1]), (vectorizer.transform(dev_sample[0]), dev_sample[1]))
    if large:
        del fitted, vectorizer, features
        texts, numbers = train_plus_dev(train, dev) if refit else train
        scale = Scale.of(numbers)
        targets = NumericTargets.of(np.asarray(scale.standardize(numbers), dtype=np.float32), 1)
        # The solver halves the weights' length, not the squared errors.
        stored = fit_stored(texts, targets, [reader], MOST_FEATURES, 0.5 / ridge.alpha)
        model = LinearModel(*stored, 1, tokenizer)
        return scale.restore(scores_in_parts(model, test)[:, 0].astype(np.float64))
    if refit:
        texts, targets = train_plus_dev(train, dev)
        ridge = ridge.fit(vectorizer.fit_transform(texts), targets)
    return np.asarray(ridge.predict(vectorizer.transform(test)))


PAIR_TFIDF_SVM = "TF-IDF of shared and differing words + linear SVM"
SCORE_NAME = "TF-IDF of shared and differing words + ridge regression"


def pair_tfidf_features(vectorizer: "TfidfVectorizer", tokenizer: str, pairs: Sequence[Pair]) -> Any:
    """The features of text pairs that the baseline reads, `[pairs, features]` sparse.

    Five groups of features, with the TF-IDF vectors a and b of the words and word pairs of both texts:
    what both have, `min(a, b)`; what only the first has, `max(a - b, 0)`; what only the second has,
    `max(b - a, 0)`; the second text alone, b; and eight numbers on overlap and length. The second group and
    the third tell a swapped pair from the pair, as entailment needs.
    """
    a = vectorizer.transform([pair.first for pair in pairs])
    b = vectorizer.transform([pair.second for pair in pairs])
    words = get_tokenizer(tokenizer).words
    numbers = [overlap(words(pair.first.lower()), words(pair.second.lower())) for pair in pairs]
    dense = np.array(numbers, dtype=np.float32).reshape(-1, OVERLAPS)
    return hstack([compare_matrices(a, b), csr_matrix(dense)], format="csr")


@dataclass(frozen=True)
class PairBaseline:
    """A fitted linear model of pairs.

    Attributes:
        vectorizer: TF-IDF of words and word pairs.
        tokenizer: Name of the tokenizer.
        linear: A linear SVM or a ridge regression on `pair_tfidf_features`.
    """

    vectorizer: "TfidfVectorizer"
    tokenizer: str
    linear: Any

    def predict(self, pairs: Sequence[Pair]) -> np.ndarray:
        """The predicted label indices or scores, `[pairs]`."""
        return np.asarray(self.linear.predict(pair_tfidf_features(self.vectorizer, self.tokenizer, pairs)))


def fit_pair_baseline(
    train: tuple[Sequence[Pair], np.ndarray],
    dev: tuple[Sequence[Pair], np.ndarray],
    *,
    tokenizer: str = "penn",
    scores: bool = False,
    refit: bool = False,
) -> PairBaseline | None:
    """Fit a linear SVM (for scores, a ridge regression) on the training pairs, with the penalty chosen on
    dev.

    Args:
        train: Pairs and label indices, or scores.
        dev: The same for dev pairs.
        tokenizer: The tokenizer of the model that it is compared with, so that both read the same words.
        scores: Whether the targets are scores.
        refit: Whether to fit again on training and dev pairs together, once dev has chosen.

    Returns:
        The baseline; None where the pairs have no words at all.
    """

    def words_of(pairs: Sequence[Pair]) -> "tuple[TfidfVectorizer, Any] | None":
        return fit_tfidf([text for pair in pairs for text in (pair.first, pair.second)], tokenizer)

    fitted = words_of(train[0])
    if fitted is None:
        return None
    learnt, held = (
        (pair_tfidf_features(fitted[0], tokenizer, items), targets) for items, targets in (train, dev)
    )
    linear = fit_ridge(learnt, held) if scores else fit_svm(learnt, held)[0]
    if refit:
        pairs, targets = train_plus_dev(train, dev)
        fitted = words_of(pairs) or fitted
        linear = linear.fit(pair_tfidf_features(fitted[0], tokenizer, pairs), targets)
    return PairBaseline(fitted[0], tokenizer, linear)


BAG_SVM = "mean, minimum and maximum + linear SVM"


def fit_bag_baseline(
    train: tuple[Sequence[Bag], np.ndarray],
    dev: tuple[Sequence[Bag], np.ndarray],
    test: Sequence[Bag],
    *,
    refit: bool = False,
) -> np.ndarray:
    """Predict the label indices of the test bags, `[bags]`, by an SVM on the training bags, with C chosen
    on dev.

    Args:
        train: Bags and label indices.
        dev: Bags and label indices.
        test: Bags.
        refit: Whether to fit again on training and dev bags together, once dev has chosen.
    """
    from sklearn.preprocessing import StandardScaler  # slow to load, and predictions do without

    scaler = StandardScaler().fit(summarise(train[0]))

    def scaled(bags: Sequence[Bag]) -> np.ndarray:
        """Standardised summaries with an average length of 1 for any number of features: the scale that the
        grid of C is made for."""
        summaries = summarise(bags)
        return np.asarray(scaler.transform(summaries)) / summaries.shape[1] ** 0.5

    svm, _ = fit_svm((scaled(train[0]), train[1]), (scaled(dev[0]), dev[1]))
    if refit:
        bags, targets = train_plus_dev(train, dev)
        scaler = scaler.fit(summarise(bags))
        svm = svm.fit(scaled(bags), targets)
    return np.asarray(svm.predict(scaled(test)))


def summarise(bags: Sequence[Bag]) -> np.ndarray:
    """`[bags, 3 * features]`, float64: mean, minimum and maximum of each feature over the instances."""
    rows = [bag.instances.astype(np.float64) for bag in bags]
    return np.stack([np.concatenate([row.mean(0), row.min(0), row.max(0)]) for row in rows])
