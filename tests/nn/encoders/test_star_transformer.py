"""The Star-Transformer against its equations and against what follows from them."""

import pytest
import torch
from torch.nn.functional import leaky_relu, relu

from headwise.core.errors import ConfigError
from headwise.nn.encoders import StarTransformer, StarTransformerConfig
from headwise.nn.encoders.pooling import Readout
from headwise.nn.encoders.star_transformer import ring_of
from headwise.nn.ragged import Ragged

WIDTH, HEADS, SIZE = 8, 2, 3
BARE = {"width": WIDTH, "heads": HEADS, "head_size": SIZE, "layers": 1, "positions": "none"}


def encoder_of(**config) -> StarTransformer:
    torch.manual_seed(0)
    encoder = StarTransformer(StarTransformerConfig(**(BARE | config))).double().eval()
    for name, parameter in encoder.named_parameters():
        if "norm" in name or name.endswith("bias"):
            torch.nn.init.normal_(parameter)  # or a forgotten one would not be seen
    return encoder


def multi_att(attention, query, context, *, beyond=0):
    """One query `[width]` over `[nodes, width]`, and over so many keys and values of 0."""
    heads = []
    for h in range(HEADS):
        part = slice(SIZE * h, SIZE * h + SIZE)
        q, k, v = (
            x @ p.weight[part].T + (0 if p.bias is None else p.bias[part])
            for x, p in (
                (query, attention.query),
                (context, attention.key),
                (context, attention.value),
            )
        )
        k, v = (torch.cat([x, x.new_zeros(beyond, SIZE)]) for x in (k, v))
        heads.append((k @ q / SIZE**0.5).softmax(0) @ v)
    return attention.out(torch.cat(heads))


def by_the_paper(encoder, e):
    """One text's satellites and the mean of its relays, word by word."""
    c = encoder.config
    h, s, n = e, e.mean(0, keepdim=True) if len(e) else torch.zeros(1, WIDTH, dtype=e.dtype), len(e)
    s = s if c.relays == 1 else s + encoder.relay_vectors
    activation = relu if c.variant == "paper" else leaky_relu
    for step in encoder.steps:
        seen = h if c.variant == "paper" else step.norm(h)
        new = []
        for i in range(n):
            places = [i - 1, i, i + 1]
            there = [j % n for j in places] if c.ring == "wrap" else [j for j in places if 0 <= j < n]
            context = torch.stack([*(seen[j] for j in there), e[i], *s])
            beyond = 3 - len(there) if c.ring == "zero" else 0
            update = activation(multi_att(step.ring_attention, seen[i], context, beyond=beyond))
            new.append(update + h[i] if c.residual else update)
        h = torch.stack(new) if new else h
        h = step.norm(h) if c.variant == "paper" else h
        nodes = torch.cat([s, h])
        update = activation(torch.stack([multi_att(step.relay_attention, relay, nodes) for relay in s]))
        s = update + s if c.residual else update
        s = step.relay_norm(s) if c.variant == "paper" else s
    return h, s.mean(0)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("variant", ["paper", "fastnlp"])
