"""The measure of benchmarks/defaults/near_texts.py, on vectors whose neighbours are plain to see."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.defaults.default_sets import Part
from benchmarks.defaults.near_texts import precision_at_one, with_labels

VECTORS = np.array([[1.0, 0.0], [9.0, 1.0], [0.0, 1.0], [1.0, 9.0], [0.1, 5.0]])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_nearest_other_text_is_compared_by_direction(form):
    vectors = form(VECTORS)
    assert precision_at_one(vectors, ["a", "a", "b", "b", "b"]) == 1
    assert precision_at_one(vectors, ["a", "b", "c", "d", "e"]) == 0
    assert precision_at_one(vectors, ["a", "b", "c", "c", "c"]) == pytest.approx(0.6)


def test_texts_of_some_labels():
    part = with_labels(Part(["x", "y", "z"], ["a", "b", "a"]), {"a"})
    assert (part.items, part.labels) == (["x", "z"], ["a", "a"])
