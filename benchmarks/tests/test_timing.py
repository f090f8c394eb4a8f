"""How encoders are timed. Times themselves are never asserted."""

import pytest
import torch

from benchmarks.common.timing import (
    MatrixProduct,
    balanced_heads,
    choose_clock,
    interleaved,
    measure,
    products_alone,
    profile,
    random_batch,
    spread_lengths,
    training_mode,
)
from headwise.nn.encoders import (
    MSSAN,
    BiLSTM,
    BiLSTMConfig,
    MSSANConfig,
    MSTransformer,
    MSTransformerConfig,
    StarTransformer,
    StarTransformerConfig,
    Transformer,
    TransformerConfig,
    TreeLSTM,
    TreeLSTMConfig,
)
from headwise.nn.ragged import Ragged
from headwise.text.parse_files import constituency_heads

SIZES = {"width": 8, "layers": 2, "heads": 2, "head_size": 5}


def batch(*lengths: int) -> Ragged:
    return Ragged.from_lengths(torch.randn(sum(lengths), 8), list(lengths))


def test_products_of_ms_transformer_leave_out_queries_and_keys_of_width_1():
    encoder = MSTransformer(MSTransformerConfig(**SIZES, scales=("1", "3"), alpha=0.0, attention="sdpa"))
    anatomy = profile(encoder, batch(3, 0, 4))  # 7 words and 3 classification nodes
    one_of_two_looks = MatrixProduct(10, 8, 10 + 2 * 5)
    assert anatomy.products == (one_of_two_looks, MatrixProduct(10, 10, 8)) * 2
    paths = [(path.layer, path.heads, path.prior, path.implementation) for path in anatomy.paths]
    assert paths == [
        ("blocks.0.attention", (0,), "window 1", "value"),
        ("blocks.0.attention", (1,), "window 3", "sdpa"),
        ("blocks.1.attention", (0,), "window 1", "value"),
        ("blocks.1.attention", (1,), "window 3", "sdpa"),
    ]
    assert all(path.reasons for path in anatomy.paths)


def test_products_of_a_transformer():
    encoder = Transformer(TransformerConfig(**SIZES, feedforward=16, classification_node=False))
    layer = (
        MatrixProduct(7, 8, 30),
        MatrixProduct(7, 10, 8),
        MatrixProduct(7, 8, 16),
        MatrixProduct(7, 16, 8),
    )
    assert profile(encoder, batch(3, 4)).products == layer * 2


def test_looking_leaves_no_hooks_behind():
    encoder = Transformer(TransformerConfig(**SIZES))
    profile(encoder, batch(2))
    with pytest.raises(RuntimeError):
        profile(encoder, Ragged.from_lengths(torch.randn(2, 9), [2]))  # another width
    assert not any(module._forward_pre_hooks for module in encoder.modules())


def test_encoders_without_priors_or_products():
    star = profile(StarTransformer(StarTransformerConfig(**SIZES)), batch(3, 2))
    assert not star.paths
    assert star.products is not None
    assert len(star.products) == 2 * 8  # steps of two attentions of four projections
    assert profile(BiLSTM(BiLSTMConfig(width=8)), batch(3, 2)).products is None


def test_measure():
    encoder = MSTransformer(MSTransformerConfig(**SIZES)).train()
    speed = measure(encoder, 8, length=20, texts=3, rounds=1)
    assert (speed.texts, speed.words) == (3, 60)
    assert min(speed.forward, speed.training) > 0
    assert speed.floor_forward is not None
    assert speed.floor_training is not None
    assert encoder.training
    assert all(parameter.grad is None for parameter in encoder.parameters())
    assert measure(BiLSTM(BiLSTMConfig(width=8)), 8, length=4, texts=1, rounds=1).floor_forward is None


@pytest.mark.parametrize(
    "encoder",
    [
        MSSAN(MSSANConfig(width=8, heads=6, head_size=2, feedforward=8)),
        TreeLSTM(TreeLSTMConfig(width=8)),
        TreeLSTM(TreeLSTMConfig(width=8, trees="constituency")),
    ],
)
def test_encoders_that_need_trees_get_some(encoder):
    speed = measure(encoder, 8, length=20, texts=3, rounds=1)
    assert min(speed.forward, speed.training) > 0
    _, heads = random_batch(encoder, 8, 20, 3)
    assert heads is not None
    assert [len(text_heads) for text_heads in heads] == spread_lengths(20, 3)
    chain = MSSAN(MSSANConfig(width=8, heads=6, head_size=2, feedforward=8, tree_fallback="word"))
    assert random_batch(chain, 8, 20, 3)[1] is None


def test_balanced_trees_are_those_of_brackets():
    assert balanced_heads(4).tolist() == constituency_heads("(S (S a b) (S c d))")[1].tolist()
    assert balanced_heads(3).tolist() == constituency_heads("(S a (S b c))")[1].tolist()
    assert [balanced_heads(words).tolist() for words in (0, 1)] == [[], [0]]


def test_lengths_spread_around_their_mean():
    sizes = spread_lengths(100, 21)
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sum(sizes), sizes[-1]) == (110, 2100, 90)
    assert spread_lengths(1, 3) == [1, 1, 1]
    assert spread_lengths(7, 1) == [7]


def test_systems_take_turns():
    calls = []
    systems = {name: lambda name=name: calls.append(name) for name in "ab"}
    times = interleaved(systems, 2, warm_up=1)
    assert calls == ["a", "b"] * 3
    assert {name: len(rounds) for name, rounds in times.items()} == {"a": 2, "b": 2}


def test_the_floor_is_of_matrix_products(monkeypatch):
    count = []
    monkeypatch.setattr("benchmarks.common.timing.synchronize", count.append)
    products_alone((MatrixProduct(4, 3, 2), MatrixProduct(4, 2, 3)), backward=True)()
    assert count == [torch.device("cpu")]


def test_the_clock(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert choose_clock()[0] == "processor time"
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert choose_clock()[0] == "wall time"


def test_mode_is_put_back():
    module = torch.nn.Dropout()
    with training_mode(module, training=False):
        assert not module.training
    assert module.training
