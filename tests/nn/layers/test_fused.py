"""Fused operations against the same ones by one: values, gradients, masks, no rows and one row, dtypes."""

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad, gradcheck, gradgradcheck

from headwise.nn.attention.self_attention import SelfAttention
from headwise.nn.embeddings.word_reading import (
    RowEmbedding,
    WordRows,
    can_read_words,
    plain_read_words,
    read_words,
)
from headwise.nn.layers import fused
from headwise.nn.layers.dropout import Dropout, draw_key
from headwise.nn.layers.fused import (
    add_norm,
    gate,
    perceptron,
    plain_add_norm,
    plain_gate,
    plain_perceptron,
)
from headwise.nn.layout import Layout
from headwise.nn.priors import Forward, Window
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.nn.task_layers.output_layers import Classifier

TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-12}


def layers(width: int, dtype: torch.dtype, probability: float) -> tuple[nn.LayerNorm, Dropout]:
    norm = nn.LayerNorm(width).to(dtype)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm, Dropout(probability)


def assert_equal(result, expected, inputs):
    """The same values, and the same gradients of a sum with random factors."""
    for one, reference in zip(result, expected, strict=True):
        torch.testing.assert_close(
            one, reference, atol=TOLERANCE[reference.dtype], rtol=TOLERANCE[reference.dtype]
        )
    assert [x.requires_grad for x in result] == [x.requires_grad for x in expected]
    result, expected = ([x for x in results if x.requires_grad] for results in (result, expected))
    factors = [torch.randn_like(x) for x in expected]
    gradients = [torch.autograd.grad(x, inputs, factors) for x in (result, expected)]
    for one, reference in zip(*gradients, strict=True):
        one = one.to_dense() if one.is_sparse else one
        scale = max(float(reference.abs().max()) if reference.numel() else 0.0, 1.0)
        torch.testing.assert_close(one, reference, atol=scale * TOLERANCE[reference.dtype], rtol=1e-4)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", [0, 1, 37])
@pytest.mark.parametrize("width", [3, 7, 64])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("probability", [0.0, 0.3])
def test_add_norm(dtype, rows, width, relu, probability):
    torch.manual_seed(0)
    norm, dropout = layers(width, dtype, probability)
    inputs, update = (torch.randn(rows, width, dtype=dtype, requires_grad=True) for _ in range(2))
    torch.manual_seed(5)
    result = add_norm(inputs, update, norm, dropout, relu=relu)
    assert "_AddNorm" in type(result.grad_fn).__name__
    torch.manual_seed(5)
    key = draw_key() if probability else 0
    expected = plain_add_norm(inputs, update, norm.weight, norm.bias, key, probability, relu, norm.eps)
    assert_equal([result], [expected], [inputs, update, norm.weight, norm.bias])
    torch.manual_seed(5)  # the modules one by one have the same mask
    by_modules = norm(inputs + dropout(torch.relu(update) if relu else update))
    torch.testing.assert_close(by_modules, expected)


def test_in_evaluation_nothing_is_dropped():
    norm, dropout = layers(8, torch.float32, 0.5)
    inputs, update = torch.randn(2, 5, 8)
    state = torch.get_rng_state()
    result = add_norm(inputs, update, norm, dropout.eval())
    torch.testing.assert_close(result, norm(inputs + update), atol=1e-5, rtol=1e-5)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", [0, 1, 37])
def test_gate(dtype, rows):
    torch.manual_seed(0)
    inputs = [(9 * torch.randn(rows, 5, dtype=dtype)).requires_grad_() for _ in range(4)]
    result = gate(*inputs)
    assert "_Gate" in type(result.grad_fn).__name__
    assert_equal([result], [plain_gate(*inputs)], inputs)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", [0, 1, 37])
@pytest.mark.parametrize("probability", [0.0, 0.3])
def test_perceptron(dtype, rows, probability):
    torch.manual_seed(0)
    up, down, dropout = nn.Linear(5, 8).to(dtype), nn.Linear(8, 3).to(dtype), Dropout(probability)
    inputs = torch.randn(rows, 5, dtype=dtype, requires_grad=True)
    torch.manual_seed(5)
    result = perceptron(inputs, up, dropout, down)
    assert "_Perceptron" in type(result.grad_fn).__name__
    torch.manual_seed(5)
    key = draw_key() if probability else 0
    parameters = up.weight, up.bias, down.weight, down.bias
    expected = plain_perceptron(inputs, *parameters, key, probability)
    assert_equal([result], [expected], [inputs, *parameters])
    torch.manual_seed(5)  # the modules one by one have the same mask
    torch.testing.assert_close(down(dropout(torch.relu(up(inputs)))), expected)


