from pathlib import Path

import pytest

from headwise.data.items.examples import Example


@pytest.fixture
def bench(tmp_path):
    from benchmarks.defaults.few_labels import FewLabels

    return FewLabels(tmp_path / "few_labels.jsonl")


@pytest.fixture
def drawn(bench, monkeypatch):
    """What a system is trained and judged on, by the seed."""
    from benchmarks.papers.accuracy import task_of
    from benchmarks.papers.classifying import Classifying

    texts = [Example(f"text {number}", str(number % 2)) for number in range(400)]
    data = task_of(texts, [Example("dev", "0")], [Example("test", "1")])
    monkeypatch.setattr(Classifying, "measure", lambda self, data, *rest: data)
    task = next(iter(bench.paper))
    return lambda seed: bench.measure(data, task, "bilstm", seed, Path())


def test_only_training_texts_are_used_each_once(drawn):
    train, dev, judged = drawn(0).three()
    assert (len(train), len(dev), len(judged)) == (250, 100, 50)
    assert {e.text for e in (*train, *dev, *judged)} == {f"text {number}" for number in range(400)}


def test_a_seed_is_a_draw(drawn):
    assert drawn(0).parts.train == drawn(0).parts.train != drawn(1).parts.train


def test_settings_are_those_of_the_accuracy_benchmark_but_for_the_epochs(bench):
    from benchmarks.common.runs import recipe_of
    from benchmarks.papers.accuracy import Accuracy

    task = next(iter(bench.paper))
    for system in bench.systems:
        ours, theirs = (
            recipe_of(bench.layers(task, system)),
            recipe_of(Accuracy().layers("mtl16/MR", system)),
        )
        if ours:
            assert ours["train"].pop("epochs") == 16
            theirs["train"].pop("epochs")
        assert ours == theirs
