"""Several files that are read as one."""

import pickle

import pytest

from headwise.core.errors import ConfigError
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.errors import DataError
from headwise.data.files.file_lists import FileLine, FileList, check_input_file, list_files, place
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.file_sets import read_files_as_one
from headwise.data.splits.data_parts import read_parts

CLASSIFY = ITEM_TYPES_BY_TASK["classify"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"text number {n},{'ab'[n % 2]}" for n in range(60)]
    (tmp_path / "b.csv").write_text("\n".join(["text,label", *rows[:30], ""]))
    swapped = [",".join(reversed(row.split(","))) for row in rows[30:]]
    (tmp_path / "a.csv").write_text("\n".join(["label,text", *swapped, ""]))
    return tmp_path


def test_the_order_is_that_of_the_names_or_of_the_pattern(files):
    assert list_files(["b.csv", "a.csv"]) == FileList(("b.csv", "a.csv"))
    assert list_files("*.csv") == FileList(("a.csv", "b.csv"))
    assert list_files(files / "a*.csv") == str(files / "a.csv")
    (files / "x[1].csv").write_text("text\n")
    assert list_files("x[1].csv") == "x[1].csv"  # a file of this name


def test_a_file_is_not_read_twice_by_two_names(files):
    (files / "link.csv").symlink_to("a.csv")
    for alias in ("./a.csv", str(files / "a.csv"), "link.csv"):
        with pytest.raises(ConfigError, match=r"is given twice, also as a\.csv"):
            list_files(["a.csv", alias])


@pytest.mark.parametrize(
    ("path", "advice"), [("https://example.org/a.csv", "download it first"), ("~/a.csv", "the whole path")]
)
def test_addresses_and_homes_are_no_files(path, advice):
    with pytest.raises(DataError, match=advice) as raised:
        check_input_file(path)
    assert raised.value.code == "HW101"


@pytest.mark.parametrize(
    ("paths", "message"),
    [([], "no files"), (["a.csv", "a.csv"], "given twice"), (["-", "a.csv"], "cannot be read beside")],
)
def test_what_is_no_list_of_files(files, paths, message):
    with pytest.raises(ConfigError, match=message):
        list_files(paths)


def test_a_pattern_without_a_file(files):
    with pytest.raises(DataError, match=r"none-\*.csv: no file matches"):
        list_files("none-*.csv")


def test_items_are_in_order_and_know_their_file(files):
    data = read_files_as_one(CLASSIFY, FileList(("b.csv", "a.csv")))
    assert [item.text for item in data.items] == [f"text number {n}" for n in range(60)]
    assert [item.label for item in data.items[28:32]] == ["a", "b", "a", "b"]  # columns by their names
    assert (data.where(0), data.where(59)) == ("b.csv:2", "a.csv:31")
    assert any("b.csv 30, a.csv 30" in note for note in data.notes)


@pytest.mark.parametrize("names", [("n.csv", "b.csv", "a.csv"), ("b.csv", "n.csv", "a.csv", "m.csv")])
def test_files_of_several_that_have_a_header_only_are_left_out(files, names):
    for name in ("n", "m"):
        (files / f"{name}.csv").write_text("text,label\n")
    data = read_files_as_one(CLASSIFY, FileList(names))
    assert [item.text for item in data.items] == [f"text number {n}" for n in range(60)]
    empty = ", ".join(name for name in names if name in ("n.csv", "m.csv"))
    assert f"files with a header and no rows, left out: {empty}" in data.notes
    for only in ("n.csv", FileList(("n.csv", "m.csv"))):
        with pytest.raises(DataError, match="a header without rows"):
            read_files_as_one(CLASSIFY, only)
    (files / "nothing.csv").write_text("")  # the file of an export that failed
    with pytest.raises(DataError, match="the file is empty"):
        read_files_as_one(CLASSIFY, FileList(("b.csv", "nothing.csv")))


def test_lines_survive_pickling():
    line = pickle.loads(pickle.dumps(FileLine(7, "a.csv")))
    assert (line, place("b.csv", line), place("b.csv", 7)) == (7, "a.csv:7", "b.csv:7")


def test_an_error_names_the_file_and_its_line(files):
    (files / "c.csv").write_text("text,label\na,x\nb,\n")
    with pytest.raises(DataError, match=r"c\.csv:3: an empty label"):
        read_files_as_one(CLASSIFY, FileList(("b.csv", "c.csv")))
    (files / "d.csv").write_text("body,label\na,x\nb,y\n")
    with pytest.raises(DataError, match=r"d\.csv") as caught:
        read_files_as_one(CLASSIFY, FileList(("b.csv", "d.csv")))
    assert caught.value.code == "HW111"


