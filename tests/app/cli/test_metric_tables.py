import re

import numpy as np
import pytest
from rich.console import Console

from headwise.app.cli.metric_tables import confusion_table, per_class_table, scores_table
from headwise.metrics.classification_scores import ClassificationScores, score_labels
from headwise.models.label_evaluation import SingleLabelEvaluation, VocabularyCoverage
from headwise.models.report_parts import ComparisonSystem
from headwise.models.tasks import find_task

SHEET = find_task("classify").metric_table({})


def shown(table, width: int = 80) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(table)
    lines = capture.get().splitlines()
    assert all(len(line) <= width for line in lines)
    return "\n".join(line.rstrip() for line in lines)


def scores_of(labels: list[str], *, texts: int = 400, shift: float = 0.3) -> ClassificationScores:
    chance = np.random.default_rng(0)
    targets = chance.integers(0, len(labels), texts)
    wrong = chance.random(texts) < shift
    return score_labels(np.where(wrong, (targets + 1) % len(labels), targets), targets, labels)


def evaluation(scores: ClassificationScores) -> SingleLabelEvaluation:
    return SingleLabelEvaluation(scores, 0.4321, 0.0123, VocabularyCoverage(0.25, 3, 0), np.zeros((0, 2)))


@pytest.mark.parametrize(
    "confusion",
    [{}, {"cells": [[5, 5, 1]]}, {"cells": 3}, "ab", [], [1, 2], [[1, 2]], [[1, None], [0, 1]], 7],
)
def test_a_matrix_in_a_file_that_is_none_is_left_out(confusion):
    scores = evaluation(scores_of(["a", "b"])).to_json()
    assert SHEET.matrix(scores) == [list(row) for row in scores["confusion"]]
    assert SHEET.matrix(scores | {"confusion": confusion}) is None
    assert confusion_table(SHEET, scores | {"confusion": confusion}, width=80) is None


def labels_table(scores: ClassificationScores):
    return per_class_table(SHEET.per_class, evaluation(scores).to_json())


def matrix(scores: ClassificationScores, *, width: int):
    return confusion_table(SHEET, evaluation(scores).to_json(), width=width)


RIVAL = ComparisonSystem(
    "TF-IDF + linear SVM",
    {"accuracy": 0.5, "accuracy_interval": (0.4, 0.6), "macro_f1": 0.45},
    {"accuracy": 0.15, "interval": (-0.05, 0.3), "p_value": 0.0001},
)
LINEAR = ComparisonSystem("linear", {"accuracy": 0.5})


def test_scores_beside_a_rival():
    scores = scores_of(["a", "b"])
    lines = shown(scores_table(SHEET, evaluation(scores).to_json(), [RIVAL])).splitlines()
    assert re.split("  +", lines[0])[1:] == ["model", "TF-IDF + linear SVM"]
    cells = {line[:17].strip(): re.split("  +", line[17:].strip()) for line in lines}
    assert cells["accuracy"] == [f"{100 * scores.accuracy:.1f} %", "50.0 %"]
    low, high = scores.accuracy_interval
    assert cells["95 % interval"] == [f"{100 * low:.1f} – {100 * high:.1f} %", "40.0 – 60.0 %"]
    assert cells["macro F1"] == [f"{100 * scores.macro_f1:.1f} %", "45.0 %"]
    assert cells["model ahead by"] == ["+15.0 points"]
    assert cells["its interval"] == ["-5.0 to +30.0"]
    assert cells["McNemar p"] == ["< 0.001"]
    assert cells["log loss"] == ["0.432 nats"]
    assert cells["unknown words"] == ["25.0 %"]
    assert cells["texts"] == ["400"]
    assert cells["without a word"] == ["3"]


def test_rivals_of_which_little_is_known():
    text = shown(scores_table(SHEET, evaluation(scores_of(["a", "b"])).to_json(), [LINEAR]))
    assert "50.0 %" in text
    assert "ahead" not in text


def test_labels():
    scores = score_labels(np.array([0, 0, 1]), np.array([0, 1, 1]), ["a", "b", "c"])
    lines = [line.split() for line in shown(labels_table(scores)).splitlines()]
    assert lines[0] == ["label", "texts", "precision", "recall", "F1"]
    assert lines[1] == ["a", "1", "50.0", "%", "100.0", "%", "66.7", "%"]
    assert lines[2] == ["b", "2", "100.0", "%", "50.0", "%", "66.7", "%"]
    assert lines[3] == ["c", "0", "-", "-", "0.0", "%"]