@pytest.mark.parametrize("ring", ["wrap", "truncate", "zero"])
@pytest.mark.parametrize(("bias", "relays"), [(True, 1), (False, 1), (True, 3)])
def test_equations(ring, variant, residual, bias, relays, words):
    encoder = encoder_of(layers=3, ring=ring, variant=variant, residual=residual, bias=bias, relays=relays)
    batch = words((5, 1, 0, 2, 3, 11), WIDTH)
    encoded = encoder(batch)
    for t, text in enumerate(batch):
        satellites, relay = by_the_paper(encoder, text)
        torch.testing.assert_close(encoded.tokens[t], satellites, rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(encoded.summary[t], relay, rtol=1e-10, atol=1e-10)


def test_word_vectors_of_every_step_hold_the_positions(words):
    encoder, batch = encoder_of(layers=2, positions="learned", max_positions=9), words((5, 9), WIDTH)
    satellites, relay = by_the_paper(encoder, encoder.positions(batch)[1])
    torch.testing.assert_close(encoder(batch).tokens[1], satellites)
    torch.testing.assert_close(encoder(batch).summary[1], relay)


@pytest.mark.parametrize(
    ("config", "holds"),
    [
        ({}, True),
        ({"ring": "truncate"}, False),
        ({"ring": "zero"}, False),
        ({"positions": "sinusoidal"}, False),
    ],
)
@pytest.mark.parametrize("shift", [1, 3, 8])
def test_cyclic_shift(config, holds, shift, words):
    """On a closed ring no word is the first, also beside a longer text."""
    encoder, batch = encoder_of(layers=3, **config), words((9, 14), WIDTH)
    rolled = Ragged.from_list([batch[0].roll(shift, 0), batch[1]])
    straight, shifted = encoder(batch), encoder(rolled)
    same = torch.allclose(straight.tokens[0].roll(shift, 0), shifted.tokens[0], rtol=0, atol=1e-12)
    assert same is holds
    assert torch.allclose(straight.summary[0], shifted.summary[0], rtol=0, atol=1e-12) is holds


@pytest.mark.parametrize("ring", ["wrap", "truncate", "zero"])
@pytest.mark.parametrize(("positions", "holds"), [("none", True), ("sinusoidal", False)])
def test_reversal(ring, positions, holds, words):
    encoder, batch = encoder_of(layers=3, ring=ring, positions=positions), words((9,), WIDTH)
    straight, mirrored = encoder(batch), encoder(batch.map(lambda x: x.flip(0)))
    same = torch.allclose(straight.tokens.values.flip(0), mirrored.tokens.values, rtol=0, atol=1e-12)
    assert same is holds
    assert torch.allclose(straight.summary, mirrored.summary, rtol=0, atol=1e-12) is holds


@pytest.mark.parametrize(("ring", "holds"), [("wrap", True), ("truncate", False)])
def test_three_words_in_a_ring_all_see_each_other(ring, holds, words):
    """So their order does not matter."""
    encoder, batch = encoder_of(layers=2, ring=ring), words((3,), WIDTH)
    order = [1, 0, 2]
    straight, swapped = encoder(batch), encoder(batch.map(lambda x: x[order]))
    assert torch.allclose(straight.tokens.values[order], swapped.tokens.values) is holds
    assert torch.allclose(straight.summary, swapped.summary) is holds


@pytest.mark.parametrize(("n", "neighbours"), [(1, [0, 0, 0]), (2, [1, 0, 1])])
def test_shortest_rings_meet_a_neighbour_more_than_once(n, neighbours, words):
    """One word sees h, h, h, e, s."""
    encoder, batch = encoder_of(), words((n,), WIDTH)
    [step], h = encoder.steps, batch.values
    context = torch.cat([h[neighbours], h[:1], h.mean(0, keepdim=True)])
    expected = step.norm(relu(multi_att(step.ring_attention, h[0], context)))
    torch.testing.assert_close(encoder(batch).tokens.values[0], expected)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("ring", ["wrap", "truncate"])
def test_information_flow(layers, ring, words):
    """T steps carry a word T places along the ring; whatever goes further went through the relay."""
    encoder, batch = encoder_of(layers=layers, ring=ring), words((21,), WIDTH)
    nudge = torch.linspace(-2, 2, WIDTH, dtype=torch.float64)

    def changed(edited):
        difference = (encoder(batch.with_values(edited)).tokens.values - encoder(batch).tokens.values).abs()
        return (difference.max(-1).values > 1e-9).nonzero().flatten().tolist()

    alone, balanced = batch.values.clone(), batch.values.clone()
    alone[2] += nudge
    assert changed(alone) == list(range(21))  # the first relay is the mean of all words
    for step in encoder.steps:  # later relays are cut off, and this edit leaves the mean alone
        torch.nn.init.zeros_(step.relay_attention.out.weight)
    balanced[2] += nudge
    balanced[3] -= nudge
    reach = range(2 - layers, 3 + layers + 1)
    assert changed(balanced) == sorted(
        {i % 21 for i in reach} if ring == "wrap" else {i for i in reach if i >= 0}
    )


@pytest.mark.parametrize("ring", ["wrap", "truncate"])
def test_satellites_equal_dense_attention_with_a_band(ring, words):
    """Attention over the n words, the n word vectors and the relay, with a mask of a band of 3, a diagonal
    and a full column."""
    encoder, n = encoder_of(ring=ring), 9
    [step], batch = encoder.steps, words((n,), WIDTH)
    h, s = words((n,), WIDTH, seed=1).values, words((1,), WIDTH, seed=2).values
    nodes, att = torch.cat([h, batch.values, s]), step.ring_attention
    q, k, v = (
        projection(x).view(-1, HEADS, SIZE).transpose(0, 1)
        for projection, x in ((att.query, h), (att.key, nodes), (att.value, nodes))
    )
    distance = (torch.arange(n)[:, None] - torch.arange(n)).abs()
    band = (distance <= 1) | ((distance == n - 1) if ring == "wrap" else False)
    mask = torch.cat([band, torch.eye(n, dtype=torch.bool), torch.ones(n, 1, dtype=torch.bool)], dim=1)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    expected = att.out(mixed.transpose(0, 1).flatten(1))
    got = step.satellites(h, batch.values, s, ring_of(batch.layout, ring))
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


def test_padding_of_any_content_is_inert(words):
    encoder, batch = encoder_of(layers=2), words((2, 5, 3), WIDTH)
    expected = encoder(batch)
    for fill in (float("nan"), 1e30):
        padded, mask = batch.to_padded(fill)
        got = encoder(Ragged.from_padded(padded, mask))
        torch.testing.assert_close(got.tokens.values, expected.tokens.values)
        torch.testing.assert_close(got.summary, expected.summary)


def test_an_empty_texts_relay_sees_itself_alone(words):
    encoder, batch = encoder_of(), words((0, 2), WIDTH)
    [step] = encoder.steps
    expected = step.relay_norm(relu(step.relay_attention.out(step.relay_attention.value.bias)))
    torch.testing.assert_close(encoder(batch).summary[0], expected)


def test_the_maximum_leaves_the_relay_out(words):
    """The paper's readout: the relay, and the maximum over the satellites."""
    encoded = encoder_of(layers=2)(words((4, 7), WIDTH))
    tops = torch.stack([text.max(0).values for text in encoded.tokens])
    torch.testing.assert_close(Readout("node+max", WIDTH)(encoded), encoded.summary + tops)


@pytest.mark.parametrize("relays", [1, 4])
def test_edges_grow_with_the_words(relays, words):
    for n in (4, 4000):
        [block] = ring_of(words((n, n), 1).layout, "wrap", relays).blocks
        assert len(block.keys) == (4 + relays) * 2 * n


def test_relays_may_change_places(words):
    """The summary is their mean, so no relay is the first; and they differ from the start."""
    encoder, batch = encoder_of(layers=2, relays=3), words((5, 0, 2), WIDTH)
    before = encoder(batch)
    assert (encoder.relay_vectors.std(0) > 0).all()
    encoder.relay_vectors = torch.nn.Parameter(encoder.relay_vectors[[2, 0, 1]])
    torch.testing.assert_close(encoder(batch).summary, before.summary)
    torch.testing.assert_close(encoder(batch).tokens.values, before.tokens.values)


def test_each_relay_learns(words):
    encoder, batch = encoder_of(layers=2, relays=3), words((5, 2), WIDTH)
    encoder(batch).summary.square().sum().backward()
    assert (encoder.relay_vectors.grad.abs().sum(1) > 0).all()


def test_parameters():
    """Of each step: two attentions of four matrices with biases, two norms."""
    encoder = StarTransformer()
    sizes = [sum(p.numel() for p in step.parameters()) for step in encoder.steps]
    assert sizes == [2 * 4 * (300 * 300 + 300) + 2 * 600] * 2
    fastnlp = StarTransformer(
        StarTransformerConfig(variant="fastnlp", bias=False, layers=1, positions="none")
    )
    assert sum(p.numel() for p in fastnlp.parameters()) == 2 * 4 * 300 * 300 + 600
    assert fastnlp.steps[0].norm.eps == 1e-6


def test_heads_need_not_fill_the_width():
    encoder = StarTransformer(StarTransformerConfig(heads=8, head_size=32))
    assert encoder(Ragged.from_lengths(torch.randn(3, 300), [3])).summary.shape == (1, 300)


@pytest.mark.parametrize("config", [{"ring": "open"}, {"variant": "released"}])
def test_unknown_ring_or_variant(config):
    [(name, value)] = config.items()
    with pytest.raises(ConfigError, match=f"{name}: unknown value '{value}'; expected one of"):
        StarTransformer(StarTransformerConfig(**config))
