import json

import numpy as np
import pytest


@pytest.fixture
def results():
    """Two systems on two sets, and a split set; the SVM wins on `b`."""
    from benchmarks.defaults.default_results import Job

    runs = {
        ("a", "headwise", 250, 0): 0.8,
        ("a", "headwise", 250, 1): 0.9,
        ("a", "svm", 250, 0): 0.7,
        ("b", "headwise", 250, 0): 0.5,
        ("b", "svm", 250, 0): 0.6,
        ("helpdesk/0", "headwise", 250, 0): 0.6,
        ("helpdesk/1", "headwise", 250, 0): 0.8,
        ("a", "headwise", 0, 0): 0.95,
    }
    return {Job(*key): {"test": value, "seconds": 2.0} for key, value in runs.items()}


def test_subsets_are_nested_and_keep_the_labels_shares():
    from benchmarks.defaults.default_sets import subset

    labels = ["x"] * 700 + ["y"] * 290 + ["z"] * 10
    order = subset(labels, None, 0)
    assert sorted(order) == list(range(1000))
    assert subset(labels, 100, 0) == order[:100]
    assert subset(labels, 100, 1) != order[:100]
    assert {labels[row] for row in order[:3]} == {"x", "y", "z"}
    for size in (100, 250, 500):
        subset_labels = [labels[row] for row in order[:size]]
        assert abs(subset_labels.count("x") / size - 0.7) < 0.03
        assert abs(subset_labels.count("y") / size - 0.29) < 0.03


def test_subsets_of_tagged_sentences():
    from benchmarks.defaults.default_sets import subset

    assert sorted(subset([["O"], ["O", "B"], []], None, 0)) == [0, 1, 2]


def test_sets_and_groups_by_name():
    from benchmarks.defaults.default import sets_of
    from benchmarks.defaults.default_sets import GROUPS

    assert len(sets_of(["mtl16", "mtl16/MR", "sick"])) == 17
    assert set(sets_of(["texts", "pairs", "tags"])) == set(GROUPS["all"])
    assert set(GROUPS["quick"]) <= set(GROUPS["texts"])
    with pytest.raises(SystemExit, match="no set or group 'x'"):
        sets_of(["x"])


def test_a_set_that_does_not_exist_is_no_traceback():
    from benchmarks.defaults.default_sets import load

    with pytest.raises(SystemExit, match=r"name one or more of these sets: mtl16/.*got --help"):
        load("--help")


def test_jobs_are_balanced_and_rivals_read_all_texts_once():
    from benchmarks.defaults.default import jobs
    from benchmarks.defaults.default_results import Job

    all_jobs = list(jobs(["a", "b"], ["headwise x", "svm"], [250, 0], 2))
    assert all_jobs[:4] == [Job(s, m, 250, 0) for s in "ab" for m in ("headwise x", "svm")]
    assert sum(job.texts == 0 and job.system == "svm" for job in all_jobs) == 2
    assert sum(job.texts == 0 and job.system == "headwise x" for job in all_jobs) == 4


def test_what_cannot_be_run_is_refused():
    from benchmarks.defaults.default import refusal
    from benchmarks.defaults.default_results import Job
    from benchmarks.defaults.default_sets import DataSet, Part

    part = Part(["t"] * 300, ["a", "b", "c"] * 100)
    data = DataSet("x", "classify", part, part)
    assert refusal(Job("x", "headwise", 250, 0), data) is None
    assert refusal(Job("x", "svm", 0, 0), data) is None
    assert "see all" in refusal(Job("x", "svm", 300, 0), data)
    assert "3 labels" in refusal(Job("x", "svm", 5, 0), data)
    assert "no rival" in refusal(Job("x", "crf", 250, 0), data)


def test_results_are_appended_and_the_last_holds(tmp_path):
    from benchmarks.defaults.default_results import Job, append_result, read_results

    path = tmp_path / "folder" / "results.jsonl"
    assert read_results(path) == {}
    one, two = Job("a", "svm", 250, 0), Job("a", "svm", 250, 1)
    append_result(path, one, {"test": 0.5})
    append_result(path, two, {"test": 0.6})
    path.write_text(path.read_text() + '{"set": "a", "sys')  # killed while writing
    append_result(path, one, {"test": 0.7})
    assert read_results(path) == {one: {"test": 0.7}, two: {"test": 0.6}}


def test_means_over_seeds_and_splits(results):
    from benchmarks.defaults.default_results import means

    averages = means(results, 250)
    assert averages["headwise"] == pytest.approx({"a": 0.85, "b": 0.5, "helpdesk": 0.7})
    assert means(results, 250, seeds=1)["headwise"]["a"] == 0.8
    assert means(results, 0) == {"headwise": {"a": 0.95}}


