"""Queries and keys turned by their positions."""

import cmath

import pytest
import torch

from headwise.nn.priors import Rotary

PLACE = torch.arange(7)


def test_pairs_of_features_are_turned_as_complex_numbers():
    rows = torch.randn(7, 6, dtype=torch.float64)
    turned = Rotary(50.0).rotate(rows, PLACE)
    for p in range(7):
        for m in range(3):
            z = complex(*rows[p, 2 * m : 2 * m + 2]) * cmath.exp(1j * p * 50.0 ** (-2 * m / 6))
            assert complex(*turned[p, 2 * m : 2 * m + 2]) == pytest.approx(z)


def test_products_know_the_distance_alone():
    q, k = torch.randn(2, 1, 6, dtype=torch.float64).expand(2, 7, 6)
    products = Rotary().rotate(q, PLACE) @ Rotary().rotate(k, PLACE).T
    torch.testing.assert_close(products[1:, 1:], products[:-1, :-1])
    assert not torch.allclose(products[1:], products[:-1])


def test_lengths_of_vectors_stay():
    rows = torch.randn(2, 3, 7, 5)
    turned = Rotary().rotate(rows, PLACE)
    assert turned.shape == rows.shape
    torch.testing.assert_close(turned.norm(dim=-1), rows.norm(dim=-1))
    assert torch.equal(turned[..., 4], rows[..., 4])  # the odd one out
    assert torch.equal(turned[..., 0, :], rows[..., 0, :])  # position 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [1, 2])
def test_dtype_and_small_sizes(dtype, size):
    assert Rotary().rotate(torch.randn(7, size, dtype=dtype), PLACE).dtype == dtype


def test_str():
    assert (str(Rotary()), str(Rotary(500.0))) == ("rotary", "rotary 500")
