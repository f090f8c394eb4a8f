"""Tables of thousands of columns: the time grows with their number, not with its square."""

import csv
import json
import sys
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.columns.column_contents import Column
from headwise.data.columns.column_names import name_parallel_texts
from headwise.data.columns.pair_columns import parallel_texts
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task

TEXTS = [f"a good text number {n}" for n in range(30)]
NAMES = st.sampled_from(
    ["source", "target", "src", "Tgt", "a", "b", "1", "2", "Satz A", "Satz-B", "satz_b", "x 1", "x2"]
)


@given(st.lists(NAMES, unique=True, max_size=8))
@settings(max_examples=300, deadline=None)
def test_parallel_columns_are_the_first_of_all_pairs(names):
    columns = [Column(name, TEXTS, strings=True) for name in names]
    pairs = (pair for pair in permutations(names, 2) if name_parallel_texts(*pair))
    assert parallel_texts(columns) == next(pairs, None)


def write_table(path, columns):
    names = ["text", *(f"q{n} a" for n in range(columns)), "label"]
    rows = [[TEXTS[n], *[f"word {n} and {n * n}"] * columns, "ab"[n % 2]] for n in range(30)]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([names, *rows])
    return path


def calls_of(function, *arguments):
    """The number of calls of Python functions that a call needs."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_cell_takes_a_few_calls_of_functions(tmp_path, suffix):
    """Columns that were compared with each other took thousands of calls per cell."""

    def read(path):
        assert infer_task(str(path), {})[0] == "classify"
        assert len(ITEM_TYPES_BY_TASK["classify"].read(str(path)).items) == 30

    read(write_table(tmp_path / f"few{suffix}", 9))  # what is loaded once
    path = write_table(tmp_path / f"many{suffix}", 400)
    assert calls_of(read, path) < 300 * 400 * 30
