"""Workbooks and Parquet files where tables are read: like the same table as csv."""

import csv
import gzip
import os
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwise.core.errors import ConfigError
from headwise.data import read_examples, read_rows
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.files.tables import table_kind
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.bags import read_bags
from headwise.data.readers.file_preview import read_preview

FORMS = ("csv", "xlsx", "parquet")
LABELS = [
    ("billing", "charged twice, again"),
    ("hardware", "no sound; since noon"),
    ("access", "locked\nout"),
]
COLUMNS = {
    "classify": {"text": [text for _, text in LABELS] * 9, "label": [name for name, _ in LABELS] * 9},
    "multi-label": {
        "text": [text for _, text in LABELS] * 9,
        **{
            name: [int(label == name or n == 4) for n, (label, _) in enumerate(LABELS * 9)]
            for name, _ in LABELS
        },
    },
    "regress": {"text": [f"text number {n}" for n in range(30)], "score": [n / 7 for n in range(30)]},
    "pair": {
        "premise": [f"a text {n}" for n in range(12)],
        "hypothesis": [f"another, {n}" for n in range(12)],
        "label": ["yes", "no", "-"] * 4,
    },
}


def save(path, columns) -> str:
    """Write columns in the format of the suffix."""
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [[*columns], *rows]:
            book.active.append(row)
        book.save(path)
    else:
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([[*columns], *rows])
    return str(path)


@pytest.fixture
def saved(tmp_path):
    """Write the columns of a task in a format, and return the path."""
    return lambda form, task="classify": save(tmp_path / f"data.{form}", COLUMNS[task])


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("task", COLUMNS)
def test_the_same_table_is_the_same_data(saved, task, form):
    paths = saved("csv", task), saved(form, task)
    assert [infer_task(path, {})[0] for path in paths] == [task, task]
    kind = ITEM_TYPES_BY_TASK[task]
    if task == "regress":  # csv has all 17 digits, and a workbook those that are shown
        shown = [[f"{float(item.label):.12g}" for item in kind.read(path).items] for path in paths]
        assert shown[0] == shown[1]
        return
    plain, data = (kind.read(path) for path in paths)
    assert data.format == form
    assert [replace(item, line=0) for item in data.items] == [replace(item, line=0) for item in plain.items]
    assert kind.fingerprint(data.items) == kind.fingerprint(plain.items)
    assert data.columns == plain.columns


@pytest.mark.parametrize("form", FORMS[1:])
def test_rows_to_predict_have_all_their_fields(saved, form):
    plain, rows = (list(read_rows(saved(suffix, "multi-label"))) for suffix in ("csv", form))
    assert [[str(cell) for cell in row.fields.values()] for row in rows] == [
        [str(cell) for cell in row.fields.values()] for row in plain
    ]
    assert [row.line for row in rows][:2] == ([2, 3] if form == "xlsx" else [1, 2])


def test_words_in_rows_of_a_workbook(tmp_path):
    starts = [f"S{n // 2}" if n % 2 == 0 else "" for n in range(12)]
    words = {"Sentence #": starts, "Word": ["Tom", "ran"] * 6, "Tag": ["B-PER", "O"] * 6}
    plain, path = (save(tmp_path / f"words.{form}", words) for form in FORMS[:2])
    assert infer_task(path, {})[0] == "tag"
    assert ITEM_TYPES_BY_TASK["tag"].read(path).items == ITEM_TYPES_BY_TASK["tag"].read(plain).items


def test_bags_of_a_workbook(tmp_path, fails):
    bags = {"bag_id": ["a", "a", "b"], "bag_label": [1, 1, 0], "x": [0.5, 1, 2]}
    plain, workbook_path, parquet_path = (
        read_bags(save(tmp_path / "b.csv", bags)),
        *(tmp_path / f"b.{n}" for n in FORMS[1:]),
    )
    data = read_bags(save(workbook_path, bags))
    assert [(bag.id, bag.label, bag.instances.tolist()) for bag in data.items] == [
        (bag.id, bag.label, bag.instances.tolist()) for bag in plain.items
    ]
    assert fails(read_bags, save(parquet_path, bags))[0] == "HW104"


