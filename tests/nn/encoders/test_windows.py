"""Long texts in windows: who owns which word, exactness where heads see no further, gradients."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.data.items.dataset import cut_windows
from headwise.nn.encoders import (
    ENCODERS,
    BiLSTMConfig,
    BPTransformer,
    BPTransformerConfig,
    DiSANConfig,
    MSSANConfig,
    MSTransformer,
    MSTransformerConfig,
    SetTransformerConfig,
    SLSTMConfig,
    StarTransformerConfig,
    Transformer,
    TransformerConfig,
    TreeLSTMConfig,
)
from headwise.nn.encoders.encoder_configs import WindowsConfig, default_words
from headwise.nn.encoders.long_texts import encode_in_windows
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged
from headwise.text.syntax import tree_distances

SIZES = (37, 0, 1, 12, 13, 90)


def banded(**changes) -> Transformer:
    """Three layers whose heads see 1, 2 or 3 words to a side: 9 words in all."""
    torch.manual_seed(0)
    config = TransformerConfig(
        width=8,
        layers=3,
        heads=3,
        head_size=4,
        feedforward=12,
        priors=("window(3)", "window(5)", "window(7)"),
        classification_node=False,
        positions="none",
        **changes,
    )
    return Transformer(config).eval()


def texts(sizes=SIZES, width: int = 8) -> Ragged:
    torch.manual_seed(1)
    return Ragged.from_lengths(torch.randn(sum(sizes), width, requires_grad=True), sizes)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 300), st.integers(1, 60), st.data())
def test_every_word_is_owned_once_where_it_stands_farthest_from_an_edge(length, words, data):
    overlap = data.draw(st.integers(0, words - 1))
    windows = cut_windows(length, words, overlap)
    owned = [word for w in windows for word in range(w.first, w.last)]
    assert owned == list(range(length))
    sizes = {w.stop - w.start for w in windows}
    assert len(sizes) == 1
    assert sizes.pop() <= words
    assert (len(windows) == 1) == (length <= words)
    assert windows[0].start == 0
    assert windows[-1].stop == length
    for one, second in pairwise(windows):
        assert one.stop - second.start >= overlap
        assert one.start < second.start
    for w in windows:
        assert w.start <= w.first < w.last <= w.stop or length == 0
        for word in (w.first, w.last - 1) if length else ():
            edges = {second: _depth(word, second, length) for second in windows}
            assert edges[w] >= max(edges.values()) - 1
            assert edges[w] >= overlap // 2


def _depth(word: int, window, length: int) -> float:
    """How far a word stands from the nearest edge of a window, but for those of the text; -1 outside."""
    left = float("inf") if window.start == 0 else word - window.start
    right = float("inf") if window.stop == length else window.stop - 1 - word
    inside = window.start <= word < window.stop
    return min(left, right) if inside else -1.0


@pytest.mark.parametrize(("words", "overlap"), [(40, 18), (25, 18), (24, 19), (90, 18)])
def test_exact_where_no_head_sees_beyond_half_the_overlap(words, overlap):
    encoder, x = banded().double(), texts()
    x = x.map(lambda values: values.double())
    full = encoder(x).tokens.values
    torch.testing.assert_close(
        encode_in_windows(encoder, x, words, overlap).tokens.values, full, atol=1e-10, rtol=0
    )


def test_not_exact_where_they_do():
    encoder, x = banded(), texts()
    full = encoder(x).tokens.values
    assert (encode_in_windows(encoder, x, 25, 6).tokens.values - full).abs().max() > 1e-3


@pytest.mark.parametrize("words", [0, 90, 91])
def test_nothing_changes_where_no_text_is_longer(words):
    encoder, x = banded(), texts()
    one, second = encoder(x), encode_in_windows(encoder, x, words, 8)
    assert torch.equal(one.tokens.values, second.tokens.values)


@pytest.mark.parametrize("name", sorted(ENCODERS))
def test_every_encoder(name):
    """Windows are texts of their own; short texts stay as they are; gradients reach every word."""
    torch.manual_seed(0)
    kind, settings_ = ENCODERS[name]
    small = {"width": 12, "layers": 1, "heads": 2, "head_size": 6, "tree_fallback": "word"}
    fields = settings_.__dataclass_fields__
    encoder = kind(settings_(**{key: value for key, value in small.items() if key in fields})).eval()
    x = texts((20, 0, 1, 7), 12)
    actual, alone = encode_in_windows(encoder, x, 8, 2), encoder(x[[1, 2, 3]])
    torch.testing.assert_close(actual.tokens.values[20:], alone.tokens.values, atol=1e-5, rtol=1e-5)
    assert actual.tokens.layout.sizes == x.layout.sizes
    windows = cut_windows(20, 8, 2)
    parts = Ragged.from_list([x.values[w.start : w.stop] for w in windows])
    single = encoder(parts)
    joined = [
        states[w.first - w.start : w.last - w.start]
        for states, w in zip(single.tokens, windows, strict=True)
    ]
    torch.testing.assert_close(actual.tokens.values[:20], torch.cat(joined), atol=1e-5, rtol=1e-5)
    if actual.summary is not None and single.summary is not None and alone.summary is not None:
        shares = torch.tensor([(w.last - w.first) / 20 for w in windows])
        torch.testing.assert_close(
            actual.summary[0], (shares[:, None] * single.summary).sum(0), atol=1e-5, rtol=1e-5
        )
        torch.testing.assert_close(actual.summary[1:], alone.summary, atol=1e-5, rtol=1e-5)
    assert actual.summary_is_node == single.summary_is_node
    total = actual.tokens.values.square().sum()
    [grad] = torch.autograd.grad(total, x.values)
    assert (grad.abs().sum(1) > 0).all()


def test_trees_are_those_of_the_whole_text():
    config = MSSANConfig(width=8, layers=1, heads=2, head_size=4)
    encoder = ENCODERS["ms-san"][0](config).eval()
    heads = torch.arange(21)
    heads[15] = 3  # a word far away
    tree = torch.from_numpy(tree_distances(heads[:20].numpy()))
    x = Ragged(torch.randn(20, 8), Layout([20], trees=[tree]))
    actual = encode_in_windows(encoder, x, 8, 2).tokens.values
    w = cut_windows(20, 8, 2)[1]
    inner = Layout([w.stop - w.start], trees=[tree[w.start : w.stop, w.start : w.stop]])
    alone = encoder(Ragged(x.values[w.start : w.stop], inner)).tokens.values
    rows_kept = slice(w.first - w.start, w.last - w.start)
    torch.testing.assert_close(actual[w.first : w.last], alone[rows_kept], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (TransformerConfig(), 2048),
        (TransformerConfig(priors=("window(5)",)), 0),
        (TransformerConfig(priors=("window(5)", "everything")), 2048),
        (TransformerConfig(positions="learned", max_positions=512), 512),
        (MSTransformerConfig(), 8192),
        (MSTransformerConfig(scales=("1", "3")), 0),
        (MSTransformerConfig(priors=("forward",)), 2048),
        (MSSANConfig(), 2048),
        (DiSANConfig(), 512),
        (BPTransformerConfig(), 16384),
        (SLSTMConfig(), 16384),
        (TreeLSTMConfig(), 16384),
        (TreeLSTMConfig(trees="constituency"), 0),
        (SetTransformerConfig(), 0),
        (SetTransformerConfig(induced=0), 2048),
        (StarTransformerConfig(positions="none"), 0),
        (StarTransformerConfig(max_positions=700), 700),
        (BiLSTMConfig(), 0),
    ],
)
def test_limits_that_nobody_asked_for(config, words):
    assert default_words(config) == words
    assert WindowsConfig().sizes(config) == (words, words // 8)
    assert WindowsConfig(words=100, overlap=7).sizes(config) == (100, 7)
    assert WindowsConfig(words=0).sizes(config) == (0, 0)
    assert WindowsConfig(overlap=5_000).sizes(config) == (words, min(5_000, max(words - 1, 0)))


def test_a_text_may_be_of_any_length(monkeypatch):
    """Windows are read a few at a time: what is held of them does not grow with the text."""
    torch.manual_seed(0)
    encoder = MSTransformer(MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)).eval()
    x = Ragged.from_lengths(torch.randn(700, 8), [5, 600, 95])
    full = encode_in_windows(encoder, x, 64, 8)
    monkeypatch.setattr("headwise.nn.encoders.long_texts._AT_ONCE", 130)
    parts = encode_in_windows(encoder, x, 64, 8)
    torch.testing.assert_close(parts.tokens.values, full.tokens.values)
    torch.testing.assert_close(parts.summary, full.summary)
    assert parts.summary_is_node == full.summary_is_node


def test_settings():
    with pytest.raises(ConfigError, match="overlap must be less than words, got 10 and 10"):
        WindowsConfig(words=10, overlap=10)
    with pytest.raises(ConfigError, match="words must be at least 0"):
        WindowsConfig(words=-1)


def test_pairs_that_are_read_together_are_not_cut():
    encoder = BPTransformer(BPTransformerConfig(width=4, layers=1, heads=1, head_size=4, pair_layers=1))
    with pytest.raises(ConfigError, match="a text of 5 words: with pair_layers"):
        encode_in_windows(encoder, Ragged.from_lengths(torch.zeros(7, 4), [5, 2]), 4, 2)
