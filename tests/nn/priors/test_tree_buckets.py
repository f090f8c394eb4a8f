"""A number for each distance in the dependency tree."""

import pytest
import torch

from headwise.core.errors import HeadwiseError
from headwise.nn.priors import PositionPairs, TreeBuckets

TREE = torch.tensor([[0, 2, 5], [2, 0, 3], [5, 3, 0]], dtype=torch.int16)


def test_far_words_share_a_bucket():
    bucket = TreeBuckets(3).bucket(PositionPairs.of_length(3, tree=TREE))
    assert bucket.tolist() == [[0, 2, 3], [2, 0, 3], [3, 3, 0]]


def test_without_trees():
    with pytest.raises(HeadwiseError, match="without parses"):
        TreeBuckets().bucket(PositionPairs.of_length(3))
    bucket = TreeBuckets(1, fallback="word").bucket(PositionPairs.of_length(3))
    assert bucket.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_one_number_for_each_head_and_distance():
    terms = TreeBuckets(3).module(2, 4, 9)
    assert terms.bias.shape == (2, 4)
    assert (terms.bias == 0).all()


def test_str():
    assert str(TreeBuckets()) == "tree buckets to 8"
