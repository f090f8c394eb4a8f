import csv
import gzip
import json
import lzma
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.items.dataset import InputRow
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.labelled_files import read_rows
from headwise.models.output_file import (
    OutputError,
    choose_format,
    format_of,
    open_output,
    reporting_write_errors,
)
from headwise.models.prediction_file import RecordLayout
from headwise.models.predictor import LabelPredictor

TEXTS_NOUNS = ITEM_TYPES_BY_TASK["classify"].nouns
PROBABILITIES = np.array([0.123456789, 0.876543211])


def rows_of(*fields: dict) -> list[InputRow]:
    return [InputRow(line, cells, cells.get("text", "")) for line, cells in enumerate(fields, start=2)]


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.csv", "csv"), ("a.TSV", "tsv"), ("a.b.jsonl", "jsonl"), ("a.csv.gz", "csv"), ("a.tsv.xz", "tsv")],
)
def test_the_suffix_decides(name, form):
    assert choose_format(Path(name), None) == form
    assert choose_format(Path(name), "jsonl") == "jsonl"


def test_standard_output_is_csv():
    assert choose_format(None, None) == "csv"
    assert choose_format(None, "tsv") == "tsv"


@pytest.mark.parametrize("name", ["a", "a.txt", "a.gz", "a.csv.zip"])
def test_unknown_suffix(name):
    with pytest.raises(OutputError, match=r"HW605.*csv, .tsv or .jsonl.*, or give --format-out"):
        choose_format(Path(name), None)
    with pytest.raises(OutputError, match=r"HW605.*csv or .html \(.gz or .xz after it compresses\)$"):
        format_of(Path(name), {".csv": "csv", ".html": "html"}, "csv")


def test_csv():
    rows = rows_of({"id": "1", "text": 'a "b",\nc'})
    layout = RecordLayout.of("csv", rows, ["x,y", "z"])
    assert layout.header == 'id,text,prediction,probability,"probability:x,y",probability:z\n'
    assert layout.record(rows[0], PROBABILITIES) == '1,"a ""b"",\nc",z,0.876543,0.123457,0.876543\n'


@pytest.mark.parametrize("escape", [False, True])
def test_a_brief_table_has_no_probabilities_of_all_labels(escape):
    rows = rows_of({"id": "1", "text": 'a "b",\nc'})
    layout = replace(RecordLayout.of("csv", rows, ["x,y", "z"], least=0.9), escape=escape)
    brief = layout.without_label_probabilities()
    assert brief.header == "id,text,prediction,probability,unsure\n"
    assert brief.record(rows[0], PROBABILITIES) == '1,"a ""b"",\nc",z,0.876543,true\n'


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_half_a_surrogate_pair_stands_in_its_record(form):
    """Python's texts hold it, UTF-8 does not: whoever writes the record decides."""
    rows = rows_of({"text": "m\ud800"})
    layout = RecordLayout.of(form, rows, ["x", "z"])
    comma = "," if form == "csv" else "\t"
    expected = ["m\ud800", "z", "0.876543", "0.123457", "0.876543"]
    assert layout.record(rows[0], PROBABILITIES) == comma.join(expected) + "\n"


def test_jsonl():
    rows = rows_of({"id": 7, "text": "ä", "more": [1, None]})
    layout = RecordLayout.of("jsonl", rows, ["x", 'y"'])
    assert layout.header == ""
    record = layout.record(rows[0], np.array([1e-9, 1 - 1e-9]))
    assert json.loads(record) == {
        "id": 7,
        "text": "ä",
        "more": [1, None],
        "prediction": 'y"',
        "probability": 1,
        "probabilities": {"x": 1e-9, 'y"': 1},
    }
    assert record == (
        '{"id": 7, "text": "ä", "more": [1, null], "prediction": "y\\"", "probability": 1, '
        '"probabilities": {"x": 1e-09, "y\\"": 1}}\n'
    )


