"""The counts by which two models are compared."""

from types import SimpleNamespace

import numpy as np
import pytest

from headwise.app.workflows.model_comparison import _metric_counts
from headwise.data.items.examples import Example
from headwise.metrics.regression_scores import score_numbers
from headwise.models.label_evaluation import NumberEvaluation
from headwise.models.tasks import find_task


@pytest.mark.parametrize("unit", [1e-14, 1.0, 1e14])
def test_numbers_of_any_unit_are_compared(unit):
    random = np.random.default_rng(0)
    targets = unit * random.normal(size=1_001)
    predicted = targets + unit * random.normal(size=1_001)
    items = [Example(f"text {number}", repr(float(target))) for number, target in enumerate(targets)]
    evaluation = NumberEvaluation(score_numbers(predicted, targets), None, predicted)
    counts = _metric_counts(SimpleNamespace(task=find_task("regress"), model=None), items, evaluation)
    assert counts is not None
    assert counts[:, 0] == pytest.approx(np.abs(predicted - targets))
