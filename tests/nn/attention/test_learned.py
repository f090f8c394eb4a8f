"""Heads whose priors have parameters: double loops, and each implementation against the reference."""

import copy
import functools
import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.attention import IMPLEMENTATIONS, SelfAttention, attention, choose
from headwise.nn.attention.sdpa import Plan
from headwise.nn.layout import Layout
from headwise.nn.priors import (
    AdaptiveSpan,
    Backward,
    Cope,
    Earlier,
    Everything,
    Fire,
    Forgetting,
    Forward,
    GlobalTokens,
    Kerple,
    LearnedSlope,
    PositionPairs,
    Rotary,
    Shaw,
    Sink,
    Sum,
    T5Buckets,
    TransformerXL,
    TreeBuckets,
    TreeRelations,
    Window,
    WordDistance,
)
from headwise.nn.priors.learned import Tuned, attach_terms, learned_modules
from headwise.nn.ragged import Ragged

WIDTH, SIZE = 6, 4
LENGTHS = (5, 0, 12, 1, 2, 5)
LEARNED = [Shaw(2), Shaw(3, values=False), TransformerXL(), T5Buckets(8, 6), TreeBuckets(3)]
LEARNED += [TreeRelations()]
DECAYS = [LearnedSlope(), Kerple(), Kerple("power"), Fire(3), AdaptiveSpan(2, 3), Forgetting(), Cope(2)]
DECAYS += [Sink()]
LISTS = {
    **{str(prior): [prior, Everything(), prior + Forward()] for prior in LEARNED + DECAYS},
    "all on one head": [Sum(tuple(LEARNED))] * 2,
    "nothing to see": [Earlier() + Shaw(2), Earlier() + TransformerXL() + Rotary()],
    "one position": [Window(width=1) + Shaw(2), Window(width=1)],
    "global": [GlobalTokens(Window(width=3) + Shaw(2)), Shaw(2) + WordDistance(0.3)],
}
exactly = {"rtol": 1e-10, "atol": 1e-10}
every_list = pytest.mark.parametrize("name", list(LISTS))
# Bands have no parameters: heads with some are left to the others.
every_implementation = pytest.mark.parametrize(
    "impl", [name for name in IMPLEMENTATIONS if name not in ("banded", "triton")]
)


def layer_of(priors, impl="reference", seed=0) -> SelfAttention:
    torch.manual_seed(seed)
    layer = SelfAttention(WIDTH, priors, SIZE, impl=impl).double()
    for parameter in layer.learned.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return layer


def batch_of(lengths=LENGTHS, texts=None) -> Ragged:
    """Random texts with random symmetric "trees"; each is the same in every batch."""
    values, trees, parses = [], [], []
    for text, n in zip(texts or range(len(lengths)), lengths, strict=True):
        random = torch.Generator().manual_seed(text)
        values.append(torch.randn(n, WIDTH, generator=random, dtype=torch.float64))
        tree = torch.randint(0, 6, (n, n), generator=random, dtype=torch.int16)
        trees.append(tree + tree.T)
        parses.append((torch.rand(n, generator=random) * torch.arange(n)).ceil().long())
    return Ragged(torch.cat(values), Layout(lengths, trees=trees, heads=parses))


def with_gradients(layer, batch):
    """Output, and the gradients of the input and of every parameter, for a fixed loss."""
    values = batch.values.detach().requires_grad_()
    parameters = dict(layer.named_parameters())
    output = layer(batch.with_values(values)).values
    loss = (output * torch.linspace(-1, 2, output.numel()).view_as(output)).sum()
    gradients = torch.autograd.grad(loss, [values, *parameters.values()], allow_unused=True)
    got = {"output": output.detach()}
    for (name, of), gradient in zip({"input": values, **parameters}.items(), gradients, strict=True):
        got[name] = torch.zeros_like(of) if gradient is None else gradient
    return got


