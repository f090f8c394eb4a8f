"""What the doctor must name, as a model would learn it and little else, or would be judged too well by it;
and that of sound files it says nothing of the kind."""

import random

from headwise import doctor_files

LEAKS = {"HW153", "HW154", "HW160", "HW164", "HW165", "HW166", "HW170"}


def codes(truth, task, *files):
    paths = [truth.file(task, rows) for rows in files]
    return {finding.code for finding in doctor_files(paths, task=truth.task_of(task)).findings}


def test_of_a_sound_file_nothing_is_said(task, truth):
    items = list({repr(item[0]): item for item in truth.drawn(task, 400, 5, 0.8)}.values())
    reported = codes(truth, task, items[:250], items[250:])
    print(task, reported)
    expected = {"HW166"} if task.startswith("pair") else set()
    assert not reported & (LEAKS - expected)


def test_items_of_train_and_test(task, truth):
    items = truth.drawn(task, 120, 5, 0.8)
    assert "HW160" in codes(truth, task, items[:100], truth.doubled(task, items[95:]))


def test_items_that_stand_twice(task, truth):
    items = truth.drawn(task, 120, 5, 0.8)
    assert "HW153" in codes(truth, task, [*items, *items[:50]])


def test_items_with_two_answers(truth):
    for task in ("classify", "pair"):
        items = truth.drawn(task, 120, 5, 0.8)
        labels = sorted({label for _, label in items})
        contradictions = [(x, labels[label == labels[0]]) for x, label in items[:5]]
        assert codes(truth, task, [*items, *contradictions]) & {"HW154"}


def test_a_word_that_gives_the_label_away(truth):
    for task in ("classify", "multi-label"):
        items = truth.drawn(task, 200, 5, 0.6)
        marked = [
            (f"{text} via form" if label in ("good",) or "price" in label else text, label)
            for text, label in items
        ]
        assert "HW170" not in codes(truth, task, items)
        assert "HW170" in codes(truth, task, marked)


def test_one_text_of_pairs_that_gives_the_label_away(truth):
    items = truth.drawn("pair", 300, 5, 0.6)
    chance = random.Random(3)
    marked = [
        ((one, f"{second} not" if label == "other" and chance.random() < 0.95 else second), label)
        for (one, second), label in items
    ]
    assert "HW165" not in codes(truth, "pair", items)
    assert "HW165" in codes(truth, "pair", marked)


def test_pairs_with_another_label_the_other_way_round(truth):
    items = truth.drawn("pair", 120, 5, 0.8)
    turned = [((y, x), "same" if label == "other" else "other") for (x, y), label in items[:6]]
    assert "HW164" in codes(truth, "pair", [*items, *turned])
