"""Sets of numbers and their largest."""

import pytest
import torch

from benchmarks.papers.max_regression import constant_error, max_sets
from headwise.nn.encoders.set_configs import SetModelConfig, SetTransformerConfig
from headwise.nn.encoders.set_models import SetModel
from headwise.nn.ragged import Ragged

BLOCKS = SetTransformerConfig(width=12, heads=3)


def test_targets_are_the_largest_numbers():
    sets, targets = max_sets(0, 300)
    assert sets.values.shape == (sets.layout.total, 1)
    assert torch.equal(torch.stack([rows.max() for rows in sets]), targets)
    assert sets.values.dtype == targets.dtype == torch.float32


def test_sizes_and_numbers_are_uniform():
    sets, _ = max_sets(0, 20_000)
    sizes = torch.bincount(sets.lengths, minlength=11)
    assert sizes[0] == 0
    assert len(sizes) == 11
    assert (sizes[1:] - 2000).abs().max() < 250  # 6 deviations
    quarters = torch.histc(sets.values, 4, min=0, max=100) / sets.layout.total
    torch.testing.assert_close(quarters, torch.full((4,), 0.25), rtol=0, atol=0.01)
    assert ((sets.values >= 0) & (sets.values <= 100)).all()


def test_the_seed_says_it_all():
    sets, targets = max_sets([3, 1], 5)
    again, same = max_sets([3, 1], 5)
    assert torch.equal(sets.values, again.values)
    assert torch.equal(targets, same)
    assert not torch.equal(targets, max_sets([3, 2], 5)[1])


def test_o10_the_best_constant_guess_is_off_by_14_5():
    _, targets = max_sets(0, 100_000)
    assert constant_error(targets) == pytest.approx(14.5, abs=0.15)
    assert (targets - targets.mean()).abs().mean() > 14.7  # the mean is worse


def test_learns_the_largest_number():
    torch.manual_seed(0)
    model = SetModel(SetModelConfig.named("sab+pma", inputs=1, outputs=1, blocks=BLOCKS))
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for step in range(120):
        sets, targets = max_sets([0, step], 32)
        (model(sets).flatten() - targets).abs().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    sets, targets = max_sets(1, 500)
    assert isinstance(sets, Ragged)
    assert (model(sets).flatten() - targets).abs().mean() < 3  # the mean of a set would be off by 20
