"""The linear baseline that stands beside every model: TF-IDF and a linear SVM, as one would make it at
once.

Of words and word pairs alone, and of these with runs of characters, the one that is better on dev.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headwise.linear.solver import Rows, solve
from headwise.linear.svm import STRENGTHS
from headwise.linear.text_features import Block, BlockReader, Vocabulary
from headwise.linear.text_fit import MOST_CELLS
from headwise.linear.text_model import LinearModel, beside, both, signs_of
from headwise.linear.together import together

NAME = "TF-IDF + linear SVM"
BLOCKS: tuple[tuple[Block, ...], ...] = (("words",), ("words", "characters"))
MOST_FEATURES = 1_000_000
"""Of a block."""
MOST_WEIGHTS = 100_000_000
"""Of a block, for all labels: with very many labels the rarest features are left out."""


@dataclass(frozen=True)
class Baseline:
    """A fitted linear classifier.

    Attributes:
        model: Linear support vector machines on TF-IDF with logarithmic counts.
        strength: Their C, chosen on dev.
        dev_accuracy: On dev, of the one by which what is read and C were chosen.
    """

    model: LinearModel
    strength: float
    dev_accuracy: float

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What it reads of texts: words, or words and characters."""
        return tuple(self.model.blocks)

    def predict(self, texts: Sequence[str]) -> np.ndarray:
        """Label numbers, `[texts]`."""
        return self.model.scores(texts).argmax(axis=1)


def fit_baseline(
    train: tuple[Sequence[str], np.ndarray],
    dev: tuple[Sequence[str], np.ndarray],
    *,
    tokenizer: str = "penn",
    refit: bool = False,
) -> Baseline | None:
    """TF-IDF + linear SVM on the training texts; what is read and C are the first that are best on dev.

    Where texts times labels are more than `MOST_CELLS`, a fifth of the texts is trained on to choose, as
    for the linear expert.

    Args:
        train: Texts and label numbers.
        dev: Likewise.
        tokenizer: The model's, so that both read the same words.
        refit: Once dev has chosen, fit again on training and dev texts together.

    Returns:
        None where the texts have no words at all.
    """
    classes = max(2, 1 + int(max(train[1].max(initial=0), dev[1].max(initial=0))))
    readers: list[BlockReader] = [BlockReader(name, tokenizer) for name in BLOCKS[-1]]
    most = min(MOST_FEATURES, MOST_WEIGHTS // classes)
    some = slice(None, None, 5 if len(train[0]) * classes > MOST_CELLS else 1)
    chosen_on, targets = train[0][some], train[1][some]
    fitted = {own.block: own.fit(chosen_on, max_features=most) for own in readers}
    if not any(len(vocabulary) for vocabulary, _ in fitted.values()):
        return None
    held = {own.block: own.transform(dev[0], fitted[own.block][0]) for own in readers}
    costs = np.ones((len(targets), 1), dtype=np.float32)
    best: Baseline | None = None
    for blocks in BLOCKS:
        rows = _rows([fitted[name][1] for name in blocks], len(targets))
        others = _rows([held[name] for name in blocks], len(dev[0]))
        for strength in STRENGTHS:
            machine = solve(rows, signs_of(targets, classes), costs * np.float32(strength))
            guessed = both(machine.scores(others), classes).argmax(axis=1)
            accuracy = float(np.mean(guessed == dev[1]))
            if best is None or accuracy > best.dev_accuracy:
                vocabularies: dict[Block, Vocabulary] = {name: fitted[name][0] for name in blocks}
                best = Baseline(LinearModel(vocabularies, machine, classes, tokenizer), strength, accuracy)
    if best is None or (not refit and len(targets) == len(train[1])):
        return best
    texts, labels = together(train, dev) if refit else train
    fitted = {own.block: own.fit(texts, max_features=most) for own in readers if own.block in best.blocks}
    rows = _rows([found for _, found in fitted.values()], len(texts))
    costs = np.full((len(texts), 1), best.strength, dtype=np.float32)
    machine = solve(rows, signs_of(labels, classes), costs)
    known: dict[Block, Vocabulary] = {name: fitted[name][0] for name in best.blocks}
    return replace(best, model=LinearModel(known, machine, classes, tokenizer))


def _rows(parts: list, texts: int) -> Rows:
    return Rows(beside(parts, texts), np.zeros((texts, 0), dtype=np.float32))
