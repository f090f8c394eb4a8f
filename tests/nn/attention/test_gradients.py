"""Derivatives of derivatives: those of the reference, or an error; never something else."""

from contextlib import suppress

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from headwise.nn.attention import SelfAttention
from headwise.nn.attention.cpu import edges
from headwise.nn.attention.cpu.banded import attention as attend
from headwise.nn.encoders import ENCODERS
from headwise.nn.layout import Layout
from headwise.nn.priors import Everything, Forward, Window, WordDistance
from headwise.nn.ragged import Ragged

SIZES = [2, 0, 3, 1]


def summed(module, values):
    actual = module(Ragged.from_lengths(values, SIZES))
    return getattr(actual, "tokens", actual).values.square().sum()


@pytest.mark.parametrize(
    "priors",
    [
        [Window(3), Forward()],
        [Window(1), Everything() + WordDistance(0.5), Window(1), Window(fraction=0.5)],
    ],
)
def test_second_derivatives_are_those_of_the_reference(priors):
    values, actual = torch.randn(6, 8, dtype=torch.float64), {}
    for impl in ("banded", "reference"):
        torch.manual_seed(0)
        layer = SelfAttention(8, priors, 4, impl=impl).double()
        actual[impl] = torch.autograd.functional.hessian(lambda x, module=layer: summed(module, x), values)
    assert actual["reference"].abs().sum() > 1
    torch.testing.assert_close(actual["banded"], actual["reference"])


def test_a_penalty_on_gradients_reaches_the_weights():
    actual = {}
    for impl in ("banded", "reference"):
        torch.manual_seed(0)
        layer = SelfAttention(8, [Window(3), Forward()], 4, impl=impl).double()
        values = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
        [grad] = torch.autograd.grad(summed(layer, values), values, create_graph=True)
        actual[impl] = torch.autograd.grad(grad.square().sum(), list(layer.parameters()))
    torch.testing.assert_close(actual["banded"], actual["reference"])


@pytest.mark.parametrize("name", ["ms-san", "ms-transformer"])
def test_differentiable_gradients_of_an_encoder_are_its_gradients(name):
    kind, config = ENCODERS[name]
    torch.manual_seed(0)
    model = kind(config(width=8, heads=2, layers=2, dropout=0.0)).double()
    values = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
    once, again = (
        torch.autograd.grad(summed(model, values), values, create_graph=again)[0] for again in (False, True)
    )
    torch.testing.assert_close(again, once)


def test_query_key_and_value_may_be_one_tensor():
    rows = torch.randn(6, 2, 4, dtype=torch.float64, requires_grad=True)
    priors, layout = [Window(3), Forward()], Layout(SIZES)
    total = attend(rows, rows, rows, priors, layout).square().sum()
    once, again = (
        torch.autograd.grad(total, rows, retain_graph=True, create_graph=again)[0]
        for again in (False, True)
    )
    torch.testing.assert_close(again, once)


def test_what_is_frozen_needs_no_gradient():
    layer = SelfAttention(8, [Window(3), Forward()], 4, impl="banded").double()
    layer.query.requires_grad_(False)
    values = torch.randn(6, 8, dtype=torch.float64)
    weights = [layer.key.weight, layer.value.weight]
    grads = torch.autograd.grad(summed(layer, values), weights, create_graph=True)
    assert all(grad.requires_grad for grad in grads)


def test_a_star_is_differentiated_twice():
    kind, config = ENCODERS["star-transformer"]
    torch.manual_seed(0)
    model = kind(config(width=4, heads=2, head_size=2, layers=1, dropout=0.0)).double()
    values = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: summed(model, x), values)


def test_what_has_no_second_derivatives_says_so(monkeypatch):
    kind, config = ENCODERS["bp-transformer"]
    model = kind(config(width=8, heads=2, layers=1)).double().eval()
    values = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"cannot be differentiated .*; with HEADWISE_KERNELS=off"):
        torch.autograd.grad(summed(model, values), values, create_graph=True)
    monkeypatch.setattr(edges, "unsupported_reason", lambda rows: "HEADWISE_KERNELS=off")
    assert torch.autograd.gradgradcheck(lambda x: summed(model, x), values)


def test_sets_are_differentiated_twice_where_pytorch_computes_in_steps():
    kind, config = ENCODERS["set-transformer"]
    model = kind(config(width=4, heads=2, layers=1, induced=2)).double().eval()
    values = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    with sdpa_kernel(SDPBackend.MATH):
        assert torch.autograd.gradgradcheck(lambda x: summed(model, x), values)
    [grad] = torch.autograd.grad(summed(model, values), values, create_graph=True)
    for weights in model.parameters():  # each alone: none gets a part of what is right
        with suppress(RuntimeError):
            [actual] = torch.autograd.grad(grad.sum(), weights, retain_graph=True, allow_unused=True)
            with sdpa_kernel(SDPBackend.MATH):
                [again] = torch.autograd.grad(summed(model, values), values, create_graph=True)
            [expected] = torch.autograd.grad(again.sum(), weights, allow_unused=True)
            torch.testing.assert_close(actual, expected)
    with pytest.raises(RuntimeError, match="is not implemented"):
        torch.autograd.grad(grad.sum(), values)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_transforms_of_functions():
    """`torch.func` wraps tensors, whose memory kernels cannot read."""
    torch.manual_seed(0)
    layer = SelfAttention(8, [Window(3), Forward()], 4).double()
    values = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
    [expected] = torch.autograd.grad(summed(layer, values), values)
    actual = torch.func.grad(lambda x: summed(layer, x))(values.detach())
    torch.testing.assert_close(actual, expected)