@every_implementation
@every_list
def test_values_and_gradients_equal_the_reference(impl, name):
    batch = batch_of()
    expected = with_gradients(layer_of(LISTS[name]), batch)
    got = with_gradients(layer_of(LISTS[name], impl), batch)
    for part in expected:
        torch.testing.assert_close(got[part], expected[part], **exactly, msg=lambda m, p=part: f"{p}: {m}")


def score_by_hand(terms, prior, head, q, k, i, j, tree, parent) -> float:
    """What a learned prior adds to one scaled logit, from its paper."""
    match prior:
        case Shaw():
            c = max(-prior.span, min(prior.span, j - i)) + prior.span
            return q[i] @ terms.keys[c] / SIZE**0.5
        case TransformerXL():
            frequencies = [10000 ** (-2 * m / WIDTH) for m in range(WIDTH // 2)]
            angles = torch.tensor([(i - j) * f for f in frequencies], dtype=torch.float64)
            r = terms.relative[head] @ torch.cat([angles.sin(), angles.cos()])
            return (terms.u[head] @ k[j] + (q[i] + terms.v[head]) @ r) / SIZE**0.5
        case TreeBuckets():
            return terms.bias[head, min(int(tree[i, j]), prior.furthest)]
        case Sink():
            return 0.0
        case TreeRelations():
            tests = {
                "itself": i == j,
                "parent": j == parent[i],
                "child": i == parent[j],
                "sibling": parent[i] == parent[j],
            }
            name = next((name for name, holds in tests.items() if holds), "other")
            return terms.bias[head, TreeRelations.NAMES.index(name)]
        case T5Buckets(8, 6):  # of one side: 0, 1, from 2, from sqrt(12)
            steps = abs(i - j)
            bucket = steps if steps < 2 else 2 if steps < 12**0.5 else 3
            return terms.bias[head, bucket + 4 * (j > i)]
        case LearnedSlope():
            return -(2.0 ** (-8 * (head + 1) / 2)) * math.exp(4 * terms.raw[head]) * abs(i - j)
        case Kerple():
            first, second = map(float, terms.raw[:, head])
            first = 0.1 * math.exp(4 * first)
            if prior.form == "log":
                return -first * math.log(1 + math.exp(4 * second) * abs(i - j))
            return -first * abs(i - j) ** (2 / (1 + math.exp(-4 * second)))
        case Fire():
            scale, least = math.exp(terms.log_scale), math.exp(terms.log_least)
            part = math.log(scale * abs(i - j) + 1) / math.log(scale * max(least, i, len(q) - 1 - i) + 1)
            part = part if j >= i else -part
            units = [
                max(0.0, float(w) * part + float(b))
                for w, b in zip(terms.first.weight[:, 0], terms.first.bias, strict=True)
            ]
            return sum(float(w) * unit for w, unit in zip(terms.last.weight[head], units, strict=True))
        case AdaptiveSpan():
            span = prior.start * math.exp(4 * terms.raw[head])
            mask = min(max((prior.ramp + span - abs(i - j)) / prior.ramp, 0.0), 1.0)
            return math.log(mask) if mask else -80.0
        case Forgetting():
            between = range(min(i, j) + 1, max(i, j) + 1)
            gates = [torch.sigmoid(k[m] @ terms.weight[head] + 3 + 4 * terms.raw[head]) for m in between]
            return sum(map(torch.log, gates), torch.tensor(0.0))
        case Cope():
            place = sum(torch.sigmoid(q[i] @ k[m]).item() for m in range(min(i, j), max(i, j) + 1))
            place, table = min(place, prior.furthest), terms.tables[int(j > i)]
            low, high = table[math.floor(place)], table[math.ceil(place)]
            vector = low + (place - math.floor(place)) * (high - low)
            return q[i] @ vector / SIZE**0.5
    raise NotImplementedError(prior)


@every_implementation
@pytest.mark.parametrize("prior", LEARNED + DECAYS, ids=str)
def test_equations_in_a_double_loop(prior, impl):
    layer, batch = layer_of([prior, Forward() + prior], impl), batch_of((7, 1, 3))
    [terms] = layer.learned
    terms.requires_grad_(False)
    got = layer(batch)
    for text, (x, tree, output) in enumerate(zip(batch, batch.layout.trees, got, strict=True)):
        heads, parent = [], [number - 1 for number in batch.layout.heads[text].tolist()]
        for head in range(2):
            part = slice(SIZE * head, SIZE * head + SIZE)
            q, k, v = (x @ w.weight[part].T for w in (layer.query, layer.key, layer.value))
            rows = []
            for i in range(len(x)):
                keys = range(i + 1) if head else range(len(x))
                logits = [
                    q[i] @ k[j] / SIZE**0.5 + score_by_hand(terms, prior, head, q, k, i, j, tree, parent)
                    for j in keys
                ]
                if prior == Sink():
                    logits.append(4 * terms.raw[head])
                weights = torch.stack(logits).softmax(0)[: len(keys)]
                values = [v[j] for j in keys]
                if prior == Shaw(2):
                    values = [
                        u + terms.values[max(-2, min(2, j - i)) + 2]
                        for u, j in zip(values, keys, strict=True)
                    ]
                rows.append(weights @ torch.stack(values))
            heads.append(torch.stack(rows))
        torch.testing.assert_close(output, torch.cat(heads, dim=-1) @ layer.out.weight.T, **exactly)


@every_implementation
@pytest.mark.parametrize("prior", [*LEARNED, Sum(tuple(LEARNED))], ids=str)
def test_tables_of_zeros_are_plain_attention(prior, impl):
    layer, plain = layer_of([prior] * 2, impl), layer_of([Everything()] * 2, impl)
    for parameter in layer.learned.parameters():
        torch.nn.init.zeros_(parameter)
    torch.testing.assert_close(layer(batch_of()).values, plain(batch_of()).values, **exactly)


@every_implementation
def test_one_vector_for_all_distances_is_plain_attention(impl):
    """It adds the same to all logits of a query."""
    layer, plain = layer_of([Shaw(0)] * 2, impl), layer_of([Everything()] * 2, impl)
    torch.nn.init.zeros_(layer.learned[0].values)
    torch.testing.assert_close(layer(batch_of()).values, plain(batch_of()).values, **exactly)


@pytest.mark.parametrize("prior", [Shaw(2), TransformerXL(), T5Buckets(8, 6)], ids=str)
def test_scores_know_positions_by_their_difference_alone(prior):
    [terms] = learned_modules([prior], SIZE, WIDTH)
    for parameter in terms.parameters():
        torch.nn.init.normal_(parameter)
    q, k = torch.randn(2, 1, SIZE).expand(2, 9, SIZE)
    score = terms.score(q, k, PositionPairs.of_length(9), 0)
    torch.testing.assert_close(score[1:, 1:], score[:-1, :-1])
    assert not torch.allclose(score[1:], score[:-1])


@every_implementation
@every_list
def test_batch_equals_single_and_order_does_not_matter(impl, name):
    layer = layer_of(LISTS[name], impl)
    together = layer(batch_of())
    for order in [[t] for t in range(len(LENGTHS))] + [[4, 2, 0, 5, 1, 3]]:
        alone = layer(batch_of([LENGTHS[t] for t in order], order))
        torch.testing.assert_close(alone.values, together[order].values, **exactly)


@every_implementation
@every_list
def test_a_poisoned_text_spoils_only_itself(impl, name):
    layer, batch = layer_of(LISTS[name], impl), batch_of()
    clean = batch.layout.text_of != 2
    spoilt = batch.with_values(batch.values.masked_fill(~clean[:, None], float("nan")))
    torch.testing.assert_close(layer(spoilt).values[clean], layer(batch).values[clean], **exactly)


@every_list
def test_gradients_reach_every_parameter(name):
    got = with_gradients(layer_of(LISTS[name], "sdpa"), batch_of())
    still = {part for part, gradient in got.items() if gradient.abs().max() < 1e-9}
    # A head that sees its own position alone learns no scores; all texts reach farther than FIRE's L.
    without = {
        "one position": {"query.weight", "key.weight", "learned.0.keys"},
        "fire 3": {"learned.0.log_least"},
    }
    assert still == without.get(name, set())


@every_implementation
@every_list
def test_gradcheck(impl, name):
    layer, batch = layer_of(LISTS[name], impl), batch_of((3, 0, 1))

    def run(values, *_):
        return layer(batch.with_values(values)).values

    inputs = [batch.values.requires_grad_(), *layer.parameters()]
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True)


def test_heads_with_the_same_prior_share_its_module():
    layer = layer_of(
        [Shaw(2) + Forward(), TransformerXL(), Backward() + Shaw(2), TransformerXL() + Shaw(3)]
    )
    shapes = {name: tuple(p.shape) for name, p in layer.learned.named_parameters()}
    assert shapes == {
        "0.keys": (5, SIZE),
        "0.values": (5, SIZE),
        "1.u": (2, SIZE),
        "1.v": (2, SIZE),
        "1.relative": (2, SIZE, WIDTH),
        "2.keys": (7, SIZE),
        "2.values": (7, SIZE),
    }
    assert not list(SelfAttention(WIDTH, [Forward(), Rotary()], SIZE).learned.parameters())


def test_the_same_learned_prior_twice_on_a_head_is_one():
    twice, once = layer_of([Shaw(2) + Shaw(2)]), layer_of([Shaw(2)])
    torch.testing.assert_close(twice(batch_of()).values, once(batch_of()).values)


def test_nothing_learned_is_remembered():
    """One layout through several steps of training, and through several layers."""
    layer, batch = layer_of([Shaw(2), Forward() + TransformerXL(), Forward()], "sdpa"), batch_of()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    outputs = []
    for _ in range(3):
        output = layer(batch).values
        outputs.append(output.detach())
        output.square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert not torch.allclose(outputs[0], outputs[1])
    fresh = layer(batch_of()).values
    torch.testing.assert_close(layer(batch).values, fresh, **exactly)
    for group in Plan.of(batch.layout).groups:
        assert {prior for prior, _ in group.masks} == {Shaw(2), Forward() + TransformerXL(), Forward()}
        masks = [x for mask in group.masks.values() for x in mask if x is not None]
        assert not any(mask.requires_grad for mask in masks)


@every_implementation
def test_inference_first_and_training_later_on_one_layout(impl):
    layer, batch = layer_of([Sum(tuple(LEARNED)), Rotary()], impl), batch_of()
    with torch.inference_mode():
        before = layer(batch).values
    assert torch.equal(before, with_gradients(layer, batch)["output"])


def test_works_under_autocast():
    layer = layer_of([Sum(tuple(LEARNED)), Rotary() + Shaw(2), Forward()], "sdpa").float()
    batch = batch_of().map(torch.Tensor.float)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = layer(batch)
        mixed.values.sum().backward()
    assert mixed.values.dtype == torch.bfloat16
    torch.testing.assert_close(mixed.values.float(), layer(batch).values, rtol=0.1, atol=0.1)


@every_implementation
def test_bfloat16(impl):
    layer = layer_of([Sum(tuple(LEARNED)), Rotary() + Shaw(2), Forward()], impl)
    exact = layer(batch_of()).values
    got = layer.bfloat16()(batch_of().map(torch.Tensor.bfloat16)).values
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got.double(), exact, rtol=0.1, atol=0.15)


