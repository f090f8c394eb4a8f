"""What is to be said of a model on labelled texts; plain numbers, to be saved or shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from headwise.data.example import Example
from headwise.scores.calibrate import expected_calibration_error
from headwise.scores.metrics import Difference, Scores, mean_loss, score

if TYPE_CHECKING:
    from headwise.models.classifier import Model


@dataclass(frozen=True)
class Evaluation:
    """A model on labelled texts.

    Attributes:
        scores: Accuracy and its interval, F1, the labels one by one, and the confusion matrix.
        log_loss: Mean cross-entropy of the calibrated probabilities, in nats.
        calibration_error: Expected calibration error of the calibrated probabilities, between 0 and 1.
        unknown_words: Share of all words that the vocabulary does not know.
        empty_texts: Texts without a single word.
        cut_texts: Texts that are longer than the model reads (only with `--windows.long truncate`).
        probabilities: Calibrated, `[texts, labels]`; not part of the JSON.
    """

    scores: Scores
    log_loss: float
    calibration_error: float
    unknown_words: float
    empty_texts: int
    probabilities: np.ndarray = field(repr=False, compare=False)
    cut_texts: int = 0

    @property
    def predicted(self) -> np.ndarray:
        """Label numbers, `[texts]`."""
        return self.probabilities.argmax(axis=1)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object: the scores, and then the other numbers."""
        scores = asdict(self.scores)
        labels, confusion = scores.pop("labels"), scores.pop("confusion")
        return {
            **scores,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "unknown_words": self.unknown_words,
            "empty_texts": self.empty_texts,
            "cut_texts": self.cut_texts,
            "labels": labels,
            "confusion": confusion,
        }


def evaluate_texts(model: "Model", texts: Sequence[str | Example], targets: np.ndarray) -> Evaluation:
    """Let a model label texts, and compare with the labels that they have.

    Args:
        model: The model.
        texts: One or more texts.
        targets: Their label numbers, in the order of `model.labels`, `[texts]`.

    Raises:
        ValueError: There are no texts.
    """
    encoded = model.features.encode(texts)
    logits = model.logits(encoded)
    probabilities = model.probabilities(logits)
    words = sum(map(len, encoded))
    return Evaluation(
        scores=score(probabilities.argmax(axis=1), targets, model.labels),
        log_loss=mean_loss(logits / model.temperature, targets),
        calibration_error=expected_calibration_error(probabilities, targets),
        unknown_words=sum(text.unknown for text in encoded) / max(words, 1),
        empty_texts=sum(len(text) == 0 for text in encoded),
        cut_texts=sum(text.cut > 0 for text in encoded),
        probabilities=probabilities,
    )


@dataclass(frozen=True)
class Rival:
    """Another classifier on the same texts, to stand beside a model.

    Attributes:
        name: What to call it, such as "TF-IDF + linear SVM".
        accuracy: Its accuracy.
        accuracy_interval: 95 % interval of that, if known.
        macro_f1: Its macro F1, if known.
        difference: The model minus this classifier, if both were compared text by text.
    """

    name: str
    accuracy: float
    accuracy_interval: tuple[float, float] | None = None
    macro_f1: float | None = None
    difference: Difference | None = None

    @classmethod
    def of(cls, name: str, scores: Scores, difference: Difference | None = None) -> "Rival":
        """A rival with these scores."""
        return cls(name, scores.accuracy, scores.accuracy_interval, scores.macro_f1, difference)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Rival | None":
        """The inverse of `to_json`; what is not known is passed over, None where there is no accuracy."""
        accuracy = data.get("accuracy")
        if not isinstance(accuracy, int | float):
            return None
        interval, gap = data.get("accuracy_interval"), data.get("difference")
        return cls(
            name=str(data.get("name", "baseline")),
            accuracy=float(accuracy),
            accuracy_interval=(interval[0], interval[1]) if interval else None,
            macro_f1=data.get("macro_f1"),
            difference=Difference(gap["accuracy"], tuple(gap["interval"]), gap["p_value"]) if gap else None,
        )


def worst_errors(evaluation: Evaluation, targets: np.ndarray, count: int) -> list[int]:
    """The numbers of the texts that the model is surest of and wrong about, the surest first.

    Args:
        evaluation: Of these texts.
        targets: Their label numbers, `[texts]`.
        count: How many to give at most.
    """
    wrong = np.flatnonzero(evaluation.predicted != targets)
    sureness = evaluation.probabilities[wrong].max(axis=1)
    return wrong[np.argsort(-sureness, kind="stable")][:count].tolist()
