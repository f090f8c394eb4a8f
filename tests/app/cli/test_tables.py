"""Workbooks and Parquet files on the command line."""

import csv

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwise.app.cli.progress import count_lines
from headwise.models import prediction_resume as resume

SHEET = "data.xlsx!All reviews"


@pytest.fixture
def files(table, tmp_path) -> tuple[str, ...]:
    """The same 60 rows as csv, as the second sheet of a workbook, and as Parquet."""
    table(tmp_path / "data.csv", 60)
    with open(tmp_path / "data.csv", newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    book = openpyxl.Workbook()
    sheet = book.create_sheet("All reviews")
    for row in (["Reviews of spring"], [], names, *rows):
        sheet.append(row)
    book.save(tmp_path / "data.xlsx")
    pq.write_table(
        pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))), tmp_path / "data.parquet"
    )
    return "data.csv", "data.xlsx", SHEET, "data.parquet"


def test_the_same_table_gets_the_same_predictions(run, model, files):
    found = [run("predict", model, file) for file in files]
    assert [code for code, _, _ in found] == [0] * 4
    assert len(found[0][1].splitlines()) > 60
    assert {out for _, out, _ in found} == {found[0][1]}
    assert "the sheet" not in found[1][2]  # no other holds anything
    assert "lines 1 and 2 are no data" in found[1][2]


def test_the_same_table_gets_the_same_scores(run, model, files):
    found = [run("evaluate", model, file, "--json") for file in files]
    assert {code for code, _, _ in found} == {0}
    assert len({out.replace(file, "") for (_, out, _), file in zip(found, files, strict=True)}) == 1


@pytest.mark.parametrize("file", [SHEET, "data.parquet"])
def test_an_interrupted_prediction_goes_on(run, model, files, tmp_path, monkeypatch, file):
    monkeypatch.setattr(resume, "CHUNK_ROWS", 8)
    assert run("predict", model, file, "-o", "whole.csv")[0] == 0
    whole = (tmp_path / "whole.csv").read_bytes()
    (tmp_path / "out.csv").write_bytes(whole[: len(whole) // 2])
    code, _, err = run("predict", model, file, "-o", "out.csv", "--resume")
    assert code == 0, err
    assert "the first 24 records are kept" in err
    assert (tmp_path / "out.csv").read_bytes() == whole


def test_lines_of_what_is_no_text_are_not_counted(files, tmp_path):
    assert count_lines(tmp_path / "data.csv") >= 61
    assert count_lines(tmp_path / "data.xlsx") is None
    assert count_lines(tmp_path / "data.parquet") is None


def test_doctor_takes_the_format(run, files):
    assert run("doctor", "data.xlsx", "--format", "xlsx")[0] == 0
    code, _, err = run("doctor", "data.csv", "--format", "parquet")
    assert code == 2
    assert "data.csv is not of this format" in err
