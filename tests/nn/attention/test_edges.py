"""Compiled attention along edges against graph attention and loops, and what is dropped at random."""

import numpy as np
import pytest
import torch

from headwise.nn.attention.cpu import edges
from headwise.nn.attention.cpu.edges import Tiles, Trees, tile_attention, tree_attention
from headwise.nn.layout import Layout

LENGTHS = (5, 0, 1, 37, 2, 18)
HEADS = 2
EXTRA = 7  # rows of keys beyond the queries, seen by the texts in turn


def random_edges(seed=0, labels=4):
    """Every row sees itself, some rows of its text, and some of its text's extra keys."""
    random, layout = np.random.default_rng(seed), Layout(LENGTHS)
    edges = []
    for row, text in enumerate(layout.text_of.tolist()):
        start, end = layout.offsets[text : text + 2].tolist()
        nearby = random.choice(np.arange(start, end), min(end - start, 9), replace=False).tolist()
        extra = [layout.total + n for n in range(EXTRA) if n % len(LENGTHS) == text]
        edges += [(row, key, int(random.integers(labels))) for key in {row, *nearby, *extra}]
    return layout, *np.array(edges).T


def tensors(layout, size, dtype=torch.float64, seed=0):
    random = torch.Generator().manual_seed(seed)
    shapes = [(rows, HEADS, size) for rows in (layout.total, *[layout.total + EXTRA] * 2)]
    shapes.append((4, size))
    made = [torch.randn(*shape, generator=random, dtype=torch.float64).to(dtype) for shape in shapes]
    return [x.requires_grad_() for x in made]


def dense(query, key, value, table, edges):
    """The same with a matrix of all pairs."""
    rows, keys, labels = (torch.from_numpy(x) for x in edges)
    bias = query.new_full((HEADS, len(query), len(key)), float("-inf"))
    of_label = torch.einsum("nhc,lc->hnl", query, table)[:, rows, labels] / query.shape[-1] ** 0.5
    bias = bias.index_put((torch.arange(HEADS)[:, None], rows, keys), of_label)
    scores = torch.einsum("nhc,mhc->hnm", query, key) / query.shape[-1] ** 0.5
    return torch.einsum("hnm,mhc->nhc", (scores + bias).softmax(-1), value)


def width_of(dtype, columns=1):
    return columns * edges.lanes(dtype)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("size", [1, 3, 8, 16, 20, 32, 50, 64])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_tiles_equal_all_pairs(dtype, size, columns):
    layout, *edges = random_edges()
    tiles = Tiles.of(layout, *edges, width_of(dtype, columns))
    inputs, exact = tensors(layout, size, dtype), tensors(layout, size)
    got, expected = tile_attention(*inputs[:3], tiles, inputs[3]), dense(*exact, edges)
    loose = {"rtol": 1e-4, "atol": 2e-5} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(got.double(), expected, **loose)
    grads = [torch.autograd.grad(x.sin().sum(), y) for x, y in ((got, inputs), (expected, exact))]
    for ours, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(ours.double(), theirs, **loose)


def test_without_labels():
    layout, *edges = random_edges(labels=1)
    tiles = Tiles.of(layout, *edges, width_of(torch.float64))
    query, key, value, table = tensors(layout, 6)
    got = tile_attention(query, key, value, tiles)
    torch.testing.assert_close(got, dense(query, key, value, 0 * table, edges))
    assert [x is not None for x in torch.autograd.grad(got.sum(), [query, key, value])] == [True] * 3


@pytest.mark.parametrize("size", [4, 40])
def test_more_keys_than_are_taken_at_once(size):
    layout = Layout([150])
    rows, keys = np.tril_indices(150)
    labels = np.minimum(rows - keys, 3)
    tiles = Tiles.of(layout, rows, keys, labels, width_of(torch.float64))
    inputs = tensors(layout, size)
    torch.testing.assert_close(
        tile_attention(*inputs[:3], tiles, inputs[3]), dense(*inputs, (rows, keys, labels))
    )


def test_16_bits_are_computed_in_32():
    layout, *edges = random_edges()
    tiles = Tiles.of(layout, *edges, width_of(torch.bfloat16))
    inputs = tensors(layout, 16, torch.bfloat16)
    got = tile_attention(*inputs[:3], tiles, inputs[3])
    assert got.dtype == torch.bfloat16
    expected = tile_attention(*(x.float() for x in inputs[:3]), tiles, inputs[3].float())
    torch.testing.assert_close(got, expected.bfloat16())


