"""Lines of a list are left out of training, and of nothing else."""

import json
from dataclasses import replace

import pytest

from headwise.data.errors import DataError
from headwise.data.files.file_lists import list_files
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import read_parts
from headwise.data.splits.line_lists import drop_listed_items, reweight_listed_items
from headwise.data.splits.split_config import SplitConfig


@pytest.fixture
def parts(tmp_path):
    rows = [f"text number {n},{'ab'[n % 2]}" for n in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return read_parts(ITEM_TYPES_BY_TASK["classify"], str(tmp_path / "data.csv"))


def listed(tmp_path, *lines: str, head: str = "line,label"):
    path = tmp_path / "list.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    return str(path)


def test_lines_of_training_and_dev_are_left_out(parts, tmp_path):
    gone = [parts.train[0], parts.train[3], parts.dev[1], parts.test[0]]
    remaining, count = drop_listed_items(
        parts, listed(tmp_path, *(f"{item.line},{item.label}" for item in gone))
    )
    assert count == 3
    assert set(parts.train) - set(remaining.train) == {gone[0], gone[1]}
    assert set(parts.dev) - set(remaining.dev) == {gone[2]}
    assert remaining.test == parts.test
    assert drop_listed_items(parts, listed(tmp_path, "5", head="line"))[1] == 1


def test_lists_that_a_spreadsheet_has_saved(parts, tmp_path):
    item = parts.train[0]
    rows = f"line;label;text\r\n{item.line};{item.label};{item.text}\r\n"
    path = tmp_path / "list.csv"
    path.write_bytes(b"\xef\xbb\xbf" + rows.encode())
    assert drop_listed_items(parts, str(path))[1] == 1
    assert drop_listed_items(parts, listed(tmp_path))[1] == 0


@pytest.mark.parametrize("line", ["99,a", "2,b", "x,a", ",a", "²,a", f"{'9' * 5000},a"])
def test_a_list_of_another_file_is_refused(parts, tmp_path, line):
    with pytest.raises(DataError, match=r"HW127.*list\.csv:2"):
        drop_listed_items(parts, listed(tmp_path, line))


def test_what_is_no_list_is_refused(parts, tmp_path):
    with pytest.raises(DataError, match="HW111"):
        drop_listed_items(parts, listed(tmp_path, "5,a", head="row,label"))
    with pytest.raises(DataError, match="HW101"):
        drop_listed_items(parts, str(tmp_path / "nothing.csv"))


@pytest.mark.parametrize(
    "head", ["line,label,weight", "line,label,probability of label", "line,label,weight,x"]
)
def test_lines_of_training_and_dev_count_less(parts, tmp_path, head):
    less = [parts.train[0], parts.train[3], parts.dev[1], parts.test[0]]
    rows = (f"{item.line},{item.label},{n / 4}{',9' * head.endswith('x')}" for n, item in enumerate(less))
    reweighted, count = reweight_listed_items(parts, listed(tmp_path, *rows, head=head))
    assert count == 3
    assert {
        item.line: item.weight for item in (*reweighted.train, *reweighted.dev) if item.weight != 1
    } == {item.line: n / 4 for n, item in enumerate(less[:3])}
    assert [replace(item, weight=1.0) for item in reweighted.train] == parts.train
    assert reweighted.test == parts.test


@pytest.mark.parametrize("weight", ["-1", "x", "", "inf", "nan"])
def test_a_weight_that_is_none(parts, tmp_path, weight):
    line = f"{parts.train[0].line},{parts.train[0].label},{weight}"
    with pytest.raises(DataError, match=r"HW126.*list\.csv:2"):
        reweight_listed_items(parts, listed(tmp_path, line, head="line,label,weight"))


def test_a_list_without_weights(parts, tmp_path):
    with pytest.raises(DataError, match=r"HW111.*weight"):
        reweight_listed_items(parts, listed(tmp_path, f"{parts.train[0].line},{parts.train[0].label}"))


def test_objects_of_an_array_on_one_line_are_told_apart(tmp_path):
    rows = [{"text": f"text number {n}", "label": "ab"[n % 2]} for n in range(40)]
    (tmp_path / "data.json").write_text(json.dumps(rows))
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], str(tmp_path / "data.json"))
    item = parts.train[0]
    remaining, count = drop_listed_items(parts, listed(tmp_path, f"{item.line},{item.label}"))
    assert count == 1
    assert item not in remaining.train


def test_lists_of_several_files_name_the_file_of_each_line(tmp_path):
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        rows = [f"text number {n} of {folder},{'ab'[n % 2]}" for n in range(40)]
        paths.append(tmp_path / folder / f"{folder}.csv")
        paths[-1].write_text("\n".join(["text,label", *rows]) + "\n")
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], list_files(paths), split=SplitConfig(test=0.01))
    lines = ("2,a,a.csv", "line,label,file", f"4,a,{paths[1]}")
    remaining, count = drop_listed_items(parts, listed(tmp_path, *lines, head="line,label,file"))
    assert count == 2
    gone = {*parts.train, *parts.dev} - {*remaining.train, *remaining.dev}
    assert {item.text for item in gone} == {"text number 0 of a", "text number 2 of b"}
    weights = listed(tmp_path, "2,0.5,a.csv", head="line,weight,file")
    weighed, count = reweight_listed_items(parts, weights)
    assert count == 1
    assert [i.text for i in (*weighed.train, *weighed.dev) if i.weight != 1] == ["text number 0 of a"]
    with pytest.raises(DataError, match=r"HW111.*no column 'file'"):
        drop_listed_items(parts, listed(tmp_path, "2,a"))
    with pytest.raises(DataError, match=r"HW127.*no training file 'c\.csv' has line 2"):
        drop_listed_items(parts, listed(tmp_path, "2,c.csv", head="line,file"))
