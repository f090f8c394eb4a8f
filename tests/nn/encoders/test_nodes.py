"""The classification node."""

import torch

from headwise.nn.encoders.encoder import ClassificationNode


def test_in_front_of_every_text_and_away_again(words):
    node, batch = ClassificationNode(4).double(), words((2, 0, 1), 4)
    longer = node.prepend(batch)
    assert longer.layout.sizes == (3, 1, 2)
    encoded = node.split(longer)
    assert encoded.summary is not None
    assert torch.equal(encoded.summary, node.state.expand(3, 4))
    assert torch.equal(encoded.tokens.values, batch.values)
    assert encoded.tokens.layout.sizes == batch.layout.sizes


def test_learns_from_every_text(words):
    node = ClassificationNode(4).double()
    node.prepend(words((2, 0, 1), 4)).values.sum().backward()
    assert node.state.grad is not None
    assert node.state.grad.tolist() == [3.0] * 4
