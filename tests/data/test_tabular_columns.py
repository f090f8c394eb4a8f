"""Columns beside the text: types, cells, and how files with them are read."""

import csv

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import MultiLabelOptions, SoftLabelOptions
from headwise.data.columns.tabular_columns import (
    ColumnEncoding,
    TabularColumn,
    features_text,
    guess_type,
    parse_features,
)
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.errors import DataError
from headwise.data.items.item_types import infer_task, options_for
from headwise.data.items.text_items import TextItems, TextSchema
from headwise.data.readers.labelled_files import read_examples, read_rows


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("price", ["12.50", "7", "", "1300.25"], "number"),
        ("price", ["$12.50", "$7.00", "$1,300.25"], "number"),
        ("preis", ["12,50", "7,00", "1.300,25"], "decimal-comma"),
        ("share", ["12 %", "7 %", "99.5 %"], "number"),
        ("country", ["DE", "FR", "NA", ""], "category"),
        ("member", ["true", "false", "true"], "category"),
        ("when", ["2024-05-31", "2024-06-01T10:30:00Z", "n/a"], "date"),
        ("when", ["2024/05/31 10:30", "2024/06/01 11:00"], "date"),
        ("when", ["31.5.2024", "1.6.2024"], "day-first"),
        ("when", ["5/31/2024", "6/1/2024 4:30 PM"], "month-first"),
        ("when", ["31/5/2024", "6/1/2024"], "day-first"),
        ("created_at", ["1717149600", "1717236000", "1717322400"], "date"),
        ("views", ["1717149600", "1717236000", "1717322400"], "number"),
        ("postcode", ["10115", "80331"] * 5, "category"),
        ("branch", ["0102", "0301"] * 5, "category"),
        ("stars", [str(n % 5 + 1) for n in range(200)], "category"),
        ("stars", [str(n % 5 + 1) for n in range(20)], "number"),
        ("age", [str(n % 60 + 18) for n in range(300)], "number"),
        ("nothing", ["", " ", "NaN"], "category"),
    ],
)
def test_a_type_is_guessed_from_all_cells(name, cells, kind):
    assert guess_type(name, cells)[0] == kind


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["1/2/2024", "3/4/2024"], "day first or month first"),
        ([f"a running text of quite a few words, number {n}" for n in range(9)], "texts"),
    ],
)
def test_where_a_type_is_open_it_is_asked_for(cells, why):
    with pytest.raises(ValueError, match=why):
        guess_type("column", cells)


@pytest.mark.parametrize(
    ("kind", "cell", "value"),
    [
        ("number", "1,300.25", 1300.25),
        ("number", " € 5 ", 5.0),
        ("number", "N/A", None),
        ("decimal-comma", "1.300,25", 1300.25),
        ("category", " New  York ", "New York"),
        ("category", "3.0", "3"),
        ("category", "NA", "NA"),
        ("category", "TRUE", "true"),
        ("category", "", None),
        ("date", "1970-01-02", 86_400.0),
        ("date", "1970-01-02 01:00:30+05:00", 90_030.0),
        ("day-first", "2.1.1970", 86_400.0),
        ("month-first", "1/2/1970 12:30 AM", 88_200.0),
    ],
)
def test_the_value_of_a_cell(kind, cell, value):
    assert TabularColumn("c", kind).value(cell) == value


@pytest.mark.parametrize(
    ("kind", "cell"),
    [("number", "cheap"), ("number", "inf"), ("number", "1_000"), ("date", "soon"), ("date", "2024-02-31")],
)
def test_a_cell_of_another_type_is_refused(kind, cell):
    with pytest.raises(ValueError, match="is no"):
        TabularColumn("c", kind).value(cell)


def test_features_are_names_with_or_without_types():
    columns = parse_features('price, "a,b:number", country:category, data:x')
    assert [(column.name, column.type) for column in columns] == [
        ("price", None),
        ("a,b", "number"),
        ("country", "category"),
        ("data:x", None),
    ]
    assert parse_features(features_text(columns)) == columns


@pytest.mark.parametrize("requested", ["", " , ", "a,a:number"])
def test_features_without_a_name_or_with_one_twice_are_refused(requested):
    with pytest.raises(ConfigError, match="features"):
        parse_features(requested)


def test_an_encoding_from_a_file_is_checked():
    with pytest.raises(ConfigError, match="belong together"):
        ColumnEncoding("c", "category", values=("a",))
    with pytest.raises(ConfigError, match="deviation"):
        ColumnEncoding("c", "number", deviation=-1.0)


ROWS = [
    {"text": f"a {'good' if n % 2 else 'bad'} thing number {n}", "label": "yn"[n % 2], "price": f"{n}.5"}
    | {"country": ["DE", "FR", ""][n % 3], "weight": str(n + 1)}
    for n in range(30)
]


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def test_files_are_read_with_the_columns_beside_the_text(tmp_path):
    path = write(tmp_path / "a.csv", ROWS)
    data = read_examples(path, SoftLabelOptions(features="price,country,weight:number"))
    assert data.columns.tabular == (
        TabularColumn("price", "number"),
        TabularColumn("country", "category"),
        TabularColumn("weight", "number"),
    )
    assert data.columns.weight is None  # the column is asked for as one beside the text
    assert [item.tabular.values for item in data.items[:3]] == [
        (0.5, "DE", 1.0),
        (1.5, "FR", 2.0),
        (2.5, None, 3.0),
    ]
    assert any("country:category (10 of 30 missing)" in note for note in data.notes)


