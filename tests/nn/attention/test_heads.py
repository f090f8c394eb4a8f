"""Projections to heads and back."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.attention.self_attention import Heads


def test_heads_are_slices_of_the_projections():
    heads, x = Heads(5, 2, 3, bias=True), torch.randn(4, 5)
    split = heads.split(heads.key(x))
    assert split.shape == (2, 4, 3)
    for h in range(2):
        torch.testing.assert_close(split[h], x @ heads.key.weight[3 * h : 3 * h + 3].T)  # biases begin at 0
    torch.testing.assert_close(heads.merge(split), heads.out(torch.cat([split[0], split[1]], dim=1)))


def test_no_rows():
    heads = Heads(5, 2, 3)
    assert heads.merge(heads.split(heads.query(torch.zeros(0, 5)))).shape == (0, 5)


@pytest.mark.parametrize(("heads", "size"), [(0, 3), (2, 0)])
def test_heads_must_be_there(heads, size):
    with pytest.raises(ConfigError, match=f"got {heads} heads of {size}"):
        Heads(5, heads, size)