@every_list
def test_copies_are_independent(name):
    layer, batch = layer_of(LISTS[name], "sdpa"), batch_of()
    expected = layer(batch).values
    second = copy.deepcopy(layer)
    for parameter in layer.learned.parameters():
        torch.nn.init.ones_(parameter)
    torch.testing.assert_close(second(batch).values, expected)
    fresh = layer_of(LISTS[name], "sdpa", seed=1)
    fresh.load_state_dict(second.state_dict())
    torch.testing.assert_close(fresh(batch).values, expected)


def test_without_its_module_a_learned_prior_is_refused(inputs):
    tensors, layout = inputs((2, 1), 2, 4), Layout([2, 1])
    with pytest.raises(ConfigError, match="'forward \\+ shaw 16' has parameters: it works inside of"):
        attention(*tensors, [Forward() + Shaw(), Everything()], layout)


def test_the_chooser_knows_tuned_priors(inputs):
    priors = [Shaw(1), Forward()]
    tuned = attach_terms(priors, learned_modules(priors, 4, 4))
    assert choose(inputs((2, 1), 2, 4)[0], tuned, Layout([2, 1])).groups == (
        ("banded", (1,)),
        ("sdpa", (0,)),
    )
    assert isinstance(tuned[0], Tuned)
    assert tuned[1] is priors[1]
    assert tuned[0].band(torch.tensor([3])) is None