def test_names_that_are_taken():
    rows = rows_of({"text": "", "prediction": "", "probability:x": "", "prediction_2": ""})
    layout = RecordLayout.of("csv", rows, ["x", "y"])
    assert layout.added == ("prediction_3", "probability", "probability:x_2", "probability:y")
    assert layout.renamed == {"prediction": "prediction_3", "probability:x": "probability:x_2"}
    assert not RecordLayout.of("csv", rows_of({"text": ""}), ["x_2", "y"]).renamed
    assert not RecordLayout.of("csv", rows_of({"probability:x": ""}), ["x_2", "y"]).renamed
    assert RecordLayout.of("jsonl", rows, ["x", "y"]).added == (
        "prediction_3",
        "probability",
        "probabilities",
    )


def test_the_tenth_field_of_a_name_is_reported_too():
    numbers = {f"prediction_{number}": "" for number in range(2, 10)}
    layout = RecordLayout.of("csv", rows_of({"prediction": "", **numbers}), ["x", "y"])
    assert layout.renamed == {"prediction": "prediction_10"}


def test_fields_of_all_first_records_are_columns():
    rows = rows_of({"text": "a"}, {"text": "b", "n": 3})
    layout = RecordLayout.of("csv", rows, ["x", "z"])
    assert layout.header.startswith("text,n,prediction")
    assert layout.record(rows[0], PROBABILITIES).startswith("a,,z,")
    assert layout.record(rows[1], PROBABILITIES).startswith("b,3,z,")


def test_a_field_without_a_name_is_a_field():
    rows = rows_of({"text": "a"}, {"text": "b", "": "c"})
    with pytest.raises(OutputError, match=r"a field ''"):
        RecordLayout.of("csv", rows[:1], ["x", "z"]).start(rows[1])


def test_a_field_that_comes_later():
    rows = rows_of({"text": "a"}, {"text": "b", "prediction": "old", "n": "3"})
    with pytest.raises(OutputError, match=r"HW603.*line 3 .*'prediction'.*--format-out jsonl"):
        RecordLayout.of("csv", rows[:1], ["x", "z"]).start(rows[1])
    with pytest.raises(OutputError, match=r"HW603.*line 3 .*'prediction'.*rename"):
        RecordLayout.of("jsonl", rows[:1], ["x", "z"]).start(rows[1])


@pytest.mark.parametrize("text", ["a\tb", "a\nb"])
def test_tsv_refuses_what_it_cannot_hold(text):
    rows = rows_of({"text": text})
    layout = RecordLayout.of("tsv", rows, ["x", "z"])
    with pytest.raises(OutputError, match=r"HW603.*line 2 .*column 'text'.*--format-out csv"):
        layout.record(rows[0], PROBABILITIES)
    with pytest.raises(OutputError, match=r"HW603"):
        RecordLayout.of("tsv", rows_of({text: ""}), ["x", "z"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


TEXTS = st.text(st.sampled_from("a\",\r\n\t'\\é\u2028😀 {"), max_size=8)


@settings(max_examples=80, deadline=None)
@given(
    form=st.sampled_from(["csv", "tsv", "jsonl"]),
    texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5),
    probability=st.floats(0, 1),
)
def test_our_readers_read_what_was_written(folder, form, texts, probability):
    # A field that single marks enclose in nearly every row of a table is taken for a quoted one.
    cells = [cell for pair in texts for cell in pair]
    assume(form == "jsonl" or not any(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells))
    if form == "tsv":
        texts = [tuple(t.replace("\t", "").replace("\n", "") for t in pair) for pair in texts]
    rows = rows_of(*({"text": text, "more": more} for text, more in texts))
    layout = RecordLayout.of(form, rows, ["x", "y"])
    probabilities = np.array([1 - probability, probability])
    records = [layout.record(row, probabilities) for row in rows]
    path = folder / f"out.{form}"
    path.write_bytes("".join([layout.header, *records]).encode())
    header = None if form == "jsonl" else True
    options = ReadOptions(text_column="text", header=header, delimiter="," if form == "csv" else None)
    read = list(read_rows(path, options))
    assert [(row.fields["text"], row.fields["more"]) for row in read] == texts
    for row, record in zip(read, records, strict=True):
        assert row.fields["prediction"] == ("y" if probability > 0.5 else "x")
        assert layout.probabilities(record) == pytest.approx(probabilities, rel=1e-5)


@pytest.mark.parametrize(("name", "unpack"), [("a.csv.gz", gzip.decompress), ("a.csv.xz", lzma.decompress)])
def test_compressed_by_the_suffix(tmp_path, name, unpack):
    path = tmp_path / name
    contents = []
    for _ in range(2):
        with open_output(path) as file:
            file.write(b"abc")
        contents.append(path.read_bytes())
    assert unpack(contents[0]) == b"abc"
    assert contents[0] == contents[1]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError, match=r"HW604.*No such file"), open_output(tmp_path / "no" / "a.csv"):
        pass


