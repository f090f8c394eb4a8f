"""Predictions as Parquet and Arrow files, null texts, and inputs without records."""

import csv
import json

import pytest

from headwise import TextClassifier, predict_file
from headwise.app.workflows import prediction_tables
from headwise.app.workflows.prediction_tables import TableOutput
from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.models.output_file import OutputError

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = [f"{('stuck', 'dark')[n % 2]} {('door', 'lamp', 'roof')[n % 3]} {n}" for n in range(30)]
TINY = {
    "encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8},
    "words": {"vector_size": 8},
    "base": {"name": "none"},
}
LABELS = [("repair", "light")[n % 2] for n in range(30)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table") / "m"
    TextClassifier(recipe=TINY, epochs=1).fit(TEXTS, LABELS).save(folder)
    return folder


@pytest.fixture
def file(tmp_path):
    rows = [{"number": n if n != 4 else 4.5, "text": text, "tags": ["a"]} for n, text in enumerate(TEXTS)]
    path = tmp_path / "new.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


@pytest.mark.parametrize(("name", "read"), [("p.parquet", parquet.read_table), ("p.arrow", None)])
def test_a_table_holds_what_csv_holds(model, file, tmp_path, name, read):
    assert predict_file(model, file, tmp_path / name) == 30
    predict_file(model, file, tmp_path / "p.csv")
    table = read(tmp_path / name) if read else arrow.ipc.open_file(tmp_path / name).read_all()
    with open(tmp_path / "p.csv", encoding="utf-8", newline="") as lines:
        wanted = list(csv.DictReader(lines))
    assert table.column_names == list(wanted[0])
    assert table["text"].to_pylist() == TEXTS
    assert table["prediction"].to_pylist() == [row["prediction"] for row in wanted]
    for column in ("probability", "probability:light", "probability:repair"):
        assert table[column].to_pylist() == [float(row[column]) for row in wanted]
    assert table["number"].to_pylist()[3:6] == [3, 4.5, 5]
    assert table["tags"].to_pylist()[0] == ["a"]
    assert not (tmp_path / f"{name}.jsonl").exists()


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([2**70, 1], [str(2**70), "1"]),
        ([1, "a"], ["1", "a"]),
        ([2**62 + 1, 0.5], [2.0**62, 0.5]),
        ([{}, None], ["{}", None]),
        ([[{"a": {}}], []], ['[{"a": {}}]', "[]"]),
    ],
)
@pytest.mark.parametrize("at_once", [1, 1000])
def test_cells_that_have_no_type_in_parquet_are_texts(
    model, tmp_path, monkeypatch, values, column, at_once
):
    monkeypatch.setattr(prediction_tables, "_AT_ONCE", at_once)
    rows = [{"text": "stuck door", "value": value} for value in values]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    predict_file(model, tmp_path / "new.jsonl", tmp_path / "p.parquet")
    assert parquet.read_table(tmp_path / "p.parquet")["value"].to_pylist() == column


def test_several_files_in_order(model, file, tmp_path):
    predict_file(model, file, tmp_path / "part-{}.parquet", shard_rows=12)
    files = sorted(tmp_path.glob("part-*.parquet"))
    assert [path.name for path in files] == [f"part-0000{n}.parquet" for n in range(3)]
    assert [parquet.read_table(path).num_rows for path in files] == [12, 12, 6]
    assert [text for path in files for text in parquet.read_table(path)["text"].to_pylist()] == TEXTS
    with pytest.raises(OutputError, match=r"part-00000\.parquet exists; add --overwrite"):
        predict_file(model, file, tmp_path / "part-{}.parquet", shard_rows=30)
    predict_file(model, file, tmp_path / "part-{}.parquet", shard_rows=30, overwrite=True)
    assert [path.name for path in tmp_path.glob("part-*.parquet")] == ["part-00000.parquet"]


def test_files_whose_name_has_marks_of_patterns_are_protected(model, file, tmp_path):
    predict_file(model, file, tmp_path / "all [v2]-{}.csv", shard_rows=12)
    with pytest.raises(OutputError, match=r"all \[v2\]-00000\.csv exists; add --overwrite"):
        predict_file(model, file, tmp_path / "all [v2]-{}.csv", shard_rows=30)
    predict_file(model, file, tmp_path / "all [v2]-{}.csv", shard_rows=30, overwrite=True)
    assert [path.name for path in tmp_path.glob("*.csv")] == ["all [v2]-00000.csv"]


