"""The Transformer against PyTorch's own, with copied weights."""

import pytest
import torch

from headwise.nn.encoders import Transformer, TransformerConfig

WIDTH, HEADS = 12, 3
LENGTHS = (7, 1, 4, 12)


def pair(layers, **config):
    """Our encoder and PyTorch's layers with the same weights."""
    torch.manual_seed(0)
    ours = Transformer(
        TransformerConfig(
            width=WIDTH, heads=HEADS, head_size=4, layers=layers, feedforward=20, dropout=0.3, **config
        )
    ).double()
    for parameter in ours.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    theirs = []
    for block in ours.blocks:
        layer = torch.nn.TransformerEncoderLayer(
            WIDTH, HEADS, 20, dropout=0.3, activation="relu", batch_first=True, norm_first=False
        ).double()
        a, b = block.attention, layer.self_attn
        with torch.no_grad():
            b.in_proj_weight.copy_(torch.cat([a.query.weight, a.key.weight, a.value.weight]))
            b.in_proj_bias.copy_(torch.cat([a.query.bias, a.key.bias, a.value.bias]))
        for target, source in (
            (b.out_proj, a.out),
            (layer.linear1, block.up),
            (layer.linear2, block.down),
            (layer.norm1, block.norm1),
            (layer.norm2, block.norm2),
        ):
            target.load_state_dict(source.state_dict())
        theirs.append(layer.eval())
    return ours.eval(), theirs


@pytest.mark.parametrize("attention", ["reference", "sdpa"])
@pytest.mark.parametrize("layers", [1, 3])
def test_parity_with_pytorch(layers, attention, words):
    ours, theirs = pair(layers, classification_node=False, positions="none", attention=attention)
    batch = words(LENGTHS, WIDTH)
    batch.values.requires_grad_()
    padded, mask = batch.to_padded()
    for layer in theirs:
        padded = layer(padded, src_key_padding_mask=~mask)
    got = ours(batch).tokens.values
    torch.testing.assert_close(got, padded[mask], rtol=1e-10, atol=1e-10)
    gradients = [torch.autograd.grad(x.sin().sum(), batch.values)[0] for x in (got, padded[mask])]
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-9)


def test_parity_with_a_node_and_positions(words):
    ours, [layer] = pair(1, classification_node=True, positions="sinusoidal")
    batch = words(LENGTHS, WIDTH)
    encoded = ours(batch)
    assert ours.node is not None
    for t, text in enumerate(ours.positions(batch)):
        expected = layer(torch.cat([ours.node.state[None], text])[None])[0]
        torch.testing.assert_close(encoded.summary[t], expected[0], rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(encoded.tokens[t], expected[1:], rtol=1e-10, atol=1e-10)


def test_order_matters_only_through_positions(words):
    batch = words((9,), WIDTH)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    shuffled = batch.map(lambda x: x[order])
    for positions, same in (("none", True), ("sinusoidal", False), ("learned", False)):
        encoder, _ = pair(2, positions=positions)
        summaries = encoder(batch).summary, encoder(shuffled).summary
        assert torch.allclose(*summaries, rtol=1e-10, atol=1e-10) is same
