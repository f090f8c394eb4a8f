"""fit_linear: the strongest linear classifier of labelled texts that we know to make, chosen by
cross-validation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from headwise.linear.leading import leading
from headwise.linear.mixture import fit_mixture
from headwise.linear.solver import Floats, Machine, Rows, solve
from headwise.linear.text_features import Block, BlockReader, Vocabulary
from headwise.linear.text_model import DenseScale, LinearModel, beside, both, signs_of
from headwise.scores.binary import fit_binary_temperature, mean_binary_loss

Targets = NDArray[np.int64] | NDArray[np.floating] | NDArray[np.bool_]
"""Label numbers, `[texts]`, or probabilities, `[texts, classes]`, or, of label sets, whether a text has
each label, `[texts, classes]` bool."""

MOST_CROSSED = 4_000
"""Texts up to which settings are chosen by cross-validation on all of them; of more, some are held out."""
MOST_COMPARED = 10_000
"""Texts that settings are chosen on where there are more of them."""
MOST_CELLS = 3_000_000
"""Texts times labels above which settings are chosen on a fifth of the texts, and two folds have to do."""
MOST_WORK = 4e9
"""Features of all texts times columns, above which settings are not compared and two folds have to do."""
MOST_RATIO_CLASSES = 20
"""Labels up to which naive Bayes ratios are tried; with 77 and 150 they cost 0.9 points."""
MOST_WEIGHTS = 120_000_000
"""Features times columns above which the rarest features are left out."""
LEAST_FEATURES = 20_000


@dataclass(frozen=True)
class LinearSettings:
    """What cross-validation chooses.

    Attributes:
        blocks: What is read of the texts.
        ratios: Whether features count for more that tell a label from the rest, by their naive Bayes ratio.
        strength: What a mistake costs (C).
        dense: Length of the vectors beside words and characters, which have 1 each; 0 without.
    """

    blocks: tuple[Block, ...] = ("words", "characters")
    ratios: bool = True
    strength: float = 0.5
    dense: float = 0.0


@dataclass(frozen=True)
class LinearFit:
    """A linear model of texts, and how it does on texts that it was not trained on.

    Attributes:
        model: Trained on all texts.
        oof_scores: For each text that is in a fold the calibrated logits of a model that was trained
            without its fold, `[texts, classes]`.
        settings: What was chosen.
        cv_score: Accuracy of `oof_scores`; of label sets, the share of answers that are right.
    """

    model: LinearModel
    oof_scores: Floats
    settings: LinearSettings
    cv_score: float


def fit_linear(
    texts: Sequence[str],
    targets: Targets,
    classes: int,
    *,
    dense: NDArray | None = None,
    sample_weight: NDArray | None = None,
    class_weight: NDArray | None = None,
    tokenizer: str = "penn",
    max_features: int = 200_000,
    folds: int = 5,
    always: int = 0,
    seed: int = 0,
    settings: LinearSettings | None = None,
) -> LinearFit:
    """A linear classifier on words, word pairs and characters, and perhaps on vectors of the texts.

    Blocks, naive Bayes ratios and C are chosen by cross-validation (of very many texts or labels, on some
    texts that are held out), by log loss after calibration.

    Args:
        texts: Training texts.
        targets: Label numbers, or probabilities of labels (soft labels), or label sets.
        classes: Number of labels, two or more; of label sets one or more.
        dense: Vectors of the texts, `[texts, size]`.
        sample_weight: How much each text counts, `[texts]`.
        class_weight: How much the texts of each label count, `[classes]`; of label sets, the texts with it
            beside those without.
        tokenizer: Finds the words.
        max_features: Most words, word pairs and runs of characters; fewer where there would be more
            than `MOST_WEIGHTS`.
        folds: Of the cross-validation.
        always: How many of the texts, the last, are in no fold: they are trained on, and not judged.
        seed: Of the folds and of the order of the texts.
        settings: Take these instead of choosing.
    """
    data = _data(texts, targets, classes, dense, sample_weight, class_weight, tokenizer, max_features)
    judged = len(texts) - always
    large = len(texts) * classes > MOST_CELLS
    crossed = judged <= MOST_CROSSED and not large
    few = large or data.work > MOST_WORK
    parts = _folds(data.hard[:judged], min(folds, 2) if few else folds, seed)
    found: Floats | None = None
    if settings is None:
        settings = _default(data)
        if data.work <= MOST_WORK and len(parts) > 1:
            compared = _Comparison(data, parts) if crossed else _Comparison(*_some(data, judged, seed))
            settings = compared.choose(settings)
            if crossed:
                found = compared.scores[settings]
    if len(settings.blocks) == 1 and (widened := data.widened(settings.blocks[0], texts, tokenizer)):
        data, found = widened, None
    if found is None:
        found = _out_of_fold(data, settings, parts)
    found = found[:judged]
    factor = np.float32(data.calibration(found, np.arange(judged))[0] if len(parts) > 1 else 1)
    machine = data.fit(settings, np.arange(len(texts)), seed)
    of_vectors = data.leading @ machine.dense if settings.dense else machine.dense
    scaled = Machine(machine.weights * factor, of_vectors * factor, machine.bias * factor)
    blocks: dict[Block, Vocabulary] = {name: data.blocks[name][0] for name in settings.blocks}
    scale = DenseScale(data.mean, settings.dense) if settings.dense else None
    model = LinearModel(blocks, scaled, classes, tokenizer, scale)
    right = (
        (found > 0) == data.sets[:judged]
        if data.sets is not None
        else found.argmax(1) == data.hard[:judged]
    )
    return LinearFit(model, found * factor, settings, float(right.mean()) if right.size else 0.0)


@dataclass(frozen=True)
class _Data:
    """Training texts in all that may be read of them.

    Attributes:
        blocks: Vocabulary and features of each block.
        dense: Vectors of length 1 about the mean, times `leading`, `[texts, size]`; the size may be 0.
        mean: Of the vectors as given.
        leading: What makes their large directions count for more (see `headwise.linear.leading`).
        soft: Probability of each label, `[texts, classes]`, or None where labels are certain.
        hard: Numbers of the (likeliest) labels; of label sets, of one of them.
        sets: Of label sets whether a text has each label, `[texts, classes]`, else None.
        label_weights: Of label sets what a text with the label counts beside one without, `[classes]`.
        importance: How much each text counts, `[texts]`, 1 in the mean.
        classes: Number of labels.
        most: Features that a block may have.
    """

    blocks: dict[Block, tuple[Vocabulary, csr_matrix]]
    dense: Floats
    mean: Floats
    leading: Floats
    soft: Floats | None
    hard: NDArray[np.int64]
    sets: NDArray[np.bool_] | None
    label_weights: Floats
    importance: Floats
    classes: int
    most: int
    cache: dict = field(default_factory=dict)

    @property
    def columns(self) -> int:
        return 1 if self.classes == 2 and self.sets is None else self.classes

    @property
    def work(self) -> float:
        """Features of all texts, times columns."""
        own = sum(matrix.nnz for _, matrix in self.blocks.values()) + self.dense.size
        return float(own) * self.columns

    def widened(self, name: Block, texts: Sequence[str], tokenizer: str) -> "_Data | None":
        """With one block alone, which may have the features of two; None where there are no more."""
        if len(self.blocks[name][0]) < self.most:
            return None
        block = BlockReader(name, tokenizer).fit(texts, max_features=2 * self.most)
        return replace(self, blocks={name: block}, cache={})

    def take(self, texts: NDArray[np.int64]) -> "_Data":
        """Some of the texts."""
        return replace(
            self,
            blocks={name: (own, matrix[texts]) for name, (own, matrix) in self.blocks.items()},
            dense=self.dense[texts],
            soft=None if self.soft is None else self.soft[texts],
            hard=self.hard[texts],
            sets=None if self.sets is None else self.sets[texts],
            importance=self.importance[texts],
            cache={},
        )

    def rows(self, settings: LinearSettings) -> Rows:
        """All texts as the settings say."""
        key = (settings.blocks, settings.dense)
        if key not in self.cache:
            sparse = beside([self.blocks[name][1] for name in settings.blocks], len(self.hard))
            wide = self.dense * np.float32(settings.dense) if settings.dense else self.dense[:, :0]
            self.cache.clear()
            self.cache[key] = Rows(sparse, wide)
        return self.cache[key]

    def fit(self, settings: LinearSettings, texts: NDArray[np.int64], seed: int) -> Machine:
        """A machine that is trained on some texts."""
        rows = self.rows(settings).take(texts)
        importance = self.importance[texts, None]
        if self.sets is not None:
            own = self.sets[texts]
            signs = np.where(own, 1, -1).astype(np.int8)
            costs = importance * np.where(own, self.label_weights, np.float32(1))
        elif self.soft is None:
            signs = signs_of(self.hard[texts], self.classes)
            costs = importance
        else:  # each text once with the label and once without it, by the probabilities
            shares = self.soft[texts][:, -self.columns :]
            sparse = csr_matrix(vstack([rows.sparse, rows.sparse], format="csr"))
            rows = Rows(sparse, np.vstack([rows.dense, rows.dense]))
            signs = np.ones(shares.shape, dtype=np.int8)
            signs = np.vstack([signs, -signs])
            costs = np.vstack([shares * importance, (1 - shares) * importance])
        ratios = None
        if settings.ratios:
            ratios = _ratios(rows.sparse, signs, costs)
        strength = np.float32(settings.strength)
        return solve(rows, signs, costs.astype(np.float32) * strength, ratios=ratios, seed=seed)

    def calibration(self, scores: Floats, texts: NDArray[np.int64]) -> tuple[float, float]:
        """What scores `[texts, classes]` are multiplied by to become logits, and their log loss."""
        if self.sets is None:
            mixture = fit_mixture([scores], self.hard[texts])
            return mixture.weights[0], mixture.loss
        factor = 1 / fit_binary_temperature(scores, self.sets[texts])
        return factor, mean_binary_loss(scores * np.float32(factor), self.sets[texts])


def _data(
    texts: Sequence[str],
    targets: Targets,
    classes: int,
    dense: NDArray | None,
    sample_weight: NDArray | None,
    class_weight: NDArray | None,
    tokenizer: str,
    max_features: int,
) -> _Data:
    sets = targets.astype(np.bool_) if targets.dtype == np.bool_ else None
    soft = targets.astype(np.float32) if targets.ndim == 2 and sets is None else None
    hard = targets.argmax(axis=1) if targets.ndim == 2 else targets.astype(np.int64)
    importance = (
        np.ones(len(texts)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    )
    label_weights = np.ones(classes) if class_weight is None else np.asarray(class_weight)
    if class_weight is not None and sets is None:
        own = np.asarray(class_weight, dtype=np.float64)
        importance = importance * (own[hard] if soft is None else soft @ own)
    if importance.sum() > 0:
        importance = importance / importance.mean()
    columns = 1 if classes == 2 and sets is None else classes
    most = min(max_features, max(MOST_WEIGHTS // columns, LEAST_FEATURES)) // 2
    names: tuple[Block, ...] = ("words", "characters")
    blocks: dict[Block, tuple[Vocabulary, csr_matrix]] = {
        name: BlockReader(name, tokenizer).fit(texts, max_features=most) for name in names
    }
    size = 0 if dense is None else np.asarray(dense).shape[1]
    mean = np.zeros(size, dtype=np.float32)
    vectors = np.zeros((len(texts), size), dtype=np.float32)
    turn = np.eye(size, dtype=np.float32)
    if dense is not None and len(texts):
        mean = np.asarray(dense, dtype=np.float64).mean(axis=0).astype(np.float32)
        vectors = DenseScale(mean, 1.0)(dense)
        turn = leading(vectors[importance > 0])
        vectors = np.asarray(vectors @ turn, dtype=np.float32)
    weights = label_weights.astype(np.float32), importance.astype(np.float32)
    return _Data(blocks, vectors, mean, turn, soft, hard, sets, *weights, classes, most)


def _ratios(sparse: csr_matrix, signs: NDArray[np.int8], costs: NDArray) -> Floats:
    """Half of 1, and half of how far the logarithm of how much more often a feature is in the texts of a
    label than in the rest is from 0: `[features, columns]`."""
    there = csr_matrix((np.ones_like(sparse.data), sparse.indices, sparse.indptr), shape=sparse.shape)
    own = there.T @ np.where(signs > 0, costs, 0).astype(np.float32) + 1
    rest = there.T @ np.where(signs < 0, costs, 0).astype(np.float32) + 1
    ratios = np.log(own / own.sum(axis=0)) - np.log(rest / rest.sum(axis=0))
    return np.asarray(0.5 + 0.5 * np.abs(ratios), dtype=np.float32)


def _folds(targets: NDArray[np.int64], folds: int, seed: int) -> list[NDArray[np.int64]]:
    """The texts of each fold; the texts of a label are spread evenly over them."""
    folds = min(folds, len(targets))
    order = np.random.default_rng(seed).permutation(len(targets))
    order = order[np.argsort(targets[order], kind="stable")]
    return [np.sort(order[fold::folds]) for fold in range(folds)]


def _out_of_fold(data: _Data, settings: LinearSettings, parts: Sequence[NDArray[np.int64]]) -> Floats:
    """Scores of each text by a machine that was trained on the other folds, `[texts, classes]`."""
    found = np.zeros((len(data.hard), data.classes), dtype=np.float32)
    every = np.arange(len(data.hard))
    for fold, held in enumerate(parts):
        if len(parts) > 1:
            machine = data.fit(settings, np.setdiff1d(every, held), fold)
            found[held] = both(machine.scores(data.rows(settings).take(held)), data.classes)
    return found


def _some(data: _Data, judged: int, seed: int) -> tuple[_Data, Sequence[NDArray[np.int64]]]:
    """Some of the texts that are judged, and all others; and of the first the ones that are held out."""
    texts = np.random.default_rng(seed).permutation(judged)[:MOST_COMPARED]
    held = np.arange(len(texts) // 5)
    return data.take(np.append(texts, np.arange(judged, len(data.hard)))), [held]


def _default(data: _Data) -> LinearSettings:
    return LinearSettings(
        ratios=data.classes <= MOST_RATIO_CLASSES, dense=1.0 if data.dense.shape[1] else 0.0
    )


class _Comparison:
    """Settings compared by what they do on texts that are held out."""

    def __init__(self, data: _Data, parts: Sequence[NDArray[np.int64]]):
        self.data, self.parts = data, parts
        self.held = np.concatenate(parts)
        self.losses: dict[LinearSettings, float] = {}
        self.scores: dict[LinearSettings, Floats] = {}

    def loss(self, settings: LinearSettings) -> float:
        """Log loss after calibration, in nats a text."""
        if settings not in self.losses:
            if len(self.parts) > 1:
                scores = self.scores[settings] = _out_of_fold(self.data, settings, self.parts)
            else:
                every = np.arange(len(self.data.hard))
                machine = self.data.fit(settings, np.setdiff1d(every, self.held), 0)
                scores = np.zeros((len(every), self.data.classes), dtype=np.float32)
                rows = self.data.rows(settings).take(self.held)
                scores[self.held] = both(machine.scores(rows), self.data.classes)
            self.losses[settings] = self.data.calibration(scores[self.held], self.held)[1]
        return self.losses[settings]

    def choose(self, start: LinearSettings) -> LinearSettings:
        """One thing after the other is changed as long as that helps."""
        best = start
        best = self.best(best, [replace(best, blocks=blocks) for blocks in (("words",), ("characters",))])
        if self.data.classes <= MOST_RATIO_CLASSES:
            best = self.best(best, [replace(best, ratios=not best.ratios)])
        if best.dense:
            best = self.best(best, [replace(best, dense=dense) for dense in (0.5, 2.0, 4.0)])
        return self.best(best, [replace(best, strength=strength) for strength in (0.15, 1.5, 4.0)])

    def best(self, start: LinearSettings, others: Iterable[LinearSettings]) -> LinearSettings:
        """The best of some settings; the first where nothing is better."""
        return min([start, *others], key=self.loss)
