import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.mirrored_sums import chance_error, linear_error, mirrored_sums
from headwise.core.errors import ConfigError


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_targets_by_brute_force(data):
    length = data.draw(st.integers(1, 9))
    terms = data.draw(st.integers(1, length))
    sequences, targets = mirrored_sums(3, 4, terms=terms, length=length, features=2)
    assert sequences.lengths.tolist() == [length] * 4
    for sequence, target in zip(sequences, targets, strict=True):
        a = {i: sequence[i - 1] for i in range(1, length + 1)}  # the paper counts from 1
        expected = sum(a[i] * a[length - i + 1] for i in range(1, terms + 1))
        torch.testing.assert_close(target, expected)


def test_numbers_are_uniform_and_of_float32():
    sequences, targets = mirrored_sums([1, 2], 2000, terms=3, length=10, features=5)
    assert sequences.values.dtype == targets.dtype == torch.float32
    assert sequences.values.shape == (20_000, 5)
    assert targets.shape == (2000, 5)
    assert 0 <= sequences.values.min() < 0.001
    assert 0.999 < sequences.values.max() < 1
    assert sequences.values.mean().item() == pytest.approx(0.5, abs=0.01)
    assert sequences.values.var().item() == pytest.approx(1 / 12, rel=0.03)
    assert targets.mean().item() == pytest.approx(3 / 4, abs=0.02)


def test_the_paper_s_sizes_are_the_defaults():
    sequences, targets = mirrored_sums(0, 2, terms=10)
    assert sequences.lengths.tolist() == [100, 100]
    assert targets.shape == (2, 50)


def test_seeds():
    one, again, different = (mirrored_sums(seed, 3, terms=2, length=4)[0].values for seed in (1, 1, 2))
    assert one.equal(again)
    assert not one.equal(different)


@pytest.mark.parametrize("terms", [1, 4, 8, 9, 12, 16])
def test_errors_by_simulation(terms):
    """A constant, and least squares on all numbers, on sequences of 16."""
    train = mirrored_sums(1, 6000, terms=terms, length=16, features=1)
    test = mirrored_sums(2, 6000, terms=terms, length=16, features=1)
    constant = ((test[1] - train[1].mean()) ** 2).mean().item()
    assert constant == pytest.approx(chance_error(terms, 16), rel=0.08)
    x, z = (np.c_[part[0].values.reshape(6000, 16).numpy(), np.ones(6000)] for part in (train, test))
    weights = np.linalg.lstsq(x, train[1].numpy(), rcond=None)[0]
    linear = ((z @ weights - test[1].numpy()) ** 2).mean()
    assert linear == pytest.approx(linear_error(terms, 16), rel=0.08)


def test_the_paper_s_chance_levels():
    assert [round(chance_error(terms), 3) for terms in (10, 50, 100)] == [0.486, 2.431, 9.722]


@pytest.mark.parametrize("terms", [0, 5, -1])
def test_terms_out_of_range(terms):
    for function in (chance_error, linear_error):
        with pytest.raises(ConfigError, match="between 1 and the length 4"):
            function(terms, 4)
    with pytest.raises(ConfigError, match="between 1 and the length 4"):
        mirrored_sums(0, terms=terms, length=4)


def test_errors_of_odd_lengths_are_not_told():
    with pytest.raises(ConfigError, match="even length, got 5"):
        chance_error(2, 5)