def test_columns_beside_the_text_are_neither_text_nor_label(tmp_path):
    rows = [{"body": row["text"], "kind": row["label"], "class": row["country"]} for row in ROWS]
    path = write(tmp_path / "a.csv", rows)
    data = read_examples(path, SoftLabelOptions(features="class"))
    assert (data.columns.text, data.columns.label) == ("body", "kind")
    with pytest.raises(ConfigError, match="same column"):
        read_examples(path, SoftLabelOptions(features="kind", label_column="kind"))
    with pytest.raises(ConfigError, match="same column"):
        read_examples(path, SoftLabelOptions(features="body", text_column="body"))


def test_a_cell_of_another_type_has_a_line_and_a_column(tmp_path):
    rows = [dict(row) for row in ROWS]
    rows[20]["price"] = "a lot"
    path, errors = write(tmp_path / "a.csv", rows), []
    with pytest.raises(DataError, match="'price': 'a lot' is no number") as raised:
        read_examples(path, SoftLabelOptions(features="price"))
    assert (raised.value.code, raised.value.line) == ("HW145", 22)
    data = read_examples(path, SoftLabelOptions(features="price"), errors.append)
    assert len(data.items) == 29
    assert len(errors) == 1


def test_a_missing_column_is_named(tmp_path):
    path = write(tmp_path / "a.csv", ROWS)
    with pytest.raises(DataError, match=r"'prize'.*did you mean --features 'price'") as raised:
        read_examples(path, SoftLabelOptions(features="prize"))
    assert raised.value.code == "HW111"
    with pytest.raises(DataError, match=r"no column 'size'.*trained on") as raised:
        read_rows(path, tabular=[TabularColumn("size", "number")], options=SoftLabelOptions())
    assert raised.value.code == "HW147"
    (tmp_path / "a.txt").write_text("one text\nanother text\n")
    with pytest.raises(DataError, match="has no columns, but the model reads 'size'") as raised:
        read_rows(str(tmp_path / "a.txt"), SoftLabelOptions(), tabular=[TabularColumn("size", "number")])
    assert raised.value.code == "HW147"


def test_rows_to_predict_have_the_types_of_training(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "one", "Price": 3, "zip": "7"}\n{"text": "two", "zip": 7.0}\n'
        '{"text": "three", "Price": null, "zip": null}\n'
    )
    columns = (TabularColumn("price", "number"), TabularColumn("zip", "category"))
    rows = [*read_rows(str(tmp_path / "a.jsonl"), SoftLabelOptions(), tabular=columns)]
    assert [row.item.tabular.values for row in rows] == [(3.0, "7"), (None, "7"), (None, None)]


def test_label_sets_have_columns_beside_the_text_too(tmp_path):
    rows = [
        {"text": row["text"], "labels": f"{row['label']}|all", "country": row["country"]} for row in ROWS
    ]
    path = write(tmp_path / "a.csv", rows)
    assert infer_task(path, {"features": "country"})[0] == "multi-label"
    data = read_examples(path, MultiLabelOptions(features="country"))
    assert data.items[0].labels == ("y", "all")
    assert data.items[0].tabular.values == ("DE",)


@pytest.mark.parametrize("task", ["tag", "pair", "pair-score", "bags", "language-model", "masked-words"])
def test_other_tasks_refuse_them(task):
    with pytest.raises(ConfigError, match="--features is for the tasks classify, multi-label, regress"):
        options_for(task, {"features": "price"})


def test_the_types_of_the_training_file_are_those_of_others(tmp_path):
    path = write(tmp_path / "a.csv", [{**row, "price": row["price"].replace(".", ",")} for row in ROWS])
    kind = TextItems()
    schema = TextSchema(tabular=(TabularColumn("price", "category"),))
    data = kind.read(path, SoftLabelOptions(), schema=schema)
    assert data.items[0].tabular.values == ("0,5",)
    assert kind.schema(data).tabular == schema.tabular


def test_the_fingerprint_tells_columns_apart(tmp_path):
    path, kind = write(tmp_path / "a.csv", ROWS), TextItems()
    plain, one, two = (
        kind.fingerprint(kind.read(path, SoftLabelOptions(features=features)).items).sha256
        for features in (None, "price", "country")
    )
    assert len({plain, one, two}) == 3


def test_the_doctor_checks_columns_beside_the_text(tmp_path):
    rows = [
        {"text": row["text"], "label": row["label"], "same": "x", "copy": row["label"], "id": f"r{n}"}
        | {"score": f"{(n % 2) * 100 + n / 7:.3f}", "fair": row["country"]}
        for n, row in enumerate(ROWS)
    ]
    report = doctor_files(
        [write(tmp_path / "a.csv", rows)], "classify", {"features": "same,copy,id,score,fair"}
    )
    column_findings = {
        (finding.code, finding.message.split("'")[1])
        for finding in report.findings
        if finding.code in ("HW181", "HW182", "HW183")
    }
    assert column_findings == {("HW181", "same"), ("HW182", "copy"), ("HW183", "id"), ("HW182", "score")}


def test_the_doctor_finds_the_number_to_predict_beside_the_text(tmp_path):
    rows = [{"text": row["text"], "score": row["price"], "copy": row["price"]} for row in ROWS]
    report = doctor_files(
        [write(tmp_path / "a.csv", rows)], "regress", {"features": "copy", "label_column": "score"}
    )
    assert "HW182" in [finding.code for finding in report.findings]
