"""The BP-Transformer against its definition, node by node, and against what follows from it."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.encoders import BPTransformer, BPTransformerConfig, Transformer, TransformerConfig
from headwise.nn.encoders.bp_graph import partition_graph
from headwise.nn.encoders.encoder_configs import default_readout
from headwise.nn.encoders.pooling import Readout
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.priors import Forward
from headwise.nn.ragged import Ragged
from headwise.text.vocabulary import Vocabulary

WIDTH, HEADS, SIZE = 8, 2, 3
SMALL = {
    "width": WIDTH,
    "heads": HEADS,
    "head_size": SIZE,
    "layers": 1,
    "feedforward": 10,
    "k": 2,
    "clip": 2,
}


def encoder_of(**config) -> BPTransformer:
    torch.manual_seed(0)
    encoder = BPTransformer(BPTransformerConfig(**(SMALL | config))).double().eval()
    for name, parameter in encoder.named_parameters():
        if "norm" in name or "bias" in name or "relative" in name:
            torch.nn.init.normal_(parameter)  # or a forgotten one would not be seen
    return encoder


def partition(n):
    """Nodes as (level, begin, end), level by level."""
    levels, size = [[(0, i, i + 1) for i in range(n)]], 1
    while len(levels[-1]) > 1:
        size *= 2
        levels.append([(len(levels), b, min(n, b + size)) for b in range(0, n, size)])
    return [node for level in levels for node in level]


def neighbours(node, nodes, config):
    """`[(level, begin, end, label)]` of a node, by the definition."""
    level, begin, end = node
    n, k = max(e for _, _, e in nodes), config.k
    if level > 0:
        return [(0, i, i + 1, (2 * k + 1) * min(level, config.clip)) for i in range(begin, end)]
    edges, right, left = [(0, begin, end, 0)], end, begin
    for j in range(max(level for level, _, _ in nodes) + 1):
        for slot in range(k):
            label = (2 * k + 1) * min(j, config.clip) + 2 * slot + 1
            of = j if slot or right % 2**j == 0 else j - 1
            if right < n and not config.causal:
                edges.append((of, right, min(n, right + 2**of), label + 1))
            right += 2**of
            of = j if slot or left % 2**j == 0 else j - 1
            if left > 0:
                edges.append((of, max(0, left - 2**of), left, label))
            left -= 2**of
    return edges


def by_the_paper(encoder, text):
    """States of all nodes of one text."""
    h = torch.zeros(len(partition(len(text))), WIDTH, dtype=torch.float64)
    h[: len(text)] = encoder.norm(encoder.positions(Ragged.from_list([text])).values)
    for block in encoder.blocks:
        z = mixed_by_the_paper(block, h, len(text), encoder.config)
        h = block.norm2(z + block.down(torch.relu(block.up(z))))
    return h


def mixed_by_the_paper(block, h, length, config):
    """The same after graph self-attention."""
    nodes, att, new = partition(length), block.attention, []
    for i, node in enumerate(nodes):
        edges = neighbours(node, nodes, config)
        seen = h[[nodes.index((level, begin, end)) for level, begin, end, _ in edges]]
        table = None if att.relative is None else att.relative[[label for *_, label in edges]]
        new.append(block.norm1(h[i] + looked_at(att.heads, h[i], seen, table)))
    return torch.stack(new)


def looked_at(projections, row, seen, table=None):
    """Multi-head attention of a row to others."""
    heads = []
    for head in range(HEADS):
        part = slice(SIZE * head, SIZE * head + SIZE)
        q, k, v = (
            x @ p.weight[part].T
            for x, p in ((row, projections.query), (seen, projections.key), (seen, projections.value))
        )
        k = k if table is None else k + table
        heads.append((k @ q / SIZE**0.5).softmax(0) @ v)
    return projections.out(torch.cat(heads))


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"causal": True},
        {"k": 1, "clip": 0},
        {"k": 3, "clip": 9},
        {"relative": False, "positions": "learned", "max_positions": 21},
    ],
)
def test_definition(config, words):
    """Among it: that the label of the edges into spans, which is left out, does not matter."""
    encoder, batch = encoder_of(layers=3, **config), words((5, 1, 0, 2, 21, 8), WIDTH)
    encoded = encoder(batch)
    for t, text in enumerate(batch):
        if len(text):
            nodes = by_the_paper(encoder, text)
            torch.testing.assert_close(encoded.tokens[t], nodes[: len(text)], rtol=1e-9, atol=1e-9)
            torch.testing.assert_close(encoded.summary[t], nodes[-1], rtol=1e-9, atol=1e-9)
    assert not encoded.summary[2].any()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("k", "holds"), [(12, True), (30, True), (5, False)])
def test_k_from_the_length_on_is_a_transformer(k, holds, causal, words):
    encoder, batch = encoder_of(layers=3, k=k, relative=False, causal=causal), words((13, 4), WIDTH)
    vanilla = Transformer(
        TransformerConfig(
            width=WIDTH,
            heads=HEADS,
            head_size=SIZE,
            layers=3,
            feedforward=10,
            bias=False,
            classification_node=False,
            positions="none",
        )
    ).double()
    for ours, theirs in zip(encoder.blocks, vanilla.blocks, strict=True):
        state = {name.replace("attention.heads.", "attention."): p for name, p in ours.state_dict().items()}
        theirs.load_state_dict(state)
        if causal:
            theirs.attention.priors = (Forward(),) * HEADS
    expected = vanilla.eval()(batch.map(encoder.norm)).tokens.values
    assert torch.allclose(encoder(batch).tokens.values, expected, rtol=0, atol=1e-10) is holds


def test_spans_of_the_first_layer_are_uniform(words):
    """Their query is 0, so the root is made of the mean value of the words."""
    encoder, batch = encoder_of(), words((11,), WIDTH)
    [block] = encoder.blocks
    mean = encoder.norm(batch.values).mean(0)
    z = block.norm1(block.attention.heads.out(block.attention.heads.value(mean)))
    expected = block.norm2(z + block.down(torch.relu(block.up(z))))
    torch.testing.assert_close(encoder(batch).summary[0], expected)


@pytest.mark.parametrize(
    ("n", "holds"), [(1, True), (8, True), (16, True), (7, False), (11, False), (13, False)]
)
def test_reversal_of_a_perfect_tree(n, holds, words):
    encoder, batch = encoder_of(layers=3, k=1), words((n,), WIDTH)
    with torch.no_grad():
        for block in encoder.blocks:  # left and right alike
            for level in range(3):
                block.attention.relative[3 * level + 2] = block.attention.relative[3 * level + 1]
    straight, mirrored = encoder(batch), encoder(batch.map(lambda x: x.flip(0)))
    same = torch.allclose(straight.tokens.values.flip(0), mirrored.tokens.values, rtol=0, atol=1e-12)
    assert same is holds
    assert torch.allclose(straight.summary, mirrored.summary, rtol=0, atol=1e-12) is holds


@pytest.mark.parametrize("edited", [0, 5, 22])
def test_causality_through_the_depth(edited, words):
    """The past does not change at any depth, although spans hold words to come."""
    encoder, batch = encoder_of(layers=4, k=1, causal=True), words((23,), WIDTH)
    values = batch.values.clone()
    values[edited] += torch.linspace(-5, 5, WIDTH)
    before, after = encoder(batch), encoder(batch.with_values(values))
    difference = (after.tokens.values - before.tokens.values).abs().max(-1).values
    assert (difference > 0).nonzero().flatten().tolist() == list(range(edited, 23))
    assert not torch.allclose(after.summary, before.summary)


def test_two_layers_link_all_words(words):
    encoder, batch = encoder_of(layers=2, k=1), words((21,), WIDTH)
    batch.values.requires_grad_()
    for word in encoder(batch).tokens.values:
        [gradient] = torch.autograd.grad(word.sin().sum(), batch.values, retain_graph=True)
        assert (gradient.abs().max(-1).values > 1e-12).all()


def test_the_root_is_the_text_and_left_out_of_the_maximum(words):
    encoded = encoder_of()(words((4, 7), WIDTH))
    assert torch.equal(Readout(default_readout(BPTransformerConfig), WIDTH)(encoded), encoded.summary)
    tops = torch.stack([text.max(0).values for text in encoded.tokens])
    assert torch.equal(Readout("max", WIDTH)(encoded), tops)


def test_attention_drops_weights_only_in_training(words):
    encoder, batch = encoder_of(dropout=0.0, attention_dropout=0.5), words((9, 4), WIDTH)
    calm = encoder(batch).summary
    encoder.train()
    assert not torch.allclose(encoder(batch).summary, calm)
    assert not torch.allclose(encoder(batch).tokens.values, encoder(batch).tokens.values)


def test_relative_positions_can_stay_as_they_are():
    table = BPTransformer(BPTransformerConfig(train_relative=False)).blocks[0].attention.relative
    assert not table.requires_grad
    assert table.shape == (1000, 50)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"clip": -1}, "clip must be at least 0"),
        ({"k": 64, "clip": 9}, "need 1290 relative positions, but relative_rows is 1000"),
    ],
)
def test_errors(config, message):
    with pytest.raises(ConfigError, match=message):
        BPTransformer(BPTransformerConfig(**config))


def test_parameters_of_the_language_model():
    """enwik8 with 205 symbols, tied softmax and output bias: 38,678,221."""
    config = BPTransformerConfig(
        width=512, heads=8, head_size=64, layers=12, feedforward=2048, k=64, clip=5, causal=True
    )
    with torch.device("meta"):
        encoder = BPTransformer(config)
    d, ff = 512, 2048
    layer = 4 * d**2 + 2 * d * ff + d + ff + 1000 * 64 + 4 * d
    assert [sum(p.numel() for p in block.parameters()) for block in encoder.blocks] == [layer] * 12
    assert sum(p.numel() for p in encoder.parameters()) + 205 * d + 205 == 38_678_221


def test_inference_then_training_on_one_batch(words):
    encoder, batch = encoder_of(), words((5, 2), WIDTH)
    with torch.inference_mode():
        encoder(batch)
    encoder(batch).summary.sum().backward()
    assert partition_graph(batch.layout, 2, 2, False).nodes == (5 + 3 + 2 + 1) + (2 + 1)


def test_pair_layers_are_the_definition(words):
    """The released code's upper layers: self-attention, a look at the other text's tokens as the lower
    layers left them, feed-forward layer; both sides node by node."""
    encoder, batch = encoder_of(layers=2, pair_layers=2, causal=True), words((5, 1, 0, 3, 9, 4), WIDTH)
    encoded = encoder(batch)
    lower = encoder_of(layers=2, causal=True)
    lower.load_state_dict(encoder.state_dict(), strict=False)
    below = [by_the_paper(lower, text) if len(text) else None for text in batch]
    for t, text in enumerate(batch):
        if not len(text):
            continue
        second = (t + 3) % 6
        memory = (
            below[second][: len(batch[second])] if len(batch[second]) else torch.zeros(0, WIDTH).double()
        )
        h = below[t]
        for block in encoder.pair_blocks:
            h = mixed_by_the_paper(block.block, h, len(text), encoder.config)
            looks = torch.zeros_like(h)
            for i in range(len(text) if len(memory) else 0):
                looks[i] = looked_at(block.heads, h[i], memory)
            z = block.norm(h + looks)
            h = block.block.norm2(z + block.block.down(torch.relu(block.block.up(z))))
        torch.testing.assert_close(encoded.tokens[t], h[: len(text)], rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(encoded.summary[t], h[-1], rtol=1e-9, atol=1e-9)


def test_pair_layers_need_pairs(words):
    with pytest.raises(ConfigError, match="got 3 texts"):
        encoder_of(pair_layers=1)(words((2, 3, 1), WIDTH))
    config = ModelConfig.from_json({"encoder": {"name": "bp-transformer", "width": 4, "pair_layers": 1}})
    with pytest.raises(ConfigError, match="pair_layers are for pairs"):
        TextClassifierModel(config, Vocabulary.build([["a"]]), ("x", "y"))
