"""Pairs in three files: a line per pair."""

import pytest

from benchmarks.common.aligned_pairs import read_aligned_pairs
from headwise.data.items.examples import Pair


def test_pairs_of_three_files(tmp_path):
    files = [tmp_path / name for name in ("s1", "s2", "labels")]
    for file, text in zip(files, ("a b\r\n\nc", "\ufeffx\ny\nz\n", "p\n-\n q "), strict=True):
        file.write_bytes(text.encode())
    assert read_aligned_pairs(*files) == [Pair("a b", "x", "p", 1), Pair("c", "z", "q", 3)]
    files[1].write_text("x\ny")
    with pytest.raises(ValueError, match="zip"):
        read_aligned_pairs(*files)
