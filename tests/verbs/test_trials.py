"""The list of trials: kept, gone on with, and never mixed with another."""

import numpy as np
import pytest

from headwise.errors import HeadwiseError
from headwise.verbs.trials import Runs

TALLY = np.array([[0.5, 1, 1], [2.0, 0, 1]], np.float32)


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "o" / "search.jsonl"
    runs = Runs(path, {"a": 1})
    runs.add("x", TALLY, 2.0)
    path.write_text(path.read_text() + '{"key": "y", "ta')
    again = Runs(path, {"a": 1})
    assert list(again.found) == ["x"]
    assert np.array_equal(again.found["x"], TALLY)
    assert again.seconds == 2.0
    again.add("y", TALLY[:1], 1.0)
    assert list(Runs(path, {"a": 1}).found) == ["x", "y"]


@pytest.mark.parametrize(
    "line", ["[" * 5000, f'{{"key": "x", "tally": "", "seconds": 1{"0" * 400}}}', '{"tally": "00"}', "1"]
)
def test_a_line_that_was_damaged_is_left_out(tmp_path, line):
    path = tmp_path / "search.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n')
    assert not Runs(path, {"a": 1}).found


@pytest.mark.parametrize("content", [b'{"a": 1', b"\xff\xfe", b'{"a": 2}\n'])
def test_a_file_of_something_else(tmp_path, content):
    path = tmp_path / "search.jsonl"
    path.write_bytes(content)
    with pytest.raises(HeadwiseError, match=r"search\.jsonl: the runs of another search"):
        Runs(path, {"a": 1})
    assert path.read_bytes() == content
