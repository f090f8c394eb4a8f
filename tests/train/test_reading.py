"""What objectives have in common: R-Drop."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from headwise.layers.classify import ClassifierConfig, divergence


def test_consistency_reads_a_batch_twice(make_objective):
    objective = make_objective(classifier=ClassifierConfig(hidden=8, dropout=0.2, consistency=2.0))
    objective.model.train()
    torch.manual_seed(1)
    found = objective.loss([3, 1, 4])
    torch.manual_seed(1)
    one, other = objective.outputs([3, 1, 4, 3, 1, 4]).chunk(2)
    targets = torch.tensor(objective.train_targets[[3, 1, 4]])
    assert not torch.equal(one, other)
    losses = [cross_entropy(own, targets, reduction="none") for own in (one, other)]
    expected = (losses[0] + losses[1]) / 2 + 2 * divergence(one, other)
    torch.testing.assert_close(found, expected.sum())


def test_consistency_costs_nothing_where_both_answers_are_the_same(make_objective):
    plain, twice = (
        make_objective(classifier=ClassifierConfig(hidden=8, consistency=own)) for own in (0.0, 3.0)
    )
    for own in (plain, twice):
        own.model.eval()  # no dropout
    assert twice.loss(range(20)).item() == pytest.approx(plain.loss(range(20)).item(), rel=1e-5)
