"""Banded attention in Triton against the reference: on the GPU where there is one, else in Triton's
interpreter, which is slow, so that cases are few and tiny."""

import functools
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention, attention, choose, reference
from headwise.nn.attention.gpu import triton_band
from headwise.nn.layout import Layout
from headwise.nn.priors import (
    Backward,
    Earlier,
    Everything,
    Forward,
    Gaussian,
    Later,
    Sum,
    Window,
    WordDistance,
    alibi,
)
from headwise.nn.ragged import Ragged

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HALF = torch.bfloat16 if DEVICE.type == "cuda" else torch.float16  # the interpreter has no bfloat16
TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 5e-2}
CASES = {
    "everything": [Everything()],
    "windows": [Window(width=3), Window(width=9)],
    "window of a fraction": [Window(fraction=1 / 3)],
    "directions": [Forward(), Backward()],
    "one-sided windows": [Forward() + Window(width=5), Backward() + Window(width=3)],
    "slopes": [WordDistance(0.5), Window(width=5) + WordDistance(0.3)],
    "attracted by what is far": [WordDistance(-0.2)],
    "rows that see nothing": [Earlier(), Later() + Window(width=3) + WordDistance(0.1)],
    "heads that see nothing": [Earlier() + Later()],
    "alibi": [*alibi(2)],
    "only itself": [Window(width=1), Forward() + Backward()],
}
LENGTHS = {"none": (), "empty": (0, 0), "ragged": (5, 1, 0, 2)}


