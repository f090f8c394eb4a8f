"""Readouts against plain loops over the texts."""

import ast
import inspect
from dataclasses import replace

import pytest
import torch

import headwise.nn.encoders.pooling
from headwise.core.errors import ConfigError
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.pooling import READOUTS, AttentivePooling, Readout
from headwise.nn.ragged import Ragged

LENGTHS = [(), (0,), (1,), (3, 0, 1, 4)]
WIDTH = 3
CLS_WIDTH = 2


def encoded_of(lengths, *, summary=True, seed=0) -> Encoded:
    random = torch.Generator().manual_seed(seed)

    def rows(n, width=WIDTH):
        return torch.randn(n, width, generator=random, dtype=torch.float64) - 0.5

    tokens = Ragged.from_lengths(rows(sum(lengths)), lengths)
    return Encoded(tokens, rows(len(lengths)) if summary else None, cls=rows(len(lengths), CLS_WIDTH))


def expected(name, tokens, node, cls, attentive):
    """One text: its tokens `[n, width]`, its node's state `[width]` or None, its [CLS] state."""
    zero = torch.zeros(WIDTH, dtype=torch.float64)
    nodes = tokens if node is None else torch.cat([node[None], tokens])
    top = nodes.max(0).values if len(nodes) else zero
    mean = tokens.mean(0) if len(tokens) else zero
    if name.startswith("attentive"):
        logits = torch.relu(tokens @ attentive.up.weight.T + attentive.up.bias)
        weights = (logits @ attentive.down.weight.T + attentive.down.bias).softmax(0)
        pooled = (weights * tokens).sum(0)
        extra = {"attentive": top[:0], "attentive,max": top, "attentive,cls": cls}[name]
        return torch.cat([pooled, extra])
    if node is None and "node" in name:
        raise AssertionError("needs a node")
    return {
        "node": lambda: node,
        "max": lambda: top,
        "mean": lambda: mean,
        "node+max": lambda: node + top,
        "node,max": lambda: torch.cat([node, top]),
        "mean,max": lambda: torch.cat([mean, top]),
    }[name]()


NAMES = [*READOUTS, "attentive", "attentive,max", "attentive,cls"]
CASES = [(name, summary) for name in NAMES for summary in (True, False) if summary or "node" not in name]


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize(("name", "summary"), CASES)
def test_readouts_equal_a_loop(name, summary, lengths):
    torch.manual_seed(1)
    readout = Readout(name, WIDTH, CLS_WIDTH).double()
    encoded = encoded_of(lengths, summary=summary)
    got = readout(encoded)
    assert got.shape == (len(lengths), readout.width)
    states = [None] * len(lengths) if encoded.summary is None else encoded.summary
    for row, tokens, node, cls in zip(got, encoded.tokens, states, encoded.cls, strict=True):
        torch.testing.assert_close(row, expected(name, tokens, node, cls, readout.attentive))
    if readout.attentive is not None:
        got.sum().backward()
    for parameter in readout.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_readout_gradients(name):
    torch.manual_seed(2)
    readout, lengths = Readout(name, WIDTH).double(), (3, 0, 1)
    encoded = encoded_of(lengths)
    states = (encoded.tokens.values, encoded.summary, encoded.cls)
    assert torch.autograd.gradcheck(
        lambda x, s, c: readout(Encoded(Ragged.from_lengths(x, lengths), s, cls=c)),
        tuple(state.requires_grad_() for state in states),
    )


def test_max_of_a_text_without_words_is_its_node():
    encoded = Encoded(Ragged.from_lengths(torch.zeros(0, 2), [0]), torch.tensor([[-1.0, 2.0]]))
    assert Readout("max", 2)(encoded).tolist() == [[-1, 2]]


def test_a_relay_or_root_is_left_out_of_the_maximum():
    tokens = Ragged.from_lengths(torch.tensor([[-3.0, 2.0], [-1.0, -5.0]]), [2, 0])
    encoded = Encoded(tokens, torch.tensor([[7.0, 7.0], [4.0, -4.0]]), summary_is_node=False)
    assert Readout("max", 2)(encoded).tolist() == [[-1, 2], [0, 0]]
    assert Readout("node+max", 2)(encoded).tolist() == [[6, 9], [4, -4]]


def test_attentive_pooling_with_zero_weights_is_the_mean():
    pooling = AttentivePooling(WIDTH).double()
    for parameter in pooling.parameters():
        torch.nn.init.zeros_(parameter)
    encoded = encoded_of([3, 0, 1, 5], summary=False)
    torch.testing.assert_close(pooling(encoded), encoded.tokens.mean())


def test_attentive_pooling_ignores_a_constant_on_the_logits():
    pooling = AttentivePooling(WIDTH, hidden=7).double()
    encoded = encoded_of([3, 0, 1, 5], summary=False)
    before = pooling(encoded)
    with torch.no_grad():
        pooling.down.bias += torch.tensor([3.0, -40.0, 0.5])
    torch.testing.assert_close(pooling(encoded), before)


def test_attentive_pooling_weighs_every_feature_on_its_own():
    """With logits +-1000 on one feature, that feature is picked from one word and the other averaged."""
    pooling = AttentivePooling(2).double()
    for parameter in pooling.parameters():
        torch.nn.init.zeros_(parameter)
    with torch.no_grad():
        pooling.up.weight[0, 0] = pooling.down.weight[0, 0] = 1000.0
    tokens = torch.tensor([[1.0, 4.0], [3.0, 8.0]], dtype=torch.float64)
    assert pooling(Encoded(Ragged.from_lengths(tokens, [2]))).tolist() == [[3.0, 6.0]]


@pytest.mark.parametrize("name", ["node", "node+max", "node,max"])
def test_readouts_of_a_node_that_is_not_there(name):
    with pytest.raises(ConfigError, match="switch its classification node on"):
        Readout(name, WIDTH)(encoded_of([2], summary=False))


def test_the_cls_state_has_the_width_of_the_encoder_unless_another_is_named():
    assert Readout("attentive,cls", WIDTH).width == 2 * WIDTH
    assert Readout("attentive,cls", WIDTH, CLS_WIDTH).width == WIDTH + CLS_WIDTH
    assert Readout("attentive,max", WIDTH, CLS_WIDTH).width == 2 * WIDTH


def test_readout_of_a_cls_state_that_is_not_there():
    encoded = replace(encoded_of([2]), cls=None)
    with pytest.raises(ConfigError, match=r"name an encoder \(pretrained.name\) or choose"):
        Readout("attentive,cls", WIDTH).double()(encoded)


def test_unknown_readout():
    with pytest.raises(ConfigError, match="unknown readout 'cls'; expected one of node\\+max"):
        Readout("cls", WIDTH)


def test_pooling_lies_below_the_encoders():
    """So that an encoder may pool without a circle of imports."""
    tree = ast.parse(inspect.getsource(headwise.nn.encoders.pooling))
    imported = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert "headwise.core.errors" in imported
    assert not any(name and name.startswith("headwise.nn.encoders") for name in imported)
