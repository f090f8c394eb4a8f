"""One table for all implementations of attention: each must give what the reference gives.

A new implementation joins by standing in `IMPLEMENTATIONS`. Where it refuses a case, asking for it by name
must be an error; `test_every_implementation_can_do_something` sees to it that it does not refuse them all.
"""

import functools

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.nn.attention import IMPLEMENTATIONS, attention, choose, reference
from headwise.nn.layout import Layout
from headwise.nn.priors import (
    Backward,
    Child,
    Dilated,
    Earlier,
    Everything,
    Forward,
    Gaussian,
    GlobalTokens,
    Later,
    Matrix,
    Parent,
    PositionPairs,
    RandomBlocks,
    Rotary,
    SameParagraph,
    SameSentence,
    SentenceDistance,
    ShiftedWindow,
    Sibling,
    Sum,
    TreeDistance,
    Window,
    WordDistance,
    alibi,
    allocate_scales,
)

CASES = {
    "everything": [Everything()] * 2,
    "window 1": [Window(width=1)],
    "window 3": [Window(width=3)] * 2,
    "window 7": [Window(width=7)],
    "window wider than all": [Window(width=101)],
    "window n/16": [Window(fraction=1 / 16)],
    "window n/3": [Window(fraction=1 / 3)],
    "window n": [Window(fraction=1.0)],
    "ms-trans": list(allocate_scales(2, 3, 10, ("1", "3", "n/16", "n/8", "n/4"), 0.5)),
    "forward": [Forward()],
    "backward": [Backward()] * 2,
    "distance": [WordDistance(0.5), WordDistance(0.3)],
    "attracted by what is far": [WordDistance(-0.2)],
    "sums": [Forward() + WordDistance(1.0), Backward() + Window(width=5) + WordDistance(0.1)],
    "only itself, in two ways": [Forward() + Backward(), Forward() + Window(width=1)],
    "mixed": [Everything(), Window(width=3), Forward(), Everything(), WordDistance(0.7)],
    "rows that see nothing": [Earlier(), Everything(), Later()],
    "a head that sees nothing": [Window(width=3), "Nothing"],
    "only heads that see nothing": ["Nothing", "Nothing"],
    "a key for all": ["SecondKey"],
    "by length": ["LongTexts", Window(width=3)],
    "earlier and near": [Earlier() + Window(width=5), Earlier() + Later()],
    "alibi": [*alibi(2), *alibi(2, "halves")],
    "gaussian": [Gaussian(1.5), Gaussian(3.0, offset=-1.0)],
    "dilated": [Dilated(2), Dilated(3, 7) + Forward()],
    "random blocks": [RandomBlocks(2, 1, 0), RandomBlocks(3, 2, 1, seed=4)],
    "global": [GlobalTokens(Window(width=3)), GlobalTokens(Earlier() + WordDistance(0.5), 2)],
    "rotary": [Rotary(), Rotary(100.0) + Forward(), GlobalTokens(Window(width=3) + Rotary())],
    "shifted windows": [ShiftedWindow(3), ShiftedWindow(7) + WordDistance(0.3)],
    "sentences": [SameSentence(), SentenceDistance(0.5, reach=1), SameParagraph() + Forward()],
    "tree relations": [Parent(), Child() + WordDistance(0.2), Sibling()],
    "matrix": [Matrix(0.7), Window(width=5) + Matrix()],
    "tree": [TreeDistance(0.4), Backward() + TreeDistance(1.0), Forward()],
}
LENGTHS = {
    "no texts": (),
    "empty text": (0,),
    "one word": (1,),
    "only empty and single": (1, 0, 1, 0),
    "ragged": (4, 1, 0, 7, 2),
    "equal": (5, 5, 5),
    "long and short": (2, 40, 3, 0, 38, 1, 12),
    "short to long": (1, 2, 9, 21),
}
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 4e-2}
KINDS = ((30, torch.float64), (8, torch.float64), (1, torch.float64))
KINDS += ((30, torch.float32), (1, torch.float32), (30, torch.bfloat16))
"""Sizes and dtypes. Each case meets each of them, and so do each of the lengths; not all together."""

