"""Validation of the output names of a saved model.

Calibration of logits: temperature scaling and label biases.

Weighed: the ensemble of an encoder and a linear model.

Prediction of one label for each text or pair.

Prediction of label sets (multi-label classification).

Prediction of one number for each text or pair (regression).
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from headwise.core.errors import ConfigError
from headwise.data.items.batching import in_chunks
from headwise.metrics.regression_scores import Scale
from headwise.metrics.thresholds import predict_labels
from headwise.nn.networks.limits import check_finite


class OutputsError(ConfigError):
    """The description of the outputs of a saved model is invalid."""


def output_names(outputs: Mapping[str, Any], *, least: int = 2) -> list[str]:
    """The names of the outputs of a saved model, `labels`.

    Raises:
        OutputsError: They are not different texts, or fewer than `least`.
    """
    names = outputs.get("labels")
    if not isinstance(names, list):
        raise OutputsError("'labels' is missing or of the wrong type")
    if not all(isinstance(name, str) for name in names):
        raise OutputsError("every label must be a text")
    if len(names) < least or len(set(names)) < len(names):
        raise OutputsError(f"{least} or more labels are expected, all different")
    return names


class CalibratedLogits:
    """Mixin of models with calibrated logits.

    Attributes:
        temperature: Divisor of the logits (temperature scaling).
        biases: Added to the scaled logits, `[labels]`, if the model was adapted to texts with other label
            frequencies (`headwise.metrics.calibration`); else None.
    """

    FACTORS: ClassVar[dict[str, float]] = {"temperature": 1e-6}
    LABEL_FACTORS: ClassVar[dict[str, float]] = {"biases": -1e6}

    temperature: float
    biases: list[float] | None = None

    def calibrated(self, logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """Logits `[items, labels]` -> calibrated logits `[items, labels]`."""
        scaled = logits.astype(np.float64) / self.temperature
        return scaled if self.biases is None else scaled + np.array(self.biases)


class LinearEnsemble:
    """Mixin of models whose outputs may be an ensemble of an encoder and a linear model
    (`headwise.nn.networks.linear_members`).

    Attributes:
        encoder_weight: Ensemble weight of the encoder's outputs; 0 if the linear model alone was as good on
            held-out texts.
        expert: The linear model; None if it did not improve the score on held-out texts.
        expert_weight: Ensemble weight of the linear model's scores.
        expert_share: Contribution of the linear model to the combined score, from 0 to 1, averaged over
            held-out texts; 0 if not measured.
    """

    FACTORS: ClassVar[dict[str, float]] = {
        "encoder_weight": 0.0,
        "expert_weight": 0.0,
        "expert_share": 0.0,
    }

    outputs: int
    encoder_weight: float
    expert: Any
    expert_weight: float
    expert_share: float

    @abstractmethod
    def encoded(self, items: Sequence[Any]) -> Sequence[Any]:
        """Encode texts or pairs."""

    @abstractmethod
    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts or pairs."""

    @abstractmethod
    def expert_reads(
        self, encoded: Sequence[Any], *, vectors: bool = True
    ) -> tuple[Sequence[Any], np.ndarray | None, np.ndarray | None]:
        """Inputs of the linear model: texts, their vectors if there is a base, and numeric features.

        Args:
            encoded: Encoded texts or pairs.
            vectors: Whether the linear model reads vectors; if not, they are None.
        """

    def expert_scores(self, encoded: Sequence[Any]) -> np.ndarray:
        """Scores of the linear model, float32 `[texts, outputs]`, before weighting."""
        if self.expert is None:
            raise ValueError("the model has no expert")
        return self.expert(*self.expert_reads(encoded, vectors=self.expert.vectors > 0))

    def logits(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Weighted sum of the outputs of encoder and linear model (for labels, logits before calibration),
        float32 `[texts, outputs]`, in the order of the encoded texts or pairs.

        `outputs_of` gives the outputs of the encoder alone. A member with weight 0 is not computed.
        """
        if self.encoder_weight == 0.0 and self.expert is not None:
            logits = np.zeros((len(encoded), self.outputs), dtype=np.float32)
        else:
            logits = self.outputs_of(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
            if self.encoder_weight != 1.0:
                logits = np.float32(self.encoder_weight) * logits
        if self.expert is None or self.expert_weight == 0.0 or not encoded:
            return logits
        return check_finite(logits + np.float32(self.expert_weight) * self.expert_scores(encoded))


class LabelEnsemble(CalibratedLogits, LinearEnsemble):
    """Mixin of classifiers: an ensemble with calibrated probabilities.

    Attributes:
        labels: Names of the labels, in the order of the outputs.
    """

    FACTORS: ClassVar[dict[str, float]] = {**CalibratedLogits.FACTORS, **LinearEnsemble.FACTORS}

    labels: tuple[str, ...]

    @abstractmethod
    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[texts, labels]`."""

    def predict_proba(self, items: Sequence[Any]) -> np.ndarray:
        """Calibrated probabilities of texts or pairs, `[texts, labels]`, float64."""
        return self.probabilities(self.logits(self.encoded(items)))


@dataclass(frozen=True)
class Prediction:
    """Prediction for one text or pair.

    Attributes:
        label: The most probable label, or the label chosen by the thresholds.
        probabilities: Probability of each label, in the order of the model's `labels`; they sum to 1.
        unknown_words: Share of out-of-vocabulary words, from 0 to 1.
    """

    label: str
    probabilities: tuple[float, ...]
    unknown_words: float


class SingleLabelOutputs(LabelEnsemble):
    """Mixin of single-label classifiers.

    Attributes:
        thresholds: Thresholds of the labels, see `headwise.metrics.thresholds.predict_labels`; None: the
            most probable label is predicted.
    """

    LABEL_FACTORS: ClassVar[dict[str, float]] = {"thresholds": 1e-9, **LabelEnsemble.LABEL_FACTORS}
    thresholds: list[float] | None = None

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"labels": output_names(outputs)}

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Logits `[texts, labels]` -> calibrated probabilities of the same shape."""
        return softmax(self.calibrated(logits), axis=1)

    def predict(self, items: Iterable[Any], *, chunk: int = 4096) -> Iterator[Prediction]:
        """Predictions in the order of the texts or pairs, which may be a stream of any length.

        They are processed `chunk` at a time, so memory does not grow with their number.
        """
        for part in in_chunks(items, chunk):
            encoded = self.encoded(part)
            for item, row in zip(encoded, self.probabilities(self.logits(encoded)), strict=True):
                unknown = item.unknown / max(len(item), 1)
                label = self.labels[int(predict_labels(row, self.thresholds))]
                yield Prediction(label, tuple(map(float, row)), unknown)


@dataclass(frozen=True)
class MultiLabelPrediction:
    """Prediction for one text.

    Attributes:
        labels: The predicted labels, in the order of `MultiLabelOutputs.labels`; may be empty.
        probabilities: Independent probability of each label, in the order of `MultiLabelOutputs.labels`.
        unknown_words: Share of out-of-vocabulary words, from 0 to 1.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: float


