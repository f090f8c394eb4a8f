import pytest

from headwise.core.errors import ConfigError
from headwise.nn.task_layers.layer_configs import BagConfig


def test_the_model_of_sets():
    actual = BagConfig(model="isab8+pma", width=32, heads=2, layers=3, norm="pre").set_model(5, 4)
    assert (actual.inputs, actual.outputs, actual.rows) == (5, 4, 1)
    assert (actual.blocks.width, actual.blocks.heads, actual.blocks.layers) == (32, 2, 3)
    assert (actual.blocks.induced, actual.blocks.norm, actual.pooling) == (8, "pre", "pma")


@pytest.mark.parametrize("model", ["", "sab", "sab+attention", "isab+pma", "isab0+pma"])
def test_unknown_models(model):
    with pytest.raises(ConfigError, match="unknown model of sets"):
        BagConfig(model=model).set_model(5, 4)


@pytest.mark.parametrize(
    "settings", [{"width": 0}, {"heads": 0}, {"layers": 0}, {"dropout": 1.0}, {"decoder_layers": -1}]
)
def test_settings_out_of_range(settings):
    with pytest.raises(ConfigError):
        BagConfig(**settings)