def test_duplicates_and_leaks_are_found_across_files(files):
    (files / "c.csv").write_text("text,label\ntext number 0,a\nsomething new,b\n")
    parts = read_parts(CLASSIFY, FileList(("a.csv", "c.csv")), dev="b.csv")
    assert parts.overlaps()
    findings = doctor_files(["*.csv"]).findings
    duplicates = next(finding for finding in findings if finding.code == "HW153")
    assert "c.csv:2" in duplicates.where  # the other is b.csv:2


@pytest.mark.parametrize("task", ["tag", "pair", "multi-label", "regress"])
def test_every_kind_of_item(files, task):
    contents = {
        "tag": "a\tO\nb\tB-X\n\nc\tO\n\n",
        "pair": "premise,hypothesis,label\na,b,x\nc,d,y\n",
        "multi-label": "text,labels\na,x|y\nb,y\n",
        "regress": "text,score\na,1.5\nb,2.5\n",
    }
    for name in ("one.txt", "two.txt"):
        (files / name).write_text(contents[task])
    data = read_files_as_one(ITEM_TYPES_BY_TASK[task], FileList(("one.txt", "two.txt")))
    assert len(data.items) == 4
    assert data.where(2).startswith("two.txt:")


def test_types_of_spans_that_only_one_file_has_are_told(files):
    """Nobody may have tagged them in the others, where their words are then learnt as outside of spans."""
    sentence = "Ann\tB-PER\npaid\tO\n5\t{}\n\n"
    (files / "old.txt").write_text(sentence.format("O") * 9)
    (files / "new.txt").write_text(sentence.format("B-SUM") * 5 + sentence.format("O") * 4)
    tag = ITEM_TYPES_BY_TASK["tag"]
    notes = read_files_as_one(tag, FileList(("old.txt", "new.txt"))).notes
    assert [note for note in notes if "unlike" in note] == [
        "old.txt has no SUM, unlike the other files: if they were not tagged there, the model learns that "
        "such words are in no span"
    ]
    (files / "new.txt").write_text(sentence.format("B-SUM") * 4 + sentence.format("O") * 5)  # by chance
    notes = read_files_as_one(tag, FileList(("old.txt", "new.txt"))).notes
    assert not any("unlike" in note for note in notes)


@pytest.mark.parametrize("rows", [["one text,a", "two texts,b"] * 9, ["one text,a"]])
def test_a_row_of_a_later_file_is_no_header(files, rows):
    """Parts of a file that was split have a header in the first alone."""
    (files / "c.csv").write_text("\n".join([*rows, ""]))
    with pytest.raises(DataError, match=r"HW111.*c\.csv:1: .*no header: the first row is 'one text', 'a'"):
        read_files_as_one(CLASSIFY, list_files(["b.csv", "a.csv", "c.csv"]))


def test_columns_of_labels_are_those_of_the_first_file(files):
    rows = "a b,0,1\nc d,1,0\ne f,1,1\n"
    for name, names in ("c.csv", "late,paid"), ("d.csv", "paid,late"), ("e.csv", "late,new"):
        (files / name).write_text(f"text,{names}\n{rows}")
    sets = ITEM_TYPES_BY_TASK["multi-label"]
    data = read_files_as_one(sets, list_files(["c.csv", "d.csv"]))
    assert [item.labels for item in data.items[:4:3]] == [("paid",), ("late",)]
    with pytest.raises(
        DataError, match=r"HW111.*labels 'late, new'.*expected text 'text', labels 'late, paid'"
    ):
        read_files_as_one(sets, list_files(["c.csv", "e.csv"]))


def test_a_first_file_without_a_header_is_the_one_to_mend(files):
    (files / "c.csv").write_text("one text,a\ntwo texts,b\n" * 9)
    with pytest.raises(DataError, match=r"HW111.*c\.csv has no header: write one above its rows"):
        read_files_as_one(CLASSIFY, list_files(["c.csv", "b.csv"]))


def test_a_column_that_another_header_lacks_is_still_named(files):
    (files / "c.csv").write_text("body,kind\n" + "one text,a\ntwo texts,b\n" * 9)
    with pytest.raises(
        DataError, match=r"HW111.*there is no column 'text'; expected one of 'body', 'kind'"
    ):
        read_files_as_one(CLASSIFY, list_files(["b.csv", "c.csv"]))