def switched_on() -> str | None:
    """Import Triton with its interpreter, before anything else imports it without; or why not."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            if DEVICE.type == "cpu":
                patch.setenv("TRITON_INTERPRET", "1")
            kernels = importlib.import_module("headwise.nn.attention.gpu.triton_kernels")
    except ImportError as error:
        return f"Triton is missing: {error}"
    if kernels.INTERPRETED and tuple(map(int, kernels.triton.__version__.split(".")[:2])) < (3, 4):
        return "the interpreter of Triton before 3.4 uses what NumPy no longer takes"
    if kernels.INTERPRETED is not (DEVICE.type == "cpu"):
        return "Triton was imported before its interpreter could be switched on (or off)"
    return None


MISSING = switched_on()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.fixture(autouse=True)
def interpreter(monkeypatch):
    if DEVICE.type == "cpu":
        monkeypatch.setenv("TRITON_INTERPRET", "1")


@pytest.fixture
def drawn(inputs):
    """As `inputs`, with float32, on the device."""

    def draw(lengths, heads, size, dtype=torch.float32, **more):
        return [x.to(DEVICE) for x in inputs(lengths, heads, size, dtype, **more)]

    return draw


def with_gradients(function, tensors, weights):
    """`[output, d query, d key, d value]` for the loss `sum(output * weights)`."""
    tensors = [x.detach().requires_grad_() for x in tensors]
    output = function(*tensors)
    return [output.detach(), *torch.autograd.grad((output * weights).sum(), tensors, allow_unused=True)]


def check(tensors, priors, lengths, weights=None, tolerance=None):
    """Compare with the reference in float64, on the CPU; returns output and gradients."""
    weights = torch.ones_like(tensors[2]) if weights is None else weights
    layout = Layout(lengths, DEVICE)
    run = functools.partial(attention, priors=priors, layout=layout, impl="triton")
    got = with_gradients(run, tensors, weights)
    exact = functools.partial(reference.attention, priors=priors, layout=Layout(lengths))
    expected = with_gradients(exact, [x.cpu().double() for x in tensors], weights.cpu().double())
    tolerance = tolerance or TOLERANCE[tensors[0].dtype]
    for name, ours, theirs in zip(("output", "query", "key", "value"), got, expected, strict=True):
        assert ours.dtype == tensors[0].dtype, name
        theirs = torch.zeros_like(ours, dtype=torch.float64, device="cpu") if theirs is None else theirs
        torch.testing.assert_close(
            ours.cpu().double(), theirs, rtol=tolerance, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}"
        )
    return got


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=list(LENGTHS))
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_equal_the_reference(case, lengths, drawn):
    priors = CASES[case]
    weights = drawn(lengths, len(priors), 30, seed=1)[0]
    check(drawn(lengths, len(priors), 30), priors, lengths, weights)


@pytest.mark.parametrize(
    ("lengths", "dtype"), [((70, 1, 32), torch.float32), ((200, 64), HALF)], ids=["float32", "half"]
)
def test_texts_of_many_blocks(lengths, dtype, drawn):
    # With 189, whole blocks end right where some row sees no further.
    priors = [Everything(), Window(width=189), Forward() + WordDistance(0.02)]
    weights = drawn(lengths, 3, 8, dtype, seed=1)[0]
    check(drawn(lengths, 3, 8, dtype), priors, lengths, weights)


@pytest.mark.parametrize("dtype", [torch.float32, HALF])
@pytest.mark.parametrize(
    ("size", "value_size"), [(1, 1), (50, 50), (64, 30), (16, 100), (130, 128), (256, 256), (8, 300)]
)
def test_head_sizes(size, value_size, dtype, drawn):
    lengths, priors = (3, 0, 1), [Window(width=3)]
    weights = drawn(lengths, 1, value_size, dtype, seed=1)[0]
    check(drawn(lengths, 1, size, dtype, value_size=value_size), priors, lengths, weights)


@pytest.mark.parametrize("alone", [(0, 2), (1,), (1, 2, 3)])
def test_heads_that_see_only_themselves_need_no_query(alone, drawn):
    lengths, heads = (4, 0, 1, 6), 4
    priors = [Window(width=1) if h in alone else Window(width=3) for h in range(heads)]
    attending = [h for h in range(heads) if h not in alone]
    query, key, value = drawn(lengths, heads, 6)
    weights = drawn(lengths, heads, 6, seed=1)[0]
    layout = Layout(lengths, DEVICE)

    def ours(q, k, v):
        return attention(q[:, attending], k[:, attending], v, priors, layout, "triton", attending=attending)

    def theirs(q, k, v):
        return reference.attention(q, k, v, priors, layout)

    got, expected = (with_gradients(run, (query, key, value), weights) for run in (ours, theirs))
    for mine, second in zip(got, expected, strict=True):
        torch.testing.assert_close(mine, second, rtol=1e-5, atol=1e-5)
    assert torch.equal(got[0][:, list(alone)], value[:, list(alone)])
    in_full = attention(query, key, value, priors, layout, "triton")  # on a layout that was used without
    torch.testing.assert_close(in_full, expected[0], rtol=1e-5, atol=1e-5)


def test_inputs_need_not_be_contiguous(drawn):
    lengths, priors = (4, 0, 1, 9), [Window(width=3), Forward()]
    wide, transposed = drawn(lengths, 2, 21)[0], drawn((7,), 2, sum(lengths))[0].permute(2, 1, 0)
    q, k, v = wide.chunk(3, dim=-1)
    expanded = torch.ones(1, 1, 1, device=DEVICE).expand_as(v)
    check([q, k, v], priors, lengths, expanded)
    check([q, transposed, v], priors, lengths, transposed)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, in the interpreter
@pytest.mark.parametrize("poison", [float("nan"), 1e30])
def test_other_texts_do_not_leak(poison, drawn):
    lengths, priors = (4, 5, 7), [Window(width=3), Everything()]
    tensors = drawn(lengths, 2, 8)
    layout = Layout(lengths, DEVICE)
    clean = layout.text_of != 1
    alone = [x[clean] for x in tensors]
    expected = with_gradients(
        functools.partial(reference.attention, priors=priors, layout=Layout((4, 7), DEVICE)), alone, 1.0
    )
    for x in tensors:
        x[~clean] = poison
    run = functools.partial(attention, priors=priors, layout=layout, impl="triton")
    got = with_gradients(run, tensors, torch.where(clean, 1.0, poison)[:, None, None])
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours[clean], theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("poisoned", "clean"), [(slice(160, 200), slice(0, 64)), (slice(0, 56), slice(100, 200))]
)
def test_only_blocks_inside_the_band_are_visited(poisoned, clean, drawn):
    """What is far from a row would make it NaN if it were only looked at: 0 times NaN is NaN."""
    query, key, value = drawn((200,), 1, 8)
    for x in (query, key, value):
        x[poisoned] = float("nan")
    weights = torch.ones_like(value)
    weights[poisoned] = float("nan")
    run = functools.partial(
        attention, priors=[Window(width=5)], layout=Layout((200,), DEVICE), impl="triton"
    )
    for result in with_gradients(run, (query, key, value), weights):
        assert result[clean].isfinite().all()
        assert result[poisoned].isnan().all()


def test_results_depend_neither_on_the_batch_nor_on_chance(drawn):
    lengths, priors = (70, 3, 9), [Window(width=5), Everything()]
    tensors = drawn(lengths, 2, 8)
    cut = [x.split(lengths) for x in tensors]

    def run(texts):
        tensors = [torch.cat([pieces[t] for t in texts]) for pieces in cut]
        sizes = [lengths[t] for t in texts]
        function = functools.partial(attention, priors=priors, layout=Layout(sizes, DEVICE), impl="triton")
        results = [x.split(sizes) for x in with_gradients(function, tensors, 1.0)]
        return {t: [pieces[place] for pieces in results] for place, t in enumerate(texts)}

    together = run([0, 1, 2])
    for second in (run([2, 1]), run([2, 0, 1])):
        for t, results in second.items():
            assert all(torch.equal(a, b) for a, b in zip(results, together[t], strict=True))


def test_gradients_agree_with_differences(drawn):
    lengths, priors = (6, 1), [Window(width=3), WordDistance(0.3)]
    tensors, directions = drawn(lengths, 2, 4), drawn(lengths, 2, 4, seed=1)
    layout, step = Layout(lengths, DEVICE), 1e-2

    def loss(*inputs):
        return attention(*inputs, priors, layout, "triton").sin().sum()

    tensors = [x.requires_grad_() for x in tensors]
    gradients = torch.autograd.grad(loss(*tensors), tensors)
    for place, direction in enumerate(directions):
        ahead, back = (
            [x + sign * step * direction if n == place else x for n, x in enumerate(tensors)]
            for sign in (1, -1)
        )
        difference = (loss(*ahead) - loss(*back)) / (2 * step)
        torch.testing.assert_close((gradients[place] * direction).sum(), difference, rtol=2e-2, atol=2e-3)


bands = st.one_of(
    st.sampled_from([Everything(), Forward(), Backward(), Earlier(), Later()]),
    st.integers(0, 20).map(lambda k: Window(width=2 * k + 1)),
    st.sampled_from([1 / 16, 1 / 2]).map(lambda f: Window(fraction=f)),
    st.floats(-0.3, 2, allow_nan=False).map(WordDistance),
)


@settings(
    deadline=None,
    max_examples=8 if DEVICE.type == "cpu" else 60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    heads=st.lists(st.lists(bands, min_size=1, max_size=3), min_size=1, max_size=2),
    lengths=st.lists(st.integers(0, 70), max_size=2),
    size=st.integers(1, 40),
    seed=st.integers(0, 999),
)
def test_fuzz(heads, lengths, size, seed, drawn):
    priors = [Sum(tuple(parts)) for parts in heads]
    weights = drawn(lengths, len(priors), size, seed=seed + 1)[0]
    check(drawn(lengths, len(priors), size, seed=seed), priors, lengths, weights, tolerance=5e-5)


def test_a_layer_trains_with_it():
    torch.manual_seed(0)
    layers = [
        SelfAttention(6, [Window(width=1), Window(width=3)], 5, impl=i) for i in ("triton", "reference")
    ]
    layers[1].load_state_dict(layers[0].state_dict())
    rows = torch.randn(7, 6, device=DEVICE)
    results = []
    for layer in layers:
        x = rows.clone().requires_grad_()
        output = layer.to(DEVICE)(Ragged.from_lengths(x, (4, 0, 3))).values
        results.append([output, *torch.autograd.grad(output.sin().sum(), [x, *layer.parameters()])])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_what_a_layout_needs_is_made_once(drawn, monkeypatch):
    made = []
    make = triton_band._items
    monkeypatch.setattr(triton_band, "_items", lambda *args: made.append(1) or make(*args))
    tensors, layout = drawn((3, 1), 1, 4), Layout((3, 1), DEVICE)
    with torch.inference_mode():
        before = attention(*tensors, [Window(width=3)], layout, "triton")
    for _ in range(2):  # what was made for prediction also serves training
        run = functools.partial(attention, priors=[Window(width=3)], layout=layout, impl="triton")
        assert torch.equal(with_gradients(run, tensors, 1.0)[0], before)
    assert len(made) == 1
    attention(*tensors, [Window(width=5)], layout, "triton")
    assert len(made) == 2


@pytest.mark.parametrize(
    ("dtype", "size", "prior", "reason"),
    [
        (torch.float64, 4, Window(width=3), "does not compute in torch.float64"),
        (torch.float32, 257, Window(width=3), "at most 256 features, these have 257"),
        (torch.float32, 4, Gaussian(1.0), "is not a band"),
    ],
)
def test_refusals(dtype, size, prior, reason, drawn):
    tensors = drawn((2, 1), 1, size, dtype)
    with pytest.raises(ConfigError, match=reason):
        attention(*tensors, [prior], Layout((2, 1), DEVICE), "triton")


def test_it_says_what_is_missing(drawn, monkeypatch):
    query, layout = drawn((2,), 1, 4)[0], Layout((2,), DEVICE)
    outputs = []
    kernels = triton_band._kernels()
    monkeypatch.setattr(kernels, "INTERPRETED", None)
    outputs.append(triton_band.unsupported_reason(query, [Everything()], layout))
    monkeypatch.setattr(triton_band, "_kernels", lambda: "Triton cannot be imported (no module)")
    outputs.append(triton_band.unsupported_reason(query, [Everything()], layout))
    monkeypatch.setattr("torch.compiler.is_compiling", lambda: True)
    outputs.append(triton_band.unsupported_reason(query, [Everything()], layout))
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    outputs.append(triton_band.unsupported_reason(query.cpu(), [Everything()], layout))
    assert outputs == [
        "TRITON_INTERPRET was changed after Triton had been imported",
        "Triton cannot be imported (no module)",
        "it cannot be traced",
        "it runs on CUDA GPUs, the rows are on cpu",
    ]


@pytest.mark.skipif(DEVICE.type == "cuda", reason="of the interpreter")
def test_the_interpreter_is_only_taken_by_name(drawn):
    query, layout = drawn((2,), 1, 4)[0], Layout((2,))
    assert "triton" not in choose(query, [Everything()], layout).name
    assert triton_band.slower_reason(query, [Everything()], layout)
    assert choose(query, [Everything()], layout, "triton").name == "triton"
    with pytest.raises(ConfigError, match="does not multiply bfloat16"):
        choose(query.bfloat16(), [Everything()], layout, "triton")


@pytest.mark.skipif(DEVICE.type == "cpu", reason="needs a CUDA device")
def test_on_a_gpu_it_is_taken_for_bands(drawn):
    query, layout = drawn((2,), 2, 4)[0], Layout((2,), DEVICE)
    assert choose(query, [Everything(), Gaussian(1.0)], layout).name == "triton+sdpa"


def test_float32_is_exact_unless_pytorch_may_use_tf32(drawn):
    query, _, value = drawn((2,), 1, 4)
    before = torch.get_float32_matmul_precision()
    try:
        actual = []
        for setting in ("highest", "high"):
            torch.set_float32_matmul_precision(setting)
            shapes = (triton_band._Shape.of(x, x) for x in (query, value.half()))
            actual.append([shape.precision for shape in shapes])
    finally:
        torch.set_float32_matmul_precision(before)
    assert actual == [["ieee", "ieee"], ["tf32", "ieee"]]


COMPILE = """
import os, sys
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
import torch
from headwise.nn.attention.gpu import triton_kernels
from headwise.nn.attention.gpu.triton_band import _Shape

