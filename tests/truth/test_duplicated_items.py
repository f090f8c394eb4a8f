"""Items that stand in a file again, in capitals, with other blanks, or as a pair the other way round: no
part and no fold shares one with another, wherever a model is to be judged by what it has not seen."""

import random

import numpy as np
import pytest

from headwise import curve_file, noise_file
from headwise.app.workflows.tag_errors import out_of_fold_type_probabilities
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE, LabelType
from headwise.data.splits.data_parts import read_parts
from headwise.data.splits.duplicates import first_in_group
from headwise.data.splits.text_signatures import normal_text, words_for_comparison
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.metrics.tag_schemes import detect_scheme

ONLY = {"test_nothing_is_learnt_of_tags_that_are_coin_flips": ("tag", "tag of spans")}


def read(truth, task):
    items = truth.drawn(task, 120, 6, 0.5)
    return read_parts(
        ITEM_TYPES_BY_TASK[truth.task_of(task)], str(truth.file(task, truth.doubled(task, items)))
    )


def names(kind, items):
    keys = map(kind.contamination_key, items)
    return {words_for_comparison(key) if kind.sides else key for key in keys}


def test_no_part_has_one_of_another(task, truth):
    parts = read(truth, task)
    train, dev, test = (names(parts.item_type, part) for part in (parts.train, parts.dev, parts.test))
    assert dev
    assert test
    assert not train & dev
    assert not train & test
    assert not dev & test
    assert not parts.overlaps()


@pytest.mark.parametrize("count", [3, 5, 10])
def test_no_fold_has_one_of_another(task, count, truth):
    parts = read(truth, task)
    kind, items = parts.item_type, parts.files["train"].items
    folds = np.array(kind.folds(items, count))
    fold_names = [names(kind, [items[n] for n in np.flatnonzero(folds == fold)]) for fold in range(count)]
    assert all(fold_names)
    assert sum(map(len, fold_names)) == len(set().union(*fold_names))


@pytest.mark.parametrize("task_of_texts", ["classify", "pair", "regress", "multi-label"])
def test_nor_has_a_fold_of_the_linear_linear_model(task_of_texts, truth):
    """Answers that are coin flips are told from no double."""
    pairs = task_of_texts == "pair"
    items = truth.doubled(task_of_texts, truth.drawn(task_of_texts, 150, 7, 0.5))
    texts = [x for x, _ in items]
    same = first_in_group(texts, 5)
    keys = [normal_text("\n".join(sorted(map(normal_text, x)) if pairs else [x])) for x in texts]
    for number, key in enumerate(keys):
        assert same[number] == same[keys.index(key)]
    label_type: LabelType = SINGLE_LABEL_TYPE
    if task_of_texts == "regress":
        label_type = NUMERIC_LABEL_TYPE
        targets, classes = np.array([y for _, y in items], dtype=np.float32), 1
    elif task_of_texts == "multi-label":
        label_type = LABEL_SET_TYPE
        targets, classes = np.array([["price" in y, "staff" in y] for _, y in items]), 2
    else:
        labels = sorted({y for _, y in items})
        targets, classes = np.array([labels.index(y) for _, y in items]), 2
    score = fit_linear(LinearExamples(texts, targets, classes, label_type=label_type, pairs=pairs)).cv_score
    print(task_of_texts, score)
    assert score < (0.1 if classes == 1 else 0.62)


def test_nothing_is_learnt_of_tags_that_are_coin_flips(task, truth):
    items = truth.doubled(task, truth.drawn(task, 150, 7, 0.5))
    path = truth.file(task, items)
    data = ITEM_TYPES_BY_TASK["tag"].read(str(path)).items
    scheme = detect_scheme(sentence.tags for sentence in data).scheme
    types = [tag.partition("-")[2] or tag for sentence in data for tag in sentence.tags]
    numbers = {name: n for n, name in enumerate(sorted(set(types)))}
    chances = out_of_fold_type_probabilities(data, scheme, numbers)
    lots = np.array([kind != "O" for kind in types])
    right = chances.argmax(axis=1) == np.array([numbers[kind] for kind in types])
    print(task, right[lots].mean())
    assert right[lots].mean() < 0.6


def test_doubles_of_the_test_part_are_told(task, truth):
    """In capitals, with other blanks and as a pair the other way round they are the same."""
    items = truth.drawn(task, 60, 8, 0.5)
    again = truth.doubled(task, items)
    random.Random(1).shuffle(again)
    kind = ITEM_TYPES_BY_TASK[truth.task_of(task)]
    parts = read_parts(kind, str(truth.file(task, items)), None, str(truth.file(task, again)))
    (overlap,) = [
        overlap
        for overlap in parts.overlaps()
        if overlap.source_part == "train" and overlap.scored_part == "test"
    ]
    assert overlap.items + overlap.nearly_equal >= 2 * len(parts.train)


WORDS = [
    f"{one}{ending}"
    for one in ["ba", "ko", "mi", "tu", "la", "ne", "po", "ri", "so", "du"]
    for ending in ["nek", "tor", "lim", "pas"]
]


def nearly(task, count, seed=4):
    """Items whose answers are coin flips, each again with another word in place of one."""
    chance, items = random.Random(seed), []
    for _ in range(count):
        words = chance.choices(WORDS, k=chance.randint(11, 15))
        again = [*words]
        again[chance.randrange(len(words))] = chance.choice(WORDS)
        if task == "tag":
            tags = [chance.choice("AB") for _ in words]
            items += [(words, tags), (again, tags)]
        else:
            label = chance.choice(("bad", "good"))
            items += [(" ".join(words), label), (" ".join(again), label)]
    chance.shuffle(items)
    return items


def test_nothing_is_learnt_of_coin_flips_from_items_that_are_nearly_others(truth):
    items = nearly("classify", 150)
    targets = np.array([label == "good" for _, label in items], dtype=np.int64)
    score = fit_linear(LinearExamples([text for text, _ in items], targets, 2)).cv_score
    scores = curve_file(truth.file("classify", items), seeds=2).scores
    suspects = noise_file(truth.file("classify", items))
    print(score, scores.mean(axis=0), len(suspects))
    assert score < 0.62
    assert scores[:, -1].mean() < 0.65
    assert len(suspects) < 3


def test_nor_of_tags(truth):
    items = nearly("tag", 120)
    data = ITEM_TYPES_BY_TASK["tag"].read(str(truth.file("tag", items))).items
    chances = out_of_fold_type_probabilities(data, "plain", {"A": 0, "B": 1})
    right = chances.argmax(axis=1) == np.array([tag == "B" for sentence in data for tag in sentence.tags])
    print(right.mean())
    assert right.mean() < 0.6


def test_what_is_said_of_a_test_part_that_is_nearly_others_holds(truth):
    """It was .9 where .5 is true."""
    outcome = truth.train("classify", nearly("classify", 150), {"base": {"name": "none"}})
    print(outcome.test.to_json()["accuracy"])
    assert outcome.test.to_json()["accuracy"] < 0.7
