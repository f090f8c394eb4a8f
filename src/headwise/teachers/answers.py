"""A file of labels or label probabilities as teacher for distillation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.duplicates import normal_text
from headwise.data.errors import UNLABELLED, DataError
from headwise.data.kinds import DEFAULT_TASK, KINDS
from headwise.data.labels import all_labels, respelt, spelt_otherwise
from headwise.data.options import SoftOptions
from headwise.data.read import read_examples
from headwise.data.shares import shares_of
from headwise.teachers.teacher import Teacher


class AnswersTeacher(Teacher):
    """A teacher that looks texts up in a file (see `headwise.data.soft_columns`); for repeated texts, the
    first row counts.

    Args:
        file: Csv, tsv or jsonl file with one column of probabilities per label, or with labels and their
            confidence.
        options: Reading options.

    Raises:
        DataError: It cannot be read.
    """

    def __init__(self, file: Path, options: SoftOptions):
        try:
            data = read_examples(file, options, answers=True)
        except DataError as error:
            if error.code not in UNLABELLED:
                raise
            raise DataError(
                error.code,
                error.problem,
                expected="a file of answers as teacher: texts with a label each (and how sure it is), or a "
                "column of probabilities a label",
                advice="texts to be labelled go to --unlabelled, and --teacher is what labels them: such a "
                "file, a sentence encoder or a model folder",
                path=error.path,
                line=error.line,
                column=error.column,
            ) from None
        self.name, self.notes = f"the answers in {file.name}", data.notes
        self.fingerprint = KINDS[DEFAULT_TASK].fingerprint(data.items).sha256
        self._items: dict[str, Any] = {}
        for item in data.items:
            self._items.setdefault(normal_text(item.text), item)
        self.texts = [item.text for item in data.items]
        self._labels: Sequence[str] = ()

    def learn(self, items: Sequence[Any], labels: Sequence[str]) -> Sequence[str]:
        names = spelt_otherwise(all_labels([*self._items.values()]), labels)
        self._items = {text: respelt(item, names) for text, item in self._items.items()}
        self._labels = all_labels([*items, *self._items.values()])
        return self._labels

    def knows(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([normal_text(text) in self._items for text in texts], dtype=np.bool_)

    def weights(self, texts: Sequence[str]) -> Sequence[float]:
        return [self._items[normal_text(text)].weight for text in texts]

    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        items = [self._items[normal_text(text)] for text in texts]
        shares = shares_of(items, self._labels)
        if shares is None:  # hard labels
            number = {label: n for n, label in enumerate(self._labels)}
            shares = np.zeros((len(items), len(self._labels)), np.float32)
            shares[range(len(items)), [number[item.label] for item in items]] = 1
        return shares
