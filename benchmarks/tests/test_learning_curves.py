"""Learning curves: the drawn texts, and the intervals over domains, seeds and texts."""

from xml.etree import ElementTree

import numpy as np

from benchmarks.papers.accuracy import task_of
from benchmarks.papers.learning_curves import SYSTEMS, LearningCurves, drawn, gains, main, picture, tables
from headwise.data.items.examples import Example

TRAIN = [Example(f"text {number}", "good" if number % 4 else "bad") for number in range(1400)]


def run(seed, right):
    right = np.asarray(right)
    return {
        "seed": seed,
        "test": right.mean(),
        "test_texts": len(right),
        "right": np.packbits(right).tobytes().hex(),
    }


def test_drawn_texts_keep_the_proportions_and_differ_by_seed():
    first, again, second = drawn(TRAIN, 100, 0), drawn(TRAIN, 100, 0), drawn(TRAIN, 100, 1)
    assert [item.text for item in first] == [item.text for item in again]
    assert {item.text for item in first} != {item.text for item in second}
    assert len(first) == 100
    assert sum(item.label == "bad" for item in first) == 25
    assert drawn(TRAIN, 1400, 3) == TRAIN


def runs_of_all(first, baseline):
    return {system: [run(0, first if system == "ms-transformer" else baseline)] for system in SYSTEMS}


FOUND = {
    "mtl16/MR@250": runs_of_all([1, 1, 1, 0], [1, 0, 0, 0]),
    "mtl16/dvd@250": runs_of_all([1, 1, 0, 0], [1, 1, 0, 0]),
    "mtl16/books@250": {"ms-transformer": [run(0, [1, 1, 1, 1])]},  # the others have not run
    "mtl16/MR@100": runs_of_all([1, 1, 0, 0], [1, 0, 0, 0]),
    "mtl16/dvd@100": {},
}


def test_tables_have_the_domains_on_which_all_have_run():
    lines = tables(FOUND)
    assert "| mean of domains (runs) | 100 labels | 250 labels |" in lines
    assert "| ms-transformer | 50.0 (1) | 62.5 (2) |" in lines
    assert "| bilstm | 25.0 (1) | 37.5 (2) |" in lines
    assert any(
        line.startswith("| ms-transformer | +25.0 (") and line.endswith(", 2, 2 |") for line in lines
    )
    assert tables({}) == tables({"mtl16/dvd@100": {}})


def test_differences_are_over_the_domains_on_which_both_have_run():
    alone = {"mtl16/books@500": {"ms-transformer": [run(0, [1, 1, 1, 1])]}}
    pair = {
        "mtl16/MR@500": {
            "ms-transformer": [run(0, [1, 1, 1, 0])],
            "ms-full-windows": [run(0, [1, 0, 0, 0])],
        }
    }
    assert gains(FOUND | alone, "ms-full-windows") == gains(FOUND, "ms-full-windows")
    head, rows = gains(FOUND | alone | pair, "ms-full-windows")
    assert head[-1] == "500 labels"
    cells = {row[0]: row[-1] for row in rows}
    assert cells["ms-transformer"].startswith("+50.0 (")
    assert cells["ms-transformer"].endswith(", 1, 1")
    assert cells["bilstm"] == "-"


def test_the_picture_has_the_same_domains_at_every_size():
    drawn = picture(FOUND)
    ElementTree.fromstring(drawn)
    assert "1 domains" not in drawn
    assert "2 domains of reviews" in drawn
    assert "ms-transformer: 62.5 %" in drawn
    assert drawn.count("<circle") == len(SYSTEMS)  # one of two domains is too few for 100 labels


def test_what_has_been_measured_is_drawn(tmp_path, capsys):
    assert main(["--table", "--labels", "250", "--figure", str(tmp_path / "curves.svg")]) == 0
    assert "| ms-transformer |" in capsys.readouterr().out
    ElementTree.parse(tmp_path / "curves.svg")


def test_each_seed_is_trained_on_its_own_texts(tmp_path, monkeypatch):
    bench = LearningCurves(tmp_path / "results.jsonl")
    read = []

    def measure(self, data, task, system, seed, folder):
        read.append([item.text for item in data.parts.train])
        return {"test": 1.0, "seconds": 0.0, "test_texts": 8, "right": "ff"}

    data = task_of(TRAIN, TRAIN[:8], TRAIN[:8])
    monkeypatch.setattr(LearningCurves, "load", lambda self, task: data)
    monkeypatch.setattr(LearningCurves, "measure", measure)
    for seed in (0, 1, 0):
        bench.run("mtl16/MR@100", "tfidf-svm", seed)
    assert [len(texts) for texts in read] == [100, 100]  # the last is in the file
    assert read[0] != read[1]
    assert bench.layers("mtl16/MR@100", "ms-transformer")[-1] == {
        "train": {"epochs": 24, "precision": "float32"},
        "encoder": {"width": 150, "head_size": 15},
        "windows": {"words": 512, "most_words": 512},
    }
