"""ExpertReader: logits of labels, the encoder's and beside them a linear expert's."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from headwise.linear.expert import LinearExpert
from headwise.models.text_model import Reader


class ExpertReader(Reader):
    """A model of labels that may have a linear expert beside its encoder (`headwise.linear.expert`).

    Attributes:
        temperature: What the logits are divided by before they become probabilities.
        expert: None where dev gave it no say.
        expert_weight: What the linear expert's scores are multiplied by.
    """

    FACTORS: ClassVar[dict[str, float]] = {"temperature": 1e-6, "expert_weight": 0.0}

    EXPERT: ClassVar[type[LinearExpert]] = LinearExpert
    """The kind of expert."""

    temperature: float
    expert: LinearExpert | None
    expert_weight: float

    def place_expert(self) -> None:
        """Put an untrained expert of the configured size in place, if there is to be one."""
        found = self.config.expert.features
        self.expert = self.EXPERT(found, self.outputs) if found else None
        self.temperature, self.expert_weight = 1.0, 0.0

    @staticmethod
    def expert_reads(encoded: Sequence[Any]) -> Sequence[Any]:
        """What the expert reads of encoded texts: their word numbers."""
        return [text.words for text in encoded]

    def add_expert(self, expert: LinearExpert, weight: float) -> None:
        """Give the linear expert a say: `weight` times its scores are added to the encoder's logits."""
        found = replace(self.config.expert, features=len(expert.keys))
        self.config = replace(self.config, expert=found)
        self.expert, self.expert_weight = expert.to(self.device), weight

    def logits(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Logits before calibration, `[texts, labels]` float32, in the order of the encoded texts or pairs;
        `outputs_of` gives the encoder's alone."""
        logits = self.outputs_of(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        if self.expert is None or self.expert_weight == 0.0 or not encoded:
            return logits
        return logits + np.float32(self.expert_weight) * self.expert(self.expert_reads(encoded))
