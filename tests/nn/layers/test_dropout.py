"""Dropout by a key: the right share of zeros, without patterns; gradients of the same mask; resumable."""

import numpy as np
import pytest
import torch

from headwise.core import native
from headwise.nn.layers.dropout import Dropout, dropout


def mask(size: int, key: int, probability: float) -> np.ndarray:
    result = np.empty(size, dtype=np.float32)
    native.dropout(np.ones(size, dtype=np.float32), result, key, probability)
    return result > 0


@pytest.mark.parametrize("probability", [0.05, 0.1, 0.5, 0.9])
def test_the_share_of_zeros_is_the_probability(probability):
    size = 1_000_000
    limit = 5 * (probability * (1 - probability) / size) ** 0.5
    for key in (0, 1, 2**31, 2**32, 2**63 - 1, 0x9E3779B9):
        assert abs((~mask(size, key, probability)).mean() - probability) < limit


@pytest.mark.parametrize("distance", [1, 2, 16, 64, 300, 4096])
def test_values_at_a_distance_are_dropped_independently(distance):
    dropped = (~mask(1_000_000, 12345, 0.1)).astype(np.float64) - 0.1
    assert abs((dropped[distance:] * dropped[:-distance]).mean()) < 5 * 0.09 / 1000


@pytest.mark.parametrize("change", [1, 2, 1 << 16, 0x9E3779B9, 1 << 32, 1 << 62])
def test_masks_of_different_keys_are_independent(change):
    first, second = (~mask(1_000_000, key, 0.1) - 0.1 for key in (977, 977 + change))
    assert abs((first * second).mean()) < 5 * 0.09 / 1000


def test_values_that_stay_are_scaled_and_gradients_have_the_same_mask():
    values = torch.arange(1.0, 4001.0, dtype=torch.float64).reshape(40, 100).requires_grad_()
    torch.manual_seed(0)
    result = dropout(values, 0.25)
    result.sum().backward()
    assert values.grad is not None
    assert set(values.grad.unique().tolist()) == {0.0, 1 / 0.75}
    assert torch.equal(result, values.detach() * values.grad)


def test_transposed_values_and_gradients():
    torch.manual_seed(0)
    plain = dropout(torch.ones(30, 20), 0.5)
    torch.manual_seed(0)
    assert torch.equal(dropout(torch.ones(20, 30).t(), 0.5), plain)
    values = torch.ones(30, 20, requires_grad=True)
    torch.manual_seed(0)
    dropout(values, 0.5).backward(torch.ones(20, 30).t())
    assert values.grad is not None
    assert torch.equal(values.grad, plain)


def test_gradients_by_differences():
    values = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)

    def fixed(rows):
        torch.manual_seed(4)
        return dropout(rows, 0.4)

    assert torch.autograd.gradcheck(fixed, values)
    assert torch.autograd.gradgradcheck(fixed, values)


def test_the_generator_resumes_to_the_same_bits():
    torch.manual_seed(3)
    dropout(torch.ones(10), 0.5)
    state = torch.get_rng_state()
    first = [dropout(torch.ones(1000), 0.5) for _ in range(3)]
    torch.set_rng_state(state)
    again = [dropout(torch.ones(1000), 0.5) for _ in range(3)]
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first[0], first[1])


def test_nothing_is_dropped_at_probability_0_or_in_evaluation():
    values = torch.randn(4, 3)
    assert dropout(values, 0.0) is values
    assert Dropout(0.5).eval()(values) is values
    assert not Dropout(1.0)(values).any()
    assert dropout(torch.ones(0, 3), 0.5).shape == (0, 3)


def test_half_precision_is_left_to_torch():
    result = dropout(torch.ones(10_000, dtype=torch.bfloat16), 0.5)
    assert result.dtype == torch.bfloat16
    assert 0.4 < (result == 0).float().mean() < 0.6


def test_wrong_arguments_of_the_kernel():
    values = np.ones(4, dtype=np.float32)
    with pytest.raises(ValueError, match="as many values"):
        native.dropout(values, np.ones(3, dtype=np.float32), 1, 0.5)
    with pytest.raises(ValueError, match="probability"):
        native.dropout(values, values.copy(), 1, 1.0)
