"""What a model makes of the outputs of its network: labels with calibrated probabilities, label sets or
numbers. Models of PyTorch and exported models hold one of these objects as `outputs`. This module does not
import torch.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import expit, softmax
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import DEFAULT_LABEL_SEPARATOR
from headwise.metrics.thresholds import predict_labels
from headwise.runtime.prediction_stream import PredictionStream

if TYPE_CHECKING:
    from headwise.metrics.novelty import NoveltyDetector
    from headwise.metrics.target_scale import Scale


@dataclass(frozen=True)
class FittedNumbers:
    """Names of the attributes of a model that are fitted numbers, which model folders save.

    Attributes:
        numbers: Those that are one number, with the minimum of each.
        label_numbers: Those that are a list of numbers, one for each label, with their minimum.
        optional: Those of both that a model folder may lack.
    """

    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    label_numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    optional: frozenset[str] = frozenset()

    def of(self, model: Any) -> dict[str, Any]:
        """The numbers of a model by name, without those that it lacks."""
        values = {name: getattr(model, name) for name in (*self.numbers, *self.label_numbers)}
        return {name: value for name, value in values.items() if value is not None}


class OutputsError(ConfigError):
    """The description of the outputs of a saved model is invalid."""


def output_names(outputs: JsonMapping, *, least: int = 2) -> list[str]:
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


LINEAR_NUMBERS: dict[str, float] = {"encoder_weight": 0.0, "linear_weight": 0.0, "linear_share": 0.0}
"""Names of the ensemble weights of a model, and the minimum of each."""


NOVELTY_NUMBERS: dict[str, float] = {
    "novelty_offset": -1e9,
    "novelty_logit": 0.0,
    "novelty_similarity": 0.0,
    "novelty_threshold": -1e9,
}
"""Names of the numbers of a novelty detector (`headwise.metrics.novelty.NoveltyDetector`), and the minimum
of each."""


class CalibratedLogits:
    """Calibration of logits.

    Attributes:
        labels: Names of the labels, in the order of the outputs.
        temperature: Divisor of the logits (temperature scaling).
        biases: Added to the scaled logits, `[labels]`, if the model was adapted to texts with other label
            frequencies (`headwise.metrics.calibration`); else None.
        novelty: The novelty detector; None without one. Its numbers are also attributes, by which model
            folders save them: `novelty_offset` and so on.
    """

    NUMBERS: ClassVar[dict[str, float]] = {"temperature": 1e-6, **LINEAR_NUMBERS, **NOVELTY_NUMBERS}
    """Names of the fitted numbers, one for all labels, and the minimum of each."""

    def __init__(self, labels: Sequence[str]):
        self.labels = tuple(labels)
        self.temperature = 1.0
        self.biases: list[float] | None = None
        self.novelty_offset: float | None = None
        self.novelty_logit: float | None = None
        self.novelty_similarity: float | None = None
        self.novelty_threshold: float | None = None

    @property
    def novelty(self) -> "NoveltyDetector | None":
        values = [getattr(self, name) for name in NOVELTY_NUMBERS]
        if None in values:
            return None
        from headwise.metrics.novelty import NoveltyDetector

        return NoveltyDetector(*values)

    @novelty.setter
    def novelty(self, detector: "NoveltyDetector | None") -> None:
        for name in NOVELTY_NUMBERS:
            value = None if detector is None else getattr(detector, name.removeprefix("novelty_"))
            setattr(self, name, value)

    @property
    def count(self) -> int:
        """Number of outputs of the network for each item."""
        return len(self.labels)

    def calibrated(self, logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """Logits `[items, labels]` -> calibrated logits `[items, labels]`."""
        scaled = logits.astype(np.float64) / self.temperature
        return scaled if self.biases is None else scaled + np.array(self.biases)


def ranked_probabilities(labels: Sequence[str], probabilities: Sequence[float]) -> dict[str, float]:
    """Probabilities by label, the highest first; equal ones stay in the order of the labels."""
    pairs = zip(labels, probabilities, strict=True)
    return dict(sorted(pairs, key=lambda pair: pair[1], reverse=True))


@dataclass(frozen=True)
class Prediction:
    """Prediction for one text or pair.

    Attributes:
        label: The most probable label, or the label chosen by the thresholds.
        probabilities: Probability of each label, in the order of the model's `labels`; they sum to 1.
        unknown_words: Share of out-of-vocabulary words, from 0 to 1.
        all_labels: The labels of the model, in the order of `probabilities`.
    """

    label: str
    probabilities: tuple[float, ...]
    unknown_words: float
    all_labels: tuple[str, ...] = field(default=(), repr=False)

    @property
    def label_probabilities(self) -> dict[str, float]:
        """The probability of each label, the most probable label first."""
        return ranked_probabilities(self.all_labels, self.probabilities)


class SingleLabelOutputs(CalibratedLogits):
    """One of several labels for each item.

    Attributes:
        thresholds: Thresholds of the labels, see `headwise.metrics.thresholds.predict_labels`; None: the
            most probable label is predicted.

    Raises:
        ConfigError: There are fewer than two labels, or equal ones.
    """

    FITTED: ClassVar = FittedNumbers(
        CalibratedLogits.NUMBERS,
        {"thresholds": 1e-9, "biases": -1e6},
        optional=frozenset({"thresholds", "biases", *NOVELTY_NUMBERS}),
    )

    def __init__(self, labels: Sequence[str]):
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise ConfigError(f"a classifier needs two or more different labels, got {list(labels)}")
        super().__init__(labels)
        self.thresholds: list[float] | None = None

    @staticmethod
    def read_outputs(outputs: JsonMapping) -> JsonObject:
        """See `BaseModel.read_outputs`."""
        return {"labels": output_names(outputs)}

    def to_json(self) -> JsonObject:
        return {"labels": list(self.labels)}

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Logits `[items, labels]` -> calibrated probabilities of the same shape."""
        return softmax(self.calibrated(logits), axis=1)

    def predictions(self, encoded: Sequence[Any], logits: np.ndarray) -> Iterator[Prediction]:
        """The predictions for encoded texts or pairs and their logits."""
        for item, row in zip(encoded, self.probabilities(logits), strict=True):
            unknown = item.unknown / max(len(item), 1)
            label = self.labels[int(predict_labels(row, self.thresholds))]
            yield Prediction(label, tuple(map(float, row)), unknown, self.labels)


