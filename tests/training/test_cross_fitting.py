"""Cross-fitting: each item's output comes from a model trained without it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from headwise.data.errors import DataError
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts
from headwise.training.cross_fitting import cross_fit
from headwise.training.run_state import RunProgress
from headwise.training.settings import TrainConfig


def crossed(items, folds, tmp_path):
    """What is trained on and held out in each fold, and the result; models say the lines of their dev."""
    seen = []

    def learn(parts, folder, **how):
        seen.append((parts.train, parts.dev))
        outputs = np.array([[float(item.line)] for item in parts.dev])
        progress = replace(RunProgress(), history=[{"loss": 1.0}])
        return SimpleNamespace(objective=SimpleNamespace(held_out=lambda: outputs), progress=progress)

    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], items, [], [])
    config = TrainConfig(folds=folds, score="loss")
    return seen, cross_fit(learn, parts, config, tmp_path, resume=False, report=lambda _: None)


@pytest.mark.parametrize(("folds", "made"), [(3, 3), (50, 12)])
def test_each_text_is_held_out_once_in_folds_that_are_not_empty(folds, made, tmp_path):
    items = [Example(f"text {n}", "ab"[n % 2], n) for n in range(12)]
    seen, held_out = crossed(items, folds, tmp_path)
    assert len(seen) == made
    assert all(len(train) + len(dev) == 12 and dev for train, dev in seen)
    assert held_out.held.tolist() == held_out.outputs[:, 0].tolist() == list(range(12))


def test_what_counts_nothing_is_trained_on_and_decides_nothing(tmp_path):
    items = [Example(f"text {n}", "ab"[n % 2], n, weight=float(n >= 4)) for n in range(12)]
    seen, held_out = crossed(items, 3, tmp_path)
    assert held_out.held.tolist() == held_out.outputs[:, 0].tolist() == list(range(4, 12))
    assert all(set(range(4)) <= {item.line for item in train} for train, _ in seen)


def test_if_nothing_can_be_held_out_that_is_an_error(tmp_path):
    items = [
        Example(text, label, weight=weight)
        for text, label, weight in [
            ("a b", "x", 1.0),
            ("c d", "y", 1.0),
            ("e f", "z", 0.0),
            ("g h", "z", 0.0),
        ]
    ]
    with pytest.raises(DataError, match="none can be held out") as error:
        crossed(items, 3, tmp_path)
    assert error.value.code == "HW141"
