"""Predicted numbers, written down and summed up."""

from types import SimpleNamespace

import numpy as np
import pytest

from headwise.data.items.dataset import InputRow
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.metrics.target_scale import Scale
from headwise.models.prediction_records import NumberLayout, NumberPredictor


def test_a_summary_has_the_digits_in_which_numbers_differ():
    model = SimpleNamespace(scale=Scale(1.7e9, 100.0))
    predictor = NumberPredictor(model, ITEM_TYPES_BY_TASK["regress"].nouns, 100, {})
    predictor.items = 2
    predictor.count(np.array([[-1.0], [0.5]], dtype=np.float32))
    assert predictor.count_messages() == ["predicted 1699999900.000 to 1700000050.000, mean 1699999975.000"]


@pytest.mark.parametrize("deviation", [1e-90, 1e-14, 1e-9, 0.3, 2e8])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_number_is_written_with_six_digits_of_the_deviation(form, deviation):
    rows = [InputRow(1, {"text": "a"}, "a")]
    layout = NumberLayout.of(form, rows, scale=Scale(2 * deviation, deviation))
    standardized = np.array([0.123456789])
    record = layout.record(rows[0], standardized)
    assert layout.probabilities(record) == pytest.approx(standardized, abs=1e-5)
    assert layout.matches(record, standardized)