def test_a_full_disk():
    def fill():
        with open_output(Path("/dev/full")) as file:
            file.write(b"abc")
            file.flush()

    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with pytest.raises(OutputError, match=r"HW604.*No space left"):
        fill()


def test_a_jsonl_record_is_one_line_for_everybody():
    rows = rows_of({"text": "a\u2028b\u2029c\x85d\ne\x0bf\x1cg"})
    record = RecordLayout.of("jsonl", rows, ["x", "y"]).record(rows[0], PROBABILITIES)
    assert len(record.splitlines()) == 1
    assert json.loads(record)["text"] == rows[0].item


def test_what_fails_elsewhere_is_not_blamed_on_the_output(tmp_path):
    folder = tmp_path / "tuned"
    folder.mkdir()
    with pytest.raises(FileNotFoundError, match="cache"), reporting_write_errors(folder):
        (tmp_path / "other" / "cache").read_bytes()
    with (
        pytest.raises(OutputError, match=r"tuned/a/b: cannot be written: No such"),
        reporting_write_errors(folder),
    ):
        (folder / "a" / "b").write_text("")


def test_cells_that_a_spreadsheet_would_compute_are_escaped():
    texts = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "-2.5", "+1e-3", "a=b", ""]
    rows = rows_of(*({"text": text} for text in texts))
    layout = replace(RecordLayout.of("csv", rows, ("=bad", "good")), escape=True)
    assert layout.header.endswith("probability:=bad,probability:good\n")
    records = [next(csv.reader([layout.record(row, PROBABILITIES)])) for row in rows]
    assert [record[0] for record in records] == [
        "'=1+1",
        "'+cmd",
        "'-2+3",
        "'@SUM(A1)",
        "'\t=1",
        *texts[5:],
    ]
    assert layout.record(rows[0], PROBABILITIES[::-1]).split(",")[1] == "'=bad"
    plain = RecordLayout.of("csv", rows, ("=bad", "good"))
    assert plain.record(rows[0], PROBABILITIES).startswith("=1+1,")


@pytest.mark.parametrize("name", ["page.html", "lines.jsonl.gz"])
@pytest.mark.parametrize("before", [None, b"an earlier one"])
def test_what_is_of_no_use_in_part_is_there_whole_or_not_at_all(tmp_path, name, before):
    path = tmp_path / name
    if before is not None:
        path.write_bytes(before)

    def stopped() -> None:
        with open_output(path, atomic=True) as file:
            file.write(b"half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == ([] if before is None else [before])
    with open_output(path, atomic=True) as file:
        file.write(b"all of it")
    content = path.read_bytes()
    assert (gzip.decompress(content) if name.endswith(".gz") else content) == b"all of it"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("labels", "end"), [(7, "and 1 more label"), (9, "and 3 more labels")])
def test_a_summary_counts_the_labels_that_it_does_not_name(labels, end):
    predictor = LabelPredictor(SimpleNamespace(novelty=None), TEXTS_NOUNS, 1, {})
    predictor.items, predictor.counts = labels, Counter({f"label {n}": 1 for n in range(labels)})
    assert predictor.count_messages()[0].endswith(end)
