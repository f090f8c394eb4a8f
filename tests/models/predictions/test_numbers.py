"""Predicted numbers, written down and summed up."""

from types import SimpleNamespace

import numpy as np

from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.metrics.target_scale import Scale
from headwise.models.prediction_records import NumberPredictor


def test_a_summary_has_the_digits_in_which_numbers_differ():
    model = SimpleNamespace(scale=Scale(1.7e9, 100.0))
    predictor = NumberPredictor(model, ITEM_TYPES_BY_TASK["regress"].nouns, 100, {})
    predictor.items = 2
    predictor.count(np.array([[-1.0], [0.5]], dtype=np.float32))
    assert predictor.count_messages() == ["predicted 1699999900.000 to 1700000050.000, mean 1699999975.000"]