# Triton's does not run on the CPU, but for its interpreter: see test_triton_band.py.
every_implementation = pytest.mark.parametrize(
    "impl", [name for name in IMPLEMENTATIONS if name != "triton"]
)
every_case = pytest.mark.parametrize("case", list(CASES))
every_length = pytest.mark.parametrize("lengths", list(LENGTHS.values()), ids=list(LENGTHS))


def layout_of(lengths, texts=None) -> Layout:
    """A layout with distances, parents, sentences, paragraphs and a matrix of random numbers for each text,
    which depend on its number in `texts`."""
    trees, heads, sentences, matrices = [], [], [], []
    for text, n in zip(range(len(lengths)) if texts is None else texts, lengths, strict=True):
        random = torch.Generator().manual_seed(text)
        trees.append(torch.randint(0, 6, (n, n), generator=random, dtype=torch.int16))
        heads.append(torch.randint(0, n + 1, (n,), generator=random))
        sentences.append((torch.rand(n, generator=random) < 0.3).cumsum(0))
        matrices.append(torch.randn(n, n, generator=random, dtype=torch.float64))
    marks = {"sentence": sentences, "paragraph": [sentence // 2 for sentence in sentences]}
    return Layout(lengths, trees=trees, heads=heads, marks=marks, matrices={"matrix": matrices})


@pytest.fixture
def priors_of(odd):
    """`priors_of(case)`: the list with the odd priors put in for their names."""
    return lambda case: named(CASES[case], odd)


def named(case, odd):
    """A list of priors with those of `odd` put in for their names."""
    return [getattr(odd, prior)() if isinstance(prior, str) else prior for prior in case]


def refused(impl, tensors, priors, layout) -> bool:
    """Whether `impl` cannot run this, which must then be an error and never another implementation."""
    try:
        choose(tensors[0], priors, layout, impl)
    except ConfigError:
        with pytest.raises(ConfigError, match=impl):
            attention(*tensors, priors, layout, impl)
        return True
    return False


def with_gradients(function, tensors, weights=None):
    """`[output, d query, d key, d value]` for the loss `sum(output * weights)`."""
    tensors = [x.detach().clone().requires_grad_() for x in tensors]
    output = function(*tensors)
    weights = torch.ones_like(output) if weights is None else weights
    gradients = torch.autograd.grad((output * weights).sum(), tensors, allow_unused=True)
    return [
        output.detach(),
        *(torch.zeros_like(x) if g is None else g for x, g in zip(tensors, gradients, strict=True)),
    ]


@pytest.fixture(scope="module")
def drawn(inputs, odd):
    """`drawn(case, lengths, size, dtype)`: query, key and value, weights of the loss, and what is
    exact. Each is computed once for all implementations, whose tests follow each other."""

    @functools.lru_cache(maxsize=len(KINDS))
    def draw(case, lengths, size, dtype):
        priors = named(CASES[case], odd)
        weights = inputs(lengths, len(priors), size, dtype, seed=1)[0]
        tensors = inputs(lengths, len(priors), size, dtype)
        return tensors, weights, exact(tensors, priors, layout_of(lengths), weights)

    return draw


def exact(tensors, priors, layout, weights):
    """The reference in float64."""
    run = functools.partial(reference.attention, priors=priors, layout=layout)
    return with_gradients(run, [x.double() for x in tensors], weights.double())


@every_implementation
@every_length
@every_case
def test_values_and_gradients_equal_the_reference(impl, case, lengths, drawn, priors_of):
    priors = priors_of(case)
    layout = layout_of(lengths)
    turn = list(CASES).index(case) + list(LENGTHS.values()).index(lengths)
    for size, dtype in KINDS[turn % 3 :: 3]:
        tensors, weights, expected = drawn(case, lengths, size, dtype)
        if refused(impl, tensors, priors, layout):
            continue
        run = functools.partial(attention, priors=priors, layout=layout, impl=impl)
        got = with_gradients(run, tensors, weights)
        for name, ours, theirs in zip(("output", "query", "key", "value"), got, expected, strict=True):
            assert ours.dtype == dtype, name
            tolerance = TOLERANCE[dtype]
            torch.testing.assert_close(
                ours.double(), theirs, rtol=tolerance, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}"
            )


@every_implementation
def test_every_implementation_can_do_something(impl, inputs):
    for dtype in TOLERANCE:
        for lengths in LENGTHS.values():
            if not refused(impl, inputs(lengths, 1, 8, dtype), [Window(width=3)], layout_of(lengths)):
                return
    pytest.fail(f"{impl} refuses everything")


@every_implementation
@every_case
def test_gradcheck(impl, case, inputs, priors_of):
    lengths, priors = (3, 0, 1, 5), priors_of(case)[:3]
    tensors, layout = inputs(lengths, len(priors), 2), layout_of(lengths)
    if not refused(impl, tensors, priors, layout):
        run = functools.partial(attention, priors=priors, layout=layout, impl=impl)
        assert torch.autograd.gradcheck(run, [x.requires_grad_() for x in tensors], fast_mode=True)


@every_implementation
@every_case
def test_batch_equals_single_and_order_does_not_matter(impl, case, inputs, priors_of):
    lengths, priors = (2, 19, 3, 0, 11, 1, 19, 12), priors_of(case)
    tensors = inputs(lengths, len(priors), 8, torch.float32)
    if refused(impl, tensors, priors, layout_of(lengths)):
        return
    weights = inputs(lengths, len(priors), 8, torch.float32, seed=1)[0]
    cut = [x.split(lengths) for x in (*tensors, weights)]

    def run(texts):
        q, k, v, w = (torch.cat([pieces[t] for t in texts]) for pieces in cut)
        sizes = [lengths[t] for t in texts]
        function = functools.partial(attention, priors=priors, layout=layout_of(sizes, texts), impl=impl)
        results = [x.split(sizes) for x in with_gradients(function, (q, k, v), w)]
        return {t: [pieces[place] for pieces in results] for place, t in enumerate(texts)}

    together = run(range(len(lengths)))
    variants = [run([t]) for t in range(len(lengths))] + [run([7, 3, 1, 0, 6, 2, 5, 4])]
    for second in variants:
        for t, results in second.items():
            for ours, theirs in zip(results, together[t], strict=True):
                if impl == "reference":
                    assert torch.equal(ours, theirs)
                else:
                    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


@every_implementation
@pytest.mark.parametrize("poison", [float("nan"), 1e30])
@every_case
def test_rows_without_keys_are_zero_and_other_texts_do_not_leak(impl, case, poison, inputs, priors_of):
    lengths, priors, bad = (4, 1, 5, 2, 0, 7), priors_of(case), 2
    layout = layout_of(lengths)
    tensors = inputs(lengths, len(priors), 8, torch.float32)
    if refused(impl, tensors, priors, layout):
        return
    clean = layout.text_of != bad
    weights = clean[:, None, None].float()
    expected = exact(tensors, priors, layout_of(lengths), weights.expand_as(tensors[0]))
    for x in tensors:
        x[~clean] = poison

    def run(q, k, v):
        return attention(q, k, v, priors, layout, impl)[clean]

    got = with_gradients(run, tensors)
    torch.testing.assert_close(got[0].double(), expected[0][clean], rtol=1e-5, atol=1e-5)
    for ours, theirs in zip(got[1:], expected[1:], strict=True):
        torch.testing.assert_close(ours[clean].double(), theirs[clean], rtol=1e-5, atol=1e-5)

    output = torch.zeros_like(tensors[0])
    output[clean] = got[0]
    for t, n in enumerate(lengths):
        rows = layout.text_of == t
        for h, prior in enumerate(priors):
            pairs = PositionPairs.of_length(n, marks=layout.marks_of(t))
            nothing = ~prior.visible(pairs).expand(n, n).any(-1)
            assert (output[rows, h][nothing] == 0).all()
            if t != bad:
                assert (got[1][rows, h][nothing] == 0).all()
                if nothing.all():
                    assert all((gradient[rows, h] == 0).all() for gradient in got[2:])


@every_implementation
def test_value_may_have_a_size_of_its_own(impl, inputs):
    lengths, priors = (4, 0, 1, 9), [Window(width=3), Forward()]
    for value_size in (1, 5, 16):
        tensors = inputs(lengths, 2, 8, value_size=value_size)
        if not refused(impl, tensors, priors, layout_of(lengths)):
            got = attention(*tensors, priors, layout_of(lengths), impl)
            torch.testing.assert_close(got, reference.attention(*tensors, priors, layout_of(lengths)))


@every_implementation
def test_inputs_need_not_be_contiguous(impl, inputs):
    lengths, priors = (4, 0, 1, 9), [Window(width=3), Forward()]
    wide = inputs(lengths, 2, 24)[0]
    tensors = wide.chunk(3, dim=-1)
    if not refused(impl, tensors, priors, layout_of(lengths)):
        got = attention(*tensors, priors, layout_of(lengths), impl)
        expected = reference.attention(*(x.contiguous() for x in tensors), priors, layout_of(lengths))
        torch.testing.assert_close(got, expected)


@every_implementation
def test_inference_first_and_training_later_on_one_layout(impl, inputs):
    lengths, priors = (4, 0, 1, 9), [Window(width=3), WordDistance()]
    tensors, layout = inputs(lengths, 2, 8), layout_of(lengths)
    if refused(impl, tensors, priors, layout):
        return
    with torch.inference_mode():
        before = attention(*tensors, priors, layout, impl)
    after = with_gradients(functools.partial(attention, priors=priors, layout=layout, impl=impl), tensors)
    assert torch.equal(before, after[0])


@every_implementation
def test_one_layout_serves_many_priors_and_dtypes(impl, inputs):
    """What is remembered from one call must not be taken for another."""
    lengths = (4, 0, 1, 9)
    layout = layout_of(lengths)
    for _ in range(2):
        for dtype in (torch.float64, torch.float32):
            for prior in (
                Window(width=3),
                Everything(),
                Window(width=5),
                WordDistance(0.5),
                WordDistance(1.0),
            ):
                tensors = inputs(lengths, 1, 4, dtype)
                if not refused(impl, tensors, [prior], layout):
                    got = attention(*tensors, [prior], layout, impl)
                    expected = reference.attention(*tensors, [prior], layout_of(lengths))
                    torch.testing.assert_close(got, expected)


simple = st.one_of(
    st.sampled_from([Everything(), Forward(), Backward(), Earlier(), Later(), Rotary()]),
    st.sampled_from(["Nothing", "SecondKey", "LongTexts", GlobalTokens(Dilated(2, 7) + Gaussian(2.0))]),
    st.builds(RandomBlocks, st.integers(1, 4), st.integers(0, 2), st.integers(0, 1)),
    st.integers(0, 6).map(lambda k: Window(width=2 * k + 1)),
    st.sampled_from([1 / 16, 1 / 5, 1 / 2, 1.0]).map(lambda f: Window(fraction=f)),
    st.floats(-0.5, 3, allow_nan=False).map(WordDistance),
    st.floats(-0.5, 3, allow_nan=False).map(TreeDistance),
)


@every_implementation
@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_fuzz(impl, inputs, odd, data):
    def build(parts):
        return Sum(tuple(getattr(odd, part)() if isinstance(part, str) else part for part in parts))

    heads = data.draw(st.lists(st.lists(simple, min_size=1, max_size=3).map(tuple), min_size=1, max_size=4))
    lengths = data.draw(st.lists(st.integers(0, 30), max_size=6))
    size = data.draw(st.integers(1, 20))
    priors, layout = [build(parts) for parts in heads], layout_of(lengths)
    tensors = inputs(lengths, len(priors), size, seed=data.draw(st.integers(0, 999)))
    if refused(impl, tensors, priors, layout):
        return
    weights = inputs(lengths, len(priors), size, seed=1)[0]
    got = with_gradients(
        functools.partial(attention, priors=priors, layout=layout, impl=impl), tensors, weights
    )
    for ours, theirs in zip(got, exact(tensors, priors, layout_of(lengths), weights), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
