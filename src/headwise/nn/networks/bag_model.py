"""BagModel: a classifier of bags of instances (multiple-instance learning).

Its first layer is a `Standardizer`: each numeric feature gets mean 0 and standard deviation 1 over the
training rows. A set model reads the standardised instances.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.data.items.dataset import cut_batches, require_list
from headwise.data.readers.bags import Bag
from headwise.nn.encoders.set_models import SetModel
from headwise.nn.layers.dropout import Dropout
from headwise.nn.networks.base_model import BaseModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.ragged import Ragged
from headwise.runtime.limits import check_finite
from headwise.runtime.outputs import FittedNumbers, OutputsAttribute, SingleLabelOutputs
from headwise.runtime.prediction_stream import PredictionStream

Instances = NDArray[np.float32]
"""The instances of one bag, `[instances, features]`."""


@dataclass(frozen=True)
class BagFeatures:
    """The features of an instance; a model folder saves them in the place of a vocabulary.

    Attributes:
        names: Names of the features in the training file, or numbers of their columns.
    """

    names: tuple[str, ...]

    @property
    def vocabulary(self) -> "BagFeatures":
        """This object, which model folders save as the vocabulary."""
        return self

    def to_json(self) -> JsonObject:
        return {"features": list(self.names)}

    @classmethod
    def from_json(cls, data: JsonMapping) -> "BagFeatures":
        """The inverse of `to_json`.

        Raises:
            ConfigError: The names are not different texts, or there are none.
        """
        names = data.get("features")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ConfigError("'features' is missing or not a list of texts")
        if not names or len(set(names)) < len(names):
            raise ConfigError("one or more features are expected, all with names of their own")
        return cls(tuple(names))


@dataclass(frozen=True)
class BagPrediction:
    """Prediction for one bag.

    Attributes:
        label: The most probable label.
        probabilities: Probability of each label, in the order of `BagModel.labels`; they sum to 1.
    """

    label: str
    probabilities: tuple[float, ...]


class BagModel(BaseModel):
    """A classifier of bags: standardisation of features, then a set model.

    Args:
        config: The configuration; only its section `bags` is used.
        features: The features of an instance.
        labels: Names of the labels, in the order of the outputs.

    Raises:
        ConfigError: There are fewer than two labels, or the configuration makes no model.
    """

    read_vocabulary = BagFeatures.from_json
    embedding = linear_model = None  # saving and loading read these attributes
    FITTED = FittedNumbers({"temperature": 1e-6}, {"biases": -1e6}, optional=frozenset({"biases"}))
    read_outputs = staticmethod(SingleLabelOutputs.read_outputs)

    labels = OutputsAttribute[tuple[str, ...]]()
    temperature = OutputsAttribute[float]()
    biases = OutputsAttribute[list[float] | None]()
    thresholds = OutputsAttribute[None]()
    calibrated = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()
    probabilities = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()

    def __init__(self, config: ModelConfig, features: BagFeatures, labels: Sequence[str]):
        super().__init__()
        self.config, self.features, self.outputs = config, features, SingleLabelOutputs(labels)
        self.standardize = Standardizer(len(features.names))
        self.dropout = Dropout(config.bags.dropout)
        self.sets = SetModel(config.bags.set_model(len(features.names), len(labels)))

    def outputs_json(self) -> JsonObject:
        return self.outputs.to_json()

    def forward(self, bags: Ragged) -> Tensor:
        """Bags of instances `[features]` -> logits `[bags, labels]`."""
        return self.sets(bags.map(lambda rows: self.dropout(self.standardize(rows))))[:, 0]

    def encoded(self, items: Sequence[Bag | Instances]) -> list[Instances]:
        """Encode bags: arrays of their instances, `[instances, features]`.

        Raises:
            ConfigError: A bag has other features, or features that are no finite numbers.
        """
        return [
            item.instances if isinstance(item, Bag) else self._checked(number, item)
            for number, item in enumerate(require_list(items, "bags"))
        ]

    def _checked(self, number: int, bag: Any) -> Instances:
        names = self.features.names
        if hasattr(bag, "columns"):  # columns of a data frame are matched by name
            if lacking := [name for name in names if name not in bag.columns]:
                raise ConfigError(f"bag {number} has no column {lacking[0]!r}; expected {', '.join(names)}")
            bag = bag[list(names)]
        try:
            with np.errstate(over="ignore"):  # overflow of float32 is reported as infinite below
                rows = np.asarray(bag, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"bag {number} is not a table of numbers: {error}") from None
        if rows.ndim != 2 or rows.shape[1] != len(names):
            expected = f"(instances, {len(names)})"
            raise ConfigError(f"bag {number} has the shape {rows.shape}; expected {expected}")
        if not np.isfinite(rows).all():
            raise ConfigError(f"bag {number} has features that are not finite numbers")
        return rows

    def remember(self, encoded: Iterable[Instances]) -> None:
        """Does nothing: there is no frozen encoder whose states could be cached."""

    @staticmethod
    def collate(bags: Sequence[Instances], device: torch.device | str = "cpu") -> Ragged:
        """Collate bags to a batch."""
        rows = torch.from_numpy(np.concatenate(bags).astype(np.float32, copy=False))
        return Ragged.from_lengths(rows, [len(bag) for bag in bags]).to(device)

    def outputs_of(self, bags: Sequence[Instances]) -> np.ndarray:
        """Like `logits`: there is no linear model in an ensemble with the network."""
        return self.logits(bags)

    @torch.no_grad()
    def logits(
        self, bags: Sequence[Instances], *, batch_bags: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Logits of bags before calibration, float32 `[bags, labels]`, in their order."""
        out = np.zeros((len(bags), len(self.labels)), dtype=np.float32)
        lengths = np.array([len(bag) for bag in bags], dtype=np.int64)
        training = self.training
        self.eval()
        try:
            for places in cut_batches(np.argsort(-lengths), lengths, batch_bags, batch_tokens):
                batch = self.collate([bags[place] for place in places], self.device)
                out[places] = check_finite(self(batch).float().cpu().numpy())
        finally:
            self.train(training)
        return out

    def predict_proba(self, bags: Sequence[Bag | Instances]) -> np.ndarray:
        """Calibrated probabilities, `[bags, labels]`, float64."""
        return self.probabilities(self.logits(self.encoded(bags)))

    def predict(self, bags: Sequence[Bag | Instances]) -> Iterator[BagPrediction]:
        """Predictions in the order of the bags."""

        def predictions(part: list[Bag | Instances]) -> list[BagPrediction]:
            rows = self.predict_proba(part)
            return [BagPrediction(self.labels[int(row.argmax())], tuple(map(float, row))) for row in rows]

        return PredictionStream(require_list(bags, "bags"), predictions, _PREDICTED_AT_ONCE)


