"""ExpertReader: the outputs of an encoder, and beside them a linear expert's."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from headwise.linear.earlier import Earlier
from headwise.linear.expert import ExpertConfig
from headwise.linear.text_expert import TextExpert
from headwise.models.finite import finite
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import Reader


def with_expert(config: ModelConfig, sizes: Mapping[str, int]) -> ModelConfig:
    """A configuration with an expert of these sizes; of none for a model without."""
    nothing = {name: getattr(ExpertConfig, name) for name in ExpertConfig.SIZES}
    return replace(config, expert=replace(config.expert, **{**nothing, **sizes}))


class ExpertReader(Reader):
    """A model that may have a linear expert beside its encoder (`headwise.linear.text_expert`).

    Attributes:
        encoder_weight: What the encoder's outputs are multiplied by; 0 where held-out texts say that the
            expert does as well without it.
        expert: None where held-out texts gave it no say.
        expert_weight: What the linear expert's scores are multiplied by.
        expert_share: How much of the say the expert has, from 0 to 1, in the mean over held-out texts; 0
            where that was not measured.
        earlier: While it is trained, the expert of an earlier model that its own goes on from.
    """

    FACTORS: ClassVar[dict[str, float]] = {
        "encoder_weight": 0.0,
        "expert_weight": 0.0,
        "expert_share": 0.0,
    }

    SETS: ClassVar[bool] = False
    """Whether a text may have any number of the labels."""

    encoder_weight: float
    expert: TextExpert | None
    expert_weight: float
    expert_share: float
    earlier: Earlier | None = None

    def place_expert(self) -> None:
        """Put an untrained expert of the configured size in place, if there is to be one."""
        own = self.config.expert
        self.expert = None
        if features := own.words + own.characters:
            self.expert = TextExpert(
                features,
                own.words,
                own.vectors,
                self.outputs,
                self.config.words.tokenizer,
                sets=self.SETS,
                pairs=self.reads_pairs,
                kept=own.kept,
                reach=own.reach,
                form=own.form,
                edges=own.edges,
            )
        self.encoder_weight, self.expert_weight, self.expert_share = 1.0, 0.0, 0.0

    def expert_scores(self, encoded: Sequence[Any]) -> np.ndarray:
        """What the expert says of encoded texts or pairs, `[texts, outputs]` float32, before it is
        weighed."""
        if self.expert is None:
            raise ValueError("the model has no expert")
        return self.expert(*self.expert_reads(encoded, vectors=self.expert.vectors > 0))

    def add_expert(
        self,
        expert: TextExpert,
        weight: float,
        *,
        encoder_weight: float = 1.0,
        share: float = 0.0,
    ) -> None:
        """Give the linear expert a say: `weight` times its scores are added to the encoder's outputs.

        Args:
            expert: What is added.
            weight: Of its scores.
            encoder_weight: Of the encoder's outputs.
            share: See `expert_share`.
        """
        self.config = with_expert(self.config, expert.sizes())
        self.expert, self.expert_weight = expert.to(self.device), weight
        self.encoder_weight, self.expert_share = encoder_weight, share

    def remove_expert(self) -> None:
        """Leave the encoder alone."""
        self.config = with_expert(self.config, {})
        self.place_expert()

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


class LabelReader(ExpertReader):
    """A model of labels.

    Attributes:
        temperature: What the logits are divided by before they become probabilities.
    """

    FACTORS: ClassVar[dict[str, float]] = {"temperature": 1e-6, **ExpertReader.FACTORS}

    temperature: float

    def place_expert(self) -> None:
        super().place_expert()
        self.temperature = 1.0

    @abstractmethod
    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[texts, labels]`."""

    def predict_proba(self, items: Sequence[Any]) -> np.ndarray:
        """Calibrated probabilities of texts or pairs, `[texts, labels]`, float64."""
        return self.probabilities(self.logits(self.encoded(items)))
