"""The Multi-Scale Transformer against its equations and against what follows from them."""

from collections import Counter

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.encoders import MSTransformer, MSTransformerConfig
from headwise.nn.ragged import Ragged

WIDTH = 12
BARE = {"width": WIDTH, "heads": 3, "head_size": 4, "layers": 1, "classification_node": False}


def encoder_of(**config) -> MSTransformer:
    torch.manual_seed(0)
    encoder = MSTransformer(MSTransformerConfig(**(BARE | config))).double().eval()
    for name, parameter in encoder.named_parameters():
        if "norm" in name or "state" in name:
            torch.nn.init.normal_(parameter)  # or a forgotten norm or node would not be seen
    return encoder


def normed(block, h):
    mean, var = h.mean(-1, keepdim=True), h.var(-1, keepdim=True, correction=0)
    return (h - mean) / (var + 1e-5).sqrt() * block.norm.weight + block.norm.bias


def by_the_paper(encoder, text, omegas):
    """Eq. 6-10 for one text, `omegas` the full widths of the heads of each layer."""
    h = text if encoder.node is None else torch.cat([encoder.node.state[None], text])
    place = torch.arange(len(h))
    for block, widths in zip(encoder.blocks, omegas, strict=True):
        heads = []
        for i, omega in enumerate(widths):
            part = slice(4 * i, 4 * i + 4)
            q, k, v = (
                h @ projection.weight[part].T
                for projection in (block.attention.query, block.attention.key, block.attention.value)
            )
            for j in range(len(h)):
                nearby = (place - j).abs() <= (omega - 1) // 2
                heads.append((q[j] @ k[nearby].T / 4**0.5).softmax(-1) @ v[nearby])
        mixed = torch.cat(torch.stack(heads).split(len(h)), dim=-1) if len(h) else h[:, :0]
        h = normed(block, h + torch.relu(mixed @ block.attention.out.weight.T))
    return h


@pytest.mark.parametrize("attention", ["reference", "sdpa", "auto"])
@pytest.mark.parametrize("node", [True, False])
def test_equations(node, attention, words):
    encoder = encoder_of(layers=2, scales=("1", "3", "n/3"), classification_node=node, attention=attention)
    batch = words((7, 1, 23), WIDTH)
    encoded = encoder(batch)
    for t, text in enumerate(batch):
        omega = 2 * ((len(text) + node) // 6) + 1  # n / 3, the node counts
        expected = by_the_paper(encoder, text, [(1, 1, 3), (1, 3, omega)])
        got = encoded.tokens[t] if not node else torch.cat([encoded.summary[t : t + 1], encoded.tokens[t]])
        torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-10)


def test_a_global_node_hears_from_all_words_in_one_layer(words):
    batch, heard = words((9,), WIDTH), {}
    for wide in (False, True):
        encoder = encoder_of(scales=("3",), classification_node=True, global_node=wide)
        values = batch.values.clone().requires_grad_()
        encoded = encoder(batch.with_values(values))
        [to_node] = torch.autograd.grad(encoded.summary.sum().sin(), values, retain_graph=True)
        [to_last] = torch.autograd.grad(encoded.tokens.values[-1].sum().sin(), encoder.node.state)
        heard[wide] = [*(to_node.abs().sum(-1) > 0).tolist(), bool(to_last.abs().sum() > 0)]
    assert heard == {False: [True] + [False] * 9, True: [True] * 10}
    with pytest.raises(ConfigError, match="there is none"):
        encoder_of(global_node=True)


def test_windows_over_the_whole_text_are_ordinary_attention(words):
    encoder, batch = encoder_of(scales=("17",)), words((9,), WIDTH)
    [block] = encoder.blocks
    q, k, v = (
        projection(batch.values).view(9, 3, 4).transpose(0, 1)
        for projection in (block.attention.query, block.attention.key, block.attention.value)
    )
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1)
    expected = normed(block, batch.values + torch.relu(block.attention.out(mixed)))
    torch.testing.assert_close(encoder(batch).tokens.values, expected, rtol=0, atol=1e-12)


