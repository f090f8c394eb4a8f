"""Splits of pairs: no first text in two parts, and what is done where there are few."""

import pytest

from headwise.data.items.examples import Pair
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.contamination import find_overlaps

fingerprint_pairs, split_pairs = ITEM_TYPES_BY_TASK["pair"].fingerprint, ITEM_TYPES_BY_TASK["pair"].split


def pairs(firsts: int, pairs_per_first: int) -> list[Pair]:
    labels = ["yes", "no", "maybe"]
    return [
        Pair(f"premise {n}", f"hypothesis {n} {m}", labels[m % 3], n * pairs_per_first + m + 1)
        for n in range(firsts)
        for m in range(pairs_per_first)
    ]


def test_pairs_of_a_first_text_stay_together():
    items = pairs(100, 3)
    split = split_pairs(items, 0.2, 0.1, seed=3)
    parts = [split.train, split.dev, split.test]
    assert sorted(pair.line for part in parts for pair in part) == [pair.line for pair in items]
    firsts = [{pair.first for pair in part} for part in parts]
    assert not firsts[0] & firsts[1]
    assert not firsts[0] & firsts[2]
    assert not firsts[1] & firsts[2]
    assert abs(len(split.dev) - 60) <= 3
    assert abs(len(split.test) - 30) <= 3
    assert split_pairs(items, 0.2, 0.1, seed=3) == split
    assert split_pairs(items, 0.2, 0.1, seed=4).dev != split.dev


def test_a_pair_stays_with_itself_the_other_way_round():
    items = pairs(100, 3)
    items += [Pair(pair.second.upper(), pair.first, pair.label, 300 + pair.line) for pair in items]
    split = split_pairs(items, 0.2, 0.1)
    part_of = {pair.line % 300: set() for pair in items}
    for number, part in enumerate((split.train, split.dev, split.test)):
        for pair in part:
            part_of[pair.line % 300].add(number)
    assert all(len(parts) == 1 for parts in part_of.values())
    assert min(len(split.dev), len(split.test)) > 30
    folds = ITEM_TYPES_BY_TASK["pair"].folds(items, 5)
    assert folds[:300] == folds[300:]
    assert len(set(folds)) == 5


def test_one_long_chain_of_pairs_is_cut():
    """Each first text is the second of another pair, there and back: all of them are one chain."""
    items = [Pair(f"t{n}", f"t{n + 1}", "ab"[n % 2], n) for n in range(200)]
    items += [Pair(pair.second, pair.first, pair.label, pair.line) for pair in items]
    split = split_pairs(items, 0.2, 0.1)
    lines = [{pair.line for pair in part} for part in (split.train, split.dev, split.test)]
    assert list(map(len, lines)) == [140, 40, 20]
    assert sum(map(len, lines)) == len(set.union(*lines))
    assert any("too few different first texts" in note for note in split.notes)


def test_few_first_texts():
    split = split_pairs(pairs(2, 60), 0.2, 0.1)
    assert (len(split.train), len(split.dev), len(split.test)) == (84, 24, 12)
    assert any("too few different first texts" in note for note in split.notes)


def test_scores_are_no_classes():
    items = [Pair(f"first {n}", "second", str(n / 7)) for n in range(50)]
    split = ITEM_TYPES_BY_TASK["pair-score"].split(items, 0.2, 0.2)
    assert (len(split.train), len(split.dev), len(split.test)) == (30, 10, 10)


def test_fingerprint():
    items = pairs(3, 2)
    original = fingerprint_pairs(items)
    assert (original.texts, original.labels) == (6, {"no": 3, "yes": 3})
    changed_sets = [
        [*items[:-1]],
        [Pair(p.second, p.first, p.label) for p in items],
        [Pair(p.first, p.second, "yes") for p in items],
        [Pair(p.first, p.second, p.label, first_parse=(0, 1)) for p in items],
        [Pair(p.first, p.second, p.label, second_parse=(0, 1)) for p in items],
        items[::-1],
    ]
    hashes = {fingerprint_pairs(changed).sha256 for changed in changed_sets}
    assert len(hashes | {original.sha256}) == 7
    assert fingerprint_pairs([Pair(p.first, p.second, p.label, 99) for p in items]) == original


@pytest.mark.parametrize("firsts", [100, 4])
def test_pairs_with_the_same_words_stay_together(firsts):
    """With few first texts, too. So no test pair is said to occur in training."""
    items = [
        Pair(f"premise {number % firsts}", f"the hypothesis {number}", "ab"[number % 2], number)
        for number in range(120)
    ]
    items += [
        Pair(f"Premise, {n % firsts}!", f"The hypothesis: {n}.", "ab"[n % 2], 120 + n) for n in range(120)
    ]
    item_type = ITEM_TYPES_BY_TASK["pair"]
    split = item_type.split(items, 0.2, 0.2)
    assert min(len(split.dev), len(split.test)) > 20
    assert not find_overlaps(item_type, {"train": split.train, "dev": split.dev, "test": split.test})
    folds = item_type.folds(items, 3)
    assert folds[:120] == folds[120:]
