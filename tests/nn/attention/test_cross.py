"""Attention between two ragged batches against a loop over the texts."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.nn.attention import attention
from headwise.nn.attention.cross import _cross_plan, cross_attention
from headwise.nn.layout import Layout
from headwise.nn.priors import Everything

LENGTHS = {  # queries and keys of each text
    "no texts": ((), ()),
    "nothing": ((0, 0), (0, 0)),
    "no keys": ((2, 1), (0, 0)),
    "no queries": ((0, 0), (2, 1)),
    "one each": ((1,), (1,)),
    "some empty": ((3, 0, 2, 4, 0), (2, 5, 0, 1, 0)),
    "seeds": ((2, 2, 2, 2), (3, 0, 40, 7)),
    "points": ((3, 0, 40, 7), (2, 2, 2, 2)),
    "long and short": ((1, 40, 2, 30, 38, 40), (30, 1, 33, 2, 1, 40)),
    "equal": ((4, 4, 4), (5, 5, 5)),
}
every_pair = pytest.mark.parametrize("lengths", list(LENGTHS.values()), ids=list(LENGTHS))


def inputs(queries, keys, heads=2, size=4, value_size=3, dtype=torch.float64, seed=0):
    random = torch.Generator().manual_seed(seed)
    shapes = [(sum(queries), heads, size), (sum(keys), heads, size), (sum(keys), heads, value_size)]
    return [torch.randn(*shape, generator=random, dtype=torch.float64).to(dtype) for shape in shapes]


def loop(query, key, value, queries, keys, scale):
    outputs = []
    for q, k, v in zip(query.split(queries), key.split(keys), value.split(keys), strict=True):
        for h in range(q.shape[1]):
            weights = (q[:, h] @ k[:, h].T * scale).softmax(-1) if len(k) else q.new_zeros(len(q), 0)
            outputs.append(weights @ v[:, h])
    heads = query.shape[1]
    texts = [torch.stack(outputs[t * heads : (t + 1) * heads], 1) for t in range(len(queries))]
    return torch.cat(texts) if texts else query.new_zeros(0, heads, value.shape[-1])


def compare(lengths, scale=None, tolerance=1e-10, **shape):
    queries, keys = lengths
    tensors = [x.requires_grad_() for x in inputs(queries, keys, **shape)]
    got = cross_attention(*tensors, Layout(queries), Layout(keys), scale)
    exact = [x.detach().double().requires_grad_() for x in tensors]
    expected = loop(*exact, list(queries), list(keys), scale or tensors[0].shape[-1] ** -0.5)
    assert got.dtype == tensors[0].dtype
    for ours, theirs in zip(with_gradients(got, tensors), with_gradients(expected, exact), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=tolerance, atol=tolerance)


def with_gradients(output, tensors):
    loss = output.sin().sum() + sum(0 * x.sum() for x in tensors)  # all of them, also where nothing is seen
    return [output, *torch.autograd.grad(loss, tensors)]


@every_pair
@pytest.mark.parametrize("scale", [None, 0.3])
def test_values_and_gradients_equal_a_loop(lengths, scale):
    compare(lengths, scale)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 5e-3), (torch.bfloat16, 4e-2)]
)
def test_dtypes(dtype, tolerance):
    compare(LENGTHS["long and short"], tolerance=tolerance, dtype=dtype)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), max_size=6), st.integers(1, 3))
def test_fuzz(pairs, heads):
    compare(([q for q, _ in pairs], [k for _, k in pairs]), heads=heads, size=3)


def test_gradcheck():
    queries, keys = LENGTHS["some empty"]
    tensors = [x.requires_grad_() for x in inputs(queries, keys)]
    run = lambda *x: cross_attention(*x, Layout(queries), Layout(keys))
    assert torch.autograd.gradcheck(run, tensors, fast_mode=True)


def test_of_a_batch_to_itself_is_self_attention_without_a_prior():
    lengths = (4, 0, 17, 1, 5)
    q, k, _ = inputs(lengths, lengths)
    layout = Layout(lengths)
    expected = attention(q, k, k, [Everything()] * 2, layout)
    torch.testing.assert_close(cross_attention(q, k, k, layout, layout), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("poison", [float("nan"), 1e30])
def test_a_poisoned_text_spoils_only_itself(poison):
    queries, keys = (3, 2, 4, 3), (5, 4, 6, 2)
    tensors, clean = inputs(queries, keys), [Layout(n).text_of != 1 for n in (queries, keys, keys)]
    expected = cross_attention(*tensors, Layout(queries), Layout(keys))[clean[0]]
    for x, keep in zip(tensors, clean, strict=True):
        x[~keep] = poison
        x.requires_grad_()
    got = cross_attention(*tensors, Layout(queries), Layout(keys))[clean[0]]
    torch.testing.assert_close(got, expected)
    for gradient, keep in zip(torch.autograd.grad(got.sum(), tensors), clean, strict=True):
        assert gradient[keep].isfinite().all()


def test_texts_are_grouped_by_their_sizes_and_plans_are_kept():
    queries, keys = Layout((1, 1, 1, 1, 30)), Layout((4, 100, 6, 0, 5))
    plan = _cross_plan(queries, keys)
    assert plan.groups == [[1], [2], [4], [0]]
    assert plan.queries.shapes == [(1, 1), (1, 1), (1, 30), (1, 1)]
    assert plan.keys.shapes == [(1, 100), (1, 6), (1, 5), (1, 4)]
    together = _cross_plan(Layout((2, 2, 2)), Layout((9, 1, 5)))
    [mask] = together.masks
    assert mask is not None
    assert mask.sum(-1).flatten().tolist() == [9, 5, 1]
    assert _cross_plan(queries, Layout((4, 100, 6, 0, 5))) is plan
    assert _cross_plan(queries, Layout((4, 100, 6, 1, 5))) is not plan


def test_inference_first_and_training_later_on_one_layout():
    queries, keys = Layout((3, 2)), Layout((1, 4))
    tensors = inputs(queries.sizes, keys.sizes)
    with torch.inference_mode():
        before = cross_attention(*tensors, queries, keys)
    after = cross_attention(*(x.requires_grad_() for x in tensors), queries, keys)
    after.sum().backward()
    assert torch.equal(before, after)


@pytest.mark.parametrize(
    ("queries", "keys", "change"),
    [
        ((3, 1), (4,), lambda q, k, v: (q, k, v)),
        ((3, 1), (2, 2), lambda q, k, v: (q[1:], k, v)),
        ((3, 1), (2, 2), lambda q, k, v: (q, k, v[1:])),
        ((3, 1), (2, 2), lambda q, k, v: (q[:, :, 1:], k, v)),
        ((3, 1), (2, 2), lambda q, k, v: (q, k, v[:, 1:])),
    ],
)
def test_what_does_not_fit_is_an_error(queries, keys, change):
    tensors = change(*inputs(queries, keys))
    with pytest.raises(ConfigError, match="do not fit"):
        cross_attention(*tensors, Layout(queries), Layout(keys))