@dataclass(frozen=True)
class MultiLabelPrediction:
    """Prediction for one text.

    Attributes:
        labels: The predicted labels, in the order of `MultiLabelOutputs.labels`; may be empty.
        probabilities: Independent probability of each label, in the order of `MultiLabelOutputs.labels`.
        unknown_words: Share of out-of-vocabulary words, from 0 to 1.
        all_labels: The labels of the model, in the order of `probabilities`.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: float
    all_labels: tuple[str, ...] = field(default=(), repr=False)

    @property
    def label_probabilities(self) -> dict[str, float]:
        """The probability of each label, the most probable label first."""
        return ranked_probabilities(self.all_labels, self.probabilities)


class MultiLabelOutputs(CalibratedLogits):
    """A set of labels for each text.

    Attributes:
        thresholds: Smallest probability with which each label is predicted, `[labels]`.
        separator: Separator of labels that are written in one cell.

    Raises:
        ConfigError: There is no label, or there are equal ones.
    """

    FITTED: ClassVar = FittedNumbers(
        CalibratedLogits.NUMBERS,
        {"thresholds": 0.0, "biases": -1e6},
        optional=frozenset({"biases", *NOVELTY_NUMBERS}),
    )

    def __init__(self, labels: Sequence[str], separator: str = DEFAULT_LABEL_SEPARATOR):
        if not labels or len(set(labels)) < len(labels):
            raise ConfigError(f"one or more different labels are needed, got {list(labels)}")
        super().__init__(labels)
        self.separator = separator
        self.thresholds = [0.5] * len(labels)

    @staticmethod
    def read_outputs(outputs: JsonMapping) -> JsonObject:
        """See `BaseModel.read_outputs`."""
        separator = outputs.get("separator")
        if not isinstance(separator, str) or not (separator.strip() or separator == " "):
            raise OutputsError("'separator' is missing or no text")
        return {"labels": output_names(outputs, least=1), "separator": separator}

    def to_json(self) -> JsonObject:
        return {"labels": list(self.labels), "separator": self.separator}

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits `[texts, labels]` -> calibrated probabilities of the same shape, independent by label."""
        return expit(self.calibrated(logits))

    def chosen_labels(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The predicted labels for probabilities `[texts, labels]`, bool of the same shape."""
        return probabilities >= np.array(self.thresholds)

    def predictions(self, encoded: Sequence[Any], logits: np.ndarray) -> Iterator[MultiLabelPrediction]:
        """The predictions for encoded texts and their logits."""
        probabilities = self.probabilities(logits)
        rows = zip(encoded, probabilities, self.chosen_labels(probabilities), strict=True)
        for text, row, chosen in rows:
            labels = tuple(name for name, has_label in zip(self.labels, chosen, strict=True) if has_label)
            unknown = text.unknown / max(len(text), 1)
            yield MultiLabelPrediction(labels, tuple(map(float, row)), unknown, self.labels)


class NumberOutputs:
    """A number for each item.

    Attributes:
        scale: Maps outputs of the network to the scale of the target.
    """

    FITTED: ClassVar = FittedNumbers(LINEAR_NUMBERS, optional=frozenset(LINEAR_NUMBERS))
    count = 1

    def __init__(self, scale: "Scale"):
        self.scale = scale

    @staticmethod
    def read_outputs(outputs: JsonMapping) -> JsonObject:
        """See `BaseModel.read_outputs`."""
        from headwise.metrics.target_scale import Scale

        try:
            return {"scale": Scale.from_json(outputs)}
        except ConfigError as error:
            raise OutputsError(error.args[0]) from None

    def to_json(self) -> JsonObject:
        return dict(self.scale.to_json())

    def predictions(self, encoded: Sequence[Any], logits: np.ndarray) -> Iterator[float]:
        """The predicted numbers of encoded texts or pairs, by the outputs of the ensemble."""
        yield from map(float, self.scale.restore(logits[:, 0]))


AnyOutputs = SingleLabelOutputs | MultiLabelOutputs | NumberOutputs
OutputsType = TypeVar("OutputsType", bound=AnyOutputs)
Value = TypeVar("Value")
AnyPrediction = TypeVar("AnyPrediction")
AnyPrediction_co = TypeVar("AnyPrediction_co", covariant=True)


class PredictingOutputs(Protocol[AnyPrediction_co]):
    """Outputs that become predictions of one type."""

    def predictions(self, encoded: Sequence[Any], logits: np.ndarray) -> Iterator[AnyPrediction_co]:
        """The predictions for encoded texts or pairs and their logits."""
        ...


class PredictingModel(Protocol[AnyPrediction_co]):
    """A model whose outputs become predictions of one type."""

    @property
    def outputs(self) -> PredictingOutputs[AnyPrediction_co]: ...

    def encoded(self, items: Sequence[Any]) -> Sequence[Any]:
        """Encode texts or pairs."""
        ...

    def logits(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """See `headwise.runtime.ensemble_outputs.ensemble_logits`."""
        ...


class OutputsAttribute(Generic[Value]):
    """An attribute of a model that its `outputs` hold, such as `labels` or `temperature`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Value:
        return self if model is None else getattr(model.outputs, self.name)  # type: ignore[return-value]

    def __set__(self, model: Any, value: Value) -> None:
        setattr(model.outputs, self.name, value)


def item_predictions(
    model: PredictingModel[AnyPrediction], items: Iterable[Any], *, chunk: int = 4096
) -> Iterator[AnyPrediction]:
    """Predictions in the order of the texts or pairs, which may be a stream of any length.

    They are processed `chunk` at a time, so memory does not grow with their number.

    Raises:
        ConfigError: At once, if the items are not a list, see `headwise.data.items.dataset.require_list`.
    """

    def predictions(part: list[Any]) -> Iterable[AnyPrediction]:
        encoded = model.encoded(part)
        return model.outputs.predictions(encoded, model.logits(encoded))

    return PredictionStream(items, predictions, chunk)
