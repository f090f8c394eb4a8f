import numpy as np
import pytest

from headwise.data.example import Example
from headwise.data.labels import label_names, targets_of


@pytest.mark.parametrize(
    ("found", "ordered"),
    [
        (["b", "a", "c", "a"], ["a", "b", "c"]),
        (["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"]),
        (["b", "10", "9"], ["9", "10", "b"]),  # numbers first
        (["1", "01", "1.0"], ["01", "1", "1.0"]),  # equal numbers are still different labels
        (["nan", "inf", "1"], ["1", "inf", "nan"]),
        (["Ä", "Z", "a"], ["Z", "a", "Ä"]),
    ],
)
def test_labels_in_a_fixed_order(found, ordered):
    assert label_names(found) == ordered
    assert label_names(found[::-1]) == ordered


def test_targets():
    numbers = targets_of([Example("t", "b"), Example("u", "a")], ["a", "b"])
    assert numbers.dtype == np.int64
    assert numbers.tolist() == [1, 0]
