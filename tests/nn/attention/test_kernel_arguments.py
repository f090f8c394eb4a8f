"""The kernels refuse arguments that lead out of their arrays, and survive whatever they take."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from headwise.core import native
from headwise.nn.attention.cpu import banded, edges
from headwise.nn.attention.cpu.edges import Tiles, Trees, tile_attention, tree_attention
from headwise.nn.layout import Layout
from headwise.nn.priors import Everything, Window

ROUNDS = 300
EXTREMES = (-(2**63), -(2**40), -65, -1, 0, 1, 2, 7, 64, 2**31, 2**40, 2**63 - 1)


@pytest.fixture(params=[64, 32, 16])
def vectors(request):
    """Builds for every width of vectors that this processor has."""
    native.limit_vectors(request.param)
    try:
        if native.vector_bytes() != request.param:
            pytest.skip(f"no vectors of {request.param} bytes here")
        yield request.param
    finally:
        native.limit_vectors(64)


def rows(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def banded_arguments(random: np.random.Generator, *, backward: bool, dtype=np.float32) -> list[np.ndarray]:
    total, heads, size, value_size = (int(random.integers(1, most)) for most in (70, 4, 40, 40))
    text = int(random.integers(1, total + 1))
    begin = int(random.integers(0, text))
    items = np.array([[heads - 1, heads - 1, total - text, text, begin, text, 2, random.integers(0, 60)]])
    queries, values = (total, heads, size), (total, heads, value_size)
    arrays = [rows(*shape, dtype=dtype) for shape in (queries, queries, values, values)]
    if backward:
        arrays += [rows(*shape, dtype=dtype) for shape in (values, queries, queries, values)]
    return [*arrays, np.zeros((2, heads, total), dtype), items, np.zeros(heads)]


def tile_arguments(random: np.random.Generator, *, backward: bool, dtype=np.float32) -> list:
    total, heads, size, key_rows = (int(random.integers(1, most)) for most in (30, 4, 40, 50))
    width = edges.lanes(torch.float32 if dtype == np.float32 else torch.float64)
    seen, labels = int(random.integers(1, 90)), int(random.integers(1, 4))
    count = min(width, total)
    tiles = np.array([[total - count, count, 0, seen, labels]])
    keys = random.integers(0, key_rows, seen).astype(np.int32)
    matrix = random.integers(0, labels + 1, (seen, width)).astype(np.int16)
    queries, key_shape = (total, heads, size), (key_rows, heads, size)
    arrays = [
        rows(*shape, dtype=dtype) for shape in (queries, key_shape, key_shape, (labels, size), queries)
    ]
    if backward:
        arrays += [
            rows(*shape, dtype=dtype) for shape in (queries, queries, key_shape, key_shape, (labels, size))
        ]
    return [*arrays, np.zeros((2, heads, total), dtype), tiles, keys, matrix, heads - 1, 0, 1, 5, 2**30]


def tree_arguments(random: np.random.Generator, *, backward: bool, dtype=np.float32) -> list:
    length, heads, size = (int(random.integers(1, most)) for most in (70, 4, 40))
    height = max(0, length - 1).bit_length()
    counts = [0, *(-(-length // 2**level) for level in range(1, height + 1))]
    firsts = np.cumsum([0, *counts[:-1]]).reshape(-1, 1)[: height + 1]
    spans = max(sum(counts), 1)
    trees = Trees.of(
        Layout([length]), firsts, edges.lanes(torch.float32 if dtype == np.float32 else torch.float64)
    )
    tokens, nodes = (length, heads, size), (spans, heads, size)
    arrays = [rows(*shape, dtype=dtype) for shape in (nodes, tokens, tokens, nodes)]
    if backward:
        arrays += [rows(*shape, dtype=dtype) for shape in (nodes, nodes, tokens, tokens)]
    place = heads - 1, 0, len(trees.blocks), 5, 2**30
    return [*arrays, np.zeros((2, heads, spans), dtype), trees.blocks, trees.firsts, *place]


KERNELS: dict[str, tuple[Callable[..., None], Callable[..., list], bool]] = {
    "banded_forward": (native.banded_forward, banded_arguments, False),
    "banded_backward": (native.banded_backward, banded_arguments, True),
    "tile_forward": (native.tile_forward, tile_arguments, False),
    "tile_backward": (native.tile_backward, tile_arguments, True),
    "tree_forward": (native.tree_forward, tree_arguments, False),
    "tree_backward": (native.tree_backward, tree_arguments, True),
}


def spoil(random: np.random.Generator, arguments: list) -> list:
    """The arguments with one or two of their numbers or shapes changed."""
    changed = list(arguments)
    for _ in range(int(random.integers(1, 3))):
        place = int(random.integers(len(changed)))
        argument = changed[place]
        if isinstance(argument, int):
            changed[place] = int(random.choice(EXTREMES))
        elif argument.dtype.kind == "i" and random.random() < 0.8 and argument.size:
            copy = argument.copy()
            limits = np.iinfo(copy.dtype)
            copy.flat[random.integers(copy.size)] = np.clip(random.choice(EXTREMES), limits.min, limits.max)
            changed[place] = copy
        else:  # a row less or more, or no rows
            count = int(random.choice([0, len(argument) - 1, len(argument) + 1]))
            changed[place] = np.ascontiguousarray(np.resize(argument, (count, *argument.shape[1:])))
    return changed


@pytest.mark.parametrize("name", KERNELS)
def test_fuzz(name, vectors):
    kernel, make, backward = KERNELS[name]
    random, refused = np.random.default_rng(3), 0
    for turn in range(ROUNDS):
        arguments = make(random, backward=backward, dtype=(np.float32, np.float64)[turn % 2])
        kernel(*arguments)
        try:
            kernel(*spoil(random, arguments))
        except (ValueError, TypeError):  # TypeError: a number that no integer of 64 bits holds
            refused += 1
    assert refused > ROUNDS / 3


@pytest.mark.parametrize("name", KERNELS)
def test_other_dtypes_and_shapes_are_refused(name):
    kernel, make, backward = KERNELS[name]
    arguments = make(np.random.default_rng(0), backward=backward)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernel(arguments[0].astype(np.float64), *arguments[1:])
    with pytest.raises(ValueError, match=r"key has the shape .*; expected"):
        kernel(arguments[0], arguments[1][:, :, :-1], *arguments[2:])
    with pytest.raises(ValueError, match="one or more features"):
        kernel(*(x[:, :, :0] if isinstance(x, np.ndarray) and x.ndim == 3 else x for x in arguments))


@pytest.mark.parametrize("column", range(8))
@pytest.mark.parametrize("number", [-1, 10**6])
def test_an_item_that_leads_out_is_named(column, number):
    arguments = banded_arguments(np.random.default_rng(1), backward=False)
    arguments[5] = np.repeat(arguments[5], 2, axis=0)
    arguments[5][1, column] = number
    if column >= 6:  # a reach may be negative, or longer than the text
        native.banded_forward(*arguments)
        return
    with pytest.raises(ValueError, match="item 1 leads out"):
        native.banded_forward(*arguments)


def test_all_builds_agree(vectors, inputs):
    """What the widest vectors of this processor give, and narrower ones."""

    def results() -> list[torch.Tensor]:
        layout = Layout([37, 0, 1, 5, 90])
        random = np.random.default_rng(0)
        query, key, value = (x.requires_grad_() for x in inputs(layout.sizes, 3, 20))
        out = banded.attention(query, key, value, [Window(3), Everything(), Window(31)], layout)
        outputs = [out, *torch.autograd.grad(out.sin().sum(), (query, key, value))]
        starts = layout.offsets.numpy()[layout.text_of.numpy()]
        keys = starts + random.integers(0, layout.lengths.numpy()[layout.text_of.numpy()])
        pairs = (
            np.concatenate([np.arange(layout.total)] * 2),
            np.concatenate([np.arange(layout.total), keys]),
        )
        pairs = np.unique(np.stack(pairs), axis=1)
        tiles = Tiles.of(layout, *pairs, np.zeros(pairs.shape[1], np.int64), edges.lanes(torch.float64))
        out = tile_attention(query, key, value, tiles)
        outputs += [out, *torch.autograd.grad(out.sin().sum(), (query, key, value))]
        tree = Layout([90])
        firsts = np.cumsum([0, 0, 45, 23, 12, 6, 3, 2]).reshape(-1, 1)
        trees = Trees.of(tree, firsts, edges.lanes(torch.float64))
        spans = [x.detach()[:count].requires_grad_() for x, count in ((query, 92), (key, 90), (value, 90))]
        out = tree_attention(*spans, trees)
        return [*outputs, out, *torch.autograd.grad(out.sin().sum(), spans)]

    narrow = results()
    native.limit_vectors(64)
    for ours, theirs in zip(narrow, results(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
