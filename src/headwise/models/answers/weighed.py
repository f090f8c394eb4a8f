"""Weighed: the ensemble of an encoder and a linear model."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.models.answers.calibrated import Calibrated
from headwise.models.finite import finite


class Weighed:
    """Mixin of models whose outputs may be an ensemble of an encoder and a linear model
    (`headwise.linear.text_expert`).

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
        return finite(logits + np.float32(self.expert_weight) * self.expert_scores(encoded))


class WeighedLabels(Calibrated, Weighed):
    """Mixin of classifiers: an ensemble with calibrated probabilities.

    Attributes:
        labels: Names of the labels, in the order of the outputs.
    """

    FACTORS: ClassVar[dict[str, float]] = {**Calibrated.FACTORS, **Weighed.FACTORS}

    labels: tuple[str, ...]

    @abstractmethod
    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[texts, labels]`."""

    def predict_proba(self, items: Sequence[Any]) -> np.ndarray:
        """Calibrated probabilities of texts or pairs, `[texts, labels]`, float64."""
        return self.probabilities(self.logits(self.encoded(items)))
