"""accuracy.py and pairs.py: what is committed can be shown, what is named has a recipe."""

import json
import statistics
from dataclasses import replace

import pytest


@pytest.fixture
def benches():
    from benchmarks.papers.accuracy import Accuracy
    from benchmarks.papers.pairs import Pairs

    return Accuracy(), Pairs()


def test_the_committed_results_can_be_shown(benches, capsys):
    for bench, task in zip(benches, ("mtl16/MR", "sick"), strict=True):
        before = bench.results.read_bytes()
        runs = [json.loads(line) for line in before.splitlines()]
        # The last run of a seed stands for it.
        tests = {
            run["seed"]: run["test"]
            for run in runs
            if (run["task"], run["system"]) == (task, "ms-transformer")
        }
        percents = [100 * test for test in tests.values()]
        cell = f"{statistics.mean(percents):.1f} ± {statistics.stdev(percents):.1f} ({len(percents)})"
        assert bench.main("", ["--table"]) == 0
        assert f"| {task} | {cell} |" in capsys.readouterr().out
        assert bench.results.read_bytes() == before


def test_a_domain_that_was_not_run_is_left_out(benches, tmp_path, capsys):
    from benchmarks.papers.accuracy import Accuracy

    assert Accuracy(tmp_path / "none.jsonl").main("", ["--table", "--only", "mtl16/baby"]) == 0
    assert "baby" not in capsys.readouterr().out


def test_all_of_imdb_runs_only_where_it_is_named(benches, monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr("benchmarks.common.runs.DATA", tmp_path)
    monkeypatch.setattr(benches[0], "run", lambda task, *_: ran.append(task))
    benches[0].main("", ["--seeds", "1", "--systems", "bilstm"])
    assert "mtl16/MR" in ran
    assert "imdb" not in ran
    benches[0].main("", ["--seeds", "1", "--systems", "bilstm", "--only", "imdb"])
    assert ran[-1] == "imdb"


def test_reviews_are_read_as_words_with_their_side(tmp_path, monkeypatch):
    import lzma

    from benchmarks.papers import accuracy

    monkeypatch.setattr(accuracy, "DATA", tmp_path)
    (tmp_path / "imdb").mkdir()
    for part in ("train", "test"):
        for label in ("neg", "pos"):
            rows = (f"{i}\t7\tIt isn't<br /><br />{label}, {part} {i}.\n" for i in range(10))
            (tmp_path / f"imdb/{part}_{label}.tsv.xz").write_bytes(lzma.compress("".join(rows).encode()))
    train, dev, test = accuracy.Accuracy().load("imdb").three()
    assert [len(train), len(dev), len(test)] == [18, 2, 20]
    assert test[0].text == "It is n't neg , test 0 ."
    assert test[0].label == "neg"
    assert test[-1].label == "pos"


def test_every_system_makes_a_recipe(benches):
    from benchmarks.papers.classifying import LINEAR
    from headwise.app.configuration import build_config

    for bench in benches:
        for task in bench.paper:
            for system in (*bench.systems, *bench.more):
                trees = task.startswith("sst")
                lacking = (
                    system.startswith(("ms-full-windows", "ms-directions"))
                    if trees
                    else system.endswith("phrases")
                ) or (system.endswith("12 epochs") and not task.startswith("mtl16/"))
                if not system.startswith(LINEAR) and not lacking:
                    assert build_config(*bench.layers(task, system)).model.task == bench.kind


def test_longer_trainings_are_of_mtl16_alone():
    from benchmarks.papers.accuracy import Accuracy
    from headwise.app.configuration import build_config
    from headwise.core.errors import ConfigError

    bench = Accuracy()
    twice, once = (
        build_config(*bench.layers("mtl16/MR", f"bilstm + refit{more}")) for more in (", 12 epochs", "")
    )
    assert replace(twice, train=replace(twice.train, epochs=once.train.epochs)) == once
    assert twice.train.epochs == 2 * once.train.epochs
    with pytest.raises(ConfigError, match=r"12 epochs are for domains of MTL-16; got sst5"):
        bench.layers("sst5", "bilstm + refit, 12 epochs")


def test_what_learns_of_dev_too_is_judged_alone_and_with_its_linear_model(tmp_path, monkeypatch):
    """The only word of the test texts is one that only dev has."""
    from benchmarks.papers import classifying
    from benchmarks.papers.accuracy import Accuracy, task_of
    from headwise.data.items.examples import Example

    def rows(words, count, endings="abc"):
        return [Example(f"{words[n % 2]} {endings[n % 3]}", str(n % 2)) for n in range(count)]

    small = {"encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1}, "classifier": {"hidden": 8}}
    base = {"train": {"epochs": 4, "learning_rate": 0.02, "batch_texts": 4}, "base": {"name": "none"}}
    again = {"train": {**base["train"], "refit": True, "score": "last"}, "linear_model": {"kind": "linear"}}

    class Small(Accuracy):
        def layers(self, task, system):
            alone = {**base, "linear_model": {"kind": "none"}}
            return [small, base | again if system.endswith(classifying.REFIT) else alone]

    bench = Small(tmp_path / "results.jsonl")
    bench.word_vectors = lambda: None
    data = task_of(rows(["good", "bad"], 40), rows(["fine", "poor"], 24), rows(["fine", "poor"], 12, "cde"))
    for system in ("ms-transformer", "tfidf-svm"):
        before = bench.measure(data, "mtl16/MR", system, 0, tmp_path / "one")
        after = bench.measure(data, "mtl16/MR", f"{system}{classifying.REFIT}", 0, tmp_path / "two")
        assert before["test"] < 0.8
        assert after["test"] == 1.0
        if system == "ms-transformer":
            assert after["best_epoch"] == 4
            assert after["with_linear_model"]["test"] == 1.0


@pytest.mark.parametrize(
    ("place", "task", "system", "readout", "more"),
    [
        (0, "sst5", "ms-transformer, as published", "node+max", {}),
        (0, "mtl16/MR", "ms-san, as published", "attentive,max", {}),
        (0, "sst2", "bp-transformer, as published", "node", {"layers": 4, "k": 2, "clip": 2}),
        (0, "imdb", "bp-transformer, as published", "node", {"layers": 5, "k": 4, "clip": 5}),
        (0, "sst5", "bilstm + self-att", "attentive", {}),
        (1, "snli", "ms-transformer, as published", "node+max", {}),
        (1, "snli", "ms-san, as published", "attentive,max", {}),
        (1, "snli", "bilstm + self-att", "attentive", {}),
    ],
)
def test_what_is_as_published_differs_in_nothing_else(benches, place, task, system, readout, more):
    from headwise.app.configuration import build_config

    plain = build_config(*benches[place].layers(task, system.split(",")[0].split(" + ")[0]))
    published = build_config(*benches[place].layers(task, system))
    model = replace(plain.model, readout=readout, encoder=replace(plain.model.encoder, **more))
    if system == "ms-transformer, as published" and place:
        model = replace(model, pair=replace(model.pair, features="concat-absolute"))
    assert published == replace(plain, model=model)
    assert benches[place].reads_trees(system) == ("ms-san" in system)
