"""Self-attention with its projections as one operation, against the operations one by one."""

import pytest
import torch

from headwise.nn.attention import SelfAttention
from headwise.nn.attention.cpu import projected
from headwise.nn.priors import Backward, Everything, Forward, Window, WordDistance
from headwise.nn.ragged import Ragged

LENGTHS = [3, 0, 1, 40, 7]
HEADS = {
    "all look": [Window(3), Everything(), Forward()],
    "neighbours look": [Window(1), Window(3), Backward() + WordDistance(0.7)],
    "others look": [Window(5), Window(1), Everything(), Window(1)],
}


def layer_of(heads: str, *, bias: bool) -> SelfAttention:
    torch.manual_seed(0)
    layer = SelfAttention(12, HEADS[heads], 4, bias=bias).double()
    if bias:
        for projection in (layer.query, layer.key, layer.value, layer.out):
            torch.nn.init.normal_(projection.bias)
    return layer


def results(layer: SelfAttention, values: torch.Tensor) -> list[torch.Tensor]:
    """The output, and the gradients of its sum of squares."""
    values = values.clone().requires_grad_()
    output = layer(Ragged.from_lengths(values, LENGTHS)).values
    inputs = [values, *layer.parameters()]
    return [output, *torch.autograd.grad(output.square().sum(), inputs)]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("heads", HEADS)
def test_values_and_gradients(heads: str, bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    layer, values = layer_of(heads, bias=bias), torch.randn(sum(LENGTHS), 12, dtype=torch.float64)
    fused = results(layer, values)
    assert type(fused[0].grad_fn).__name__ == "_ProjectedBandsBackward"
    monkeypatch.setattr(projected, "is_supported", lambda *_: False)
    for actual, expected in zip(fused, results(layer, values), strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-12)


def test_gradients_of_gradients() -> None:
    layer = layer_of("neighbours look", bias=True)
    values = torch.randn(6, 12, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: layer(Ragged.from_lengths(x, [4, 2])).values, values)


def test_frozen_rows_and_weights_have_no_gradients() -> None:
    layer = layer_of("all look", bias=False)
    layer.key.requires_grad_(False)
    output = layer(Ragged.from_lengths(torch.randn(4, 12, dtype=torch.float64), [4])).values
    output.sum().backward()
    assert layer.key.weight.grad is None
    assert layer.query.weight.grad is not None


@pytest.mark.parametrize("watched", ["query", "out"])
def test_watched_projections_are_called(watched: str) -> None:
    layer, seen = layer_of("all look", bias=False), list[torch.Tensor]()
    getattr(layer, watched).register_forward_hook(lambda module, inputs, output: seen.append(output))
    layer(Ragged.from_lengths(torch.randn(4, 12, dtype=torch.float64), [4]))
    assert len(seen) == 1


def test_autocast_keeps_its_types() -> None:
    layer = layer_of("all look", bias=False).float()
    with torch.autocast("cpu", torch.bfloat16):
        output = layer(Ragged.from_lengths(torch.randn(4, 12), [4])).values
    assert output.dtype == torch.bfloat16