@every_implementation
def test_trees_are_asked_for(impl):
    plain = Ragged.from_lengths(torch.zeros(3, WIDTH, dtype=torch.float64), [3])
    with pytest.raises(HeadwiseError, match="without parses"):
        layer_of([TreeBuckets()], impl)(plain)
    assert layer_of([TreeBuckets(fallback="word")], impl)(plain).values.isfinite().all()


simple = st.sampled_from(
    [
        *LEARNED,
        Rotary(),
        Forward(),
        Backward(),
        Earlier(),
        Window(width=1),
        Window(fraction=0.5),
        WordDistance(),
    ]
)
heads = st.lists(simple, min_size=1, max_size=3).map(lambda parts: Sum(tuple(parts)))


@every_implementation
@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    st.lists(heads | st.builds(GlobalTokens, heads, st.integers(1, 2)), min_size=1, max_size=3),
    st.lists(st.integers(0, 12), max_size=4),
)
def test_fuzz(impl, priors, lengths):
    run = functools.partial(with_gradients, batch=batch_of(lengths) if lengths else batch_of((0,)))
    expected, got = run(layer_of(priors)), run(layer_of(priors, impl))
    for part in expected:
        torch.testing.assert_close(got[part], expected[part], **exactly)


@pytest.mark.parametrize("prior", [T5Buckets(8, 6), TreeBuckets(3), Shaw(2)], ids=str)
def test_gradients_of_shared_numbers_in_16_bits_are_summed_in_32(prior):
    """Thousands of pairs share a bucket: 16 bits hold no sum of their gradients."""
    n, generator = 600, torch.Generator().manual_seed(0)
    random = functools.partial(torch.rand, generator=generator, dtype=torch.bfloat16)
    query, upstream = random(n, SIZE), random(n, n)
    terms = prior.module(1, SIZE, WIDTH).bfloat16()
    torch.nn.init.normal_(next(terms.parameters()), generator=generator)
    pairs = PositionPairs.of_length(n, tree=batch_of((n,)).layout.trees[0])
    gradients = {}
    for dtype in (torch.bfloat16, torch.float64):
        of_dtype, rows = copy.deepcopy(terms).to(dtype), query.to(dtype).requires_grad_()
        scores = of_dtype.score(rows, rows, pairs, 0)
        got = torch.autograd.grad(
            scores, [of_dtype.bias if hasattr(of_dtype, "bias") else of_dtype.keys], upstream.to(dtype)
        )
        value = of_dtype.value(upstream.to(dtype), pairs, 0)
        gradients[dtype] = [*got, *([] if value is None else [value])]
    for half, exact in zip(gradients[torch.bfloat16], gradients[torch.float64], strict=True):
        assert (half.double() - exact).norm() < 0.02 * exact.norm()
