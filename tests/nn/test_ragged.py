"""Ragged against plain loops over the texts."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged

LENGTHS = [(), (0,), (1,), (0, 0), (3, 0, 1, 5), (0, 2, 2), (4, 4), (1, 0)]
TAILS = [(), (3,), (2, 3)]
REDUCTIONS = ["sum", "mean", "max", "_scattered_max"]


def ragged_of(lengths, tail=(3,), dtype=torch.float64, seed=0) -> Ragged:
    random = torch.Generator().manual_seed(seed)
    return Ragged.from_lengths(torch.randn(sum(lengths), *tail, generator=random, dtype=dtype), lengths)


def texts_of(batch: Ragged) -> list[Tensor]:
    """Cut by hand, with nothing of the code under test but `values` and `sizes`."""
    texts, start = [], 0
    for n in batch.layout.sizes:
        texts.append(batch.values[start : start + n])
        start += n
    return texts


def loop(batch: Ragged, reduction: str) -> Tensor:
    rows = []
    for text in texts_of(batch):
        if not len(text):
            rows.append(torch.zeros(batch.values.shape[1:], dtype=batch.values.dtype))
        elif "max" in reduction:
            rows.append(text.max(0).values)
        else:
            rows.append(getattr(text, reduction)(0))
    return torch.stack(rows) if rows else torch.zeros(0, *batch.values.shape[1:], dtype=batch.values.dtype)


# Layout


def test_layout_says_where_each_row_belongs():
    layout = Layout([2, 0, 3])
    assert (layout.texts, layout.total, layout.longest) == (3, 5, 3)
    assert layout.lengths.tolist() == [2, 0, 3]
    assert layout.offsets.tolist() == [0, 2, 2, 5]
    assert layout.text_of.tolist() == [0, 0, 2, 2, 2]
    assert layout.positions.tolist() == [0, 1, 0, 1, 2]
    assert layout.prepended.sizes == (3, 1, 4)
    assert layout.prepended is layout.prepended
    for tensor in (layout.lengths, layout.offsets, layout.text_of, layout.positions):
        assert tensor.dtype == torch.int64


def test_layout_of_an_empty_batch():
    layout = Layout([])
    assert (layout.texts, layout.total, layout.longest) == (0, 0, 0)
    assert layout.offsets.tolist() == [0]
    assert layout.text_of.tolist() == layout.positions.tolist() == []


def test_layout_takes_any_whole_numbers():
    assert Layout([np.int64(2), torch.tensor(3)]).sizes == (2, 3)  # type: ignore[list-item]


def test_layout_rejects_impossible_lengths():
    with pytest.raises(ValueError, match="negative, got -2"):
        Layout([1, -2])
    with pytest.raises(TypeError):
        Layout([2.5])  # type: ignore[list-item]  # never cut off silently


def test_heads_stay_with_their_texts():
    layout = Layout([3, 0, 1], heads=[torch.tensor([2, 0, 2]), torch.zeros(0), torch.tensor([0])])
    assert [heads.tolist() for heads in layout.select([2, 0]).heads or ()] == [[0], [2, 0, 2]]
    with pytest.raises(ValueError, match=r"heads of \[1\] words do not fit \[2\]"):
        Layout([2], heads=[torch.tensor([0])])


def test_trees_stay_with_their_texts():
    trees = [torch.arange(9).view(3, 3), torch.zeros(0, 0, dtype=torch.int64), torch.ones(1, 1).long()]
    batch = Ragged(torch.randn(4, 2), Layout([3, 0, 1], trees=trees))
    assert all(torch.equal(a, b) for a, b in zip(batch.layout.trees or (), trees, strict=True))
    selected = batch[[2, 0]].layout.trees
    assert selected is not None
    assert [tree.tolist() for tree in selected] == [[[1]], trees[0].tolist()]
    longer = batch.prepend(torch.zeros(2))
    assert longer.layout.trees is not None
    assert longer.layout.trees[0].tolist() == [[0, 0, 0, 0], [0, 0, 1, 2], [0, 3, 4, 5], [0, 6, 7, 8]]
    assert longer.layout.trees[1].tolist() == [[0]]
    _, rest = longer.split_first()
    assert all(torch.equal(a, b) for a, b in zip(rest.layout.trees or (), trees, strict=True))
    moved = batch.to("meta").layout.trees
    assert moved is not None
    assert {tree.device.type for tree in moved} == {"meta"}
    assert Layout([3]).trees is None


def tree_of(text: int, start: int, stop: int) -> Tensor:
    """Trees that are made when they are asked for, 10 a text apart."""
    return 10 * text + torch.arange(9).view(3, 3)[start:stop, start:stop]


@pytest.mark.parametrize("trees", [tree_of, [tree_of(text, 0, 3) for text in range(3)]])
def test_some_texts_can_be_pickled_with_their_trees(trees):
    selected = Ragged(torch.randn(9, 2), Layout([3, 3, 3], trees=trees))[[2, 0]]
    for batch in (
        selected,
        selected[[1]],
        pickle.loads(pickle.dumps(selected)),
        pickle.loads(pickle.dumps(selected[[1]])),
    ):
        assert batch.layout.trees is not None
        expected = [20, 0] if len(batch) == 2 else [0]
        assert [int(tree[0, 0]) for tree in batch.layout.trees] == expected
        assert batch.layout.tree(0, 1, 3).tolist() == tree_of(expected[0] // 10, 1, 3).tolist()


@pytest.mark.parametrize("shapes", [[(3, 3)], [(3, 3), (0, 0), (1, 1)], [(3, 3), (1, 2)], [(3,), (1, 1)]])
def test_trees_must_fit(shapes):
    with pytest.raises(ValueError, match="do not fit"):
        Layout([3, 1], trees=[torch.zeros(shape) for shape in shapes])


def test_layouts_of_equal_lengths_are_different_objects():
    """They may have other trees, marks, matrices or devices, which `sizes` does not tell."""
    layout = Layout([1, 2])
    assert layout == layout
    assert layout != Layout([1, 2])
    assert len({layout, Layout([1, 2])}) == 2
    assert layout.sizes == Layout((1, 2)).sizes
    assert repr(Layout([1, 2])) == "Layout(texts=2, total=3, longest=2)"


def test_a_layout_first_used_in_inference_mode_can_be_trained_on():
    layout = Layout([2, 0, 1])
    with torch.inference_mode():
        Ragged(torch.ones(3, 2), layout).softmax().prepend(torch.ones(2))
    values = torch.ones(3, 2, requires_grad=True)
    Ragged(values, layout).softmax().prepend(torch.ones(2)).sum().sum().backward()
    assert values.grad is not None


# construction and conversion


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("tail", TAILS)
def test_constructors_agree(lengths, tail):
    batch = ragged_of(lengths, tail)
    texts = texts_of(batch)
    offsets = torch.tensor([0, *np.cumsum(lengths, dtype=int)])
    rebuilt = [Ragged.from_padded(*batch.to_padded())]
    if texts:
        rebuilt.append(Ragged.from_list(texts))
    for copy in rebuilt:
        assert copy.layout.sizes == batch.layout.sizes
        assert torch.equal(copy.values, batch.values)
    assert len(batch) == len(lengths)
    assert all(torch.equal(a, b) for a, b in zip(batch, texts, strict=True))
    assert torch.equal(batch.offsets, offsets)
    assert batch.lengths.tolist() == list(lengths)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("tail", TAILS)
def test_to_padded_puts_each_text_left_and_the_fill_right(lengths, tail):
    batch = ragged_of(lengths, tail)
    padded, mask = batch.to_padded(fill=7.0)
    longest = max(lengths, default=0)
    assert padded.shape == (len(lengths), longest, *tail)
    assert mask.shape == (len(lengths), longest)
    assert mask.dtype == torch.bool
    for row, keep, text in zip(padded, mask, texts_of(batch), strict=True):
        assert keep.tolist() == [k < len(text) for k in range(longest)]
        assert torch.equal(row[: len(text)], text)
        assert (row[len(text) :] == 7.0).all()


def test_from_padded_takes_padding_anywhere():
    padded = torch.arange(12).view(3, 4)
    mask = torch.tensor([[False, True, True, False], [True, False, False, True], [False] * 4])
    batch = Ragged.from_padded(padded, mask)
    assert [text.tolist() for text in batch] == [[1, 2], [4, 7], []]


def test_from_padded_and_to_padded_carry_gradients_and_nothing_from_the_padding():
    padded = torch.tensor([[1.0, float("nan")], [3.0, 4.0]], requires_grad=True)
    mask = torch.tensor([[True, False], [True, True]])
    back, _ = Ragged.from_padded(padded, mask).to_padded()
    back.sum().backward()
    assert back.tolist() == [[1.0, 0.0], [3.0, 4.0]]
    assert padded.grad is not None
    assert padded.grad.tolist() == [[1.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.uint8])
def test_from_padded_demands_a_boolean_mask(dtype):
    with pytest.raises(ValueError, match="boolean with True = keep"):
        Ragged.from_padded(torch.zeros(1, 2), torch.ones(1, 2, dtype=dtype))


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 2), (2, 3, 1)])
def test_from_padded_demands_matching_shapes(shape):
    with pytest.raises(ValueError, match="must agree"):
        Ragged.from_padded(torch.zeros(2, 3, 4), torch.ones(shape, dtype=torch.bool))


def test_constructor_errors():
    with pytest.raises(ValueError, match="add up to 3 rows"):
        Ragged(torch.zeros(4, 2), Layout([1, 2]))
    with pytest.raises(ValueError, match="add up to 1 rows"):
        Ragged(torch.tensor(1.0), Layout([1]))
    with pytest.raises(ValueError, match="values are on meta, but the layout is on cpu; Layout"):
        Ragged(torch.zeros(3, 2, device="meta"), Layout([1, 2]))
    with pytest.raises(ValueError, match="negative"):
        Ragged.from_lengths(torch.zeros(1), [2, -1])
    with pytest.raises(ValueError, match="at least one text"):
        Ragged.from_list([])
    with pytest.raises(ValueError, match="add up to 3 rows"):
        ragged_of([1, 2]).with_values(torch.zeros(2, 2))


# picking texts


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (slice(None), [0, 1, 2, 3]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -2), [3, 1]),
        (slice(5, 9), []),
        ([2, 0, 2], [2, 0, 2]),
        ([-1, 0], [3, 0]),
        ([], []),
        ((1,), [1]),
        (range(2), [0, 1]),
        ([True, False, False, True], [0, 3]),
        (torch.tensor([3, -4]), [3, 0]),
        (torch.tensor([False, True, True, False]), [1, 2]),
        (torch.tensor([False] * 4), []),
        (np.array([3, -4]), [3, 0]),
        (np.array([False, True, True, False]), [1, 2]),
        (np.array([], dtype=int), []),
        ([np.int64(3), torch.tensor(-4)], [3, 0]),
        (list(np.array([True, False, False, True])), [0, 3]),
        ([torch.tensor(True), torch.tensor(False), torch.tensor(False), torch.tensor(True)], [0, 3]),
    ],
)
def test_some_texts(selection, expected):
    batch = ragged_of([3, 0, 1, 5])
    texts = texts_of(batch)
    picked = batch[selection]
    assert picked.layout.sizes == tuple(len(texts[t]) for t in expected)
    assert picked.values.shape[1:] == batch.values.shape[1:]
    assert all(torch.equal(a, texts[t]) for a, t in zip(picked, expected, strict=True))


@pytest.mark.parametrize("kind", [int, np.int64, torch.tensor])
def test_one_text(kind):
    batch = ragged_of([3, 0, 1, 5])
    for t, text in enumerate(texts_of(batch)):
        assert torch.equal(batch[kind(t)], text)
        assert torch.equal(batch[kind(t - 4)], text)


@pytest.mark.parametrize("selection", [4, -5, [0, 4], torch.tensor([-5]), [True], torch.tensor([True] * 5)])
def test_no_such_text(selection):
    with pytest.raises(IndexError):
        ragged_of([3, 0, 1, 5])[selection]


# prepend and split


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("tail", TAILS)
def test_prepend_and_split_first(lengths, tail):
    batch, row = ragged_of(lengths, tail), torch.randn(tail, dtype=torch.float64)
    longer = batch.prepend(row)
    assert longer.layout.sizes == tuple(n + 1 for n in lengths)
    for new, old in zip(longer, texts_of(batch), strict=True):
        assert torch.equal(new, torch.cat([row[None], old]))
    first, rest = longer.split_first()
    assert torch.equal(first, row.expand(len(lengths), *tail))
    assert torch.equal(rest.values, batch.values)
    assert rest.layout.sizes == batch.layout.sizes


def test_prepend_gradients():
    values = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    row = torch.randn(2, dtype=torch.float64, requires_grad=True)

    def function(values, row):
        longer = Ragged.from_lengths(values, [3, 0, 1]).prepend(row)
        first, rest = longer.split_first()
        return longer.values.sin(), first.cos(), rest.values.exp()

    assert torch.autograd.gradcheck(function, (values, row))


def test_split_first_needs_a_row_in_every_text():
    with pytest.raises(ValueError, match="no first row"):
        ragged_of([2, 0]).split_first()


# reductions


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reductions_equal_a_loop(lengths, tail, reduction):
    batch = ragged_of(lengths, tail)
    batch.values.requires_grad_()
    got, expected = getattr(batch, reduction)(), loop(batch, reduction)
    assert got.shape == (len(lengths), *tail)
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)
    if batch.layout.total:
        weights = torch.randn_like(got)
        gradients = [torch.autograd.grad((x * weights).sum(), batch.values)[0] for x in (got, expected)]
        torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reduction_gradients(reduction):
    values = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x: getattr(Ragged.from_lengths(x, [3, 0, 1, 2]), reduction)(), (values,)
    )


@pytest.mark.parametrize("reduction", ["max", "_scattered_max"])
def test_max_of_negative_values_is_negative(reduction):
    assert getattr(Ragged.from_lengths(-torch.ones(3, 1), [2, 0, 1]), reduction)().flatten().tolist() == [
        -1,
        0,
        -1,
    ]


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "softmax"])
@pytest.mark.parametrize("poison", [float("nan"), float("inf"), 1e30])
def test_a_poisoned_text_spoils_only_itself(reduction, poison):
    clean = ragged_of([2, 0, 3, 1])
    spoilt = clean.with_values(clean.values.clone())
    spoilt.values[2:5] = poison
    expected, got = (getattr(batch, reduction)() for batch in (clean, spoilt))
    keep = [0, 1, 3]
    if reduction == "softmax":
        expected, got = expected[keep].values, got[keep].values
    else:
        expected, got = expected[keep], got[keep]
    assert torch.equal(expected, got)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("tail", TAILS)
def test_softmax_equals_a_loop(lengths, tail):
    batch = ragged_of(lengths, tail)
    for got, text in zip(batch.softmax(), texts_of(batch), strict=True):
        torch.testing.assert_close(got, text.softmax(0), rtol=1e-12, atol=1e-12)


def test_softmax_gradients_and_large_values():
    values = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x: Ragged.from_lengths(x, [3, 0, 1, 2]).softmax().values, (values,)
    )
    large = Ragged.from_lengths(torch.tensor([1e4, 1e4, -1e4, 3e4]), [2, 2]).softmax()
    assert large.values.tolist() == [0.5, 0.5, 0.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_long_texts_in_sixteen_bits(dtype):
    batch = Ragged.from_lengths(torch.full((3003, 2), 100.0, dtype=dtype), [3000, 3])
    mean = batch.mean()  # a sum kept in 16 bits would be infinite or stop at 256 rows
    assert mean.dtype == batch.sum().dtype == dtype
    assert mean.tolist() == [[100, 100], [100, 100]]


def test_mean_of_whole_numbers_is_not_cut_off():
    assert Ragged.from_lengths(torch.tensor([1, 2, 5]), [2, 1]).mean().tolist() == [1.5, 5.0]


# the rest


def test_map_and_repr():
    batch = ragged_of([2, 1], dtype=torch.float32)
    assert torch.equal(batch.map(torch.exp).values, batch.values.exp())
    assert batch.map(torch.exp).layout is batch.layout
    assert repr(batch) == "Ragged(2 texts, 3 rows of [3], torch.float32)"


def test_to_another_device():
    batch = ragged_of([2, 0, 1])
    assert batch.to("cpu").layout is batch.layout  # what is in the memo stays
    moved = batch.to("meta")
    assert moved.device.type == moved.lengths.device.type == moved.offsets.device.type == "meta"
    assert moved.layout.sizes == batch.layout.sizes
    assert moved.to(torch.device("meta")).layout is moved.layout
    longer = moved.prepend(torch.zeros(3, device="meta", dtype=torch.float64))
    first, rest = longer.split_first()
    assert (first.shape, rest.values.shape) == ((3, 3), (3, 3))
    assert moved.mean().shape == (3, 3)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 6), max_size=7), st.integers(0, 2**20))
def test_any_lengths(lengths, seed):
    batch = ragged_of(lengths, (2,), seed=seed)
    for reduction in REDUCTIONS:
        torch.testing.assert_close(getattr(batch, reduction)(), loop(batch, reduction))
    softmax = batch.softmax()
    torch.testing.assert_close(softmax.sum(), (batch.lengths > 0).double()[:, None].expand(-1, 2))
    back = Ragged.from_padded(*batch.to_padded(fill=float("nan")))
    assert back.layout.sizes == batch.layout.sizes
    assert torch.equal(back.values, batch.values)
    order = torch.randperm(len(lengths), generator=torch.Generator().manual_seed(seed))
    shuffled = batch[order]
    assert torch.equal(shuffled.max(), batch.max()[order])
    assert torch.equal(shuffled[order.argsort()].values, batch.values)


@pytest.mark.parametrize("values", [[[1.0, 2.0]], torch.zeros(1, 2).numpy()])
def test_values_that_are_no_tensor(values):
    with pytest.raises(TypeError, match=r"a tensor and a Layout, got a (list|ndarray) and a Layout"):
        Ragged.from_lengths(values, [1])
    with pytest.raises(TypeError, match=r"got a tensor \[1, 2\] and a list; .* Layout\(lengths\) a layout"):
        Ragged(torch.zeros(1, 2), [1])