class MultiLabelOutputs(LabelEnsemble):
    """Mixin of multi-label classifiers.

    Attributes:
        thresholds: Smallest probability with which each label is predicted, `[labels]`.
        separator: Separator of labels that are written in one cell.
    """

    LABEL_FACTORS: ClassVar[dict[str, float]] = {"thresholds": 0.0, **LabelEnsemble.LABEL_FACTORS}
    thresholds: list[float]
    separator: str

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        separator = outputs.get("separator")
        if not isinstance(separator, str) or not separator.strip():
            raise OutputsError("'separator' is missing or no text")
        return {"labels": output_names(outputs, least=1), "separator": separator}

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "separator": self.separator}

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits `[texts, labels]` -> calibrated probabilities of the same shape, independent by label."""
        return expit(self.calibrated(logits))

    def chosen_labels(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The predicted labels for probabilities `[texts, labels]`, bool of the same shape."""
        return probabilities >= np.array(self.thresholds)

    def predict(self, texts: Iterable[Any], *, chunk: int = 4096) -> Iterator[MultiLabelPrediction]:
        """Predictions in the order of the texts, which may be a stream of any length."""
        for part in in_chunks(texts, chunk):
            encoded = self.encoded(part)
            probabilities = self.probabilities(self.logits(encoded))
            rows = zip(encoded, probabilities, self.chosen_labels(probabilities), strict=True)
            for text, row, chosen in rows:
                labels = tuple(
                    name for name, has_label in zip(self.labels, chosen, strict=True) if has_label
                )
                yield MultiLabelPrediction(labels, tuple(map(float, row)), text.unknown / max(len(text), 1))


class NumberOutputs(LinearEnsemble):
    """Mixin of regressors.

    The class attributes are the defaults for folders of earlier versions, which save no ensemble weights.

    Attributes:
        scale: Maps outputs of the network to the scale of the target.
    """

    encoder_weight, expert_weight, expert_share = 1.0, 0.0, 0.0
    scale: Scale

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return {"scale": Scale.from_json(outputs)}
        except ConfigError as error:
            raise OutputsError(error.args[0]) from None

    def outputs_json(self) -> dict[str, Any]:
        return dict(self.scale.to_json())

    def scores(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Predicted numbers of encoded texts or pairs, float64 `[texts]`, in their order."""
        outputs = self.logits(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        return self.scale.restore(outputs[:, 0])

    def predict(self, items: Iterable[Any], *, chunk: int = 4096) -> Iterator[float]:
        """Predicted numbers in the order of the texts or pairs, which may be a stream of any length."""
        for part in in_chunks(items, chunk):
            yield from map(float, self.scores(self.encoded(part)))
