from dataclasses import replace

import numpy as np
import pytest

from headwise.core.errors import HeadwiseError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.bags import Bag

fingerprint_bags, split_bags = ITEM_TYPES_BY_TASK["bags"].fingerprint, ITEM_TYPES_BY_TASK["bags"].split


def bags(count, seed=0):
    random = np.random.default_rng(seed)
    return [
        Bag(str(n), "yes" if n % 4 else "no", random.normal(size=(n % 3 + 1, 2)).astype(np.float32), n)
        for n in range(count)
    ]


def test_parts_are_stratified_and_whole():
    made = bags(80)
    split = split_bags(made, 0.1, 0.2, seed=3)
    parts = (split.train, split.dev, split.test)
    assert [len(part) for part in parts] == [56, 8, 16]
    assert sorted((bag.id for part in parts for bag in part), key=int) == [bag.id for bag in made]
    assert [sum(bag.label == "no" for bag in part) for part in parts] == [14, 2, 4]
    assert split.notes == ("split into 56 train, 8 dev, 16 test",)


def test_the_seed_and_the_instances_decide():
    def ids(made, seed):
        return {bag.id for bag in split_bags(made, 0.3, seed=seed).dev}

    made = bags(40)
    assert ids(made, 1) == ids(made[::-1], 1)
    assert ids(made, 1) != ids(made, 2)


def test_bags_with_the_same_instances_stay_together():
    made = bags(30)
    twins = [replace(bag, id=f"{bag.id}'", instances=bag.instances[::-1]) for bag in made]
    split = split_bags([*made, *twins], 0.2, 0.2)
    for part in (split.train, split.dev, split.test):
        ids = {bag.id for bag in part}
        assert ids == {*(name.strip("'") for name in ids), *(name.strip("'") + "'" for name in ids)}
    assert "30 bags stay in the same part as their near-duplicates" in split.notes[1]


def test_too_few():
    with pytest.raises(HeadwiseError):
        split_bags(bags(2), 0.5)


def test_fingerprints():
    made = bags(6)
    original = fingerprint_bags(made)
    assert (original.texts, original.labels) == (6, {"no": 2, "yes": 4})
    assert fingerprint_bags(bags(6)) == original
    changed_sets = [
        made[::-1],
        made[:5],
        [replace(made[0], id="x"), *made[1:]],
        [replace(made[0], label="yes"), *made[1:]],
        [replace(made[0], instances=made[0].instances + 1), *made[1:]],
    ]
    assert len({original.sha256, *(fingerprint_bags(changed).sha256 for changed in changed_sets)}) == 6
