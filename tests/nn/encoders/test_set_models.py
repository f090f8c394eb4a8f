"""Models of sets: their parts in the right order, the published sizes, and sets of any sizes."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from headwise.core.errors import ConfigError
from headwise.nn.encoders.set_configs import SetModelConfig, SetTransformerConfig
from headwise.nn.encoders.set_models import SetModel

BLOCKS = SetTransformerConfig(width=12, heads=3)
NAMES = [f"{e}+{p}" for e in ("rff", "sab", "isab4") for p in ("pma", "mean", "sum", "max")]
every_model = pytest.mark.parametrize("name", NAMES)


def model_named(name, *, inputs=2, outputs=5, rows=3, blocks=BLOCKS, decoder_layers=1):
    torch.manual_seed(0)
    config = SetModelConfig.named(
        name, inputs=inputs, outputs=outputs, rows=rows, blocks=blocks, decoder_layers=decoder_layers
    )
    return SetModel(config).double()


def parameters(name, width, **settings):
    model = model_named(name, blocks=SetTransformerConfig(width=width), **settings)
    return sum(p.numel() for p in model.parameters())


def test_o6_parameters_of_max_regression():
    assert parameters("sab+pma", 64, inputs=1, outputs=1, rows=1, decoder_layers=0) == 37_953


@pytest.mark.parametrize("pooling", ["mean", "sum", "max"])
def test_parameters_of_the_released_deep_set(pooling):
    """Four linear layers, the pooling, two linear layers."""
    by_hand = (64 + 64) + 4 * (64 * 64 + 64) + (64 + 1)
    assert parameters(f"rff+{pooling}", 64, inputs=1, outputs=1, rows=1) == by_hand


def test_o6_parameters_of_the_released_mixture_model():
    assert parameters("isab32+pma", 128, outputs=4, rows=4, decoder_layers=2) == 423_172


def test_parameters_of_the_papers_mixture_model():
    """Half of the induced points, one SAB fewer, one number a cluster more."""
    sab, points, numbers = 4 * (128 * 128 + 128), 2 * 16 * 128, 128 + 1
    assert parameters("isab16+pma", 128, outputs=5, rows=4) == 423_172 - sab - points + numbers


def test_pma_models_are_the_papers_composition(words):
    model, x = model_named("isab4+pma"), words((5, 1, 9), 2)
    first, second = model.encoder
    sab, last = model.decoder
    expected = last(sab(model.pooling(second(first(x))))).values.reshape(3, 3, 5)
    torch.testing.assert_close(model(x), expected)


def test_pooled_models_by_hand(words):
    model, x = model_named("rff+sum"), words((5, 0, 9), 2)
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]
    for rows, got in zip(x, model(x), strict=True):
        for layer in linear[:3]:
            rows = layer(rows).relu()
        pooled = linear[3](rows).sum(0)
        torch.testing.assert_close(got, linear[5](linear[4](pooled).relu()).reshape(3, 5))
    assert len(linear) == 6


@every_model
def test_sets_of_any_sizes_give_together_what_they_give_alone(name, words):
    model, x = model_named(name), words((5, 0, 1, 40, 2, 0), 2)
    together = model(x)
    assert together.shape == (6, 3, 5)
    assert together.isfinite().all()
    for t in range(len(x)):
        torch.testing.assert_close(model(x[[t]])[0], together[t], rtol=1e-10, atol=1e-10)


@every_model
def test_order_does_not_matter(name, words):
    model, x = model_named(name), words((9,), 2)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model(x.map(lambda rows: rows[order])), model(x), rtol=1e-10, atol=1e-10)


@every_model
def test_gradients_reach_every_parameter(name, words):
    model = model_named(name)
    model(words((5, 1, 9), 2)).square().sum().backward()
    assert [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


@pytest.mark.parametrize("encoder", ["sab", "isab4"])
def test_the_papers_residual_gets_elements_of_its_width(encoder, words):
    model = model_named(f"{encoder}+pma", blocks=replace(BLOCKS, block="paper", norm="post"))
    assert model(words((5, 1), 2)).shape == (2, 3, 5)


def test_names():
    assert SetModelConfig.named("isab16+max", inputs=1, outputs=1, blocks=BLOCKS) == SetModelConfig(
        inputs=1, outputs=1, pooling="max", blocks=replace(BLOCKS, induced=16)
    )
    rff = SetModelConfig.named("rff+pma", inputs=1, outputs=1, blocks=BLOCKS)
    assert (rff.encoder, rff.pooling, rff.blocks.induced) == ("rff", "pma", 0)


@pytest.mark.parametrize("name", ["sab", "isab+pma", "isab0+pma", "sab16+pma", "sab+min", "SAB+pma", ""])
def test_unknown_names(name):
    with pytest.raises(ConfigError, match=r"unknown model of sets .* rff, sab or isab16"):
        model_named(name)


@pytest.mark.parametrize("change", [{"encoder": "cnn"}, {"pooling": "min"}])
def test_unknown_settings(change):
    config = SetModelConfig(inputs=1, outputs=1, blocks=BLOCKS)
    with pytest.raises(ConfigError, match=r"unknown (encoder 'cnn'|pooling 'min'); expected "):
        SetModel(replace(config, **change))


@pytest.mark.parametrize("name", ["inputs", "outputs", "rows"])
def test_there_must_be_something_to_read_and_to_give(name):
    with pytest.raises(ConfigError, match=f"{name} must be at least 1"):
        SetModelConfig(**{"inputs": 1, "outputs": 1, "blocks": BLOCKS, name: 0})
