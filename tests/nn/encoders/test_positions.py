"""Position embeddings."""

import math

import pytest
import torch

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.encoders.encoder import Positions, sinusoids
from headwise.nn.ragged import Ragged


@pytest.mark.parametrize("width", [1, 6, 7])
def test_sinusoids_equal_the_formula(width):
    table = sinusoids(40, width)
    assert table.shape == (40, width)
    for place in range(40):
        for k in range(width):
            angle = place / 10000 ** (2 * (k // 2) / width)
            expected = math.cos(angle) if k % 2 else math.sin(angle)
            assert table[place, k].item() == pytest.approx(expected, abs=1e-6)
    assert sinusoids(0, 4).shape == (0, 4)


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
def test_every_text_counts_from_its_own_start(kind, words):
    positions = Positions(kind, 4, max_positions=6).double()
    batch = words((3, 0, 6, 1), 4)
    added = positions(batch).values - batch.values
    if kind == "none":
        assert positions(batch) is batch
        table = torch.zeros(6, 4, dtype=torch.float64)
    else:
        table = sinusoids(6, 4).double() if positions.table is None else positions.table.weight
    start = 0
    for n in (3, 0, 6, 1):
        torch.testing.assert_close(added[start : start + n], table[:n], rtol=0, atol=1e-12)
        start += n


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_dtype_is_kept(kind, dtype, words):
    assert Positions(kind, 4).to(dtype)(words((3, 1), 4, dtype)).values.dtype == dtype


def test_learned_positions_end_with_an_error():
    positions = Positions("learned", 4, max_positions=5)
    positions(Ragged.from_lengths(torch.zeros(5, 4), [5]))
    with pytest.raises(
        HeadwiseError, match="a text has 6 words, but the learned positions end at 5"
    ) as error:
        positions(Ragged.from_lengths(torch.zeros(7, 4), [1, 6]))
    assert error.value.code == "HW301"


def test_unknown_kind():
    with pytest.raises(
        ConfigError, match="unknown positions 'rotary'; expected one of none, sinusoidal, learned"
    ):
        Positions("rotary", 4)
