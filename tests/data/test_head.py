"""The beginning of a file: whether it has a byte order mark."""

import gzip
import os

import pytest

from headwise.data.files.text_lines import read_lines
from headwise.data.readers.file_preview import has_byte_order_mark


@pytest.mark.parametrize(
    ("encoding", "marked"), [("utf-8-sig", True), ("utf-16", True), ("utf-32", True), ("utf-8", False)]
)
def test_byte_order_marks(tmp_path, encoding, marked):
    content = "text\nä\n".encode(encoding)
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    for path in (tmp_path / "a.csv", tmp_path / "a.csv.gz"):
        assert has_byte_order_mark(str(path)) == marked


def test_what_has_none(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b.gz").write_bytes(b"\x1f\x8b\x08 damaged")
    for path in (tmp_path, tmp_path / "a", tmp_path / "b.gz", tmp_path / "none"):
        assert not has_byte_order_mark(str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_stays_to_be_read():
    end, begin = os.pipe()
    os.write(begin, "\ufeffä\n".encode())
    os.close(begin)
    path = f"/dev/fd/{end}"
    assert has_byte_order_mark(path)
    assert list(read_lines(path)) == [(1, "ä")]
    os.close(end)
