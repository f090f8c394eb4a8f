"""Products in blocks of rows: values and gradients of torch's linear layer."""

import pytest
import torch
from torch.nn import functional

from headwise.nn.layers.row_blocks import BlockedLinear, linear


@pytest.mark.parametrize("rows", [0, 1, 2048, 2049, 2560, 3000])
@pytest.mark.parametrize("bias", [False, True])
def test_values_and_gradients(rows, bias):
    torch.manual_seed(0)
    arguments = [torch.randn(rows, 7), torch.randn(5, 7), *([torch.randn(5)] if bias else [])]
    results = []
    for function in (functional.linear, linear):
        copies = [tensor.clone().requires_grad_() for tensor in arguments]
        product = function(*copies)
        product.square().sum().backward()
        results.append([product, *(copy.grad for copy in copies)])
    for expected, computed in zip(*results, strict=True):
        torch.testing.assert_close(computed, expected, rtol=1e-4, atol=1e-3)


def test_only_gradients_that_are_needed():
    rows, weight = torch.randn(2500, 3), torch.randn(2, 3, requires_grad=True)
    linear(rows, weight).sum().backward()
    assert rows.grad is None
    assert weight.grad is not None


def test_second_derivatives():
    rows = torch.randn(2500, 3, requires_grad=True)
    weight = torch.randn(2, 3, requires_grad=True)
    product = linear(rows, weight).square().sum()
    (gradient,) = torch.autograd.grad(product, rows, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), weight)
    expected = torch.autograd.functional.vjp(
        lambda w: 2 * (functional.linear(rows, w) @ w), weight, torch.ones_like(rows)
    )[1]
    torch.testing.assert_close(second, expected, rtol=1e-3, atol=1e-2)


def test_a_layer_has_the_state_of_a_linear_layer():
    torch.manual_seed(0)
    layer, plain = BlockedLinear(4, 3), torch.nn.Linear(4, 3)
    plain.load_state_dict(layer.state_dict())
    rows = torch.randn(5000, 4)
    torch.testing.assert_close(layer(rows), plain(rows))
