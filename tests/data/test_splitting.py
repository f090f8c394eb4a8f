from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.data import Example, split_examples
from headwise.data.errors import DataError
from headwise.data.items.bag_items import BagItems
from headwise.data.items.examples import MultiLabelExample, TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.pair_items import PairItems
from headwise.data.splits.splitting import fold_items, split_items
from headwise.data.splits.text_signatures import normal_text


def examples(*pairs):
    return [Example(text, label, line) for line, (text, label) in enumerate(pairs, start=1)]


def numbered(**classes):
    return examples(*((f"{c} {i}", c) for c, n in classes.items() for i in range(n)))


def test_labels_that_are_nearly_all_different_are_no_labels():
    prices = [Example(f"a {n}", f"{n},5") for n in range(30)]
    with pytest.raises(DataError, match=r"HW141.*most labels occur once: .* the task regress"):
        split_examples(prices, dev=0.2)


@pytest.mark.parametrize(
    ("nouns", "numbers"),
    [
        (PairItems.nouns, "for numbers there is the task pair-score (in Python PairRegressor)"),
        (BagItems.nouns, ""),
    ],
)
def test_a_task_for_numbers_is_named_where_there_is_one(nouns, numbers):
    names = [str(n) for n in range(30)]
    with pytest.raises(DataError) as error:
        split_items(names, names, names, nouns=nouns)
    assert f"add {nouns.many} of each; {numbers}" in error.value.advice
    assert ("for numbers" in error.value.advice) == bool(numbers)


def test_sizes_and_shares_by_class():
    split = split_examples(numbered(a=600, b=300, c=100), dev=0.1, test=200, seed=1)
    assert [len(split.train), len(split.dev), len(split.test)] == [700, 100, 200]
    assert Counter(e.label for e in split.dev) == {"a": 60, "b": 30, "c": 10}
    assert Counter(e.label for e in split.test) == {"a": 120, "b": 60, "c": 20}
    assert split.notes == ("split into 700 train, 100 dev, 200 test",)


def test_the_order_of_the_file_stays():
    split = split_examples(numbered(a=20, b=20), dev=10)
    for part in (split.train, split.dev):
        assert [e.line for e in part] == sorted(e.line for e in part)


PINNED = ["a 0", "a 4", "b 4", "b 5"]


def test_it_is_the_same_everywhere():
    split = split_examples(numbered(a=6, b=6), dev=4, seed=0)
    assert [e.text for e in split.dev] == PINNED


def test_the_seed_matters_and_the_order_of_rows_does_not():
    data = numbered(a=50, b=50)

    def dev(data, seed):
        return {e.text for e in split_examples(data, dev=20, seed=seed).dev}

    assert dev(data, 0) == dev(data[::-1], 0)
    assert dev(data, 0) != dev(data, 1)


def test_repeated_texts_stay_together():
    pairs = [(f"text {i % 30}", "ab"[i % 2]) for i in range(90)]
    pairs += [("TEXT  3", "b"), (" text 3\n", "b")]
    split = split_examples(examples(*pairs), dev=0.2, test=0.2)
    sides = [{normal_text(e.text) for e in part} for part in (split.train, split.dev, split.test)]
    assert all(a.isdisjoint(b) for a, b in [sides[:2], sides[1:], sides[::2]])
    assert "62 texts stay in the same part" in split.notes[1]


def test_one_phrase_that_everybody_writes_is_not_what_is_judged_by():
    """As the readings of a ward, or an automatic reply: it stays in training where there is a choice."""
    items = examples(
        *[("same again", "a")] * 24, *((f"{label} {n}", label) for label in "ab" for n in range(138))
    )
    for seed in range(20):
        split = split_examples(items, dev=0.15, test=0.15, seed=seed)
        assert [len(split.train), len(split.dev), len(split.test)] == [210, 45, 45]
        assert sum(item.text == "same again" for item in split.train) == 24
    # A class that has nothing else is in the parts all the same.
    only = [(f"{'uvwxyz'[n % 6] * 9} only", "a") for n in range(60)]
    split = split_examples(examples(*only, *((f"b {n}", "b") for n in range(60))), dev=0.25, test=0.25)
    assert {item.label for item in split.dev} == {item.label for item in split.test} == {"a", "b"}


