"""Files of several formats that are read as one."""

import json

import pytest

from headwise.data.errors import DataError
from headwise.data.files.file_lists import list_files
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.file_sets import read_files_as_one

ROWS = [
    ("no sound since noon", "hardware"),
    ("charged twice again", "billing"),
    ("the screen broke", "hardware"),
]


def read(task, *paths):
    return read_files_as_one(ITEM_TYPES_BY_TASK[task], list_files([*map(str, paths)]))


@pytest.fixture
def labelled(tmp_path):
    """The rows in files of each format, by suffix."""
    openpyxl, pyarrow = pytest.importorskip("openpyxl"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    paths = {suffix: tmp_path / f"a.{suffix}" for suffix in ("csv", "jsonl", "xlsx", "parquet", "ft")}
    names = ("message", "category")
    paths["csv"].write_text("".join(f"{','.join(cells)}\n" for cells in (names, *ROWS)))
    records = [dict(zip(names, row, strict=True)) for row in ROWS]
    paths["jsonl"].write_text("".join(json.dumps(record) + "\n" for record in records))
    book = openpyxl.Workbook()
    for cells in (names, *ROWS):
        book.active.append(cells)
    book.save(paths["xlsx"])
    parquet.write_table(pyarrow.Table.from_pylist(records), paths["parquet"])
    paths["ft"].write_text("".join(f"__label__{label} {text}\n" for text, label in ROWS))
    return paths


def test_tables_of_all_formats_are_read_as_one(labelled):
    paths = [labelled[suffix] for suffix in ("csv", "jsonl", "xlsx", "parquet")]
    for order in (paths, paths[::-1]):
        data = read("classify", *order)
        assert [(item.text, item.label) for item in data.items] == ROWS * 4
        assert {item.line.file for item in data.items} == {*map(str, paths)}


def test_a_format_without_columns_agrees_with_any_table(labelled):
    data = read("classify", labelled["ft"], labelled["csv"])
    assert [(item.text, item.label) for item in data.items] == ROWS * 2


def test_tables_with_other_columns_are_an_error(labelled, tmp_path):
    table = tmp_path / "b.csv"
    table.write_text("body,category\nno sound since noon,hardware\nthe screen broke,billing\n")
    with pytest.raises(DataError) as error:
        read("classify", labelled["jsonl"], table)
    assert error.value.code == "HW111"


def test_annotations_of_all_formats_are_read_as_one(tmp_path):
    folder, spans, words = tmp_path / "brat", tmp_path / "spans.jsonl", tmp_path / "words.conll"
    folder.mkdir()
    (folder / "1.txt").write_text("Anna saw Rome.\n")
    (folder / "1.ann").write_text("T1\tPER 0 4\tAnna\nT2\tLOC 9 13\tRome\n")
    marked = [{"start": 0, "end": 4, "label": "PER"}, {"start": 9, "end": 13, "label": "LOC"}]
    spans.write_text(json.dumps({"text": "Anna saw Rome.", "spans": marked}) + "\n")
    words.write_text("Anna B-PER\nsaw O\nRome B-LOC\n. O\n\n")
    for order in ((folder, spans, words), (words, folder, spans), (spans, words, folder)):
        data = read("tag", *order)
        assert [item.tokens for item in data.items] == [("Anna", "saw", "Rome", ".")] * 3
        assert [item.tags for item in data.items] == [("B-PER", "O", "B-LOC", "O")] * 3
