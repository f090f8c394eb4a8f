"""ExpertReader: base class of models that may be an ensemble of an encoder and a linear model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from headwise.linear.earlier import Earlier
from headwise.linear.expert import ExpertConfig
from headwise.linear.text_expert import TextExpert
from headwise.models.answers.weighed import Weighed, WeighedLabels
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import Reader


def with_expert(config: ModelConfig, sizes: Mapping[str, int]) -> ModelConfig:
    """The configuration with these sizes of the linear model; no sizes mean no linear model."""
    nothing = {name: getattr(ExpertConfig, name) for name in ExpertConfig.SIZES}
    return replace(config, expert=replace(config.expert, **{**nothing, **sizes}))


class ExpertReader(Reader, Weighed):
    """A model that may be an ensemble of its encoder and a linear model (`headwise.linear.text_expert`).

    Attributes:
        previous_expert: During training, the linear model of a previous model, for warm start.
    """

    FACTORS: ClassVar[dict[str, float]] = Weighed.FACTORS
    SETS: ClassVar[bool] = False
    """Whether the model predicts label sets (multi-label)."""

    expert: TextExpert | None
    previous_expert: Earlier | None = None

    def place_expert(self) -> None:
        """Create an untrained linear model of the configured size, if it is enabled."""
        expert = self.config.expert
        self.expert = None
        if features := expert.words + expert.characters:
            self.expert = TextExpert(
                features,
                expert.words,
                expert.vectors,
                self.outputs,
                self.config.words.tokenizer,
                sets=self.SETS,
                pairs=self.reads_pairs,
                stored_weights=expert.kept,
                reach=expert.reach,
                form=expert.form,
                edges=expert.edges,
            )
        self.encoder_weight, self.expert_weight, self.expert_share = 1.0, 0.0, 0.0

    def add_expert(
        self,
        expert: TextExpert,
        weight: float,
        *,
        encoder_weight: float = 1.0,
        share: float = 0.0,
    ) -> None:
        """Add a linear model to the ensemble.

        Args:
            expert: The linear model.
            weight: Ensemble weight of its scores.
            encoder_weight: Ensemble weight of the encoder's outputs.
            share: See `expert_share`.
        """
        self.config = with_expert(self.config, expert.sizes())
        self.expert, self.expert_weight = expert.to(self.device), weight
        self.encoder_weight, self.expert_share = encoder_weight, share

    def remove_expert(self) -> None:
        """Remove the linear model from the ensemble."""
        self.config = with_expert(self.config, {})
        self.place_expert()


class LabelReader(ExpertReader, WeighedLabels):
    """Base class of classifiers."""

    FACTORS: ClassVar[dict[str, float]] = WeighedLabels.FACTORS

    def place_expert(self) -> None:
        super().place_expert()
        self.temperature = 1.0