def test_of_many_labels_the_lowest_are_listed():
    labels = [f"l{i}" for i in range(60)]
    scores = scores_of(labels, texts=3000)
    text = shown(labels_table(scores))
    worst = sorted(scores.labels, key=lambda row: row.f1)[:20]
    assert [line.split()[0] for line in text.splitlines()[1:21]] == [row.label for row in worst]
    assert "(the 20 of 60 labels with the lowest F1; headwise report lists all)" in text


def test_of_many_labels_those_that_do_not_occur_are_counted():
    scores = score_labels(np.array([0, 1]), np.array([0, 1]), [f"l{i}" for i in range(60)])
    text = shown(labels_table(scores))
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["l0", "l1"]
    assert "(58 labels do not occur)" in text


def test_matrix():
    scores = score_labels(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), ["no", "yes"])
    lines = [line.split() for line in shown(matrix(scores, width=80)).splitlines()]
    assert lines == [["true", "\\", "predicted", "no", "yes"], ["no", "1", "·"], ["yes", "1", "2"]]


LONG = ["感情がとても肯定的である" * 2, "x" * 100, "\x1b[31mred", *"abcdefghi"]


@pytest.mark.parametrize(("width", "texts"), [(80, 600), (80, 6000), (120, 30_000)])
def test_labels_that_do_not_fit_are_numbered(width, texts):
    scores = scores_of(LONG, texts=texts)
    text = shown(matrix(scores, width=width), width)
    assert text.splitlines()[0].split()[-12:] == [str(i) for i in range(1, 13)]
    assert "\\x1b[31mred" in text
    assert "\x1b[31m" not in text
    for row in scores.confusion:
        assert all(f"{texts:,}" in text for texts in row if texts)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_matrix_that_does_not_fit_is_a_list(width):
    scores = scores_of(LONG, texts=30_000)
    text = shown(matrix(scores, width=width), width)
    assert "of its texts" in text
    assert "…" not in text


def test_most_frequent_confusions_of_many_labels():
    labels = [f"l{i}" for i in range(20)]
    scores = scores_of(labels)
    text = shown(matrix(scores, width=80))
    pairs = sorted(((row[(i + 1) % 20], i) for i, row in enumerate(scores.confusion)), key=lambda p: -p[0])
    texts, i = pairs[0]
    share = f"{100 * texts / scores.labels[i].texts:.1f}"
    assert text.splitlines()[1].split() == [f"l{i}", f"l{(i + 1) % 20}", str(texts), share, "%"]
    rest = sum(texts for texts, _ in pairs[10:])
    assert f"(and {rest} texts of {sum(1 for t, _ in pairs[10:] if t)} other pairs)" in text


def test_nothing_confused():
    assert matrix(scores_of([f"l{i}" for i in range(20)], shift=0), width=80) is None


def test_five_systems_fit_into_80_columns_without_a_break_between_number_and_unit():
    scores = evaluation(scores_of(["a", "b"], texts=45, shift=0.02)).to_json()
    same = {"accuracy": 0.0, "interval": [0.0, 0.0], "p_value": 1.0}
    names = ("encoder alone", "linear model alone", "not in training (45)", "TF-IDF + linear SVM")
    systems = [ComparisonSystem(name, scores, same) for name in names]
    lines = shown(scores_table(SHEET, scores, systems)).splitlines()
    for line in lines:  # each unit stands behind its number
        units, numbers = re.findall(r"%|points", line), re.findall(r"\d (?:%|points)", line)
        assert len(units) == len(numbers), line
    [interval] = [line for line in lines if "95 % interval" in line]
    assert len(re.findall(r"\d+\.\d–\d+\.\d", interval)) == 5


@pytest.mark.parametrize(
    ("value", "bounds", "shown_bounds"),
    [
        (0.0, (0.0, 0.0), ("0.0 points", "no difference")),
        (-0.0001, (-0.0004, 0.0004), ("0.0 points", "no difference")),
        (0.001, (-0.0004, 0.003), ("+0.1 points", "0.0 to +0.3")),
        (0.05, (-0.006, 0.108), ("+5.0 points", "-0.6 to +10.8")),
    ],
)
def test_a_difference_of_zero_has_no_sign(value, bounds, shown_bounds):
    found = SHEET.ahead.formatted({"accuracy": value, "interval": list(bounds)})
    assert found is not None
    assert found[:2] == shown_bounds
