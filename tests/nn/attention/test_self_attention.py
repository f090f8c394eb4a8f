"""The layer: projections, heads that need neither query nor key, and the way back."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import nn

from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention, reference
from headwise.nn.priors import Everything, Forward, Prior, Window, WordDistance
from headwise.nn.ragged import Ragged

ONE, NEAR = Window(width=1), Window(width=3)
LISTS = [
    [Everything()],
    [NEAR, Forward()],
    [ONE, ONE],
    [ONE, NEAR, ONE + WordDistance(), Everything()],
    [NEAR, ONE],
]


def rows(lengths, width=6, seed=0):
    random = torch.Generator().manual_seed(seed)
    return Ragged.from_lengths(
        torch.randn(sum(lengths), width, generator=random, dtype=torch.float64), lengths
    )


def layer_of(priors, bias):
    torch.manual_seed(1)
    layer = SelfAttention(6, priors, 4, bias=bias).double()
    for name, parameter in layer.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return layer


def plain(layer, x):
    """MS-Trans Eq. 6-9 with every head computed in full."""
    q, k, v = (
        projection(x.values).view(-1, len(layer.priors), layer.head_size)
        for projection in (layer.query, layer.key, layer.value)
    )
    return layer.out(reference.attention(q, k, v, layer.priors, x.layout).flatten(1))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("priors", LISTS)
@pytest.mark.parametrize("lengths", [(), (0,), (1,), (5, 0, 2, 1)])
def test_equals_all_heads_in_full(priors, bias, lengths):
    layer, x = layer_of(priors, bias), rows(lengths)
    x.values.requires_grad_()
    parameters = [x.values, *layer.parameters()]
    results = []
    for output in (layer(x).values, plain(layer, x)):
        gradients = torch.autograd.grad(output.sin().sum(), parameters, allow_unused=True)
        results.append(
            [
                output,
                *(
                    torch.zeros_like(p) if g is None else g
                    for p, g in zip(parameters, gradients, strict=True)
                ),
            ]
        )
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)
    assert layer(x).layout is x.layout


def test_heads_of_width_one_cost_no_query_and_key(monkeypatch):
    layer = layer_of([ONE, NEAR, ONE], False)
    layer.impl = "sdpa"  # an operation for each projection
    shapes = []
    original = layer._project
    monkeypatch.setattr(
        layer, "_project", lambda *args: shapes.append((got := original(*args)).shape) or got
    )
    layer(rows((3, 2)))
    assert shapes == [(5, 1, 4)] * 2


def test_parameters():
    layer = SelfAttention(300, [NEAR] * 5, 64)
    assert {name: tuple(p.shape) for name, p in layer.named_parameters()} == {
        "query.weight": (320, 300),
        "key.weight": (320, 300),
        "value.weight": (320, 300),
        "out.weight": (300, 320),
    }
    biases = dict(SelfAttention(6, [NEAR] * 2, 3, bias=True).named_parameters())
    assert len(biases) == 8
    assert all((p == 0).all() for name, p in biases.items() if name.endswith("bias"))


def test_works_under_autocast():
    layer, x = SelfAttention(6, LISTS[3], 4, bias=True), rows((5, 0, 2, 1)).map(torch.Tensor.float)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = layer(x)
    assert mixed.values.dtype == torch.bfloat16
    torch.testing.assert_close(mixed.values.float(), layer(x).values, rtol=0.05, atol=0.05)


@dataclass
class Changing(Prior):
    """A prior of somebody who forgot to freeze it."""

    reach: int = 1
    name: ClassVar[str] = "changing"


@pytest.mark.parametrize("prior", [Changing(), Changing() + NEAR])
def test_priors_that_may_change_are_refused(prior):
    with pytest.raises(
        ConfigError, match=r"Changing\(reach=1\).* could be changed .*dataclass\(frozen=True\)"
    ):
        SelfAttention(6, [prior], 4)


def test_errors():
    with pytest.raises(ConfigError, match="at least one head"):
        SelfAttention(6, [], 4)
    with pytest.raises(ConfigError, match="unknown attention 'fast'"):
        SelfAttention(6, [NEAR], 4, impl="fast")(rows((2,)).map(torch.Tensor.float))
    with pytest.raises(ConfigError, match=r"a prior for each head, got 'window\(3\)'; parse_prior"):
        SelfAttention(6, ["window(3)"], 4)
    for width, size in ((0, 4), (6, 0)):
        with pytest.raises(ConfigError, match=f"rows of {width} features to heads of {size}"):
            SelfAttention(width, [NEAR], size)
    with pytest.raises(TypeError, match=r"SelfAttention takes a Ragged, got a tensor \[3, 6\]"):
        SelfAttention(6, [NEAR], 4)(torch.zeros(3, 6))


class Scaled(nn.Linear):
    """A projection that does more than its weight says."""

    def forward(self, x):
        return 2 * super().forward(x)


@pytest.mark.parametrize("priors", [[Window(3), Forward()], [Window(1), Forward()]])
def test_projections_that_were_replaced_or_hooked_are_called(priors):
    torch.manual_seed(0)
    layer, x = SelfAttention(8, priors, 4), Ragged.from_lengths(torch.randn(5, 8), [2, 3])
    plain, called = layer(x).values, []
    handle = layer.query.register_forward_hook(lambda *_: called.append(True))
    torch.testing.assert_close(layer(x).values, plain)
    assert called
    handle.remove()
    for watch in (layer.query.register_full_backward_hook, layer.query.register_full_backward_pre_hook):
        called.clear()
        handle = watch(lambda *_: called.append(True))
        layer(x.map(lambda rows: rows.clone().requires_grad_())).values.sum().backward()
        assert called
        handle.remove()
    original = layer.query.forward
    layer.query.forward = lambda rows: 0 * original(rows)  # as accelerate and others do
    assert not torch.allclose(layer(x).values, plain)
    del layer.query.forward
    doubled = Scaled(8, 8, bias=False)
    doubled.load_state_dict(layer.query.state_dict())
    with torch.no_grad():
        layer.query.weight *= 2
    expected, layer.query = layer(x).values, doubled
    torch.testing.assert_close(layer(x).values, expected)


def test_the_representation_shows_the_priors_of_the_heads():
    layer = SelfAttention(8, [Window(3), Window(3), Everything(), Forward() + Window(5)], 2)
    first = str(layer).splitlines()[1].strip()
    assert first == "heads=4, head_size=2, priors=[window 3 x2, everything, forward + window 5]"
