"""What counts nothing decides nothing, and what counts twice is like what stands twice, for whoever learns
from a file or judges by it."""

import random

import pytest

from headwise import curve_file, noise_file, train_files
from headwise.app.training_plan import RunData
from headwise.app.training_request import resolve
from headwise.app.workflows.trials import Trials
from headwise.artifacts.model_info import MetricsInfo
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import read_parts
from headwise.metrics.operating_points import confidence_threshold

HEAD = {"classify": "text,label,weight", "regress": "text,score,weight"}
OTHER = {"bad": "good", "good": "bad"}
SURE = 0.95
ONLY = {"test_training": HEAD, "test_curve": HEAD}


def weighted(truth, task, items):
    """A file of items with weights."""
    path = truth.place(task).with_suffix(".csv")
    rows = [f"{text},{answer},{weight}" for text, answer, weight in items]
    path.write_text("\n".join([HEAD[task], *rows]) + "\n")
    return path


def contrary(task, answer):
    return OTHER[answer] if task == "classify" else -answer


def with_contrary(truth, task, count=150):
    """Items, and as many others that count nothing and say the contrary, mixed; and the first alone."""
    items = [(*item, 1) for item in truth.drawn(task, count, 5, SURE)]
    contrary_rows = [(text, contrary(task, answer), 0) for text, answer in truth.drawn(task, count, 6, 1.0)]
    both = [*items, *contrary_rows]
    random.Random(5).shuffle(both)
    return both, items


def loss(truth, task, path, **how):
    settings = [{"model": {"task": task}, "split": {"test": 0.0}, "train": how}]
    model = train_files(path, truth.place("model"), settings=settings, baseline=False).fitted.model
    return truth.metric_part_count(task, model, truth.fresh(task, SURE))[:, 0].mean()


def test_training(task, truth, narrow):
    both, items = with_contrary(truth, task, 100)
    mixed, alone = (loss(truth, task, weighted(truth, task, rows), folds=2) for rows in (both, items))
    odd = [(text, OTHER[answer] if task == "classify" else answer + 8, 1) for text, answer, _ in items[75:]]
    true = items[:75]
    heavy, double = (
        loss(truth, task, weighted(truth, task, rows), folds=0, epochs=3)
        for rows in ([(text, answer, 3) for text, answer, _ in true] + odd, true * 3 + odd)
    )
    print(mixed, alone, heavy, double)
    assert abs(mixed - alone) < 0.08
    assert abs(heavy - double) < (0.1 if task == "classify" else 0.2)  # without weights more than 0.15, 0.7


def test_curve(task, truth):
    both, items = with_contrary(truth, task)
    mixed, alone = (curve_file(weighted(truth, task, rows), task=task, seeds=2) for rows in (both, items))
    print(mixed.scores.mean(axis=0), alone.scores.mean(axis=0))
    assert mixed.items == alone.items == 150
    assert mixed.scores[:, -2:].mean() == pytest.approx(alone.scores[:, -2:].mean(), abs=0.15)


def test_noise(truth):
    both, _ = with_contrary(truth, "classify")
    lines = {issue.line - 2 for issue in noise_file(weighted(truth, "classify", both))}
    contrary = {number for number, (_, _, weight) in enumerate(both) if not weight}
    print(len(lines), len(lines & contrary))
    assert len(lines & contrary) > 0.7 * len(contrary)
    assert len(lines - contrary) < 0.2 * len(both)


def test_search(truth):
    """A search judges on what counts, and as much as it counts."""
    both, _ = with_contrary(truth, "classify")
    both = [(text, label, 3 * weight if n < 60 else weight) for n, (text, label, weight) in enumerate(both)]
    path = weighted(truth, "classify", both)
    read = read_parts(ITEM_TYPES_BY_TASK["classify"], str(path))
    layers = ({"model": {"task": "classify"}, "train": {"epochs": 1}},)
    trials = Trials(resolve(layers), RunData(read), truth.place("search"), 2)
    metric_parts, _ = trials.metric_parts({}, 1.0, 0, 1e9)
    assert trials.folds is not None
    judged = [item for item, fold in zip(trials.pool, trials.folds, strict=True) if fold == 0]
    assert len(metric_parts) == sum(item.weight > 0 for item in judged)
    assert metric_parts[:, 1].sum() / metric_parts[:, 2].sum() > 0.7
    assert metric_parts[:, 2].max() == pytest.approx(3 * metric_parts[:, 2].min())


@pytest.mark.parametrize("folds", [3, 0])
def test_what_is_said_of_probabilities(truth, folds, narrow):
    """Labels that count next to nothing say next to nothing of how well a model is calibrated, and how sure
    is sure enough."""
    both, _ = with_contrary(truth, "classify")
    path = weighted(truth, "classify", [(text, label, weight or 0.02) for text, label, weight in both])
    how = {"model": {"task": "classify"}, "split": {"test": 0.0}, "train": {"folds": folds}}
    outcome = train_files(path, truth.place("model"), settings=how, baseline=False)
    print(outcome.fitted.calibration)
    assert outcome.fitted.calibration is not None
    assert max(outcome.fitted.calibration) < 0.3
    curve = MetricsInfo.of(outcome.fitted.metrics()).risk_coverage
    assert confidence_threshold("precision=0.85", curve) < 0.99
