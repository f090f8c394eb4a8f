"""Learning curves: the drawn texts, and the intervals over domains, seeds and texts."""

import numpy as np

from benchmarks.papers.accuracy import task_of
from benchmarks.papers.learning_curves import LearningCurves, drawn, gain, tables
from headwise.data.items.examples import Example

TRAIN = [Example(f"text {number}", "good" if number % 4 else "bad") for number in range(1400)]


def run(seed, right):
    right = np.asarray(right)
    return {"seed": seed, "test_texts": len(right), "right": np.packbits(right).tobytes().hex()}


def test_drawn_texts_keep_the_proportions_and_differ_by_seed():
    first, again, second = drawn(TRAIN, 100, 0), drawn(TRAIN, 100, 0), drawn(TRAIN, 100, 1)
    assert [item.text for item in first] == [item.text for item in again]
    assert {item.text for item in first} != {item.text for item in second}
    assert len(first) == 100
    assert sum(item.label == "bad" for item in first) == 25
    assert drawn(TRAIN, 1400, 3) == TRAIN


def test_a_system_that_is_always_right_is_ahead_of_one_that_never_is():
    right, wrong = np.ones(40, int), np.zeros(40, int)
    cells = {"a": {0: right, 1: right}, "b": {0: right}}
    rivals = {"a": {0: wrong, 1: wrong}, "b": {0: wrong, 7: wrong}}
    assert gain(cells, rivals) == (2, 3, 100.0, 100.0, 100.0)
    assert gain(cells, {"c": {0: wrong}}) is None


def test_intervals_hold_domains_and_seeds():
    """Each seed is all right or all wrong: with texts alone the interval would have no width."""
    right, wrong = np.ones(40, int), np.zeros(40, int)
    _, _, mean, low, high = gain({"a": {0: right, 1: wrong}}, {"a": {0: wrong, 1: wrong}})
    assert (mean, low, high) == (50.0, 0.0, 100.0)
    cells = {"a": {0: right}, "b": {0: wrong}}
    _, _, mean, low, high = gain(cells, {"a": {0: wrong}, "b": {0: wrong}})
    assert (mean, low, high) == (50.0, 0.0, 100.0)


def test_tables_leave_out_what_has_not_run():
    found = {
        "mtl16/MR@250": {"ms-transformer": [run(0, [1, 1, 1, 0])], "transformer": [run(0, [1, 0, 0, 0])]},
        "mtl16/dvd@250": {"ms-transformer": [run(0, [1, 1, 0, 0])]},
    }
    lines = tables(found)
    assert "| mean of domains (runs) | 250 labels |" in lines
    assert "| ms-transformer | 62.5 (2) |" in lines
    assert "| ms-transformer | +50.0 (+0.0 to +100.0; 1 domains, 1 runs) |" in lines
    assert "| bilstm | - |" in lines


def test_each_seed_is_trained_on_its_own_texts(tmp_path, monkeypatch):
    bench = LearningCurves(tmp_path / "results.jsonl")
    read = []

    def measure(self, data, task, system, seed, folder):
        read.append([item.text for item in data.parts.train])
        return {"test": 1.0, "seconds": 0.0, "test_texts": 8, "right": "ff"}

    whole = task_of(TRAIN, TRAIN[:8], TRAIN[:8])
    monkeypatch.setattr(LearningCurves, "load", lambda self, task: whole)
    monkeypatch.setattr(LearningCurves, "measure", measure)
    for seed in (0, 1, 0):
        bench.run("mtl16/MR@100", "tfidf-svm", seed)
    assert [len(texts) for texts in read] == [100, 100]  # the last is in the file
    assert read[0] != read[1]
    assert bench.layers("mtl16/MR@100", "ms-transformer")[-1] == {"train": {"epochs": 24}}