def test_a_folder_of_files(model, file, tmp_path):
    predict_file(model, file, tmp_path / "out", shard_rows=20)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_several_files_of_lines(model, tmp_path, form):
    texts = [f'a "stuck"{" door" if form == "tsv" else chr(10) + "door"}, {n}' for n in range(30)]
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8"
    )
    predict_file(model, tmp_path / "in.jsonl", tmp_path / f"whole.{form}")
    predict_file(model, tmp_path / "in.jsonl", tmp_path / f"part-{{}}.{form}", shard_rows=12)
    predict_file(model, tmp_path / "in.jsonl", tmp_path / "folder", shard_rows=12, form=form)
    files = sorted(tmp_path.glob(f"part-*.{form}"))
    assert [path.name for path in files] == [f"part-0000{n}.{form}" for n in range(3)]
    assert [path.read_bytes() for path in sorted((tmp_path / "folder").iterdir())] == [
        path.read_bytes() for path in files
    ]
    header = b"" if form == "jsonl" else files[0].read_bytes().split(b"\n")[0] + b"\n"
    parts = [path.read_bytes().removeprefix(header) for path in files]
    assert header + b"".join(parts) == (tmp_path / f"whole.{form}").read_bytes()
    assert [part.count(b"stuck") for part in parts] == [12, 12, 6]


def test_an_interrupted_table_goes_on(model, file, tmp_path):
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    predict_file(model, file, whole)
    predict_file(model, file, tmp_path / "records.jsonl")
    records = (tmp_path / "records.jsonl").read_bytes()
    (tmp_path / "cut.parquet.jsonl").write_bytes(records[: len(records) // 2])
    predict_file(model, file, cut, resume=True)
    assert parquet.read_table(cut).equals(parquet.read_table(whole))


@pytest.mark.parametrize(
    ("output", "form", "rows", "message"),
    [
        ("p.csv", None, 5, r"--shard-rows makes several files; name it part-\{\}\.csv"),
        ("p-{}.csv.gz", None, 5, "files of this format are not cut; expected parquet, arrow, xlsx, csv"),
        ("p.parquet", None, 5, "--shard-rows makes several files"),
        ("p-{}.parquet", None, 0, "--shard-rows 0; expected 1 or more"),
        (None, "parquet", None, "need --output"),
    ],
)
def test_outputs_that_cannot_be(tmp_path, output, form, rows, message):
    with pytest.raises(ConfigError, match=message):
        TableOutput.of(None if output is None else tmp_path / output, form, rows)


def test_null_texts(model, tmp_path):
    file, out = tmp_path / "n.jsonl", tmp_path / "n.csv"
    file.write_text('{"text": "stuck door"}\n{"text": null}\n{"text": "dark hall"}\n', "utf-8")
    for policy, count in (("empty", 3), ("skip", 2)):
        reading = {"null_texts": policy}
        assert predict_file(model, file, out, overwrite=True, reading=reading) == count
    with pytest.raises(DataError, match="the field 'text' is null") as error:
        predict_file(model, file, out, overwrite=True, reading={"null_texts": "error"})
    assert (error.value.code, error.value.line) == ("HW118", 2)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_no_records_in_no_records_out(model, tmp_path, form):
    empty = tmp_path / "empty.json"
    empty.write_text("[]", "utf-8")
    columns = arrow.schema([("id", arrow.int64()), ("text", arrow.string())])
    parquet.write_table(columns.empty_table(), tmp_path / "empty.parquet")
    for name in ("empty.json", "empty.parquet"):
        out = tmp_path / f"{name}.out.{form}"
        assert predict_file(model, tmp_path / name, out) == 0
        assert out.exists()
        if form == "csv":
            fields = ["id", "text"] * (name == "empty.parquet")
            added = ["prediction", "probability", "probability:light", "probability:repair"]
            header = out.read_text("utf-8").strip().split(",")
            assert sorted(header) == sorted([*fields, *added])
        if form == "parquet":
            assert parquet.read_table(out).num_rows == 0