def test_best_linear_is_chosen_on_dev_where_all_were_run():
    from benchmarks.defaults.default_results import Job, best_linear, means

    runs = {"svm": (0.6, 0.5), "nb-svm": (0.5, 0.9), "fasttext": (0.1, 0.2)}
    results = {Job("a", name, 250, 0): {"dev": dev, "test": test} for name, (dev, test) in runs.items()}
    results[Job("b", "svm", 250, 0)] = {"dev": 0.5, "test": 0.5}
    assert best_linear(results) == {Job("a", "best linear", 250, 0): {"dev": 0.6, "test": 0.5}}
    assert means(results, 250)["best linear"] == {"a": 0.5}


def test_gap_is_paired_by_set_and_seed(results):
    from benchmarks.defaults.default_results import Job, gap

    difference = gap(results, 250, "headwise", "svm")
    assert (difference.mean, difference.sets) == (pytest.approx(0), 2)  # seed 1 of `a` has no rival
    assert difference.worst == ("b", pytest.approx(-0.1))
    assert (difference.low, difference.high) == (pytest.approx(-0.1), pytest.approx(0.1))
    assert gap(results, 250, "headwise", "glove") is None
    results[Job("a", "headwise", 0, 1)] = {"test": 0.85}
    results[Job("a", "svm", 0, 0)] = {"test": 0.8}
    assert gap(results, 0, "headwise", "svm").mean == pytest.approx(0.1)


def test_the_interval_holds_what_runs_of_a_set_differ_by():
    from benchmarks.defaults.default_results import Job, gap

    def runs_of(gains):
        runs = {Job("a", "headwise", 250, seed): {"test": 0.5 + gain} for seed, gain in enumerate(gains)}
        return runs | {Job("a", "svm", 250, seed): {"test": 0.5} for seed in range(len(gains))}

    same, different = (
        gap(runs_of(gains), 250, "headwise", "svm") for gains in ([0.1] * 3, [0.0, 0.1, 0.2])
    )
    assert same.mean == pytest.approx(0.1) == different.mean
    assert (same.low, same.high) == (pytest.approx(0.1), pytest.approx(0.1))
    assert (different.low, different.high) == (pytest.approx(0), pytest.approx(0.2))


def test_tables(results, capsys):
    from benchmarks.defaults.default_table import print_tables

    print_tables(results)
    out = capsys.readouterr().out
    assert "| a | 85.0 | 70.0 |" in out
    assert "| **mean of 2 sets that all have** | 67.5 | 65.0 |" in out
    assert "| svm | +0.0 | -10.0 to +10.0 | 2 | b -10.0 |" in out
    assert "| all texts | headwise |" in out
    assert "| headwise | 2.0 (2.0) | - | - | - |" in out
    print_tables({})
    assert "no runs yet" in capsys.readouterr().out


def test_mean_accuracies_are_of_shared_runs(results):
    from benchmarks.defaults.default_results import Job
    from benchmarks.defaults.default_table import mean_accuracies

    better = results | {Job("b", "svm", 250, 0): {"test": 0.7}}
    head, rows = mean_accuracies(better, (250,), ["headwise", "svm"])
    assert head == ["", "250 texts (2 sets)"]
    assert rows == [["headwise", "65.0"], ["svm", "**70.0**"]]


def test_gap_rows_are_of_sets_that_all_rivals_have(results):
    from benchmarks.defaults.default_table import gap_rows

    assert gap_rows(results, (250,), ["svm"]) == [
        ["250", "svm", "+0.0", "-10.0 to +10.0", "2", "b -10.0"],
    ]


def test_rows_of_a_size_have_the_members_of_ours_and_rivals():
    from benchmarks.defaults.default_results import ALL, Job
    from benchmarks.defaults.default_table import accuracy_rows

    runs = {
        Job("helpdesk/0", "headwise", ALL, 0): {
            "test": 0.8,
            "encoder_alone": 0.7,
            "linear_model_alone": 0.6,
        },
        Job("helpdesk/1", "headwise", ALL, 0): {
            "test": 0.9,
            "encoder_alone": 0.8,
            "linear_model_alone": 0.7,
        },
        Job("helpdesk/0", "svm", ALL, 0): {"test": 0.5},
        Job("b", "headwise", ALL, 0): {"test": 0.4},  # no linear model
        Job("c", "svm", ALL, 0): {"test": 0.3},
        Job("b", "headwise", 250, 0): {"test": 0.1},
    }
    head, rows = accuracy_rows(runs, ALL, ["b", "helpdesk/0", "helpdesk/1", "c"], ["svm", "minilm"])
    assert head == ["all texts", "headwise", "encoder alone", "linear model alone", "svm", "minilm"]
    assert rows == [
        ["`b`", "40.0", "-", "-", "-", "-"],
        ["`helpdesk`", "85.0", "75.0", "65.0", "50.0", "-"],
    ]