def spoil(inputs, row):
    changed = [x.detach().clone() for x in inputs]
    for x in changed[:3]:
        x[row] = float("nan")
    return [x.requires_grad_() for x in changed]


def test_a_spoilt_text_spoils_no_other():
    layout, *edges = random_edges()
    tiles = Tiles.of(layout, *edges, width_of(torch.float32))
    inputs = tensors(layout, 20, torch.float32)
    spoilt = spoil(inputs, 9)  # of the text of 37
    unaffected = layout.text_of != 3
    want = tile_attention(*inputs[:3], tiles, inputs[3])
    got = tile_attention(*spoilt[:3], tiles, spoilt[3])
    assert torch.equal(got[unaffected], want[unaffected])
    gradients = [
        torch.autograd.grad(out[unaffected].sin().sum(), inputs_of[:3])
        for out, inputs_of in ((got, spoilt), (want, inputs))
    ]
    for ours, theirs in zip(*gradients, strict=True):
        assert torch.equal(ours[: layout.total][unaffected], theirs[: layout.total][unaffected])


def test_threads_and_neighbours_change_nothing(monkeypatch):
    monkeypatch.setattr(edges, "_ALONE", 0)
    layout, *listed = random_edges()
    inputs = tensors(layout, 12, torch.float32)
    tiles = Tiles.of(layout, *listed, width_of(torch.float32))
    results, before = [], torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            got = tile_attention(*inputs[:3], tiles, inputs[3])
            results.append([got, *torch.autograd.grad(got.sin().sum(), inputs)])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def trees_of(layout, dtype):
    """A tree over each text, and the tokens of each span, spans level by level and text by text."""
    heights = [max(0, n - 1).bit_length() for n in layout.sizes]
    firsts = np.zeros((max(heights) + 1, layout.texts), np.int64)
    spans = []
    for level in range(1, max(heights) + 1):
        for text, n in enumerate(layout.sizes):
            firsts[level, text] = len(spans)
            start = int(layout.offsets[text])
            if level <= heights[text]:
                spans += [range(start + at, start + min(n, at + 2**level)) for at in range(0, n, 2**level)]
    return Trees.of(layout, firsts, edges.lanes(dtype)), spans


def by_a_loop(query, key, value, spans):
    rows = []
    for q, span in zip(query, spans, strict=True):
        k, v = key[list(span)], value[list(span)]
        weights = (torch.einsum("hc,nhc->nh", q, k) / q.shape[-1] ** 0.5).softmax(0)
        rows.append((weights[..., None] * v).sum(0))
    return torch.stack(rows)


@pytest.mark.parametrize("size", [1, 3, 16, 20, 50])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_trees_equal_a_loop(dtype, size):
    layout = Layout([*LENGTHS, 70, 64])
    trees, spans = trees_of(layout, dtype)
    random = torch.Generator().manual_seed(0)
    shapes = [(rows, HEADS, size) for rows in (len(spans), layout.total, layout.total)]
    exact = [torch.randn(*s, generator=random, dtype=torch.float64, requires_grad=True) for s in shapes]
    inputs = [x.detach().to(dtype).requires_grad_() for x in exact]
    got, expected = tree_attention(*inputs, trees), by_a_loop(*exact, spans)
    loose = {"rtol": 1e-4, "atol": 2e-5} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(got.double(), expected, **loose)
    grads = [torch.autograd.grad(x.sin().sum(), y) for x, y in ((got, inputs), (expected, exact))]
    for ours, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(ours.double(), theirs, **loose)


def test_a_spoilt_text_spoils_no_other_tree():
    layout = Layout([21, 3, 40, 5])
    trees, spans = trees_of(layout, torch.float32)
    inputs = [torch.randn(rows, HEADS, 20) for rows in (len(spans), layout.total, layout.total)]
    spoilt = [x.clone() for x in inputs]
    for x in spoilt[1:]:
        x[2] = float("nan")
    clean = torch.tensor([span[0] >= 21 for span in spans])
    rows, gradients = [], []
    for tensors in (inputs, spoilt):
        tensors = [x.requires_grad_() for x in tensors]
        out = tree_attention(*tensors, trees)
        rows.append(out[clean])
        gradients.append(torch.autograd.grad(out[clean].sin().sum(), tensors[1:]))
    assert torch.equal(*rows)
    for ours, theirs in zip(*gradients, strict=True):
        assert torch.equal(ours[21:], theirs[21:])


