import numpy as np

from headwise.data.bags import Bag
from headwise.linear.bag_baseline import linear_guesses, summarise


def bag(*rows):
    return Bag("a", "x", np.array(rows, dtype=np.float32))


def test_summaries():
    found = summarise([bag([1, -4], [3, 2]), bag([5, 6])])
    assert found.tolist() == [[2, -1, 1, -4, 3, 2], [5, 6, 5, 6, 5, 6]]


def test_bags_that_differ_in_one_instance():
    """The largest value decides, which neither the mean nor any single instance tells."""
    random = np.random.default_rng(0)
    bags, labels = [], []
    for n in range(120):
        rows = random.uniform(0, 1, (random.integers(2, 30), 2))
        if n % 2:
            rows[random.integers(len(rows)), 0] = 2
        bags.append(bag(*rows))
        labels.append(n % 2)
    targets = np.array(labels)
    guesses = linear_guesses((bags[:60], targets[:60]), (bags[60:80], targets[60:80]), bags[80:])
    assert (guesses == targets[80:]).all()
