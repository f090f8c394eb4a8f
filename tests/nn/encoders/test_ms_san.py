"""MS-SAN against its equations and against what follows from them (the oracles are numbered in names)."""

import pytest
import torch

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.attention import attention
from headwise.nn.encoders import MSSAN, MSSANConfig
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.ms_san import FusionGate
from headwise.nn.encoders.pooling import AttentivePooling, Readout
from headwise.nn.layout import Layout
from headwise.nn.priors import Backward, Everything, Forward, Prior, Shaw, TransformerXL, WordDistance
from headwise.nn.ragged import Ragged
from headwise.text.syntax import tree_distances

WIDTH = 12
SMALL = {"width": WIDTH, "heads": 6, "head_size": 4, "feedforward": 7}
LENGTHS = (5, 1, 9, 5)
exactly = {"rtol": 1e-10, "atol": 1e-10}


def encoder_of(**config) -> MSSAN:
    torch.manual_seed(0)
    encoder = MSSAN(MSSANConfig(**(SMALL | config))).double().eval()
    for name, parameter in encoder.named_parameters():
        if "norm" in name or "bias" in name:
            torch.nn.init.normal_(parameter)  # or a forgotten one would not be seen
    return encoder


def tree_of(n, seed=0):
    random = torch.Generator().manual_seed(seed)
    heads = [0] + [int(torch.randint(1, k + 1, (), generator=random)) for k in range(1, n)]
    return torch.from_numpy(tree_distances(heads[:n], n))


@pytest.fixture
def parsed(words):
    """`with_parses(lengths)`: random texts, each with a random tree of its own."""

    def make(lengths=LENGTHS, width=WIDTH):
        trees = [tree_of(n, seed) for seed, n in enumerate(lengths)]
        return Ragged(words(lengths, width).values, Layout(lengths, trees=trees))

    return make


