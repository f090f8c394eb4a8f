import numpy as np
import pytest

from headwise.data.items.examples import Example, MultiLabelExample
from headwise.data.items.labels import (
    SoftLabel,
    label_names,
    label_targets,
    rename_labels,
    training_spellings,
    unify_spellings,
)


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (["b", "a", "c", "a"], ["a", "b", "c"]),
        (["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"]),
        (["b", "10", "9"], ["9", "10", "b"]),  # numbers first
        (["1", "01", "1.0"], ["01", "1", "1.0"]),  # equal numbers are still different labels
        (["nan", "inf", "1"], ["1", "inf", "nan"]),
        (["Ä", "Z", "a"], ["Z", "a", "Ä"]),
    ],
)
def test_labels_in_a_fixed_order(labels, ordered):
    assert label_names(labels) == ordered
    assert label_names(labels[::-1]) == ordered


def test_targets():
    numbers = label_targets([Example("t", "b"), Example("u", "a")], ["a", "b"])
    assert numbers.dtype == np.int64
    assert numbers.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "training_labels", "spellings"),
    [
        (["1.0", "2.0"], ["1", "2", "3"], {"1.0": "1", "2.0": "2"}),
        (["1", "2"], ["1.0", "2.0"], {"1": "1.0", "2": "2.0"}),
        (["-1.00", "1.0"], ["-1", "x"], {"-1.00": "-1"}),
        (["1", "1.0"], ["1"], {"1.0": "1"}),
        (["1.0"], ["1", "1.00"], {}),  # which of them?
        (["1.0", "1"], ["1.0", "1"], {}),
        (["01", "1.5", "1e0", "+1", "1.", "x.0", "1_0"], ["1", "x", "10"], {}),
        (["9999999999999999.0"], ["9999999999999999"], {}),
        (
            ["cafe\u0301", "\uff41", "x"],
            ["caf\u00e9", "a", "X"],
            {"cafe\u0301": "caf\u00e9", "\uff41": "a"},
        ),
    ],
)
def test_whole_numbers_that_are_spelt_otherwise(labels, training_labels, spellings):
    assert training_spellings(labels, training_labels) == spellings


def test_items_with_labels_under_other_names():
    names = {"1.0": "1"}
    assert rename_labels(Example("t", "1.0", 7), names) == Example("t", "1", 7)
    assert rename_labels(unchanged := Example("t", "x"), names) is unchanged
    shares = SoftLabel(("x", "1.0"), np.array([0.7, 0.3], np.float32))
    renamed = rename_labels(Example("t", "x", shares=shares), names)
    assert (renamed.label, renamed.shares.labels) == ("x", ("x", "1"))
    assert rename_labels(MultiLabelExample("t", labels=("1.0", "x", "1")), names).labels == ("1", "x")


def test_labels_that_look_alike_are_one():
    items = [
        Example(f"text {n}", label) for n, label in enumerate(["caf\u00e9", "cafe\u0301", "tea", "Tea"])
    ]
    unified, notes = unify_spellings(items)
    assert [item.label for item in unified] == ["caf\u00e9", "caf\u00e9", "tea", "Tea"]
    assert "'cafe\\u0301' as 'caf\u00e9'" in notes[0]
