"""What is particular to the padded implementation: its groups and its masks. Its results: test_table.py."""

from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.nn.attention import reference, sdpa
from headwise.nn.attention.sdpa import Plan, _runs_of_heads, attention
from headwise.nn.layout import Layout
from headwise.nn.priors import Backward, Earlier, Everything, Forward, Prior, Window, WordDistance


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 400), max_size=12))
def test_plan_keeps_every_row_and_pads_little(lengths):
    layout = Layout(lengths)
    plan = Plan.of(layout)
    assert Plan.of(layout) is plan
    values = torch.arange(layout.total)[:, None, None]
    parts = plan.arrange(values)
    for group, part in zip(plan.groups, parts, strict=True):
        assert min(group.sizes) > 0
        assert group.longest == max(group.sizes)
        assert group.longest <= max(1.25 * min(group.sizes), min(group.sizes) + 8)
        padded = group.pad(part)
        assert padded.shape == (len(group.sizes), 1, group.longest, 1)
        assert torch.equal(group.unpad(padded), part)
        for n, text in zip(group.sizes, padded[:, 0, :, 0], strict=True):
            assert text[:n].diff().eq(1).all()
            assert not text[n:].any()
    assert sorted(n for group in plan.groups for n in group.sizes) == sorted(n for n in lengths if n)
    if plan.groups:
        assert torch.equal(plan.restore(list(parts)), values)


@pytest.mark.parametrize("lengths", [(1,), (4, 4), (5, 3, 1), (12, 1)])
def test_no_row_is_left_to_the_kernel_without_a_key(lengths, odd):
    """What a fused kernel makes of such a row has changed with PyTorch's versions and differs by device."""
    priors = [Earlier(), odd.Nothing(), odd.SecondKey(), odd.LongTexts()]
    priors += [Window(width=3), Backward(), Everything()]  # their rows in the padding see only padding
    for group in Plan.of(Layout(lengths)).groups:
        for prior in priors:
            bias, _ = group.mask(prior, torch.float32)
            assert bias is None or (bias > -torch.inf).any(-1).all()


def test_equal_neighbours_share_one_call():
    w, f = Window(width=3), Forward()
    assert _runs_of_heads([w, w, f, w]) == [(w, slice(0, 2)), (f, slice(2, 3)), (w, slice(3, 4))]


def test_masks_are_built_once_for_all_layers(monkeypatch, inputs):
    built = []
    original = sdpa.Group._mask
    monkeypatch.setattr(
        sdpa.Group, "_mask", lambda self, *args: built.append(args) or original(self, *args)
    )
    layout, priors = Layout([3, 9, 40]), [Window(width=3), Window(width=3), WordDistance(0.5)]
    for _ in range(3):
        attention(*inputs([3, 9, 40], 3, 4), priors, layout)
    assert len(built) == 2 * len(Plan.of(layout).groups)


def test_no_mask_where_everything_is_seen():
    [group] = Plan.of(Layout([5, 5])).groups
    assert group.mask(Everything(), torch.float32) == (None, None)
    assert group.mask(Window(width=9), torch.float32) == (None, None)


@dataclass(frozen=True)
class Shifted(Prior):
    """Scores that differ little, far from 0."""

    by: float

    def visible(self, pairs):
        return pairs.key < pairs.length

    def score(self, pairs):
        return self.by - (pairs.query - pairs.key).abs()


def differentiated(function, priors, layout, tensors):
    output = function(*tensors, priors, layout)
    return [output, *torch.autograd.grad(output.sin().sum(), tensors)]


@pytest.mark.parametrize("lengths", [(6, 6), (30, 25, 2)])
@pytest.mark.parametrize("by", [-1e9, 1e9, -1e31, 1e31])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_where_all_scores_of_a_row_are_large(inputs, lengths, by, dtype):
    """The kernel's gradient goes by the logarithm of a row's sum, which has no digits left there."""
    tensors = [x.requires_grad_() for x in inputs(lengths, 2, 4, dtype)]
    actual, expected = (
        differentiated(function, [Shifted(by), Everything()], Layout(lengths), tensors)
        for function in (attention, reference.attention)
    )
    tolerance = 1e-5 if dtype == torch.float32 else 1e-6
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("by", [0.0, -300.0, -30_000.0])
def test_large_scores_in_16_bits(inputs, by):
    """On the CPU 16 bits are computed in float32, with the digits of its scores."""
    lengths = (30, 25, 2)
    tensors = [x.requires_grad_() for x in inputs(lengths, 1, 4, torch.float16)]
    exact = [x.detach().double().requires_grad_() for x in tensors]
    actual = differentiated(attention, [Shifted(by)], Layout(lengths), tensors)
    expected = differentiated(reference.attention, [Shifted(by)], Layout(lengths), exact)
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.dtype == torch.float16
        torch.testing.assert_close(ours.double(), theirs, rtol=5e-3, atol=5e-3)
