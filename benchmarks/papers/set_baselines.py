"""Models of sets by name, with the rivals of the Set Transformer's paper (Lee et al. 2019, section 5) that
headwise itself does not have.

    rffp-mean, rffp-max    layers relu(x W + pool(X) V + b): every element sees the pooled set (Deep Sets,
                           Zaheer et al. 2017, Eq. 4)
    dot                    pooling with the weights softmax(z q / sqrt(width)), q learned
"""

from typing import Any

import torch
from torch import Tensor, nn

from headwise.nn.encoders.set_configs import SetModelConfig
from headwise.nn.encoders.set_models import SetModel
from headwise.nn.ragged import Ragged, RaggedModule

EQUIVARIANT = {"rffp-mean": Ragged.mean, "rffp-max": Ragged.max}


def set_model(name: str, **settings: Any) -> RaggedModule:
    """A model from its name, such as `sab+pma`, `rffp-max+mean` or `rff+dot`.

    Args:
        settings: Of `SetModelConfig.named`.

    Raises:
        ConfigError: There is no such model.
    """
    encoder, _, pooling = name.partition("+")
    if encoder not in EQUIVARIANT and pooling != "dot":
        return SetModel(SetModelConfig.named(name, **settings))
    plain = "rff" if encoder in EQUIVARIANT else encoder
    config = SetModelConfig.named(f"{plain}+{'mean' if pooling == 'dot' else pooling}", **settings)
    model, width = SetModel(config), config.blocks.width
    if encoder in EQUIVARIANT:
        layers = 2 * config.blocks.layers
        model.encoder = nn.Sequential(
            *(
                Equivariant(width if place else config.inputs, width, encoder, last=place == layers - 1)
                for place in range(layers)
            )
        )
    return DotPooled(model) if pooling == "dot" else model


class DotPooled(RaggedModule):
    """A pooled model of sets whose pooling is the mean by the weights of a learned query."""

    def __init__(self, model: SetModel):
        super().__init__()
        self.model = model
        self.query = nn.Parameter(nn.init.normal_(torch.empty(model.config.blocks.width), std=0.02))

    def forward(self, x: Ragged) -> Tensor:
        """Elements of `[inputs]` -> `[sets, rows, outputs]`."""
        model, query = self.model, self.query
        z = model.encoder(x)
        weights = z.map(lambda values: values @ query[:, None] / len(query) ** 0.5).softmax()
        pooled = z.with_values(weights.values * z.values).sum()
        return model.decoder(pooled).unflatten(-1, (model.config.rows, model.config.outputs))


class Equivariant(RaggedModule):
    """A layer in which every element sees the pooled set; the last one has no ReLU."""

    def __init__(self, inputs: int, width: int, kind: str, *, last: bool):
        super().__init__()
        self.pool, self.last = EQUIVARIANT[kind], last
        self.element_layer, self.pool_layer = nn.Linear(inputs, width), nn.Linear(inputs, width, bias=False)

    def forward(self, x: Ragged) -> Ragged:
        """Rows of `[inputs]` -> rows of `[width]`."""
        seen = self.pool_layer(self.pool(x)).index_select(0, x.layout.text_of)
        rows = self.element_layer(x.values) + seen
        return x.with_values(rows if self.last else rows.relu())