def test_a_classifier_is_a_perceptron_unless_somebody_watches():
    model = Classifier(5, 3, ClassifierConfig())
    text = torch.randn(4, 5)
    torch.manual_seed(5)
    result = model(text)
    assert "_Perceptron" in type(result.grad_fn).__name__
    seen = []
    handle = model.layers[2].register_forward_hook(lambda *_: seen.append(1))
    torch.manual_seed(5)
    torch.testing.assert_close(model(text), result, atol=1e-5, rtol=1e-5)
    assert seen
    handle.remove()


@pytest.mark.parametrize("lengths", [[], [0], [1], [3, 0, 2]])
def test_rows_in_front_of_texts(lengths):
    torch.manual_seed(0)
    layout, size = Layout(lengths), {"dtype": torch.float64, "requires_grad": True}
    values, row = torch.randn(sum(lengths), 2, **size), torch.randn(2, **size)
    texts = values.split(lengths) if lengths else []
    expected = torch.cat([values[:0], *(part for text in texts for part in (row[None], text))])
    result = layout.prepend_rows(values, row)
    assert torch.equal(result, expected)
    first, behind = layout.prepended.split_first_rows(result, layout.prepended.without_first)
    assert torch.equal(first, row.expand(len(lengths), 2))
    assert torch.equal(behind, values)
    assert gradcheck(layout.prepend_rows, (values, row))
    assert gradgradcheck(layout.prepend_rows, (values, row))
    rest = layout.prepended.without_first
    nodes = torch.randn(len(result), 2, **size)
    assert gradcheck(lambda x: layout.prepended.split_first_rows(x, rest), (nodes,))
    assert gradgradcheck(lambda x: layout.prepended.split_first_rows(x, rest), (nodes,))


def words(lengths: list[int], dtype: torch.dtype, size: int = 6, kinds: int = 9) -> WordRows:
    total = sum(lengths)
    return WordRows(
        torch.randn(kinds, size, dtype=dtype),
        torch.randint(kinds, (total,)),
        torch.randint(4, (total,)),
        torch.rand(total, dtype=dtype),
        torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()]),
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("lengths", [[], [0], [1], [3, 0, 1, 12]])
@pytest.mark.parametrize("probability", [0.0, 0.3])
@pytest.mark.parametrize("corrected", [False, True])
def test_words(dtype, lengths, probability, corrected):
    torch.manual_seed(0)
    read, (norm, dropout) = words(lengths, dtype), layers(6, dtype, probability)
    table = RowEmbedding(4, 6).to(dtype) if corrected else None
    looked_up = []
    if table is not None:
        table.before_lookup = looked_up.append
    assert can_read_words(read, table, norm, dropout)
    torch.manual_seed(5)
    result = read_words(read, table, norm, dropout)
    assert len(looked_up) == corrected
    torch.manual_seed(5)
    key = draw_key() if probability else 0
    weight = None if table is None else table.weight
    parameters = norm.weight, norm.bias, key, probability, norm.eps
    expected = plain_read_words(weight, *parameters, *read)
    inputs = [norm.weight, norm.bias] if weight is None else [weight, norm.weight, norm.bias]
    assert_equal(result, expected, inputs)


def test_gradients_can_be_differentiated_again(monkeypatch):
    torch.manual_seed(0)
    size = {"dtype": torch.float64, "requires_grad": True}
    rows = (
        torch.randn(3, 4, **size),
        torch.randn(3, 4, **size),
        torch.randn(4, **size),
        torch.randn(4, **size),
    )
    for settings in ((7, 0.4, False, 1e-5), (0, 0.0, True, 1e-5)):

        def compute(*inputs, settings=settings):
            return fused._AddNorm.apply(*inputs, *settings)

        assert gradcheck(compute, rows)
        assert gradgradcheck(compute, rows)
    parameters = [torch.randn(5, 4, **size), torch.randn(5, **size), torch.randn(2, 5, **size)]
    layer = torch.randn(3, 4, **size), *parameters, torch.randn(2, **size)
    assert gradcheck(lambda *x: fused._Perceptron.apply(*x, 7, 0.4), layer)
    assert gradgradcheck(lambda *x: fused._Perceptron.apply(*x, 7, 0.4), layer)
    assert gradgradcheck(gate, [torch.randn(3, 4, **size) for _ in range(4)])


