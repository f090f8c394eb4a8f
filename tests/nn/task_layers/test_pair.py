"""Features of pairs by hand."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.task_layers.layer_configs import ClassifierConfig, PairConfig
from headwise.nn.task_layers.pair_layers import PairHead, concat_absolute, product


def test_features_of_the_papers():
    first, second = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 0.5]])
    assert concat_absolute(first, second).tolist() == [[1, -2, 3, 0.5, 2, 2.5, -2, -2.5]]
    assert product(first, second).tolist() == [[1, -2, 3, 0.5, 3, -1, 2, 2.5]]


@pytest.mark.parametrize("features", ["concat-absolute", "product", "concat"])
def test_head(features):
    head = PairHead(5, 3, PairConfig(features=features), ClassifierConfig(hidden=4))
    assert head(torch.randn(7, 5), torch.randn(7, 5)).shape == (7, 3)
    assert head(torch.randn(0, 5), torch.randn(0, 5)).shape == (0, 3)


@pytest.mark.parametrize("name", ["cross_layers", "cross_heads", "cross_head_size", "cross_feedforward"])
def test_settings_out_of_range(name):
    with pytest.raises(ConfigError, match=name):
        PairConfig(**{name: 0})
