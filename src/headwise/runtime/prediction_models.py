"""Models that predict without torch: an ensemble of a network and a linear model, and its outputs."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.columns.tabular_columns import ColumnEncoding
from headwise.data.items.examples import Example
from headwise.linear.linear_model import LinearModel
from headwise.linear.pair_features import PairSide, compare_words
from headwise.linear.tabular_features import encode_rows, tabular_features, tabular_rows
from headwise.runtime.ensemble_outputs import (
    ensemble_logits,
    item_numbers,
    item_probabilities,
    linear_scores,
)
from headwise.runtime.layers import Floats
from headwise.runtime.novelty_member import NoveltyMember
from headwise.runtime.outputs import (
    AnyOutputs,
    OutputsAttribute,
    item_predictions,
)
from headwise.runtime.pair_outputs import PairInputs
from headwise.runtime.word_lookup import BaseLookup
from headwise.text.text_features import EncodedPair, EncodedText, TextFeatures

if TYPE_CHECKING:
    from headwise.metrics.target_scale import Scale


@dataclass(frozen=True)
class PredictionLinearModel:
    """The linear model of an ensemble.

    Attributes:
        model: The linear model.
        vectors: Dimensions of the text vectors that it reads; 0 if it reads none.
    """

    model: LinearModel
    vectors: int

    @property
    def form(self) -> bool:
        """Whether it reads surface features."""
        return self.model.form

    def contents(self) -> LinearModel:
        """The linear model itself."""
        return self.model

    def __call__(self, texts: Any, dense: NDArray | None = None, numbers: NDArray | None = None) -> Floats:
        """Logits of texts, `[texts, classes]`."""
        return self.model.scores(texts, dense, numbers)


class PredictionModel(NoveltyMember):
    """A model of texts or pairs; see `headwise.runtime.ensemble_outputs.EnsembleMembers`.

    Args:
        features: Encodes texts.
        base: Static embeddings; None without a base.
        linear_model: Its linear model; None without one.
        outputs: What it makes of the outputs of the network.

    Attributes:
        tabular: How the columns beside texts become features; empty if it reads none.
    """

    references: NDArray[np.float32] | None
    labels = OutputsAttribute[tuple[str, ...]]()
    temperature = OutputsAttribute[float]()
    biases = OutputsAttribute[list[float] | None]()
    thresholds = OutputsAttribute[Any]()
    separator = OutputsAttribute[str]()
    scale: "OutputsAttribute[Scale]" = OutputsAttribute()
    calibrated = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()
    probabilities = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()
    chosen_labels = OutputsAttribute[Callable[[np.ndarray], np.ndarray]]()
    linear_scores, logits = linear_scores, ensemble_logits
    predict_proba, predict, scores = item_probabilities, item_predictions, item_numbers

    def __init__(
        self,
        features: TextFeatures,
        base: BaseLookup | None,
        linear_model: PredictionLinearModel | None,
        outputs: AnyOutputs,
    ):
        self.features, self.base = features, base
        self.linear_model, self.outputs = linear_model, outputs
        self.encoder_weight, self.linear_weight, self.linear_share = 1.0, 0.0, 0.0
        self.references = None
        self.tabular: tuple[ColumnEncoding, ...] = ()

    @abstractmethod
    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts or pairs."""

    @abstractmethod
    def encoded(self, items: Sequence[Any]) -> Sequence[Any]:
        """Encode texts or pairs."""

    @abstractmethod
    def linear_inputs(
        self, encoded: Sequence[Any], *, vectors: bool = True
    ) -> tuple[Sequence[Any], np.ndarray | None, np.ndarray | None]:
        """See `EnsembleMembers.linear_inputs`."""


class TextInputs(PredictionModel):
    """Encodes texts, with the columns beside them, and gives a linear model its inputs."""

    def encoded(self, items: Sequence[str | Example]) -> list[EncodedText]:
        """Encode texts, with the features of the columns beside them if the model reads such columns.

        Raises:
            ConfigError: HW147, an item lacks these columns, or has others.
        """
        encoded = self.features.encode(items)
        if not self.tabular:
            return encoded
        rows = tabular_rows(self.tabular, items)
        features = zip(encoded, encode_rows(self.tabular, rows), rows, strict=True)
        return [replace(text, tabular=values, row=row) for text, values, row in features]

    def linear_inputs(
        self, encoded: Sequence[EncodedText], *, vectors: bool = True
    ) -> tuple[Sequence[str], np.ndarray | None, np.ndarray | None]:
        """Inputs of the linear model: the texts, their vectors if there is a base, and the features of the
        columns beside them."""
        width = sum(encoding.width for encoding in self.tabular)
        columns = tabular_features(encoded, width) if width else None
        summaries = self.base.texts(encoded) if self.base is not None and vectors else None
        return [text.text for text in encoded], summaries, columns

    def word_contributions(self, encoded: Sequence[EncodedText]) -> list[Floats]:
        """The contribution of each word to the text vector from the base, without corrections, `[words,
        size]` for each text."""
        if self.base is None:
            raise ValueError("the model has no base")
        rows, ends = self.base.contributions(encoded)
        return np.split(rows, ends[1:-1]) if encoded else []


class BasePairInputs(PairInputs, PredictionModel):
    """Encodes pairs, and compares the vectors of a base."""

    @property
    def base_size(self) -> int:
        return 0 if self.base is None else self.base.size

    def compared(self, encoded: Sequence[EncodedPair]) -> np.ndarray:
        rows, indices, ends = self._sides(encoded)
        return compare_words(rows, indices, ends)

    def pair_sides(self, encoded: Sequence[EncodedPair]) -> list[tuple[PairSide, PairSide]]:
        """The inputs of `headwise.linear.pair_features.dense_pair_features` for each pair."""
        rows, indices, ends = self._sides(encoded)
        sides = [(indices[start:end], rows[start:end]) for start, end in pairwise(ends.tolist())]
        return [*zip(sides[: len(encoded)], sides[len(encoded) :], strict=True)]

    def _sides(self, encoded: Sequence[EncodedPair]) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """What each word adds to its text vector, `[total, size]`, indices of the words, `[total]`, and the
        offsets of the texts: the first texts of all pairs, then the second texts."""
        if self.base is None:
            raise ValueError("the model has no base")
        texts = [*(pair.first for pair in encoded), *(pair.second for pair in encoded)]
        rows, ends = self.base.contributions(texts)
        return rows, np.concatenate([np.zeros(0, dtype=np.int64), *(text.words for text in texts)]), ends
