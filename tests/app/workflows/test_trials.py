"""The list of trials: kept, gone on with, and never mixed with another."""

import numpy as np
import pytest

from headwise.app.training_plan import RunData
from headwise.app.training_request import resolve
from headwise.app.workflows.trials import SCORING_VERSION, TrialLog, Trials
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts

PARTS = np.array([[0.5, 1, 1], [2.0, 0, 1]], np.float32)


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "o" / "search.jsonl"
    runs = TrialLog(path, {"a": 1})
    runs.add("x", PARTS, 2.0)
    path.write_text(path.read_text() + '{"key": "y", "ta')
    again = TrialLog(path, {"a": 1})
    assert list(again.all_parts) == ["x"]
    assert np.array_equal(again.all_parts["x"], PARTS)
    assert again.seconds == 2.0
    again.add("y", PARTS[:1], 1.0)
    assert list(TrialLog(path, {"a": 1}).all_parts) == ["x", "y"]


@pytest.mark.parametrize(
    "line", ["[" * 5000, f'{{"key": "x", "tally": "", "seconds": 1{"0" * 400}}}', '{"tally": "00"}', "1"]
)
def test_a_line_that_was_damaged_is_left_out(tmp_path, line):
    path = tmp_path / "search.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n')
    assert not TrialLog(path, {"a": 1}).all_parts


@pytest.mark.parametrize("content", [b'{"a": 1', b"\xff\xfe", b'{"a": 2}\n'])
def test_a_file_of_something_else(tmp_path, content):
    path = tmp_path / "search.jsonl"
    path.write_bytes(content)
    with pytest.raises(HeadwiseError, match=r"search\.jsonl: the runs of another search"):
        TrialLog(path, {"a": 1})
    assert path.read_bytes() == content


@pytest.mark.parametrize("old", [{}, {"judging": 1}])
def test_what_was_judged_otherwise_is_not_mixed(tmp_path, old):
    path, key = tmp_path / "search.jsonl", {"judging": SCORING_VERSION, "a": [1.5, None], "b": "x"}
    runs = TrialLog(path, {**old, "a": (1.5, None), "b": "x"})
    runs.add("x", PARTS, 2.0)
    again = TrialLog(path, key)
    assert (again.all_parts, again.seconds) == ({}, 0.0)
    assert "scored by another version of headwise, so the search starts over" in again.notes[0]
    again.add("y", PARTS, 1.0)
    assert (list(TrialLog(path, key).all_parts), TrialLog(path, key).notes) == (["y"], ())
    TrialLog(tmp_path / "other", {**old, "a": 2, "b": "x"})
    with pytest.raises(HeadwiseError, match="the runs of another search"):
        TrialLog(tmp_path / "other", key)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_what_is_judged_has_no_say_in_the_epoch(share, tmp_path):
    texts = [Example(f"text {n}", "ab"[n % 2], n) for n in range(100)]
    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], texts[:70], texts[70:85], texts[85:])
    layers = ({"model": {"task": "classify"}, "base": {"name": "none"}},)
    trials, seen = Trials(resolve(layers), RunData(parts), tmp_path, 2), []
    for trial in range(4):
        given, judged = trials._parts(share, trial)
        lines = [{own.line for own in part} for part in (given.train, given.dev, judged)]
        assert sum(map(len, lines)) == len(set.union(*lines)) <= 85 * (share + 0.2)
        assert len(given.dev) == pytest.approx(0.15 * share * 68, abs=2)
        assert given.test == []
        seen += lines[2]
    assert len(seen) == len(set(seen))
    assert max(seen) < 85


def test_of_very_few_items_what_judges_chooses_too(tmp_path):
    texts = [Example(f"text {n}", f"label {min(n, 16)}", n) for n in range(20)]
    layers = ({"model": {"task": "classify"}, "base": {"name": "none"}},)
    data = RunData(DataParts(ITEM_TYPES_BY_TASK["classify"], texts, [], []))
    trials = Trials(resolve(layers), data, tmp_path, 2)
    given, judged = trials._parts(1.0, 0)
    assert given.dev == judged


def test_empty_folds_of_repeated_texts_are_no_trials(tmp_path):
    texts = [Example(f"text {n % 7}", "ab"[n % 7 % 2], n) for n in range(84)]
    layers = ({"model": {"task": "classify"}, "base": {"name": "none"}},)
    data = RunData(DataParts(ITEM_TYPES_BY_TASK["classify"], texts, [], []))
    trials = Trials(resolve(layers), data, tmp_path / "few", 3)
    assert all(trials._parts(1.0, trial)[1] for trial in range(6))
    with pytest.raises(ConfigError, match=r"too few different texts for 8 trials.*7 parts.*--seeds 3"):
        Trials(resolve(layers), data, tmp_path / "many", 8)
