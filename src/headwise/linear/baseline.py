"""The linear baseline that every text classifier is compared with: TF-IDF and a linear SVM.

It reads words and word pairs, with or without character n-grams: whichever is more accurate on dev.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headwise.linear.solver import Rows, solve
from headwise.linear.svm import STRENGTHS
from headwise.linear.text_features import Block, BlockReader, Vocabulary
from headwise.linear.text_fit import MOST_CELLS
from headwise.linear.text_model import LinearModel, both, signs_of, stack_blocks
from headwise.linear.together import together

NAME = "TF-IDF + linear SVM"
BLOCKS: tuple[tuple[Block, ...], ...] = (("words",), ("words", "characters"))
MOST_FEATURES = 1_000_000
"""Maximum number of features per block."""
MOST_WEIGHTS = 100_000_000
"""Maximum number of weights per block, over all labels. With very many labels, the rarest features are
dropped."""


@dataclass(frozen=True)
class Baseline:
    """A fitted linear classifier.

    Attributes:
        model: Linear support vector machines on TF-IDF with logarithmic counts.
        strength: The penalty parameter C of the SVMs, chosen on dev.
        dev_accuracy: Accuracy on dev of the chosen blocks and C.
    """

    model: LinearModel
    strength: float
    dev_accuracy: float

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The feature blocks in use: words, or words and characters."""
        return tuple(self.model.blocks)

    def predict(self, texts: Sequence[str]) -> np.ndarray:
        """The predicted label indices, `[texts]`."""
        return self.model.scores(texts).argmax(axis=1)


def fit_baseline(
    train: tuple[Sequence[str], np.ndarray],
    dev: tuple[Sequence[str], np.ndarray],
    *,
    tokenizer: str = "penn",
    refit: bool = False,
) -> Baseline | None:
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
    readers: list[BlockReader] = [BlockReader(name, tokenizer) for name in BLOCKS[-1]]
    most = min(MOST_FEATURES, MOST_WEIGHTS // classes)
    subset = slice(None, None, 5 if len(train[0]) * classes > MOST_CELLS else 1)
    chosen_on, targets = train[0][subset], train[1][subset]
    fitted = {reader.block: reader.fit(chosen_on, max_features=most) for reader in readers}
    if not any(len(vocabulary) for vocabulary, _ in fitted.values()):
        return None
    held = {reader.block: reader.transform(dev[0], fitted[reader.block][0]) for reader in readers}
    costs = np.ones((len(targets), 1), dtype=np.float32)
    best: Baseline | None = None
    for blocks in BLOCKS:
        rows = _rows([fitted[name][1] for name in blocks], len(targets))
        dev_rows = _rows([held[name] for name in blocks], len(dev[0]))
        for strength in STRENGTHS:
            machine = solve(rows, signs_of(targets, classes), costs * np.float32(strength))
            guessed = both(machine.scores(dev_rows), classes).argmax(axis=1)
            accuracy = float(np.mean(guessed == dev[1]))
            if best is None or accuracy > best.dev_accuracy:
                vocabularies: dict[Block, Vocabulary] = {name: fitted[name][0] for name in blocks}
                best = Baseline(LinearModel(vocabularies, machine, classes, tokenizer), strength, accuracy)
    if best is None or (not refit and len(targets) == len(train[1])):
        return best
    texts, labels = together(train, dev) if refit else train
    fitted = {
        reader.block: reader.fit(texts, max_features=most)
        for reader in readers
        if reader.block in best.blocks
    }
    rows = _rows([features for _, features in fitted.values()], len(texts))
    costs = np.full((len(texts), 1), best.strength, dtype=np.float32)
    machine = solve(rows, signs_of(labels, classes), costs)
    final_vocabularies: dict[Block, Vocabulary] = {name: fitted[name][0] for name in best.blocks}
    return replace(best, model=LinearModel(final_vocabularies, machine, classes, tokenizer))


def _rows(parts: list, texts: int) -> Rows:
    return Rows(stack_blocks(parts, texts), np.zeros((texts, 0), dtype=np.float32))
