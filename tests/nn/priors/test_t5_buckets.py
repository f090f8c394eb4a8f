"""T5's buckets of distances."""

import pytest
import torch

from headwise.nn.priors import PositionPairs, T5Buckets


def test_bounds_of_32_buckets_up_to_128():
    """8 single distances, then 8 * 16^(k/8): 8, 11.3, 16, 22.6, 32, 45.3, 64, 90.5."""
    assert T5Buckets().bounds == [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]


def test_sides_and_far_distances():
    bucket = T5Buckets(8, 6).bucket(PositionPairs.of_length(8))
    assert bucket[0].tolist() == [0, 5, 6, 6, 7, 7, 7, 7]
    assert bucket[:, 0].tolist() == [0, 1, 2, 2, 3, 3, 3, 3]


@pytest.mark.parametrize(("buckets", "furthest"), [(4, 2), (4, 50), (32, 9), (32, 128), (64, 1000)])
def test_buckets_are_all_reached_and_grow_with_the_distance(buckets, furthest):
    bucket = T5Buckets(buckets, furthest).bucket(PositionPairs.of_length(1100))
    for side, start in ((bucket[:, 0], 0), (bucket[0, 1:], buckets // 2)):
        assert (side.diff() >= 0).all()
        assert side.min() >= start
        assert side.max() == start + buckets // 2 - 1
    if furthest == 128:
        assert set(bucket.unique().tolist()) == set(range(32)) - {
            16
        }  # no key after the query at distance 0


def test_numbers_begin_with_zero_and_belong_to_heads():
    terms = T5Buckets(8, 6).module(3, 4, 9)
    query = torch.randn(5, 4)
    assert torch.equal(terms.score(query, query, PositionPairs.of_length(5), 1), torch.zeros(5, 5))
    torch.nn.init.normal_(terms.bias)
    score = terms.score(query, query, PositionPairs.of_length(5), 2)
    assert torch.equal(score[0], terms.bias[2][torch.tensor([0, 5, 6, 6, 7])])


def test_str():
    assert str(T5Buckets()) == "t5 32 buckets to 128"