def test_kinds_of_systems_that_share_sets():
    from benchmarks.defaults.default_table import kinds

    averages = {"headwise": {"a": 1, "t": 1}, "svm": {"a": 1}, "crf": {"t": 1}}
    groups = kinds(averages, ["a", "t"], ["headwise", "svm", "crf"])
    assert groups == [["headwise", "crf"], ["headwise", "svm"]]


def test_curves_are_of_the_same_sets_at_every_size(results):
    from benchmarks.defaults.default_figure import curves
    from benchmarks.defaults.default_results import Job

    assert curves(results) == (
        {"headwise": {250: pytest.approx(0.675)}, "svm": {250: pytest.approx(0.65)}},
        2,  # the SVM was not run on all texts, nor on the third set
    )
    for name, texts in (("a", 0), ("b", 0), ("b", 1000)):
        results |= {Job(name, system, texts, 0): {"test": 0.9} for system in ("headwise", "svm")}
    lines, sets = curves(results)
    assert sets == 2
    assert lines["svm"] == {250: pytest.approx(0.65), 1000: 0.9, 0: 0.9}  # all texts of `a` are below 1,000
    assert curves({}) == ({}, 0)


def test_figure():
    from xml.etree import ElementTree

    from benchmarks.defaults.default_figure import figure

    picture = figure({"svm": {250: 0.65}, "headwise": {250: 0.7, 0: 0.95}}, "2 < 3 sets")
    ElementTree.fromstring(picture)
    assert picture.count("<circle") == 3
    assert "words + characters" in picture


def test_scores_of_metrics():
    from benchmarks.defaults.default_model import scores_of

    texts = {
        "test": {"accuracy": 0.5, "macro_f1": 0.4, "log_loss": 0.7, "calibration_error": 0.1},
        "encoder_alone": {"accuracy": 0.45},
        "baseline": {"accuracy": 0.55},
    }
    scores = {"test": 0.5, "macro_f1": 0.4, "log_loss": 0.7, "calibration_error": 0.1}
    assert scores_of(texts) == scores | {"encoder_alone": 0.45, "baseline": 0.55}
    names = {"test": {"tokens": {"accuracy": 0.9}, "entities": {"f1": 0.3}, "unknown_words": 0.2}}
    assert scores_of(names)["test"] == scores_of(names)["encoder_alone"] == 0.3
    assert scores_of({"test": {"tokens": {"accuracy": 0.9}}})["test"] == 0.9


def test_written_parts_can_be_read(tmp_path):
    from benchmarks.defaults.default_model import write_part
    from benchmarks.defaults.default_sets import Part
    from headwise.data.readers.labelled_files import read_examples
    from headwise.data.readers.tagged_files import read_tagged

    texts = Part(["one\ttwo\n", "three"], ["a", "b"])
    examples = read_examples(write_part(texts, "classify", tmp_path / "texts")).items
    assert [(example.text, example.label) for example in examples] == [("one\ttwo\n", "a"), ("three", "b")]
    pairs = write_part(Part([("p", "h")], ["yes"]), "pair", tmp_path / "pairs")
    assert json.loads(pairs.read_text()) == {"premise": "p", "hypothesis": "h", "label": "yes"}
    tags = Part([["New", "York"], ["rains"]], [["B-LOC", "I-LOC"], ["O"]])
    sentences = read_tagged(write_part(tags, "tag", tmp_path / "tags")).items
    assert [sentence.tokens for sentence in sentences] == [("New", "York"), ("rains",)]


def test_vectors_are_computed_once(tmp_path):
    from benchmarks.defaults.default_vectors import VectorCache

    computed = []

    def compute(texts):
        computed.extend(texts)
        return np.array([[len(text), 1] for text in texts], np.float32)

    cache = VectorCache(tmp_path / "vectors", compute)
    assert cache(["a", "bb", "a"]).tolist() == [[1, 1], [2, 1], [1, 1]]
    again = VectorCache(tmp_path / "vectors", compute)
    assert again.is_cached(["bb", "ccc"]).tolist() == [True, False]
    assert again(["ccc", "bb"]).tolist() == [[3, 1], [2, 1]]
    assert computed == ["a", "bb", "ccc"]
    assert (again.computed, len(list((tmp_path / "vectors").iterdir()))) == (1, 2)
