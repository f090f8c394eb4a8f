"""Classification of bags of instances: the settings of the model (multiple-instance learning)."""

from dataclasses import dataclass
from typing import Literal

from headwise.config import check_range
from headwise.encoders.set_models import SetModelConfig
from headwise.encoders.set_transformer import SetTransformerConfig


@dataclass(frozen=True)
class BagConfig:
    """The model of bags, and its loss."""

    model: str = "sab+pma"
    """ENCODER+POOLING: rff (instances for themselves), sab (they see each other) or isab16 (through 16
    learned points: for bags of hundreds of instances), and pma (attention), mean, sum or max."""
    width: int = 64
    """Hidden features; the heads must divide it."""
    heads: int = 4
    """Heads in each block."""
    layers: int = 2
    """Blocks before the pooling, or pairs of linear layers with rff."""
    decoder_layers: int = 0
    """After the pooling: blocks with pma, linear layers otherwise."""
    norm: Literal["off", "post", "pre"] = "post"
    """Layer norms of the blocks (not of rff): off, after the residuals or before attention."""
    dropout: float = 0.2
    """Share of the features of each instance that is left out, while training."""
    label_smoothing: float = 0.0
    """Share of the target that is spread evenly over all labels."""
    class_weights: str = "none"
    """none, balanced, or name=weight pairs, as in the classifier of texts."""

    def __post_init__(self) -> None:
        check_range(self, "width", "heads", "layers", low=1)
        check_range(self, "decoder_layers", low=0)
        check_range(self, "dropout", "label_smoothing", low=0, high=1, open=True)

    def set_model(self, features: int, labels: int) -> SetModelConfig:
        """The model of sets with these numbers of features and outputs.

        Raises:
            ConfigError: The model is unknown.
        """
        blocks = SetTransformerConfig(
            width=self.width, heads=self.heads, layers=self.layers, norm=self.norm
        )
        return SetModelConfig.named(
            self.model, inputs=features, outputs=labels, decoder_layers=self.decoder_layers, blocks=blocks
        )
