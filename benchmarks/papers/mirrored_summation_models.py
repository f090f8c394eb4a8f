"""The five models of the MS-Trans paper's Figure 2, of headwise's own encoders."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from benchmarks.papers.mirrored_sums import chance_error
from headwise.nn.encoders import (
    ENCODERS,
    BiLSTMConfig,
    EncoderConfig,
    MSTransformerConfig,
    TransformerConfig,
)
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.encoders.pooling import Readout
from headwise.nn.ragged import Ragged

HEADS = 10
SMALL = ("window(3)",)  # repeats for all heads
FLEXIBLE = ("window(3)*2", "window(n/16)*2", "window(n/8)*2", "window(n/4)*2", "window(n/2)*2")
# The name in the figure's legend.
MODELS = {
    "transformer": "Transformer",
    "flex": "MS-Trans-Flex",
    "deep-hier": "MS-Trans-deepHier-S",
    "hier": "MS-Trans-Hier-S",
    "bilstm": "BiLSTM",
}


@dataclass(frozen=True)
class Sizes:
    """What the models and the task have in common. The paper says the length, the features and that there
    are 10 heads; it does not say the width.

    Attributes:
        length: N.
        features: d.
        terms: K.
        width: Features of a hidden state.
        positions: Position embedding of the MS-Trans models; the Transformer always has sinusoids.
    """

    length: int
    features: int
    terms: int
    width: int
    positions: str


def encoder_config(model: str, sizes: Sizes) -> EncoderConfig:
    """The encoder of a model; KeyError for a model that is not in the figure."""
    width = sizes.width
    same: dict[str, Any] = {
        "width": width,
        "heads": HEADS,
        "head_size": max(1, width // HEADS),
        "dropout": 0.0,
    }
    scaled = {**same, "positions": sizes.positions}
    return {
        "transformer": TransformerConfig(**same, layers=2, feedforward=4 * width),
        "flex": MSTransformerConfig(**scaled, layers=2, priors=FLEXIBLE),
        "deep-hier": MSTransformerConfig(**scaled, layers=6, priors=SMALL),
        "hier": MSTransformerConfig(**scaled, layers=2, priors=SMALL),
        "bilstm": BiLSTMConfig(width=width, hidden=width // 2, dropout=0.0),
    }[model]


class SequenceModel(nn.Module):
    """A sequence of vectors -> one vector: linear, encoder, node + maximum, two-layer perceptron."""

    def __init__(self, model: str, sizes: Sizes):
        super().__init__()
        config = encoder_config(model, sizes)
        build = next(module for module, kind in ENCODERS.values() if kind is type(config))
        self.inputs = nn.Linear(sizes.features, config.width)
        self.encoder = build(config)
        self.readout = Readout("node+max", output_width(config))
        self.outputs = nn.Sequential(
            nn.Linear(self.readout.width, config.width), nn.ReLU(), nn.Linear(config.width, sizes.features)
        )
        # The targets' mean and deviation are constants; a model need not learn them.
        self.mean = sizes.terms / 4
        self.deviation = chance_error(sizes.terms, sizes.length) ** 0.5

    def forward(self, x: Ragged) -> Tensor:
        """Rows of `[features]` -> `[sequences, features]`, in units of the targets."""
        summary = self.readout(self.encoder(x.map(self.inputs)))
        return self.mean + self.deviation * self.outputs(summary)
