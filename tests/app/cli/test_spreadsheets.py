"""Files of spreadsheets come back as files of spreadsheets: semicolons, decimal commas, workbooks."""

import csv
import sys

import openpyxl
import pytest

from headwise.app.workflows.table_output import write_workbook
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.labelled_files import read_examples
from headwise.data.splits.data_parts import read_parts
from headwise.data.splits.line_lists import reweight_listed_items
from headwise.models import prediction_resume as resume
from headwise.models.output_file import OutputError

COMMAS = {"delimiter": ";", "encoding": "utf-8-sig"}


def write(path, *, delimiter, encoding, rows=60):
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(("Straße", "text", "label"))
        writer.writerows((f"{n},5", f"w{n} w{n % 7}; w3, w4", ("bad", "good")[n % 2]) for n in range(rows))


def read(path, delimiter=","):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_predictions_of_semicolons_have_semicolons_and_decimal_commas(run, model, tmp_path):
    write(tmp_path / "new.csv", **COMMAS)
    code, _, err = run("predict", model, "new.csv", "--output", "out.csv", "--unsure", "0.6")
    assert code == 0
    assert "semicolons and decimal commas, as the input has" in err
    assert run("predict", model, "new.csv", "--output", "plain.csv", "--format-out", "csv")[0] == 0
    found, plain = read(tmp_path / "out.csv", ";"), read(tmp_path / "plain.csv")
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert len(found) == len(plain) == 60
    for row, other in zip(found, plain, strict=True):
        assert {name: row[name].replace(",", ".") for name in row if name.startswith("probability")} == {
            name: other[name] for name in other if name.startswith("probability")
        }
        assert all("," in row[name] and "." not in row[name] for name in row if ":" in name)
        assert (row["text"], row["Straße"], row["prediction"]) == (
            *(other["text"], other["Straße"]),
            other["prediction"],
        )


