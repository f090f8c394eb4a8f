import numpy as np

from headwise.data.readers.bags import Bag
from headwise.linear.baselines import fit_bag_baseline, summarise


def bag(*rows):
    return Bag("a", "x", np.array(rows, dtype=np.float32))


def test_summaries():
    summaries = summarise([bag([1, -4], [3, 2]), bag([5, 6])])
    assert summaries.tolist() == [[2, -1, 1, -4, 3, 2], [5, 6, 5, 6, 5, 6]]


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
    guesses = fit_bag_baseline((bags[:60], targets[:60]), (bags[60:80], targets[60:80]), bags[80:])
    assert (guesses == targets[80:]).all()


def test_once_dev_has_chosen_it_may_learn_of_dev_too():
    """Training bags tell nothing of the second feature, by which those of dev differ."""
    train = [bag([n % 2, 0]) for n in range(8)]
    dev = [bag([0.5, n % 2 * 8 - 4]) for n in range(40)]
    test = [bag([0.5, -4]), bag([0.5, 4])]
    parts = (train, np.arange(8) % 2), (dev, np.arange(40) % 2)
    assert len(set(fit_bag_baseline(*parts, test))) == 1
    assert fit_bag_baseline(*parts, test, refit=True).tolist() == [0, 1]