def test_too_few_texts(fails):
    for data, dev in [([], 0.1), (numbered(a=1), 0.1), (numbered(a=4), 0.1), (numbered(a=4), 4)]:
        assert fails(lambda data, dev: vars(split_examples(data, dev=dev)), data, dev)[0] == "HW141"
    same = examples(*[("same", "a")] * 50, ("other", "a"))
    assert fails(lambda: vars(split_examples(same, dev=0.5)))[0] in ("HW141",)


def test_sizes_that_make_no_sense():
    for dev in (-1, -0.1, 1.5):
        with pytest.raises(ConfigError, match="dev size"):
            split_examples(numbered(a=9), dev=dev)


PAIRS = st.lists(st.tuples(st.sampled_from("abcdefghijklmn"), st.sampled_from("xyz")), min_size=1)


@given(PAIRS, st.integers(0, 8), st.integers(0, 8), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_properties(pairs, dev, test, seed):
    data = examples(*pairs)
    try:
        split = split_examples(data, dev, test, seed)
    except Exception as error:
        assert getattr(error, "code", "") == "HW141"  # noqa: PT017
        assert dev + test > 0
        return
    parts = [split.train, split.dev, split.test]
    assert sorted(e.line for part in parts for e in part) == [e.line for e in data]
    assert len(split.dev) <= dev
    assert len(split.test) <= test
    texts = [{e.text for e in part} for part in parts]
    assert sum(map(len, texts)) == len({e.text for e in data})
    for label in "xyz":
        alone = {text for text, _ in pairs if {y for t, y in pairs if t == text} == {label}}
        if alone:
            assert label in {e.label for e in split.train}


@given(st.dictionaries(st.sampled_from("abcde"), st.integers(2, 40), min_size=1), st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_distinct_texts_give_exact_sizes_and_proportions(classes, seed):
    data = numbered(**classes)
    total = len(data)
    dev = max(1, total // 5)
    if dev > total - len(classes):
        return
    split = split_examples(data, dev=dev, seed=seed)
    assert len(split.dev) == dev
    counts = Counter(e.label for e in split.dev)
    assert all(abs(counts[c] - dev * n / total) < 2 for c, n in classes.items())


def test_folds_share_the_classes_and_keep_the_same_texts_together():
    keys = [f"text {number % 40}" if number % 2 else f"Text  {number % 40}" for number in range(60)]
    strata = ["a" if number % 4 else "b" for number in range(60)]
    folds = fold_items([*keys, "only one"], [*strata, "c"], 3)
    assert folds[-1] == -1
    assert set(folds[:-1]) == {0, 1, 2}
    together = {}
    for key, fold in zip(keys, folds, strict=False):
        together.setdefault(normal_text(key), set()).add(fold)
    assert all(len(folds_of_text) == 1 for folds_of_text in together.values())
    for fold in range(3):
        labels_of_fold = [label for label, where in zip(strata, folds, strict=False) if where == fold]
        assert 2 <= Counter(labels_of_fold)["b"] <= 8
    assert folds != fold_items([*keys, "only one"], [*strata, "c"], 3, seed=1)
    assert fold_items(["x", "y"], ["a", "a"], 3) in ([0, 1], [1, 0])


GROUPED = st.lists(
    st.tuples(st.sampled_from("abcdefghijkl"), st.sampled_from("vvvvvwwwxyz")), min_size=2, max_size=40
)
"""The group and the label of each item: most groups have a rare label that is in the minority."""


@given(GROUPED, st.integers(2, 6), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_every_label_occurs_in_training_whichever_fold_is_held_out(grouped, count, seed):
    keys, labels = [key for key, _ in grouped], [label for _, label in grouped]
    folds = fold_items(keys, labels, count, seed)
    for held_out in range(count):
        assert {label for label, fold in zip(labels, folds, strict=True) if fold != held_out} == {*labels}
    assert len({*zip(keys, folds, strict=True)}) == len({*keys})


@given(GROUPED, st.integers(0, 4), st.integers(0, 4), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_every_label_occurs_in_the_training_part_and_groups_stay_together(grouped, dev, test, seed):
    keys, labels = [key for key, _ in grouped], [label for _, label in grouped]
    items = range(len(grouped))
    try:
        split = split_items(items, keys, labels, dev, test, seed)
    except DataError as error:
        assert error.code == "HW141"  # noqa: PT017
        return
    assert {labels[item] for item in split.train} == {*labels}
    parts = [{keys[item] for item in part} for part in (split.train, split.dev, split.test)]
    assert sum(map(len, parts)) == len({*keys})
    # Whatever can be split can be held out by folds, too.
    if dev or test:
        assert max(fold_items(keys, labels, 3, seed)) >= 0


SETS = st.lists(st.tuples(st.sampled_from("abcdefghijkl"), st.sets(st.sampled_from("vwxyz"))), min_size=2)


@given(SETS, st.integers(2, 5), st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_every_label_of_label_sets_occurs_in_training(grouped, count, seed):
    items = [MultiLabelExample(key, tuple(sorted(labels))) for key, labels in grouped]
    item_type = ITEM_TYPES_BY_TASK["multi-label"]
    every = {label for item in items for label in item.labels}
    folds = item_type.folds(items, count, seed)
    sides = [
        [item for item, fold in zip(items, folds, strict=True) if fold != part] for part in range(count)
    ]
    with suppress(DataError):
        sides.append(item_type.split(items, 0.2, 0.2, seed).train)
    assert all({label for item in side for label in item.labels} == every for side in sides)


@given(
    st.lists(st.lists(st.sampled_from("OOOOOABCD"), min_size=1, max_size=4), min_size=4), st.integers(0, 3)
)
@settings(max_examples=200, deadline=None)
def test_every_tag_occurs_in_training(tagged, seed):
    sentences = [
        TaggedSentence(tuple(f"w{number % 7}x{place}" for place in range(len(tags))), tuple(tags))
        for number, tags in enumerate(tagged)
    ]
    with suppress(DataError):
        train = ITEM_TYPES_BY_TASK["tag"].split(sentences, 0.2, 0.2, seed).train
        assert {tag for item in train for tag in item.tags} == {tag for tags in tagged for tag in tags}


def test_a_group_with_the_only_item_of_a_label_is_for_training_and_nothing_else_changes():
    keys, strata = ["a", "a", "a", "b", "c"], ["x", "x", "y", "x", "x"]
    assert fold_items(keys, ["x"] * 5, 3) == [0, 0, 0, 1, 2]
    assert fold_items(keys, strata, 3) == [-1, -1, -1, 1, 2]
    copies = [Example(text, label) for text, label in [("a b c d", "x")] * 4 + [("A b C d", "typo")]]
    data = [*copies, *numbered(x=40, y=40)]
    for seed in range(40):
        split = split_examples(data, 0.15, 0.15, seed)
        assert all(item in split.train for item in copies)
        assert [len(part) for part in (split.train, split.dev, split.test)] == [59, 13, 13]


def test_where_no_label_is_lost_the_parts_are_those_of_before():
    keys = [f"text {number % 23}" for number in range(60)]
    strata = ["abc"[number % 23 % 3] if number % 11 else "a" for number in range(60)]
    split = split_items(range(60), keys, strata, 0.2, 0.1, 5)
    assert split.dev == [3, 8, 10, 21, 26, 31, 33, 44, 49, 54, 56]
    assert split.test == [16, 18, 20, 39, 41, 43]
    assert fold_items(keys, strata, 4, 1)[:23] == [int(fold) for fold in "30310202002301113121232"]