@pytest.mark.parametrize("name", ["add_norm", "add_norm of one", "gate", "perceptron"])
def test_differentiable_gradients_of_inputs_that_depend_on_each_other(name):
    torch.manual_seed(0)
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    linear, (norm, dropout) = nn.Linear(4, 4).double(), layers(4, torch.float64, 0.0)
    operations = {
        "add_norm": lambda: add_norm(x, linear(x), norm, dropout),
        "add_norm of one": lambda: add_norm(x, x, norm, dropout),
        "gate": lambda: gate(linear(x), x, x, linear(x).tanh()),
        "perceptron": lambda: perceptron(x, linear, dropout, linear),
    }
    sources = [x, linear.weight]
    gradients = [
        torch.autograd.grad(operations[name]().pow(3).sum(), sources, create_graph=again, allow_unused=True)
        for again in (False, True)
    ]
    for once, again in zip(*gradients, strict=True):
        torch.testing.assert_close(again, once)


@pytest.mark.filterwarnings("ignore")  # PyTorch's compiler warns of what it does itself
def test_the_compiler_draws_the_masks_itself():
    torch.manual_seed(0)
    up, down, (norm, dropout) = nn.Linear(64, 64), nn.Linear(64, 64), layers(64, torch.float32, 0.5)

    @torch.compile(backend="eager", fullgraph=True)  # an error where the key breaks the graph
    def compute(rows):
        return add_norm(rows, perceptron(rows, up, dropout, down), norm, dropout)

    rows = torch.randn(9, 64)
    assert not torch.equal(compute(rows), compute(rows))
    dropout.eval()
    expected = norm(rows + down(torch.relu(up(rows))))
    torch.testing.assert_close(compute(rows), expected, atol=1e-5, rtol=1e-5)
    torch.compiler.reset()


def test_what_the_kernels_do_not_take_is_computed_one_by_one(monkeypatch):
    norm, dropout = layers(4, torch.float32, 0.0)
    inputs, update = torch.randn(2, 3, 4)
    expected = norm(inputs + update)

    def name(*rows, norm=norm, dropout=dropout):
        result = add_norm(*rows, norm, dropout)
        torch.testing.assert_close(result.float(), expected, atol=0.05, rtol=0.05)
        return type(result.grad_fn).__name__

    assert "_AddNorm" in name(inputs, update)
    with torch.autocast("cpu", torch.bfloat16):
        assert "_AddNorm" not in name(inputs, update)
    seen = []
    handle = norm.register_forward_hook(lambda *_: seen.append(1))
    assert "_AddNorm" not in name(inputs, update)
    assert seen
    handle.remove()
    monkeypatch.setenv("HEADWISE_KERNELS", "off")
    assert "_AddNorm" not in name(inputs, update)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # by which PyTorch finds them
@pytest.mark.parametrize("probability", [0.0, 0.3])
def test_forward_mode_takes_the_operations_one_by_one(probability):
    torch.manual_seed(0)
    norm, dropout = layers(6, torch.float64, probability)
    attention = SelfAttention(6, [Window(3), Forward()], 3).double()
    x, tangent = torch.randn(2, 5, 6, dtype=torch.float64)

    def layer(rows):
        torch.manual_seed(1)
        return add_norm(rows, attention(Ragged(rows, Layout([2, 3]))).values, norm, dropout, relu=True)

    with forward_ad.dual_level():
        moved = forward_ad.unpack_dual(layer(forward_ad.make_dual(x, tangent))).tangent
    step = 1e-6
    differences = (layer(x + step * tangent) - layer(x - step * tangent)) / (2 * step)
    torch.testing.assert_close(moved, differences.detach(), atol=1e-6, rtol=1e-5)
