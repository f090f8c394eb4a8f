"""ExpertReader: the outputs of an encoder, and beside them a linear expert's."""

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
    """A configuration with an expert of these sizes; of none for a model without."""
    nothing = {name: getattr(ExpertConfig, name) for name in ExpertConfig.SIZES}
    return replace(config, expert=replace(config.expert, **{**nothing, **sizes}))


class ExpertReader(Reader, Weighed):
    """A model that may have a linear expert beside its encoder (`headwise.linear.text_expert`).

    Attributes:
        earlier: While it is trained, the expert of an earlier model that its own goes on from.
    """

    FACTORS: ClassVar[dict[str, float]] = Weighed.FACTORS
    SETS: ClassVar[bool] = False
    """Whether a text may have any number of the labels."""

    expert: TextExpert | None
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


class LabelReader(ExpertReader, WeighedLabels):
    """A model of labels."""

    FACTORS: ClassVar[dict[str, float]] = WeighedLabels.FACTORS

    def place_expert(self) -> None:
        super().place_expert()
        self.temperature = 1.0