@pytest.mark.parametrize("form", FORMS[1:])
def test_content_decides(saved, tmp_path, form):
    saved(form)
    path = tmp_path / "data.csv"
    (tmp_path / f"data.{form}").rename(path)
    assert table_kind(str(path)) == form
    assert read_examples(path).format == form
    assert read_examples(path, ReadOptions(format=form)).format == form
    for options in (ReadOptions(format="csv"), ReadOptions(delimiter=";")):
        with pytest.raises(ConfigError, match="leave it out"):
            read_examples(path, options)


def test_a_text_is_no_workbook_whatever_it_is_called(tmp_path, saved):
    os.rename(saved("csv"), tmp_path / "data.xlsx")
    assert read_examples(tmp_path / "data.xlsx").format == "csv"
    with pytest.raises(ConfigError, match=r"--format xlsx: .*data.xlsx is not of this format"):
        read_examples(tmp_path / "data.xlsx", ReadOptions(format="xlsx"))


@pytest.mark.parametrize(("form", "name"), [("xlsx", "openpyxl"), ("parquet", "pyarrow")])
def test_a_library_that_is_missing_is_named_with_its_extra(saved, monkeypatch, form, name):
    path = saved(form)
    for module in [module_name for module_name in sys.modules if module_name.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        DataError, match=rf"{name} cannot be imported .*pip install openpyxl pyarrow defusedxml"
    ) as error:
        read_examples(path)
    assert error.value.code == "HW109"
    assert read_preview(path).lines == ()


@pytest.mark.parametrize("form", FORMS[1:])
def test_pipes_are_told_to_be_files(saved, tmp_path, form):
    content = Path(saved(form)).read_bytes()
    os.mkfifo(tmp_path / "pipe")
    thread = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    thread.start()
    with pytest.raises(DataError, match="name the file itself") as error:
        read_examples(tmp_path / "pipe")
    thread.join()
    assert error.value.code == "HW104"


@pytest.mark.parametrize("form", FORMS[1:])
def test_other_readers_and_archives_say_what_to_do(saved, tmp_path, fails, form):
    path = saved(form)
    with pytest.raises(DataError, match=r"HW104.*save it as csv or plain text"):
        ITEM_TYPES_BY_TASK["language-model"].prepare([path], None)
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.write(path, f"data.{form}")
    (tmp_path / "data.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    for packed in ("data.zip", f"data.zip!data.{form}", "data.gz"):
        with pytest.raises(DataError, match=r"HW104.*unpack it"):
            read_examples(tmp_path / packed)


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old Excel .*, or one with a password"),
        ("[Content_Types].xml xl/workbook.bin", "binary Excel workbook"),
        ("mimetype content.xml", "OpenDocument"),
        ("Index/Document.iwa Data/x.jpg", "iWork"),
        ("[Content_Types].xml word/document.xml", "an Office file"),
        (b"PARE" + b"\0" * 100 + b"PARE", "encrypted Parquet"),
    ],
)
def test_documents_of_others_are_named(tmp_path, content, description):
    path = tmp_path / "data.xlsx"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name in content.split():
                archive.writestr(name, "<x/>")
    with pytest.raises(DataError, match=f"HW104.*{description}.*save it as csv"):
        read_examples(path)


def test_rows_that_take_far_more_than_the_file_are_refused(saved, fails, monkeypatch):
    path = saved("parquet")
    monkeypatch.setattr("headwise.data.files.tables.BOMB_SIZE", 1000)
    monkeypatch.setattr("headwise.data.files.tables.BOMB_RATIO", 0)
    assert fails(read_examples, path)[0] == "HW104"