def test_windows_of_one_are_a_map_of_each_word_alone(words):
    encoder, batch = encoder_of(scales=("1",)), words((9, 2), WIDTH)
    [block] = encoder.blocks
    update = torch.relu(batch.values @ block.attention.value.weight.T @ block.attention.out.weight.T)
    expected = normed(block, batch.values + update)
    torch.testing.assert_close(encoder(batch).tokens.values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("config", "holds"),
    [({}, True), ({"classification_node": True}, False), ({"positions": "sinusoidal"}, False)],
)
def test_reversal(config, holds, words):
    """Only the node, the positions and nothing else tell left from right."""
    encoder = encoder_of(layers=3, scales=("1", "3", "n/4"), **config)
    batch = words((9,), WIDTH)
    mirrored = encoder(batch.map(lambda x: x.flip(0))).tokens.values.flip(0)
    assert torch.allclose(mirrored, encoder(batch).tokens.values, rtol=0, atol=1e-12) is holds


def test_permutation_where_windows_cover_the_text(words):
    encoder, batch = encoder_of(layers=2, scales=("99",), classification_node=True), words((9,), WIDTH)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    straight, shuffled = encoder(batch), encoder(batch.map(lambda x: x[order]))
    torch.testing.assert_close(shuffled.tokens.values, straight.tokens.values[order])
    torch.testing.assert_close(shuffled.summary, straight.summary)


@pytest.mark.parametrize(("layers", "radius"), [(1, 2), (2, 4), (3, 6)])
@pytest.mark.parametrize("token", [0, 10, 24])
def test_locality(layers, radius, token, words):
    encoder = encoder_of(layers=layers, scales=("1", "3", "5"), alpha=0.0)
    batch = words((25,), WIDTH)
    edited = batch.values.clone()
    edited[token] += torch.linspace(-5, 5, WIDTH)
    difference = (encoder(batch.with_values(edited)).tokens.values - encoder(batch).tokens.values).abs()
    changed = difference.max(-1).values.nonzero().flatten().tolist()
    assert changed == list(range(max(0, token - radius), min(24, token + radius) + 1))


@pytest.mark.parametrize(("words_", "node", "radius"), [(15, True, 1), (15, False, 0), (16, False, 1)])
def test_the_classification_node_counts_in_the_length(words_, node, radius, words):
    """n/8 is a window of 3 from 16 nodes on."""
    encoder = encoder_of(scales=("n/8",), classification_node=node)
    batch = words((words_,), WIDTH)
    edited = batch.values.clone()
    edited[7] += torch.linspace(-5, 5, WIDTH)
    difference = (encoder(batch.with_values(edited)).tokens.values - encoder(batch).tokens.values).abs()
    assert difference.max(-1).values.nonzero().flatten().tolist() == list(range(7 - radius, 8 + radius))


def test_every_text_has_windows_of_its_own_length(words):
    """With the length of the longest text of the batch, the short one would see more."""
    encoder = encoder_of(layers=2, scales=("n/4", "n/2"))
    batch = words((8, 64), WIDTH)
    alone = encoder(batch[[0]]).tokens.values
    assert torch.allclose(encoder(batch).tokens[0], alone, rtol=0, atol=1e-12)


def test_implementations_agree(words):
    batch = words((5, 0, 33, 1), WIDTH)
    config = {"layers": 3, "scales": ("1", "3", "n/8", "n/4"), "classification_node": True}
    results = []
    for attention in ("reference", "sdpa"):
        encoder = encoder_of(attention=attention, **config)
        encoded = encoder(batch)
        (encoded.tokens.values.sin().sum() + encoded.summary.cos().sum()).backward()
        results.append([encoded.tokens.values, encoded.summary, *(p.grad for p in encoder.parameters())])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-10)


def test_defaults_are_the_papers():
    encoder = MSTransformer()
    counts = [Counter(map(str, block.attention.priors)) for block in encoder.blocks]
    scales = ["window 1", "window 3", "window n/16", "window n/8", "window n/4"]
    assert [[c[scale] for scale in scales] for c in counts] == [
        [5, 2, 2, 1, 0],
        [4, 2, 2, 1, 1],
        [2, 2, 2, 2, 2],
    ]
    sizes = [sum(p.numel() for p in block.parameters()) for block in encoder.blocks]
    assert sizes == [360_600] * 3
    assert sum(p.numel() for p in encoder.parameters()) == 3 * 360_600 + 300


def test_heads_need_not_fill_the_width():
    """SNLI: width 600, heads of 64."""
    encoder = MSTransformer(MSTransformerConfig(width=600, heads=5, head_size=64, layers=1))
    assert encoder.blocks[0].attention.out.weight.shape == (600, 320)
    encoded = encoder(Ragged.from_lengths(torch.randn(3, 600), [3]))
    assert encoded.summary.shape == (1, 600)
