"""The compiled core refuses arguments that it cannot compute with; its type stub is current."""

from pathlib import Path

import numpy as np
import pytest
from nanobind.stubgen import StubGen

from headwise.core import native


def test_stub_is_that_of_the_module():
    generator = StubGen(native, include_docstrings=False)
    generator.put(native)
    stub = (Path(__file__).parents[2] / "src/headwise/core/native.pyi").read_text()
    assert stub == generator.get(), "run `make core` and commit src/headwise/core/native.pyi"


def test_other_dtypes_and_orders_are_refused_instead_of_copied():
    ends = np.array([0, 2])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.word_hashes(np.zeros(2, dtype=np.int64), ends, 1, False)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.word_hashes(np.zeros(4, dtype=np.uint32)[::2], ends, 1, False)


@pytest.mark.parametrize("ends", [[], [0, 3], [0, 2, 1], [-1, 2], [2, 0]])
def test_offsets_that_lead_out_of_the_array_are_refused(ends):
    codes = np.zeros(2, dtype=np.uint32)
    with pytest.raises(ValueError, match="offsets"):
        native.word_hashes(codes, np.array(ends, dtype=np.int64), 1, False)
    with pytest.raises(ValueError, match="offsets"):
        native.character_hashes(codes, np.array(ends, dtype=np.int64), 2, 3)


def test_features_beyond_the_tables_are_refused():
    one, ends = np.array([5], dtype=np.int32), np.array([0, 1])
    with pytest.raises(ValueError, match="feature"):
        native.tfidf_values(one, one, ends, np.ones(5, dtype=np.float32))
    with pytest.raises(ValueError, match="new number"):
        native.keep_features(one.copy(), one.copy(), ends, np.zeros(5, dtype=np.int32))
    with pytest.raises(ValueError, match="power of two"):
        native.table_of(np.zeros(1, dtype=np.uint32), 3)
