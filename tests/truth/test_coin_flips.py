"""Where answers are coin flips nobody says that he knows them: each item stands twice in these files, which
must not help either."""

import random

import numpy as np
import pytest

from headwise import curve_file, evaluate_file, noise_file
from headwise.artifacts.model_info import MetricsInfo
from headwise.core.config import lookup
from headwise.core.errors import ConfigError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.contamination import repetition_warning
from headwise.metrics.operating_points import confidence_threshold
from headwise.models.tasks import find_task

LOSS = {
    "bags": 0.12,
    "multi-label": 0.08,
    "tag of spans": 0.13,
}  # nats; a part chooses with 60 items, and not folds
LEFT_OUT = {
    "test_curve_promises_nothing": ("bags",),
    "test_nothing_is_called_wrong": ("multi-label", "pair", "pair-score", "regress", "bags"),
}
ONLY = {"test_no_share_is_promised_to_be_right": ("classify", "pair")}


def test_probabilities_say_so(task, truth):
    model, path = truth.model(task, 0.5).fitted.model, truth.fresh(task, 0.5)
    loss, best = truth.metric_part_count(task, model, path)[:, 0].mean(), truth.best(task, 0.5)
    print(task, loss - best)
    assert -0.05 < loss - best < LOSS.get(task, 0.06)


def test_the_report_claims_nothing(task, truth):
    outcome = truth.model(task, 0.5)
    report = outcome.test.to_json()
    score = lookup(report, find_task(truth.task_of(task)).metric_table(report).primary_metric.key)
    rival = outcome.systems["baseline"]
    low, high = rival.difference["interval"]
    print(task, score, rival.difference)
    # 95 % of intervals hold 0, and of items that stand twice nearly all that are three times as wide; a
    # baseline that takes chance for skill gives numbers that are worse than a constant.
    assert truth.rows[task].numbers or low <= high - low
    assert high >= low - high
    if truth.rows[task].numbers:
        assert abs(score - truth.best(task, 0.5)) < 0.3
    elif task != "multi-label":  # whose F1 is that of who says yes to all
        assert abs(score - 0.5) < 0.3


def test_what_is_said_of_the_test_part_holds(task, truth):
    """By a model of a file with doubles: of items that are new it is not worse than it says."""
    outcome = truth.model(task, 0.5)
    definition = find_task(truth.task_of(task))
    report = outcome.test.to_json()
    metric_table = definition.metric_table(report)
    fresh = evaluate_file(truth.folder_of(outcome), truth.fresh(task, 0.5)).scores
    one, second = (lookup(scores, metric_table.primary_metric.key) for scores in (report, fresh))
    print(task, one, second)
    assert (one - second) * (-1 if metric_table.lower else 1) < 0.3


def test_no_share_is_promised_to_be_right(task, truth):
    curve = MetricsInfo.of(truth.model(task, 0.5).fitted.metrics()).risk_coverage
    with pytest.raises(ConfigError, match="right"):
        confidence_threshold("precision=0.95", curve)


@pytest.mark.parametrize("twice", [False, True])
def test_nothing_is_called_wrong(task, twice, truth):
    items, heard = truth.drawn(task, 300, 3, 0.5), truth.Heard()
    assert not noise_file(truth.file(task, truth.doubled(task, items) if twice else items), reporter=heard)
    assert task == "tag of spans" or "can call none unlikely" in " ".join(heard.warned)


def test_lots_between_two_labels_are_not_called_wrong_for_the_sake_of_a_third(truth):
    """One of three labels is known for sure, the other two are drawn by lot."""
    chance = random.Random(4)
    items = [
        (text, label if label == "good" else chance.choice(("bad", "worse")))
        for text, label in truth.drawn("classify", 400, 4, 1.0)
    ]
    assert not noise_file(truth.file("classify", items))
    wrong = [number for number, (_, label) in enumerate(items) if label == "good"][:10]
    for number in wrong:
        items[number] = items[number][0], "bad"
    lines = {issue.line - 2 for issue in noise_file(truth.file("classify", items))}
    assert lines <= {*wrong}
    assert lines


def test_curve_promises_nothing(task, truth):
    items = truth.doubled(task, truth.drawn(task, 150, 4, 0.5))
    curve = curve_file(truth.file(task, items), task=truth.task_of(task), seeds=3)
    for forecast in curve.forecasts:
        assert forecast["interval"][0] <= 0.02
        assert forecast["gain"] < 0.06
    scores = curve.scores.mean(axis=0)
    print(task, scores)
    middle = truth.best(task, 0.5) if truth.rows[task].numbers else 0.5
    assert task == "multi-label" or np.abs(scores - middle).max() < 0.2


def test_that_items_stand_twice_is_told(task, truth):
    """As intervals take them for different ones, and claim too much."""
    items = truth.drawn(task, 60, 8, 0.5)
    heard = []
    for test in (items, truth.doubled(task, items)):
        kind = ITEM_TYPES_BY_TASK[truth.task_of(task)]
        heard.append(repetition_warning(kind, kind.read(str(truth.file(task, test))).items, "test "))
    assert heard[0] is None
    assert heard[1]
    assert "60 of 120 test" in heard[1]
