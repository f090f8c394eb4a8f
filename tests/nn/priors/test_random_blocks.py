"""Blocks drawn by lot."""

import torch

from headwise.nn.priors import GlobalTokens, PositionPairs, RandomBlocks


def blocks_seen(prior, n) -> list[list[int]]:
    """For each block of 4 positions: the blocks that it sees, each of which must be seen as a whole."""
    seen = prior.visible(PositionPairs.of_length(n)).expand(n, n)
    assert n % 4 == 0
    table = seen.view(n // 4, 4, n // 4, 4)
    assert (table.all(3).all(1) == table.any(3).any(1)).all()
    return [row.nonzero().flatten().tolist() for row in table.any(3).any(1)]


def test_neighbours_and_as_many_others_as_asked():
    for block, seen in enumerate(blocks_seen(RandomBlocks(4, 2, neighbours=1), 40)):
        nearby = [k for k in (block - 1, block, block + 1) if 0 <= k < 10]
        assert set(nearby) <= set(seen)
        assert len(seen) == len(nearby) + 2


def test_all_blocks_where_there_are_not_so_many():
    assert blocks_seen(RandomBlocks(4, 9, neighbours=0), 12) == [[0, 1, 2]] * 3


def test_nothing_drawn_is_a_window_of_blocks():
    assert blocks_seen(RandomBlocks(4, 0, neighbours=1), 16) == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]


def test_pinned_lots():
    """They must be the same in every version: saved models depend on it."""
    assert blocks_seen(RandomBlocks(4, 1, neighbours=0, seed=0), 24) == [
        *([0, 5], [1, 3], [2, 5]),
        *([3, 5], [1, 4], [1, 5]),
    ]


def test_lots_are_drawn_whatever_the_default_device():
    expected = blocks_seen(RandomBlocks(4, 1), 24)
    with torch.device("meta"):
        assert blocks_seen(RandomBlocks(4, 1), 24) == expected


def test_seed_and_length_change_the_lots():
    first = blocks_seen(RandomBlocks(4, 1, 0, seed=1), 80)
    assert first == blocks_seen(RandomBlocks(4, 1, 0, seed=1), 80)
    assert first != blocks_seen(RandomBlocks(4, 1, 0, seed=2), 80)
    assert first != blocks_seen(RandomBlocks(4, 1, 0, seed=1), 84)[:20]


def test_lots_are_fair():
    drawn = torch.zeros(10)
    for seed in range(300):
        for block, seen in enumerate(blocks_seen(RandomBlocks(4, 1, 0, seed), 40)):
            drawn[[k for k in seen if k != block]] += 1
    assert (drawn / 300 - 1).abs().max() < 0.2  # each block is drawn by the 9 others, 1/9 each


def test_bigbird():
    prior = GlobalTokens(RandomBlocks(4, 1, 1, seed=3), count=4)
    seen = blocks_seen(prior, 40)
    assert seen[0] == list(range(10))
    assert all(0 in row and len(row) >= 4 for row in seen)


def test_str():
    assert str(RandomBlocks(16, 3)) == "random blocks 16x3"
    assert str(RandomBlocks(seed=5)) == "random blocks 8x1 seed 5"
