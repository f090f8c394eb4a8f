"""Models that map a set to one row or to several: encoder, pooling, decoder (Lee et al. 2019, section 3.3).

    Z = rFF | SAB(SAB(X)) | ISAB_m(ISAB_m(X))                the elements, one by one or seeing each other
    pooled by PMA_k(Z), or by the mean, the sum or the maximum of Z
    rFF(SAB(...)) of the k rows after PMA, rFF of the one row after the others

These are the models of the paper's experiments with max regression and mixtures of Gaussians, and its
pooled baselines. The sets of a batch may have different sizes.
"""

from collections.abc import Callable

from torch import Tensor, nn

from headwise.core.errors import ConfigError
from headwise.nn.encoders.set_configs import SetModelConfig
from headwise.nn.encoders.set_transformer import ISAB, PMA, SAB
from headwise.nn.ragged import Ragged, RaggedModule

POOLINGS: dict[str, Callable[[Ragged], Tensor]] = {
    "mean": Ragged.mean,
    "sum": Ragged.sum,
    "max": Ragged.max,
}


class SetModel(RaggedModule):
    """A set of vectors -> `rows` vectors; the order of the elements does not matter.

    Raises:
        ConfigError: A setting is unknown.
    """

    def __init__(self, config: SetModelConfig):
        super().__init__()
        self.config = config
        self.encoder = _build_encoder(config)
        self.pooling, self.decoder = _decoder(config)

    def forward(self, x: Ragged) -> Tensor:
        """Elements of `[inputs]` -> `[sets, rows, outputs]`."""
        c = self.config
        z = self.encoder(x)
        if self.pooling is None:
            return self.decoder(POOLINGS[c.pooling](z)).unflatten(-1, (c.rows, c.outputs))
        return self.decoder(self.pooling(z)).values.unflatten(0, (-1, c.rows))


class _Rows(nn.Sequential):
    """Row-wise layers in a row, applied to a Ragged."""

    def forward(self, input: Ragged) -> Ragged:
        return input.map(super().forward)


def _build_encoder(config: SetModelConfig) -> nn.Sequential:
    blocks, width = config.blocks, config.blocks.width
    layers = nn.Sequential()
    if config.encoder == "rff":  # a block, too, has two linear layers in a row
        return nn.Sequential(_Rows(*_linear_relu(config.inputs, width, 2 * blocks.layers)[:-1]))
    if config.encoder != "blocks":
        raise ConfigError(f"unknown encoder {config.encoder!r}; expected blocks or rff")
    inputs = config.inputs
    if blocks.block == "paper":  # whose residual cannot change the width
        layers.append(_Rows(nn.Linear(inputs, width)))
        inputs = width
    for layer in range(blocks.layers):
        wide = inputs if layer == 0 else width
        layers.append(
            ISAB(wide, width, blocks, induced=blocks.induced)
            if blocks.induced
            else SAB(wide, width, blocks)
        )
    return layers


def _decoder(config: SetModelConfig) -> tuple[PMA | None, nn.Sequential]:
    blocks, width = config.blocks, config.blocks.width
    if config.pooling in POOLINGS:
        hidden = _linear_relu(width, width, config.decoder_layers)
        return None, nn.Sequential(*hidden, nn.Linear(width, config.rows * config.outputs))
    if config.pooling != "pma":
        names = ", ".join(POOLINGS)
        raise ConfigError(f"unknown pooling {config.pooling!r}; expected one of pma, {names}")
    sabs = [SAB(width, width, blocks) for _ in range(config.decoder_layers)]
    return PMA(width, blocks, seeds=config.rows), nn.Sequential(
        *sabs, _Rows(nn.Linear(width, config.outputs))
    )


def _linear_relu(inputs: int, width: int, layers: int) -> list[nn.Module]:
    """Linear, ReLU, linear, ReLU, ..."""
    return [
        module
        for layer in range(layers)
        for module in (nn.Linear(inputs if layer == 0 else width, width), nn.ReLU())
    ]
