"""The rivals of the Set Transformer that its paper has: by hand, set by set, in any order."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.encoders.set_configs import SetTransformerConfig
from headwise.nn.ragged import Ragged

SETTINGS = {"inputs": 2, "outputs": 5, "rows": 3, "decoder_layers": 1}


def sets(*sizes):
    return Ragged.from_lengths(torch.randn(sum(sizes), 2, dtype=torch.float64), list(sizes))


@pytest.fixture
def set_model():
    from benchmarks.papers.set_baselines import set_model

    def make(name):
        torch.manual_seed(0)
        return set_model(name, blocks=SetTransformerConfig(width=12, heads=3), **SETTINGS).double()

    return make


@pytest.mark.parametrize("name", ["rffp-mean+mean", "rffp-max+mean", "rff+dot", "sab+dot", "rffp-max+pma"])
def test_sets_of_any_sizes_and_orders(set_model, name):
    model, x = set_model(name), sets(5, 0, 1, 9)
    together = model(x)
    assert together.shape == (4, 3, 5)
    for place, rows in enumerate(x):
        turned = x[[place]].with_values(rows.flip(0))
        torch.testing.assert_close(model(turned)[0], together[place], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["mean", "max"])
def test_equivariant_layers_by_hand(set_model, kind):
    model, x = set_model(f"rffp-{kind}+mean"), sets(5, 9)
    for rows, got in zip(x, model(x), strict=True):
        for layer in model.encoder:
            pooled = rows.mean(0) if kind == "mean" else rows.max(0).values
            rows = layer.element_layer(rows) + layer.pool_layer(pooled)
            rows = rows if layer.last else rows.relu()
        torch.testing.assert_close(model.decoder(rows.mean(0)).reshape(3, 5), got)
    assert [layer.last for layer in model.encoder] == [False, False, False, True]


def test_dot_pooling_by_hand(set_model):
    model, x = set_model("rff+dot"), sets(5, 9)
    torch.nn.init.normal_(model.query)
    for z, got in zip(model.model.encoder(x), model(x), strict=True):
        weights = (z @ model.query / 12**0.5).softmax(0)
        torch.testing.assert_close(model.model.decoder(weights @ z).reshape(3, 5), got)


@pytest.mark.parametrize("name", ["rffp+mean", "rff+dots", "dot", "rffp-sum+mean"])
def test_unknown_names(set_model, name):
    with pytest.raises(ConfigError, match="unknown model of sets"):
        set_model(name)


def test_what_headwise_has_is_taken_from_it(set_model):
    from headwise.nn.encoders.set_models import SetModel

    assert type(set_model("isab4+pma")) is SetModel
    assert type(set_model("rff+max")) is SetModel
