"""A frozen sentence encoder with a linear head as teacher for distillation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from headwise.data.alike import first_alike
from headwise.data.labels import targets_of
from headwise.data.shares import shares_of, weights_of
from headwise.linear.text_fit import fit_linear
from headwise.pretrain.answers import ask
from headwise.pretrain.config import TeacherConfig
from headwise.pretrain.sentence_encoder import SentenceEncoder
from headwise.pretrain.work import key_of
from headwise.teachers.teacher import Teacher, Update
from headwise.train.label_names import named_labels, names_tell, with_names
from headwise.train.probe import FOLDS, fit_probe

_TRIED = 64  # number of texts for the bfloat16 check
_SHARD = 1024  # texts per cache file


class EncoderTeacher(Teacher):
    """A frozen sentence encoder as teacher. Its head is a linear model of the vectors, words and character
    n-grams, whose weights cross-validation chooses (encoders know topics better than opinions), or a
    logistic regression on the vectors alone.

    Args:
        config: The encoder.
        linear: Whether the head also reads words and character n-grams.
        work: Folder that caches its vectors.
        report: Called with the progress of encoding.

    Raises:
        PretrainedError: HW701 to HW706, the encoder cannot be loaded.
    """

    def __init__(self, config: TeacherConfig, *, linear: bool, work: Path, report: Update):
        self.name = Path(config.name).name
        self._encoder, self._linear = SentenceEncoder(config), linear
        self.fingerprint = self._encoder.fingerprint
        self._work, self._report, self._hastened = work, report, False

    def vectors(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        """The vectors of texts, `[texts, size]`, cached in the work folder if `keep`."""
        if not self._hastened:
            self._encoder.hasten(list(texts[:_TRIED]))
            self._hastened = True
        if not keep:
            return self._encoder.read(texts).astype(np.float32)
        folder = self._work / f"answers-{key_of(self.fingerprint, list(texts))}"
        return ask(self._encoder, texts, folder, self._report, size=_SHARD).astype(np.float32)

    def learn(self, items: Sequence[Any], labels: Sequence[str]) -> Sequence[str]:
        texts, classes = [item.text for item in items], len(labels)
        soft, weights = shares_of(items, labels), weights_of(items)
        targets = targets_of(items, labels) if soft is None else soft
        vectors, names = self.vectors(texts), named_labels(labels, targets, weights)
        of_names = self.vectors(list(names.values())) if names else vectors[:0]
        always = 0
        if names_tell(of_names, vectors, targets, list(names)):
            texts, vectors, always = [*texts, *names.values()], np.vstack([vectors, of_names]), len(names)
            targets, weights = with_names(targets, weights, list(names), classes)
        if self._linear:
            how = {"dense": vectors, "sample_weight": weights, "always": always}
            self._logits = fit_linear(texts, targets, classes, **how).model.scores
        else:
            same = first_alike(texts, FOLDS)
            matrix, bias = fit_probe(vectors, targets, classes, weights=weights, same=same, always=always)
            self._logits = lambda _, vectors: vectors @ matrix.T + bias
        return labels

    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        return softmax(self._logits(texts, self.vectors(texts, keep=keep)), axis=1)
