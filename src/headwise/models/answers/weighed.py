"""Weighed: what an encoder and a linear expert say together."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.models.answers.calibrated import Calibrated
from headwise.models.finite import finite


class Weighed:
    """A model that may have a linear expert beside its encoder (`headwise.linear.text_expert`).

    Attributes:
        encoder_weight: What the encoder's outputs are multiplied by; 0 where held-out texts say that the
            expert does as well without it.
        expert: None where held-out texts gave it no say.
        expert_weight: What the linear expert's scores are multiplied by.
        expert_share: How much of the say the expert has, from 0 to 1, in the mean over held-out texts; 0
            where that was not measured.
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
        """What the model reads of texts or pairs."""

    @abstractmethod
    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts or pairs."""

    @abstractmethod
    def expert_reads(
        self, encoded: Sequence[Any], *, vectors: bool = True
    ) -> tuple[Sequence[Any], np.ndarray | None, np.ndarray | None]:
        """What a linear expert reads of encoded texts: the texts, with a base vectors, and further numbers.

        Args:
            encoded: Texts or pairs.
            vectors: Whether it reads vectors.
        """

    def expert_scores(self, encoded: Sequence[Any]) -> np.ndarray:
        """What the expert says of encoded texts or pairs, `[texts, outputs]` float32, before it is
        weighed."""
        if self.expert is None:
            raise ValueError("the model has no expert")
        return self.expert(*self.expert_reads(encoded, vectors=self.expert.vectors > 0))

    def logits(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """What encoder and expert say together (of labels, logits before calibration), `[texts, outputs]`
        float32, in the order of the encoded texts or pairs; `outputs_of` gives what the encoder says alone.
        It is not asked where it has no say."""
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
    """A model of labels.

    Attributes:
        labels: Their names.
    """

    FACTORS: ClassVar[dict[str, float]] = {**Calibrated.FACTORS, **Weighed.FACTORS}

    labels: tuple[str, ...]

    @abstractmethod
    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[texts, labels]`."""

    def predict_proba(self, items: Sequence[Any]) -> np.ndarray:
        """Calibrated probabilities of texts or pairs, `[texts, labels]`, float64."""
        return self.probabilities(self.logits(self.encoded(items)))
