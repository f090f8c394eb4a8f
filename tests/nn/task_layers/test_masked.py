"""Masked words: the sampled softmax against the full one."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from headwise.core.errors import ConfigError
from headwise.nn.networks.masked_model import MaskedWordHead, sampled_losses
from headwise.nn.task_layers.layer_configs import MaskedWordsConfig

WORDS, SIZE, HIDDEN = 11, 6, 5


@pytest.fixture
def drawn():
    torch.manual_seed(0)
    table, bias = torch.randn(WORDS, SIZE, dtype=torch.float64), torch.randn(WORDS, dtype=torch.float64)
    guesses = torch.randn(HIDDEN, SIZE, dtype=torch.float64, requires_grad=True)
    return guesses, torch.tensor([3, 0, 10, 3, 7]), table, bias


def test_with_every_word_drawn_once_it_is_the_softmax_over_all(drawn):
    guesses, targets, table, bias = drawn
    sampled = sampled_losses(guesses, targets, torch.arange(WORDS), torch.zeros(WORDS), table, bias)
    full = cross_entropy(guesses @ table.t() + bias, targets, reduction="none")
    torch.testing.assert_close(sampled, full, rtol=1e-5, atol=1e-6, check_dtype=False)
    (first,) = torch.autograd.grad(sampled.sum(), guesses, retain_graph=True)
    (second,) = torch.autograd.grad(full.sum(), guesses)
    torch.testing.assert_close(first, second, rtol=1e-5, atol=1e-6)


def test_how_often_words_are_drawn_does_not_change_what_is_learnt(drawn):
    """Many words, drawn unevenly: the expected number of each in the logits makes up for it."""
    guesses, targets, table, bias = drawn
    chances = torch.linspace(1, 9, WORDS)
    chances /= chances.sum()
    count = 200_000
    many = torch.multinomial(chances, count, replacement=True)
    logs = (chances * count).log()
    sampled = sampled_losses(guesses, targets, many, logs, table, bias)
    full = cross_entropy(guesses @ table.t() + bias, targets, reduction="none")
    torch.testing.assert_close(sampled, full, rtol=2e-2, atol=2e-2, check_dtype=False)


def test_a_guess_has_the_size_of_a_word():
    guess = MaskedWordHead(8, SIZE, WORDS)
    assert guess(torch.randn(3, 8)).shape == (3, SIZE)
    assert guess(torch.zeros(0, 8)).shape == (0, SIZE)


@pytest.mark.parametrize("wrong", [{"share": 1.0}, {"kept": -0.1}, {"negatives": 0}])
def test_settings_out_of_range(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        MaskedWordsConfig(**wrong)
