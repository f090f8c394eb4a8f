"""What `headwise train` is compared with in default.py, each trained and tested on a subset."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.runs import Result
from benchmarks.defaults.default_encoders import fine_tuned, setfit
from benchmarks.defaults.default_linear import Fitted, every_text, fasttext, logistic, nb_svm, svm
from benchmarks.defaults.default_sets import DataSet, Kind, Part
from benchmarks.defaults.default_taggers import crf
from benchmarks.defaults.default_vectors import (
    STATIC,
    TEACHERS,
    VectorCache,
    cached_minilm,
    cached_static,
    cached_teacher,
)
from headwise.metrics.calibration import expected_calibration_error
from headwise.metrics.classification_scores import score_labels

MINILM = "minilm"
RIVALS: dict[Kind, tuple[str, ...]] = {
    "classify": ("svm", "nb-svm", "fasttext", MINILM, "glove", "minilm-static"),
    "pair": ("svm", "nb-svm", MINILM, "glove", "minilm-static"),
    "tag": ("crf",),
}
TRAINED: dict[str, Callable[[Any, np.ndarray, int], Fitted]] = {
    "fine-tuned-minilm": fine_tuned,
    "setfit": setfit,
}
"""Rivals that train the weights of a sentence encoder."""
ON_DEMAND: dict[Kind, tuple[str, ...]] = {
    "classify": (*TEACHERS, *TRAINED),
    "pair": tuple(TEACHERS),
    "tag": (),
}
"""Rivals that run only if they are named: they read a few texts a second."""
FITS: dict[str, Callable[[Any, np.ndarray], Fitted]] = {"svm": svm, "nb-svm": nb_svm, "fasttext": fasttext}
ENCODER_WEIGHTS = {
    MINILM: 22_713_216,
    **{name: weights for name, (_, weights) in TEACHERS.items()},
    **{name: words * size for name, (_, words, size) in STATIC.items()},
}
_SPEED_TEXTS = 256


class Rivals:
    """The rivals, with what they share: vectors, and the texts that were encoded before."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._caches: dict[str, VectorCache] = {}
        self._speed: dict[tuple[str, str], float] = {}

    def run(self, system: str, data: DataSet, train: Part, seed: int = 0) -> Result:
        """Train a rival on a part and test it.

        Args:
            seed: Of the rivals in which something is random besides the texts.
        """
        if system == "crf":
            return crf(train, data.test, data.scheme)
        names = sorted(set(data.train.labels))
        number = {name: n for n, name in enumerate(names)}
        targets, truth = (np.array([number[label] for label in part.labels]) for part in (train, data.test))
        vectors = self.vectors(system)
        # Cached vectors would make the rival look faster: the time of encoding follows from its speed.
        encoding = 0.0 if vectors is None else 1 / self.encoding_speed(system, data)
        began, before = time.monotonic(), computing(vectors)
        if vectors is not None:
            fitted = logistic(vectors, train.items, targets)
        elif system in TRAINED:
            fitted = TRAINED[system](train.items, targets, seed)
        else:
            fitted = FITS[system](train.items, targets)
        seconds = time.monotonic() - began - (computing(vectors) - before) + len(train) * encoding
        began, before = time.monotonic(), computing(vectors)
        predicted, chances = fitted.predict(data.test.items)
        testing = time.monotonic() - began - (computing(vectors) - before) + len(data.test) * encoding
        scores = score_labels(predicted, truth, names)
        return {
            "test": round(scores.accuracy, 5),
            "macro_f1": round(scores.macro_f1, 5),
            **({} if fitted.dev is None else {"dev": round(fitted.dev, 5)}),
            **(probability_scores(chances, truth) if chances is not None else {}),
            "seconds": round(seconds, 1),
            "size_mib": round(4 * (fitted.weights + ENCODER_WEIGHTS.get(system, 0)) / 2**20, 2),
            "texts_per_second": round(len(data.test) / testing),
            "setting": fitted.setting,
        }

    def vectors(self, system: str) -> VectorCache | None:
        """The vectors that a rival reads, if it does."""
        if system not in ENCODER_WEIGHTS:
            return None
        if system not in self._caches:
            load = cached_teacher if system in TEACHERS else cached_static
            self._caches[system] = (
                cached_minilm(self.folder) if system == MINILM else load(system, self.folder)
            )
        return self._caches[system]

    def encoding_speed(self, system: str, data: DataSet) -> float:
        """Test texts or pairs of a set that are encoded in a second, measured once."""
        key = (system, data.name)
        if key not in self._speed:
            items, vectors = data.test.items[:_SPEED_TEXTS], self.vectors(system)
            assert vectors is not None
            vectors.compute(every_text(items[:16]))
            began = time.monotonic()
            vectors.compute(every_text(items))
            self._speed[key] = len(items) / (time.monotonic() - began)
        return self._speed[key]


def computing(vectors: VectorCache | None) -> float:
    """Seconds that went into encoding so far."""
    return 0.0 if vectors is None else vectors.seconds


def probability_scores(chances: np.ndarray, truth: np.ndarray) -> Result:
    """Log loss in nats and calibration error of probabilities `[texts, labels]`."""
    true_chances = np.clip(chances[np.arange(len(truth)), truth], 1e-9, 1)
    return {
        "log_loss": round(float(-np.log(true_chances).mean()), 5),
        "calibration_error": round(expected_calibration_error(chances, truth), 5),
    }
