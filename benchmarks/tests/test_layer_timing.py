"""The times of layers. Times themselves are never asserted."""

import pytest
import torch

from benchmarks.common.timing import profile, random_batch, time_layers
from headwise.nn.attention.dispatch import IMPLEMENTATIONS, Implementation
from headwise.nn.encoders import (
    BiLSTM,
    BiLSTMConfig,
    MSTransformer,
    MSTransformerConfig,
    Transformer,
    TransformerConfig,
)

SIZES = {"width": 8, "layers": 2, "heads": 2, "head_size": 5}


@pytest.fixture(autouse=True)
def no_kernels(monkeypatch):
    monkeypatch.setenv("HEADWISE_KERNELS", "off")


def timed(encoder):
    x, _ = random_batch(encoder, 8, 6, 2)
    return time_layers(encoder, x, profile(encoder, x), rounds=1)


def test_layers_in_their_order_with_times():
    encoder = MSTransformer(MSTransformerConfig(**SIZES, scales=("1", "3"), alpha=0.0)).train()
    first, second = timed(encoder)
    assert (first.layer, second.layer) == ("blocks.0.attention", "blocks.1.attention")
    assert min(first.seconds, first.floor) > 0
    alone, window = first.paths
    assert (alone.path.implementation, alone.seconds, alone.alternative) == ("value", None, None)
    assert window.path.implementation == "sdpa"
    assert window.seconds
    assert (window.alternative, window.alternative_seconds) == (None, None)
    assert encoder.training
    assert not any(module._forward_pre_hooks for module in encoder.modules())


def test_the_other_way(monkeypatch):
    """What the heads would take with the implementation that is not used."""
    ran = []

    def run(query, key, value, priors, layout):
        ran.append(len(priors))
        return value

    monkeypatch.setitem(IMPLEMENTATIONS, "banded", Implementation(run, lambda *_: None))
    encoder = Transformer(TransformerConfig(**SIZES, attention="sdpa"))
    (path,) = timed(encoder)[0].paths
    assert (path.path.implementation, path.alternative) == ("sdpa", "banded")
    assert path.alternative_seconds is not None
    assert set(ran) == {2}
    monkeypatch.setattr("benchmarks.common.timing._MOST_PAIRS", 10)
    assert timed(encoder)[0].paths[0].alternative is None


def test_priors_with_parameters():
    encoder = Transformer(TransformerConfig(**SIZES, positions="none", priors=("shaw(2)",)))
    (path,) = timed(encoder)[0].paths
    assert path.path.implementation == "sdpa"
    assert path.seconds


def test_nothing_to_time():
    assert timed(BiLSTM(BiLSTMConfig(width=8))) == []
    assert torch.is_grad_enabled()
