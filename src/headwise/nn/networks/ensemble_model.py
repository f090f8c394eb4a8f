"""EnsembleModel: base class of models that may be an ensemble of an encoder and a linear model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from headwise.linear.linear_warm_start import LinearWarmStart
from headwise.nn.layers.layer_configs import LinearMemberConfig
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.outputs import LabelEnsemble, LinearEnsemble
from headwise.nn.networks.text_model import OutputModel


def with_linear_sizes(config: ModelConfig, sizes: Mapping[str, int]) -> ModelConfig:
    """The configuration with these sizes of the linear model; no sizes mean no linear model."""
    nothing = {name: getattr(LinearMemberConfig, name) for name in LinearMemberConfig.SIZES}
    return replace(config, expert=replace(config.expert, **{**nothing, **sizes}))


class EnsembleModel(OutputModel, LinearEnsemble):
    """A model that may be an ensemble of its encoder and a linear model
    (`headwise.nn.networks.linear_members`).

    Attributes:
        previous_expert: During training, the linear model of a previous model, for warm start.
    """

    FACTORS: ClassVar[dict[str, float]] = LinearEnsemble.FACTORS
    SETS: ClassVar[bool] = False
    """Whether the model predicts label sets (multi-label)."""

    expert: TextLinearBuffers | None
    previous_expert: LinearWarmStart | None = None

    def create_linear_model(self) -> None:
        """Create an untrained linear model of the configured size, if it is enabled."""
        expert = self.config.expert
        self.expert = None
        if features := expert.words + expert.characters:
            self.expert = TextLinearBuffers(
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
        expert: TextLinearBuffers,
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
        self.config = with_linear_sizes(self.config, expert.sizes())
        self.expert, self.expert_weight = expert.to(self.device), weight
        self.encoder_weight, self.expert_share = encoder_weight, share

    def remove_linear_model(self) -> None:
        """Remove the linear model from the ensemble."""
        self.config = with_linear_sizes(self.config, {})
        self.create_linear_model()


class ClassifierModel(EnsembleModel, LabelEnsemble):
    """Base class of classifiers."""

    FACTORS: ClassVar[dict[str, float]] = LabelEnsemble.FACTORS

    def create_linear_model(self) -> None:
        super().create_linear_model()
        self.temperature = 1.0
