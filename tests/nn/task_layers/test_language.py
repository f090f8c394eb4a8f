"""Windows of language modelling, the loss of symbols, and what is made of it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from headwise.core.errors import ConfigError
from headwise.metrics.perplexity import LanguageScores
from headwise.nn.task_layers import language_layers as language
from headwise.nn.task_layers.language_layers import (
    evaluation_windows,
    symbol_losses,
    training_windows,
    window_count,
)
from headwise.nn.task_layers.layer_configs import LanguageConfig


@settings(max_examples=100)
@given(st.integers(0, 300), st.integers(1, 70))
def test_every_symbol_counts_once_with_half_a_window_before_it(length, context):
    times = np.zeros(length, int)
    for window in evaluation_windows(length, context):
        assert 0 <= window.start <= window.scored < window.end <= length
        assert window.end - window.start <= context
        if window.start:
            assert window.scored - window.start == context - max(1, context // 2)
        times[window.scored : window.end] += 1
    assert (times == 1).all()


def test_windows_of_a_text_by_hand():
    assert list(evaluation_windows(11, 4)) == [(0, 0, 4), (2, 4, 6), (4, 6, 8), (6, 8, 10), (8, 10, 11)]
    assert list(evaluation_windows(3, 4)) == [(0, 0, 3)]
    assert list(evaluation_windows(5, 3)) == [(0, 0, 3), (1, 3, 4), (2, 4, 5)]
    assert list(evaluation_windows(0, 4)) == []


@settings(max_examples=100)
@given(st.integers(1, 200), st.integers(1, 60), st.integers(1, 40), st.floats(0, 1, exclude_max=True))
def test_training_windows_lie_in_their_parts_of_the_text(length, context, count, share):
    size = min(length, context)
    random = torch.full((count,), share, dtype=torch.float64)
    starts = training_windows(length, size, count, np.arange(count), random)
    assert starts.min() >= 0
    assert starts.max() + size <= length
    assert (np.diff(starts) >= 0).all()
    again = training_windows(length, size, count, np.array([count - 1, 0]), random[:2])
    assert again.tolist() == [starts[-1], starts[0]]


def test_training_windows_can_begin_everywhere():
    random = torch.rand(4000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    starts = training_windows(50, 10, 4, np.arange(4000) % 4, random)
    assert set(starts.tolist()) == set(range(41))


def test_windows_of_an_epoch():
    assert window_count(1001, LanguageConfig(context=100)) == 11
    assert window_count(1001, LanguageConfig(context=100, windows=3)) == 3


def test_losses_in_parts_are_those_of_the_whole(monkeypatch):
    torch.manual_seed(0)
    inputs = [
        torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((9, 4), (5, 4), (5,))
    ]
    targets = torch.randint(5, (9,))
    expected = cross_entropy((inputs[0] @ inputs[1].T + inputs[2]).float(), targets, reduction="none")
    gradients = torch.autograd.grad(expected.sum(), inputs)
    for most in (1 << 22, 20, 1):
        monkeypatch.setattr(language, "_LOGITS", most)
        actual = symbol_losses(*inputs, targets)
        torch.testing.assert_close(actual, expected)
        for ours, theirs in zip(torch.autograd.grad(actual.sum(), inputs), gradients, strict=True):
            torch.testing.assert_close(ours, theirs)


def test_scores():
    scores = LanguageScores("characters", 4, 4 * math.log(8), 1)
    assert scores.bits == pytest.approx(3)
    assert scores.to_json() == {
        "unit": "characters",
        "bits_per_character": pytest.approx(3),
        "loss": pytest.approx(math.log(8)),
        "symbols": 4,
        "unknown_symbols": 1,
    }
    assert LanguageScores("words", 4, 4 * math.log(8)).primary_metric == ("perplexity", pytest.approx(8))
    assert LanguageScores("bytes", 1, 1.0).to_json()["bits_per_byte"] > 1
    assert LanguageScores("words", 0, 0.0).perplexity == 1


@pytest.mark.parametrize(
    "settings_", [{"context": 0}, {"windows": -1}, {"dropout": 1.0}, {"min_count": 0}, {"unit": "letters"}]
)
def test_settings_out_of_range(settings_):
    with pytest.raises(ConfigError):
        LanguageConfig(**settings_)