def test_predictions_with_decimal_commas_go_on(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "CHUNK_ROWS", 8)
    write(tmp_path / "new.csv", **COMMAS)
    assert run("predict", model, "new.csv", "-o", "whole.csv")[0] == 0
    whole = (tmp_path / "whole.csv").read_bytes()
    (tmp_path / "out.csv").write_bytes(whole[: len(whole) // 2])
    code, _, err = run("predict", model, "new.csv", "-o", "out.csv", "--resume")
    assert code == 0
    assert "the first 24 records are kept" in err
    assert (tmp_path / "out.csv").read_bytes() == whole
    assert run("predict", model, "new.csv", "-o", "part-{}.csv", "--shard-rows", "40")[0] == 0
    assert read(tmp_path / "part-00001.csv", ";") == read(tmp_path / "whole.csv", ";")[40:]


def test_predictions_with_decimal_commas_are_read_again_and_corrections_count(run, model, tmp_path):
    write(tmp_path / "new.csv", **COMMAS)
    assert run("predict", model, "new.csv", "-o", "out.csv")[0] == 0
    _, out, _ = run("doctor", "out.csv", "--probability-columns", "probability:bad,probability:good")
    assert "No problems found" in out
    assert "somebody" not in out  # the old labels were not asked for
    rows = read(tmp_path / "out.csv", ";")
    for row in rows:
        row.pop("label")
    for row in rows[:5]:
        row["prediction"] = "good" if row["prediction"] == "bad" else "bad"
    rows[5]["prediction"] = "new label"
    with (tmp_path / "corrected.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    _, out, _ = run("doctor", "corrected.csv")
    assert "somebody wrote in place of predictions: 6" in " ".join(out.split())
    examples = read_examples(tmp_path / "corrected.csv", SoftLabelOptions()).items
    assert [example.label for example in examples] == [row["prediction"] for row in rows]


def test_a_workbook_has_numbers_and_texts_and_no_formula(run, model, tmp_path):
    book = openpyxl.Workbook()
    for row in (("no", "text"), (7, "w1 w2"), (8, "'=1+1"), (9, "w3\x0bw4".replace("\x0b", " "))):
        book.active.append(row)
    book.active["B3"].value, book.active["B3"].data_type = "=1+1", "s"
    book.save(tmp_path / "new.xlsx")
    assert run("predict", model, "new.xlsx", "-o", "out.xlsx")[0] == 0
    names, *rows = openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows()
    assert [cell.value for cell in names][:4] == ["no", "text", "prediction", "probability"]
    assert [(row[0].value, row[1].value) for row in rows] == [(7, "w1 w2"), (8, "=1+1"), (9, "w3 w4")]
    assert {row[1].data_type for row in rows} == {"s"}
    assert all(isinstance(cell.value, float) for row in rows for cell in row[3:])
    assert run("predict", model, "new.xlsx", "-o", "out.xlsx")[0] == 2  # it is not lost by mistake


def test_cells_of_a_workbook(tmp_path):
    rows = [["007", "1.50", "1e5", "-0.5", "9" * 17, "a\x00b\x07", "\ud800", None, [1], True, 0.1]]
    assert write_workbook(tmp_path / "a.xlsx", rows) == 1
    values = next(openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(values_only=True))
    assert values[:5] == ("007", "1.50", "1e5", -0.5, "9" * 17)
    assert values[6:] == ("?", None, "[1]", True, 0.1)
    with pytest.raises(OutputError, match="32,768 characters") as caught:
        write_workbook(tmp_path / "b.xlsx", [["x" * 32_768]])
    assert caught.value.code == "HW603"


def test_texts_to_label_and_label_errors_open_where_the_input_did(run, model, tmp_path):
    write(tmp_path / "new.csv", **COMMAS)
    lines = (tmp_path / "new.csv").read_text("utf-8-sig").replace(";bad", ";").replace(";good", ";")
    (tmp_path / "unlabelled.csv").write_text(lines, "utf-8-sig")
    for suffix in ("csv", "xlsx", "jsonl"):
        assert run("suggest", model, "unlabelled.csv", "-n", "3", "-o", f"label.{suffix}")[0] == 0
    first = read(tmp_path / "label.csv", ";")[0]
    assert (tmp_path / "label.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    sheet = [*openpyxl.load_workbook(tmp_path / "label.xlsx").active.iter_rows(values_only=True)]
    assert list(first) == [*sheet[0]] == ["Straße", "text", "label", "guess"]
    assert [value or "" for value in sheet[1]] == list(first.values())


def test_a_list_of_label_errors_opens_where_the_input_did_and_is_read_again(run, tmp_path):
    lines = [f"{('dark lamp', 'stuck door')[n % 2]} n{n};{'ab'[n % 2 ^ (n == 7)]}\n" for n in range(60)]
    (tmp_path / "new.csv").write_text(f"text;label\n{''.join(lines)}", "utf-8")
    for name in ("errors.csv", "errors.xlsx"):
        assert run("noise", "new.csv", "-o", name, "--base", "none")[0] == 0
    issues = read(tmp_path / "errors.csv", ";")
    assert issues[0]["line"] == "9"
    assert issues[0]["probability of label"].startswith("0,")
    parts = read_parts(ITEM_TYPES_BY_TASK["classify"], str(tmp_path / "new.csv"))
    _, count = reweight_listed_items(parts, str(tmp_path / "errors.csv"))
    assert 0 < count == reweight_listed_items(parts, str(tmp_path / "errors.xlsx"))[1]


@pytest.mark.parametrize("command", ["predict", "suggest", "noise"])
def test_a_missing_library_is_told_before_the_work(run, model, tmp_path, monkeypatch, command):
    write(tmp_path / "new.csv", **COMMAS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    inputs = ["new.csv"] if command == "noise" else [model, "new.csv"]
    code, _, err = run(command, *inputs, "-o", "out.xlsx")
    assert (code, "Excel workbooks need openpyxl: pip install" in err) == (2, True), err
    assert "predicted" not in err
    assert not (tmp_path / "out.xlsx").exists()