def by_the_paper(block, x, tree, masks):
    """Eq. 1-10 for one text; `masks` names direction and distance of each head."""
    n = len(x)
    heads = []
    for h, (direction, distance) in enumerate(masks):
        part = slice(4 * h, 4 * h + 4)
        q, k, v = (
            x @ w.weight[part].T
            for w in (block.attention.query, block.attention.key, block.attention.value)
        )
        mask = torch.zeros(n, n, dtype=torch.float64)
        for i in range(n):
            for j in range(n):
                if (direction == "forward" and j > i) or (direction == "backward" and j < i):
                    mask[i, j] = -torch.inf
                else:
                    steps = {"word": abs(i - j), "tree": int(tree[i, j]), "none": 0}[distance]
                    mask[i, j] = -0.7 * steps
        heads.append((q @ k.T / 2 + mask).softmax(-1) @ v)
    output = torch.cat(heads, dim=-1) @ block.attention.out.weight.T
    gate = block.gate
    inputs, output = x @ gate.input.weight.T, output @ gate.output.weight.T
    f = (
        inputs @ gate.gate_input.weight.T + output @ gate.gate_output.weight.T + gate.gate_output.bias
    ).sigmoid()
    z = f * inputs + (1 - f) * output
    inner = (z @ block.up.weight.T + block.up.bias).clamp(min=0) @ block.down.weight.T + block.down.bias
    h = z + inner
    h = (h - h.mean(-1, keepdim=True)) / (h.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
    return h * block.norm.weight + block.norm.bias


KINDS = ("word", "tree", "none")
FULL = [(direction, kind) for direction in ("forward", "backward") for kind in KINDS]
# The rows of Tables 2 and 4 without relative positions: settings, and the masks of the six heads.
ABLATIONS = {
    "standard": ({"direction": False, "distances": ("none",)}, [("", "none")] * 6),
    "direction": ({"distances": ("none",)}, [("forward", "none")] * 3 + [("backward", "none")] * 3),
    "word": (
        {"direction": False, "distances": ("word", "none", "none")},
        [("", k) for k in ("word", "none", "none")] * 2,
    ),
    "tree": (
        {"direction": False, "distances": ("none", "tree", "none")},
        [("", k) for k in ("none", "tree", "none")] * 2,
    ),
    "word & tree": ({"direction": False}, [("", k) for k in KINDS] * 2),
    "direction & word": (
        {"distances": ("word", "none", "none")},
        [(d, k) for d in ("forward", "backward") for k in ("word", "none", "none")],
    ),
    "direction & tree": (
        {"distances": ("none", "tree", "none")},
        [(d, k) for d in ("forward", "backward") for k in ("none", "tree", "none")],
    ),
    "all": ({}, FULL),
}


@pytest.mark.parametrize(("name", "prior"), [("shaw", Shaw(3)), ("xl", TransformerXL())])
@pytest.mark.parametrize("direction", [True, False])
def test_rows_with_relative_positions(name, prior, direction, words):
    """Tables 2 and 4: + Shaw and + Transformer-XL, each with and without direction."""
    encoder = encoder_of(distances=(name,), direction=direction, shaw_span=3)
    [[block]] = encoder.stacks
    priors = [Forward() + prior] * 3 + [Backward() + prior] * 3 if direction else [prior] * 6
    assert block.attention.priors == tuple(priors)
    plain = encoder_of(distances=("none",), direction=direction)
    for parameter in block.attention.learned.parameters():
        torch.nn.init.zeros_(parameter)
    plain.load_state_dict(encoder.state_dict(), strict=False)
    torch.testing.assert_close(
        encoder(words(LENGTHS, WIDTH)).tokens.values, plain(words(LENGTHS, WIDTH)).tokens.values
    )


def test_relative_positions_cost_the_tables_alone():
    def size(**config):
        return sum(p.numel() for p in MSSAN(MSSANConfig(**config)).parameters())

    bare = size(distances=("none",))
    assert size(distances=("shaw",)) == bare + 2 * (2 * 16 + 1) * 50  # shared by the heads
    assert size(distances=("xl",)) == bare + 2 * 6 * 50 + 300 * 300  # u, v and W_R


@pytest.mark.parametrize("impl", ["reference", "sdpa"])
@pytest.mark.parametrize("row", list(ABLATIONS))
def test_equations_for_every_row_of_the_ablations(row, impl, parsed):
    config, masks = ABLATIONS[row]
    encoder, batch = encoder_of(distance_alpha=0.7, attention=impl, **config), parsed()
    [[block]] = encoder.stacks
    encoded = encoder(batch)
    assert encoded.summary is None
    for got, x, tree in zip(encoded.tokens, batch, batch.layout.trees, strict=True):
        torch.testing.assert_close(got, by_the_paper(block, x, tree, masks), **exactly)


def test_separate_encoders_look_one_way_each_and_stand_side_by_side(parsed):
    encoder, batch = encoder_of(distance_alpha=0.7, separate=True), parsed()
    [[forward], [backward]] = encoder.stacks
    assert encoder.config.output_width == 2 * WIDTH
    for got, x, tree in zip(encoder(batch).tokens, batch, batch.layout.trees, strict=True):
        halves = (
            by_the_paper(block, x, tree, [(direction, kind) for kind in KINDS * 2])
            for block, direction in ((forward, "forward"), (backward, "backward"))
        )
        torch.testing.assert_close(got, torch.cat(list(halves), dim=-1), **exactly)


def test_layers_are_stacked(parsed):
    encoder, batch = encoder_of(layers=2, distance_alpha=0.7), parsed((6,))
    [[first, second]] = encoder.stacks
    [tree] = batch.layout.trees
    expected = by_the_paper(second, by_the_paper(first, batch.values, tree, FULL), tree, FULL)
    torch.testing.assert_close(encoder(batch).tokens.values, expected, **exactly)


def test_activations_of_the_feed_forward_layer(parsed):
    results = [encoder_of(activation=name)(parsed()).tokens.values for name in ("relu", "elu", "gelu")]
    assert not any(torch.allclose(a, b) for a, b in zip(results, results[1:] + results[:1], strict=True))
    with pytest.raises(ConfigError, match="unknown activation 'tanh'"):
        encoder_of(activation="tanh")


def test_trees_belong_to_their_texts(parsed):
    """Two texts of equal length with different trees: alone, together, and in another order."""
    encoder, batch = encoder_of(), parsed((7, 7, 2, 7))
    encoded = encoder(batch).tokens
    for order in ([0], [1], [3, 1, 0, 2], [2, 3]):
        torch.testing.assert_close(encoder(batch[order]).tokens.values, encoded[order].values, **exactly)
    swapped = Layout((7, 7, 2, 7), trees=[batch.layout.trees[t] for t in (1, 0, 2, 3)])
    second = encoder(Ragged(batch.values, swapped)).tokens
    assert [torch.allclose(a, b) for a, b in zip(second, encoded, strict=True)] == [
        False,
        False,
        True,
        True,
    ]


def test_without_trees_there_is_an_error_or_the_word_distance(parsed, words):
    plain = words(LENGTHS, WIDTH)
    with pytest.raises(HeadwiseError, match="HW310"):
        encoder_of()(plain)
    # The word distance is a band and the fallback is not: other sums, in another order.
    torch.testing.assert_close(
        encoder_of(tree_fallback="word")(plain).tokens.values,
        encoder_of(distances=("word", "word", "none"))(plain).tokens.values,
    )
    batch = parsed()
    assert torch.equal(
        encoder_of(tree_fallback="word")(batch).tokens.values, encoder_of()(batch).tokens.values
    )


# The oracles


def test_o1_alpha_0_without_direction_is_plain_attention(parsed):
    batch = parsed()
    encoder, plain = (
        encoder_of(direction=False, distance_alpha=0.0),
        encoder_of(direction=False, distances=("none",)),
    )
    assert plain.stacks[0][0].attention.priors == (Everything(),) * 6
    torch.testing.assert_close(encoder(batch).tokens.values, plain(batch).tokens.values, **exactly)


def test_o2_with_a_chain_for_a_tree_dependency_distance_is_word_distance(words):
    chains = [torch.from_numpy(tree_distances([*range(2, n + 1), 0])) for n in LENGTHS]
    batch = Ragged(words(LENGTHS, WIDTH).values, Layout(LENGTHS, trees=chains))
    got, expected = (
        encoder_of(distances=(kind, "none", "none"))(batch).tokens.values for kind in ("tree", "word")
    )
    torch.testing.assert_close(got, expected, **exactly)


@pytest.mark.parametrize("row_constant", [False, True])
def test_o3_a_forward_head_with_word_distance_is_causal_alibi(row_constant):
    alpha, n = 0.3, 9
    q, k, v = torch.randn(3, n, 1, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    place = torch.arange(n).double()
    bias = alpha * place[None, :] if row_constant else alpha * (place[None, :] - place[:, None])
    logits = (q[:, 0] @ k[:, 0].T / 2 + bias).masked_fill(place[None, :] > place[:, None], -torch.inf)
    got = attention(q, k, v, [Forward() + WordDistance(alpha)], Layout([n]))
    torch.testing.assert_close(got[:, 0], logits.softmax(-1) @ v[:, 0], rtol=0, atol=1e-14)


def test_o4_reversal_swaps_the_two_halves_of_the_heads(words):
    encoder, batch = encoder_of(distances=("word", "none")), words((9,), WIDTH)
    straight = encoder(batch).tokens.values
    mirrored = encoder(batch.map(lambda x: x.flip(0))).tokens.values.flip(0)
    assert not torch.allclose(straight, mirrored)
    layer = encoder.stacks[0][0].attention
    for projection in (layer.query, layer.key, layer.value):
        projection.weight.data = projection.weight.data.roll(12, 0)  # 3 heads of 4
    layer.out.weight.data = layer.out.weight.data.roll(12, 1)
    swapped = encoder(batch.map(lambda x: x.flip(0))).tokens.values.flip(0)
    torch.testing.assert_close(swapped, straight, rtol=0, atol=1e-12)


@pytest.mark.parametrize("distance", ["word", "tree", "none"])
def test_o5_the_ends_of_a_text_see_themselves_alone(distance, parsed):
    encoder, batch = encoder_of(distances=(distance,)), parsed((7,))
    layer = encoder.stacks[0][0].attention
    q, k, v = (p(batch.values).view(7, 6, 4) for p in (layer.query, layer.key, layer.value))
    out = attention(q, k, v, layer.priors, batch.layout)
    torch.testing.assert_close(out[0, :3], v[0, :3], **exactly)
    torch.testing.assert_close(out[6, 3:], v[6, 3:], **exactly)
    assert not torch.allclose(out[6, :3], v[6, :3])


def test_o6_a_large_alpha_leaves_every_word_to_itself(parsed):
    encoder, batch = encoder_of(distances=("word", "tree", "word"), distance_alpha=1e4), parsed()
    layer = encoder.stacks[0][0].attention
    q, k, v = (p(batch.values).view(-1, 6, 4) for p in (layer.query, layer.key, layer.value))
    torch.testing.assert_close(attention(q, k, v, layer.priors, batch.layout), v, **exactly)


@pytest.mark.parametrize(("b", "share"), [(0.0, 0.5), (1e3, 1.0), (-1e3, 0.0)])
def test_o7_the_gate(b, share):
    gate = FusionGate(3).double()
    for linear, value in ((gate.input, 1), (gate.output, 1), (gate.gate_input, 0), (gate.gate_output, 0)):
        linear.weight.data = torch.eye(3, dtype=torch.float64) * value
    gate.gate_output.bias.data.fill_(b)
    inputs, outputs = torch.randn(2, 5, 3, dtype=torch.float64)
    torch.testing.assert_close(gate(inputs, outputs), share * inputs + (1 - share) * outputs)


def test_o8_attentive_pooling_of_zero_is_the_mean_and_ignores_a_constant(words):
    encoded, pool = Encoded(words(LENGTHS, WIDTH)), AttentivePooling(WIDTH).double()
    before = pool(encoded)
    pool.down.bias.data += torch.linspace(-3, 3, WIDTH)
    torch.testing.assert_close(pool(encoded), before, **exactly)
    for parameter in pool.parameters():
        parameter.data.zero_()
    torch.testing.assert_close(pool(encoded), encoded.tokens.mean(), **exactly)


def test_o9_a_constant_on_a_row_of_the_mask_changes_nothing(parsed):
    class PerQuery(Prior):
        name = "per-query"

        def score(self, pairs):
            return 0.9 * pairs.query.double()

    batch, random = parsed(), torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, batch.layout.total, 1, 4, dtype=torch.float64, generator=random)
    for prior in (Forward() + WordDistance(), Everything(), Backward()):
        got, expected = (attention(q, k, v, [p], batch.layout) for p in (prior + PerQuery(), prior))
        torch.testing.assert_close(got, expected, **exactly)


def parameters_of_a_pair_classifier(config, hidden=300, labels=3):
    """Encoder, readout and a classifier of two texts: [p; h; p * h; |p - h|] -> hidden -> labels."""
    encoder, readout = MSSAN(config), Readout(config.readout, config.output_width)
    classifier = [torch.nn.Linear(4 * readout.width, hidden), torch.nn.Linear(hidden, labels)]
    modules = [encoder, readout, *classifier]
    return readout.width, sum(p.numel() for module in modules for p in module.parameters())


def test_o10_parameters_are_the_papers_1_8_million():
    assert parameters_of_a_pair_classifier(MSSANConfig()) == (600, 1_803_303)


def test_o10_parameters_of_separate_encoders_are_the_papers_4_million():
    width, parameters = parameters_of_a_pair_classifier(MSSANConfig(separate=True))
    assert width == 1200
    assert round(parameters / 1e6, 1) == 4.0
    assert parameters == 2 * 901_500 + 721_200 + 1_441_203


# Oracle 11, the tree of the paper's example, is in tests/text/test_syntax.py.


def test_the_heads_of_figure_2():
    [[block]] = MSSAN().stacks
    assert [str(prior) for prior in block.attention.priors] == [
        f"{direction}{distance}"
        for direction in ("forward", "backward")
        for distance in (" + word distance 1", " + tree distance 1", "")
    ]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"heads": 5}, "even number of heads, got 5"),
        ({"heads": 0}, "even number of heads, got 0"),
        (
            {"distances": ("word", "syntax")},
            "unknown distance .syntax.; expected one of word, tree, shaw, xl",
        ),
        ({"distances": ()}, "unknown distance"),
        ({"separate": True, "direction": False}, "need direction = true"),
        ({"tree_fallback": "none"}, "fallback"),
    ],
)
def test_errors(config, message):
    with pytest.raises(ConfigError, match=message):
        encoder_of(**config)
