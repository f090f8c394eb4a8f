"""What counts nothing in training spoils nothing."""

import random

import numpy as np
import pytest

from headwise import TextRegressor, train_files
from headwise.data.errors import DataError

CHANCE = random.Random(0)
GRADES = CHANCE.choices(range(5), k=120)
TEXTS = [" ".join(["good"] * n + ["bad"] * (4 - n) + CHANCE.choices("abcdefgh", k=4)) for n in GRADES]
SETTINGS = {"encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1}}


def test_a_number_without_weight_does_not_stretch_the_scale():
    wrong, counts = np.array(GRADES, dtype=float), np.ones(120)
    wrong[0], counts[0] = 1e50, 0
    own = TextRegressor(recipe=SETTINGS, epochs=2).fit(TEXTS, wrong, sample_weight=counts)
    assert own.model_.scale.deviation < 3
    assert own.score(TEXTS[1:], GRADES[1:]) > 0.9


def test_the_start_from_the_base_leaves_out_what_counts_nothing():
    """Most texts have the opposite number."""
    swapped = np.where(np.arange(120) < 70, 4.0 - np.array(GRADES), GRADES)
    still = {"train": {"learning_rate": 1e-9, "vectors_learning_rate": 1e-9}, "expert": {"kind": "none"}}
    own = TextRegressor(recipe=SETTINGS | still, epochs=1)
    own.fit(TEXTS, swapped, sample_weight=np.where(np.arange(120) < 70, 0.0, 1.0))
    assert np.corrcoef(own.predict(TEXTS), GRADES)[0, 1] > 0.8


def test_where_all_count_nothing_folds_say_so_too(tmp_path):
    rows = "".join(f"a film {n},{'ab'[n % 2]},0\n" for n in range(60))
    (tmp_path / "texts.csv").write_text("text,label,weight\n" + rows)
    with pytest.raises(DataError, match=r"HW126.*the weights of all that is trained on are 0"):
        train_files(tmp_path / "texts.csv", tmp_path / "model", settings=SETTINGS)