query = torch.empty(0, 1, 30, dtype=torch.bfloat16)
shape = _Shape.of(query, query)
fixed = {"SIZE": 30, "VALUE_SIZE": 30, "WIDTH": 32, "VALUE_WIDTH": 32, "ALIGN": 2, "ROWS": shape.rows,
         "KEYS": shape.keys, "WHOLE": shape.full_blocks, "SLOPED": True, "PRECISION": shape.precision}
types = {"items": "*i32", "slopes": "*fp32", "logs": "*fp32", "deltas": "*fp32", "count": "i32",
         "scale": "fp32", "factor": "fp32"}
for name in ("forward", "backward_queries", "backward_keys"):
    kernel = getattr(triton_kernels, name)
    names = [parameter.name for parameter in kernel.params]
    types |= {n: "i32" for n in names if n.endswith(("_row", "_head"))} | dict.fromkeys(fixed, "constexpr")
    signature = {n: types.get(n, "*bf16") for n in names}
    source = ASTSource(kernel, signature, {(names.index(n),): value for n, value in fixed.items()})
    options = {"num_warps": shape.warps, "num_stages": shape.stages}
    made = compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert made.metadata.shared <= 99 * 1024, made.metadata.shared
    assert "wgmma" in made.asm["ptx"]  # products of bfloat16 by tensor cores
"""


def test_the_kernels_compile_for_a_gpu(tmp_path, request):
    """Triton compiles for a GPU that is not there, and finds what the interpreter does not mind. (What it
    has compiled it knows again by the sources, so that it takes twenty seconds only when these change.)"""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    source = str(Path(triton_band.__file__).parents[4])
    cache = getattr(request.config, "cache", None)
    cache = tmp_path if cache is None else cache.mkdir("triton")
    environment |= {"PYTHONPATH": source, "TRITON_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
