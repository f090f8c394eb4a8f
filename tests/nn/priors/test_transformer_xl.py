"""Transformer-XL's relative positions. What they do to attention: tests/nn/attention/test_learned.py."""

import pytest
import torch

from headwise.nn.priors import PositionPairs, TransformerXL
from headwise.nn.priors.terms import distance_sinusoids


@pytest.mark.parametrize("width", [1, 5, 8])
@pytest.mark.parametrize("reach", [0, 1, 2, 16, 17, 40])
def test_sinusoids_of_every_distance(reach, width):
    table = distance_sinusoids(reach, width, torch.float64, torch.device("cpu"))
    assert table.shape == (2 * reach + 1, width)
    for distance, row in zip(range(-reach, reach + 1), table, strict=True):
        angles = torch.tensor(
            [distance * 10000 ** (-2 * m / width) for m in range(-(-width // 2))], dtype=torch.float64
        )
        torch.testing.assert_close(row, torch.cat([angles.sin(), angles.cos()])[:width])


def test_keys_after_the_query_get_their_own_distance():
    """The released relative shift gives them rows of other queries."""
    terms = TransformerXL().module(1, 4, 6).double()
    query, key = torch.randn(2, 5, 4, dtype=torch.float64)
    score = terms.score(query, key, PositionPairs.of_length(5), 0)
    with torch.no_grad():
        for i in range(5):
            for j in range(5):
                angles = torch.tensor([(i - j) * 10000 ** (-2 * m / 6) for m in range(3)]).double()
                r = terms.relative[0] @ torch.cat([angles.sin(), angles.cos()])
                expected = (terms.u[0] @ key[j] + (query[i] + terms.v[0]) @ r) / 2
                torch.testing.assert_close(score[i, j], expected, rtol=1e-6, atol=1e-6)


def test_heads_have_their_own_parameters():
    terms = TransformerXL().module(3, 4, 6)
    assert {name: tuple(p.shape) for name, p in terms.named_parameters()} == {
        "u": (3, 4),
        "v": (3, 4),
        "relative": (3, 4, 6),
    }


def test_str():
    assert str(TransformerXL()) == "transformer-xl"
