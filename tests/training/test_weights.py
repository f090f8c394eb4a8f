"""Items of weight 0 have no influence on training."""

import random

import numpy as np
import pytest
import torch

from headwise import (
    MultiLabelClassifier,
    PairClassifier,
    PairRegressor,
    TextRegressor,
    evaluate_file,
    train_files,
)
from headwise.app.configuration import build_config
from headwise.data.errors import DataError
from headwise.data.items.examples import MultiLabelExample, Pair
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks import find_task

CHANCE = random.Random(0)
GRADES = CHANCE.choices(range(5), k=120)
TEXTS = [" ".join(["good"] * n + ["bad"] * (4 - n) + CHANCE.choices("abcdefgh", k=4)) for n in GRADES]
SETTINGS = {"encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1}}


def test_a_number_without_weight_does_not_stretch_the_scale():
    wrong, counts = np.array(GRADES, dtype=float), np.ones(120)
    wrong[0], counts[0] = 1e50, 0
    regressor = TextRegressor(recipe=SETTINGS, epochs=2).fit(TEXTS, wrong, sample_weight=counts)
    assert regressor.model_.scale.deviation < 3
    assert regressor.score(TEXTS[1:], GRADES[1:]) > 0.9


def test_the_start_from_the_base_leaves_out_what_counts_nothing():
    """Most texts have the opposite number."""
    swapped = np.where(np.arange(120) < 70, 4.0 - np.array(GRADES), GRADES)
    still = {
        "train": {"learning_rate": 1e-9, "vectors_learning_rate": 1e-9},
        "linear_model": {"kind": "none"},
    }
    regressor = TextRegressor(recipe=SETTINGS | still, epochs=1)
    regressor.fit(TEXTS, swapped, sample_weight=np.where(np.arange(120) < 70, 0.0, 1.0))
    assert np.corrcoef(regressor.predict(TEXTS), GRADES)[0, 1] > 0.8


def test_a_baseline_leaves_out_what_counts_nothing(tmp_path):
    rows = [
        f"{text},{1e30 if n % 9 == 4 else grade},{n % 9 != 4:d}"
        for n, (text, grade) in enumerate(zip(TEXTS, GRADES, strict=True))
    ]
    (tmp_path / "texts.csv").write_text("\n".join(["text,score,weight", *rows]) + "\n")
    test = [f"{text},{grade}" for text, grade in zip(TEXTS, GRADES, strict=True)]
    (tmp_path / "test.csv").write_text("\n".join(["text,score", *test]) + "\n")
    settings = SETTINGS | {"model": {"task": "regress"}, "train": {"epochs": 1}, "base": {"name": "none"}}
    outcome = train_files(
        tmp_path / "texts.csv", tmp_path / "model", test=tmp_path / "test.csv", settings=settings
    )
    assert outcome.systems["baseline"].scores["mae"] < 1


def test_where_all_count_nothing_folds_say_so_too(tmp_path):
    rows = "".join(f"a film {n},{'ab'[n % 2]},0\n" for n in range(60))
    (tmp_path / "texts.csv").write_text("text,label,weight\n" + rows)
    with pytest.raises(DataError, match=r"HW126.*the weights of all that is trained on are 0"):
        train_files(tmp_path / "texts.csv", tmp_path / "model", settings=SETTINGS)


PAIRS = [(f"word{n % 5} {n}", f"word{n % 7} {n % 11}") for n in range(70)]
SAME = np.array([n % 5 == n % 7 for n in range(70)])
TASKS = {
    "pair": lambda weights: [
        Pair(*pair, "ab"[int(same)], weight=weight)
        for pair, same, weight in zip(PAIRS, SAME, weights, strict=True)
    ],
    "pair-score": lambda weights: [
        Pair(*pair, f"{2 * same + n % 3}", weight=weight)
        for n, (pair, same, weight) in enumerate(zip(PAIRS, SAME, weights, strict=True))
    ],
    "multi-label": lambda weights: [
        MultiLabelExample(" ".join(pair), labels=("a",) * same + ("b",) * (n % 3 > 0), weight=weight)
        for n, (pair, same, weight) in enumerate(zip(PAIRS, SAME.tolist(), weights, strict=True))
    ],
}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("weights", ["none", "balanced"])
def test_a_weight_is_as_many_items_in_the_loss_and_on_dev(name, weights):
    torch.manual_seed(0)
    times = np.random.default_rng(0).integers(0, 4, 70)
    items, task = TASKS[name](times.tolist()), find_task(name)
    again = [
        item for item, count in zip(TASKS[name](np.ones(70)), times, strict=True) for _ in range(count)
    ]
    how = {"classifier": {"class_weights": weights}} if name != "pair-score" else {}
    recipe = build_config(SETTINGS, {"model": {"task": name}, **how})
    both = [DataParts(ITEM_TYPES_BY_TASK[name], part, part, []) for part in (items, again)]
    model, _ = task.build(both[1], recipe, None)
    weighed, plain = (task.objective(model, parts) for parts in both)
    model.eval()
    mean = times[times > 0].mean()
    loss, expected = (
        objective.loss(range(len(objective.train_items))).item() for objective in (weighed, plain)
    )
    assert loss * mean == pytest.approx(expected, rel=1e-4)
    assert weighed.evaluate() == pytest.approx(plain.evaluate(), rel=1e-4)
    every = TASKS[name](np.ones(70))
    unweighed = task.objective(model, DataParts(ITEM_TYPES_BY_TASK[name], every, every, []))
    assert unweighed.evaluate()["loss"] != pytest.approx(plain.evaluate()["loss"], rel=1e-3)


@pytest.mark.parametrize(
    ("estimator", "answers"),
    [
        (PairClassifier, lambda grades: grades > 1),
        (PairRegressor, lambda grades: grades),
        (MultiLabelClassifier, lambda grades: [["high"] * int(grade > 1) + ["any"] for grade in grades]),
    ],
)
def test_what_counts_nothing_is_not_learnt(estimator, answers):
    """Most items have the opposite answer, in training and on dev."""
    grades, pairs = np.array(GRADES), estimator is not MultiLabelClassifier
    items = [(text, "the same") for text in TEXTS] if pairs else TEXTS
    wrong = np.arange(120) % 5 < 3
    counts = np.where(wrong, 0.0, 2.0)
    fitted = estimator(recipe=SETTINGS | {"base": {"name": "none"}}, epochs=4)
    fitted.fit(items, answers(np.where(wrong, 4 - grades, grades)), counts)
    right, trusted = answers(grades), fitted.score
    assert trusted(items, right) > 0.8
    assert trusted(items, right, counts) > 0.8
    with pytest.raises(ValueError, match="sample_weight must be finite numbers"):
        fitted.fit(items, right, -counts)


@pytest.mark.parametrize("task", ["pair", "pair-score", "multi-label"])
def test_weights_of_a_file_reach_the_training(task, tmp_path):
    head = "text,labels" if task == "multi-label" else "premise,hypothesis,label"
    rows = []
    for n, (first, second) in enumerate(PAIRS):
        texts = f"{first} {second}" if task == "multi-label" else f"{first},{second}"
        answers = {"pair": "ab"[n % 2], "pair-score": f"{n / 4}", "multi-label": "a|b" if n % 2 else "b"}
        rows.append(f"{texts},{answers[task]},{1 + n % 3}")
    file = tmp_path / "data.csv"
    file.write_text("\n".join([f"{head},weight", *rows]) + "\n")
    settings = SETTINGS | {
        "model": {"task": task},
        "base": {"name": "none"},
        "train": {"epochs": 1, "folds": 2},
    }
    outcome = train_files(file, tmp_path / "model", settings=settings)
    assert len({item.weight for item in outcome.parts.train}) == 3
    judged = evaluate_file(tmp_path / "model", file)
    assert any("whatever their weights" in remark.text for remark in judged.messages)
