"""What is to be said of a model on texts with known sets of labels; to be saved or shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.example import Example
from headwise.models.label_set_model import LabelSetModel
from headwise.scores.binary import binary_calibration_error, mean_binary_loss
from headwise.scores.label_set_metrics import LabelSetScores, compare_sets, label_set_scores
from headwise.scores.resample import ScoreDifference

SUMMARY = ("micro_f1", "macro_f1", "subset_accuracy", "ranking", "mean_average_precision")
"""The scores that stand beside each other in a report."""


@dataclass(frozen=True)
class LabelSetEvaluation:
    """A model on texts with known sets of labels.

    Attributes:
        scores: F1, subset accuracy, ranking, and the labels one by one.
        log_loss: Mean binary cross-entropy of a label's calibrated probability, in nats.
        calibration_error: Mean gap between probabilities and how often they hold, between 0 and 1.
        unknown_words: Share of all words that the vocabulary does not know.
        empty_texts: Texts without a single word.
        cut_texts: Texts that are longer than the model reads (only with `--windows.long truncate`).
        probabilities: Calibrated, `[texts, labels]`; not part of the JSON.
        given: Which labels the texts get, `[texts, labels]`; likewise.
    """

    scores: LabelSetScores
    log_loss: float
    calibration_error: float
    unknown_words: float
    empty_texts: int
    probabilities: NDArray[np.float64] = field(repr=False, compare=False)
    given: NDArray[np.bool_] = field(repr=False, compare=False)
    cut_texts: int = 0

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object: the scores, and then the other numbers."""
        scores = asdict(self.scores)
        labels = scores.pop("labels")
        return {
            **scores,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "unknown_words": self.unknown_words,
            "empty_texts": self.empty_texts,
            "cut_texts": self.cut_texts,
            "labels": labels,
        }

    def worst(self, targets: NDArray[np.bool_], count: int) -> list[int]:
        """The numbers of the texts with a wrong label that the model is surest of, the surest first."""
        wrong = np.where(self.given != targets, np.abs(self.probabilities - targets), 0.0).max(axis=1)
        order = np.argsort(-wrong, kind="stable")
        return [int(text) for text in order[:count] if wrong[text] > 0]


def evaluate_label_sets(
    model: LabelSetModel, texts: Sequence[str | Example], targets: NDArray[np.bool_]
) -> LabelSetEvaluation:
    """Let a model label texts, and compare with the labels that they have.

    Args:
        model: The model.
        texts: One or more texts.
        targets: Whether each has each of `model.labels`, `[texts, labels]`.

    Raises:
        ValueError: There are no texts.
    """
    encoded = model.features.encode(texts)
    logits = model.logits(encoded)
    probabilities = model.probabilities(logits)
    thresholds = np.array(model.thresholds)
    return LabelSetEvaluation(
        scores=label_set_scores(probabilities, thresholds, targets, model.labels),
        log_loss=mean_binary_loss(logits / model.temperature, targets),
        calibration_error=binary_calibration_error(probabilities, targets),
        unknown_words=sum(text.unknown for text in encoded) / max(sum(map(len, encoded)), 1),
        empty_texts=sum(len(text) == 0 for text in encoded),
        cut_texts=sum(text.cut > 0 for text in encoded),
        probabilities=probabilities,
        given=model.given(probabilities),
    )


@dataclass(frozen=True)
class LabelSetRival:
    """Another model on the same texts, to stand beside one.

    Attributes:
        name: What to call it.
        scores: Those of `SUMMARY`.
        difference: The model's micro F1 minus this one's, text by text.
    """

    name: str
    scores: Mapping[str, float]
    difference: ScoreDifference | None = None

    @classmethod
    def of(
        cls,
        name: str,
        scores: LabelSetScores,
        sets: tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]] | None = None,
    ) -> "LabelSetRival":
        """A rival with these scores.

        Args:
            name: What to call it.
            scores: Its scores.
            sets: The labels that the model gives, that the rival gives, and the true ones.
        """
        difference = None if sets is None else compare_sets(*sets)
        return cls(name, {key: getattr(scores, key) for key in SUMMARY}, difference)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads."""
        gap = None if self.difference is None else asdict(self.difference)
        return {"name": self.name, **self.scores, "difference": gap}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LabelSetRival | None":
        """The inverse of `to_json`; None where a score is missing."""
        if not all(isinstance(data.get(key), int | float) for key in SUMMARY):
            return None
        gap = data.get("difference")
        known = isinstance(gap, Mapping) and {"score", "interval", "p_value"} <= gap.keys()
        difference = (
            ScoreDifference(gap["score"], tuple(gap["interval"]), gap["p_value"]) if known and gap else None
        )
        return cls(str(data.get("name", "baseline")), {key: data[key] for key in SUMMARY}, difference)
