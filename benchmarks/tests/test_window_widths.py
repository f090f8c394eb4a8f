"""How many texts have a window of more than one word, and the readers of pairs behind it."""

import numpy as np
import pytest

from benchmarks import DATA
from benchmarks.papers.pairs import Pairs
from benchmarks.papers.window_widths import shares


def test_shares():
    assert shares(np.array([7, 8, 15, 16, 31, 32, 100, 4])) == [2 / 8, 4 / 8, 6 / 8]


@pytest.mark.skipif(not (DATA / "snli").is_dir(), reason="needs the real data sets (HEADWISE_DATA)")
@pytest.mark.parametrize("task", ["sick", "snli"])
def test_pairs_come_with_their_parses(task):
    pair = Pairs().load(task).parts.dev[0]
    assert len(pair.first_parse) == len(pair.first.split())
    assert len(pair.second_parse) == len(pair.second.split())