def test_dropout_keeps_the_mean_and_the_gradient_fits():
    """Dropped weights are 0 and the others larger; and with one seed it is a smooth function, with the
    gradient that the backward pass gives."""
    layout, *edges = random_edges()
    tiles = Tiles.of(layout, *edges, width_of(torch.float64))
    trees, spans = trees_of(layout, torch.float64)
    query, key, value, table = tensors(layout, 5)
    upper = torch.randn(len(spans), HEADS, 5, dtype=torch.float64, requires_grad=True)
    key, value = (
        key.detach()[: layout.total].requires_grad_(),
        value.detach()[: layout.total].requires_grad_(),
    )
    full = torch.cat([key, key[:EXTRA]]), torch.cat([value, value[:EXTRA]])

    def both(drop, seed):
        torch.manual_seed(seed)
        keys, values = torch.cat([key, key[:EXTRA]]), torch.cat([value, value[:EXTRA]])
        return (
            tile_attention(query, keys, values, tiles, table, drop),
            tree_attention(upper, key, value, trees, drop),
        )

    calm = tile_attention(query, *full, tiles, table), tree_attention(upper, key, value, trees)
    with torch.no_grad():
        runs = [both(0.4, seed) for seed in range(1500)]
        for place, expected_row in enumerate(calm):
            mean = sum(run[place] for run in runs) / len(runs)
            torch.testing.assert_close(mean, expected_row, rtol=0, atol=0.25)
            assert not torch.equal(runs[0][place], runs[1][place])
            assert torch.equal(runs[3][place], both(0.4, 3)[place])

    inputs = [query, key, value, table, upper]
    gradients = torch.autograd.grad(sum(x.sin().sum() for x in both(0.4, 5)), inputs)
    step, directions = 1e-6, [torch.randn_like(x) for x in inputs]
    expected = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))
    values = []
    with torch.no_grad():
        for sign in (1, -2):
            for x, d in zip(inputs, directions, strict=True):
                x += sign * step * d
            values.append(sum(x.sin().sum() for x in both(0.4, 5)))
    torch.testing.assert_close((values[0] - values[1]) / (2 * step), expected, rtol=1e-5, atol=1e-6)


def test_the_share_that_is_dropped():
    layout = Layout([400])
    rows, keys = np.tril_indices(400)
    tiles = Tiles.of(layout, rows, keys, np.zeros_like(rows), width_of(torch.float32))
    query = torch.zeros(400, 1, 4)
    value = torch.eye(400)[:, None].repeat(1, 1, 1)
    torch.manual_seed(0)
    query, key = torch.zeros(400, 1, 400), torch.zeros(400, 1, 400)
    weights = tile_attention(query, key, value, tiles, drop=0.3)[:, 0]
    seen = torch.ones(400, 400).tril() > 0
    assert not weights[~seen].any()
    share = (weights[seen] == 0).float().mean()
    assert float(share) == pytest.approx(0.3, abs=0.01)
    counts = torch.arange(1, 401).float()[:, None].expand(400, 400)[seen]
    left = weights[seen] > 0
    torch.testing.assert_close(weights[seen][left] * counts[left], torch.full((int(left.sum()),), 1 / 0.7))
    # Neighbouring weights are dropped independently of one another.
    zero = (weights == 0).float()
    pairs = (zero[200:, 1:200] * zero[200:, :199]).mean(), (zero[201:, :200] * zero[200:-1, :200]).mean()
    assert all(float(pair) == pytest.approx(0.09, abs=0.01) for pair in pairs)


def test_no_rows():
    layout = Layout([0, 0])
    none = np.zeros(0, np.int64)
    tiles = Tiles.of(layout, none, none, none, 8)
    query = torch.zeros(0, 2, 4, requires_grad=True)
    out = tile_attention(query, query, query, tiles)
    assert out.shape == (0, 2, 4)
    out.sum().backward()


@pytest.mark.parametrize(
    ("rows", "reason"),
    [(torch.zeros(1, dtype=torch.int64), "int64"), (torch.zeros(1, device="meta"), "runs on the CPU")],
)
def test_refusals(rows, reason):
    assert reason in edges.unsupported_reason(rows)
    assert edges.unsupported_reason(torch.zeros(1)) is None