_PREDICTED_AT_ONCE = 4_096
LARGEST = 10.0  # standard deviations to which outputs are clipped
_CONSTANT = 1e-6  # deviation relative to the largest value, below which a feature counts as constant


class Standardizer(nn.Module):
    """Subtracts the mean of each feature and divides by its standard deviation; both are saved buffers.

    A feature that is constant in the training rows becomes 0. Outputs are clipped to 10 deviations.

    Args:
        features: Number of features.
    """

    def __init__(self, features: int):
        super().__init__()
        self.mean: Tensor
        self.factor: Tensor
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("factor", torch.ones(features))

    def fit(self, rows: Sequence[NDArray[np.float32]]) -> None:
        """Estimate mean and deviation from arrays `[n, features]`; without any row, nothing changes."""
        numbers = np.concatenate([*rows, np.zeros((0, len(self.mean)), np.float32)]).astype(np.float64)
        if not len(numbers):
            return
        mean, deviation = numbers.mean(0), numbers.std(0)
        varies = deviation > _CONSTANT * np.abs(numbers).max(0)
        factor = np.where(varies, 1 / np.where(varies, deviation, 1), 0)
        self.mean.copy_(torch.from_numpy(mean))
        self.factor.copy_(torch.from_numpy(factor.clip(max=np.finfo(np.float32).max)))

    def forward(self, rows: Tensor) -> Tensor:
        """`[n, features]` -> the same shape."""
        # A constant feature that is huge now gives infinity times 0.
        return ((rows - self.mean) * self.factor).nan_to_num(nan=0.0).clamp(-LARGEST, LARGEST)
