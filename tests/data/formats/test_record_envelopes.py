"""Records in envelopes, in lists within documents, by id, and with the types of their values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.formats.jsonl import read_records
from headwise.data.items.item_types import infer_task
from headwise.data.readers.labelled_files import read_examples

ROWS = [{"text": "no sound since noon", "label": "hardware"}, {"text": "charged twice", "label": "billing"}]


def fields_of(document, indent=None, **options):
    source = DataSource("a.json", ReadOptions(**options))
    lines = json.dumps(document, indent=indent).split("\n")
    return [record.fields for record in read_records(enumerate(lines, start=1), source)], source.notes


def in_objects(*path):
    """The rows, each within objects of these names."""
    rows = ROWS
    for name in reversed(path):
        rows = [{"id": "x1", name: row} for row in rows]
    return rows


def typed(name):
    return [{key: {name: value} for key, value in row.items()} for row in ROWS]


def notion_properties(row):
    first, _, rest = row["text"].partition(" ")
    pieces = [{"type": "text", "plain_text": part, "annotations": {}} for part in (first, " ", rest)]
    return {
        "text": {"id": "title", "type": "title", "title": pieces},
        "label": {"id": "a", "type": "select", "select": {"id": "z", "name": row["label"]}},
        "tags": {"id": "b", "type": "multi_select", "multi_select": [{"id": "y", "name": "new"}]},
        "note": {"id": "c", "type": "rich_text", "rich_text": []},
        "hours": {"id": "d", "type": "number", "number": 3},
    }


DOCUMENTS = {
    "airtable": {"records": in_objects("fields"), "offset": "itr"},
    "elasticsearch": {"took": 3, "hits": {"total": {"value": 2}, "hits": in_objects("_source")}},
    "geojson": {"type": "FeatureCollection", "features": in_objects("properties")},
    "json api": {"data": in_objects("attributes"), "links": {"next": "x"}},
    "odata": {"@odata.context": "x", "value": ROWS},
    "relay": {"data": {"issues": {"edges": in_objects("node"), "pageInfo": {"hasNextPage": False}}}},
    "reddit": {"kind": "Listing", "data": {"after": None, "children": in_objects("data")}},
    "firestore": {"documents": [{"name": "p/1", "fields": row} for row in typed("stringValue")]},
    "dynamodb": {"Items": typed("S"), "Count": 2},
    "dynamodb export": [{"Item": row} for row in typed("S")],
    "rows of a hub": {
        "features": [{"name": "text"}],
        "rows": [{"cut": [], **row} for row in in_objects("row")],
    },
    "cloud events": [{"specversion": "1.0", "id": "3", "data": row} for row in ROWS],
    "by id": {"-Na": ROWS[0], "-Nb": ROWS[1]},
    "by id in an object": {"tickets": {"-Na": ROWS[0], "-Nb": ROWS[1]}},
    "frame by rows": {"0": ROWS[0], "1": ROWS[1]},
    "sheet": {"range": "A1:B3", "values": [["text", "label"], *([*row.values()] for row in ROWS)]},
    "two objects": [{"input": {"text": row["text"]}, "output": {"label": row["label"]}} for row in ROWS],
    "solr": {"responseHeader": {"status": 0}, "response": {"numFound": 2, "docs": ROWS}},
    "solr without a schema": {"response": {"docs": [{k: [v] for k, v in row.items()} for row in ROWS]}},
    "bigquery": {
        "kind": "bigquery#queryResponse",
        "schema": {"fields": [{"name": "text", "type": "STRING"}, {"name": "label", "type": "STRING"}]},
        "totalRows": "2",
        "rows": [{"f": [{"v": value} for value in row.values()]} for row in ROWS],
    },
    "athena": {
        "ResultSet": {
            "Rows": [
                {"Data": [{"VarCharValue": value} for value in cells]}
                for cells in (["text", "label"], *(row.values() for row in ROWS))
            ]
        }
    },
    "queue": [{"topic": "t", "offset": 3, "key": None, "value": json.dumps(row)} for row in ROWS],
    "queue of indented JSON": [{"offset": 3, "value": json.dumps({"data": row}, indent=1)} for row in ROWS],
    "log": {"events": [{"message": json.dumps(row), "eventId": "3"} for row in ROWS]},
    "notion": {
        "object": "list",
        "results": [
            {"object": "page", "id": "p", "archived": False, "properties": notion_properties(row)}
            for row in ROWS
        ],
        "has_more": False,
    },
    "deep": [{"id": "1", "snippet": {"comment": {"snippet": row}}} for row in ROWS],
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_texts_and_labels_of_documents_are_fields_of_the_records(name, indent):
    records, _ = fields_of(DOCUMENTS[name], indent)
    assert [{key: record[key] for key in ("text", "label")} for record in records] == ROWS


def test_places_are_the_lines_where_the_values_of_an_object_begin(write):
    text = "{\n" + ",\n".join(f'"{n}": {json.dumps(row)}' for n, row in enumerate(ROWS)) + "\n}\n"
    assert [item.line for item in read_examples(write("a.json", text)).items] == [2, 3]


@pytest.mark.parametrize("name", ["records", "tickets"])
def test_an_object_may_open_its_list_in_the_first_line(write, name):
    text = f'{{"{name}":[\n' + ",\n".join(map(json.dumps, ROWS)) + "\n]}\n"
    assert [item.line for item in read_examples(write("a.json", text)).items] == [2, 3]


@pytest.mark.parametrize("indent", [None, 1])
def test_the_list_of_training_data_is_read_before_others(indent):
    more = [{"text": "one of many", "label": "x"}]
    document = {"oos_val": more, "val": more, "train": ROWS, "test": more, "version": 2}
    records, notes = fields_of(document, indent)
    assert [record["text"] for record in records] == [row["text"] for row in ROWS]
    assert "the objects of 'train' are the records, and no others" in notes
    assert len(fields_of({"val": more * 3, "train": 4}, indent)[0]) == 3
    assert len(fields_of({"val": more * 3, "test": ROWS}, indent)[0]) == 3


def test_lists_beside_the_one_that_is_read_are_named():
    records, notes = fields_of({"train": ROWS, "test": ROWS * 2, "classes": ["a"], "meta": [ROWS[0]]})
    assert len(records) == 2
    assert "lists that are not read: 'test' (4); write each list to a file of its own" in notes


def test_an_object_or_list_that_is_not_closed_is_an_error(fails, write):
    assert fails(read_examples, write("a.json", json.dumps(DOCUMENTS["by id"])[:-1])) == ("HW115", 1, None)
    assert fails(read_examples, write("b.json", json.dumps(DOCUMENTS["odata"])[:-2])) == ("HW115", 1, None)


def test_tags_within_objects_are_label_sets(write):
    rows = [
        {"source": {"body": f"<p>no sound {n}</p>"}, "tags": {"tags": [{"name": "a"}]}} for n in range(4)
    ]
    assert infer_task(write("a.json", json.dumps({"conversations": rows})), {})[0] == "multi-label"


def test_names_that_occur_twice_keep_their_paths():
    rows = [{"input": {"text": "no sound at all", "id": "1"}, "meta": {"id": "2"}} for _ in range(2)]
    records, notes = fields_of(rows)
    assert records[0] == {"text": "no sound at all", "input.id": "1", "meta.id": "2"}
    assert notes == ["the fields within 'input', 'meta' are read as fields of the record"]


@pytest.mark.parametrize(
    "row",
    [
        {"text": "no sound", "meta": {"summary": "another text"}},
        {"tokens": ["no", "sound"], "meta": {"summary": "another text"}},
        {"turns": [{"text": "no sound"}], "meta": {"summary": "another text"}},
        {"note": "three words here", "data": {"text": "no sound"}},
        {"id": "1", "meta": {"url": "https://x.org/a", "day": "2024-01-01T00:00:00"}},
    ],
)
def test_records_with_a_text_or_a_list_and_those_without_a_text_stay_as_they_are(row):
    assert fields_of([row, row]) == ([row, row], [])


def test_properties_have_the_types_of_their_values():
    [record, _], _ = fields_of(DOCUMENTS["notion"])
    assert {name: record[name] for name in ("tags", "note", "hours")} == {
        "tags": ["new"],
        "note": "",
        "hours": 3,
    }


@pytest.mark.parametrize(
    "row",
    [
        {"turns": [{"text": "no sound"}, {"text": "since when"}]},
        {"turns": [{"by": "a", "note": "b"}, {"by": "b", "note": "c"}]},
        {"cells": [{"v": ["a"]}, {"v": ["b"]}]},
        {"cells": [{"v": "a"}]},
        {"text": "no sound", "labels": ["a"]},
        {"tokens": ["Hi"], "tags": ["O"]},
        {"text": [{"plain": "no sound"}], "labels": ["a"]},
        {"value": '{"text": "no sound"'},
        {"text": "no sound", "value": '{"label": "a"}'},
        {"part": {"id": "a", "type": "text", "text": "no sound", "more": 1}, "text": "none"},
    ],
)
def test_what_only_resembles_rows_lists_and_properties_stays_as_it_is(row):
    assert fields_of([row, row])[0] == [row, row]


def test_rows_of_several_sizes_are_records():
    rows = [{"parts": [{"v": "a"}] * size} for size in (2, 3)]
    assert fields_of(rows)[0] == rows


def test_a_path_leads_into_json_in_a_string():
    records, notes = fields_of(DOCUMENTS["queue"], text_column="value.text")
    assert [record["value.text"] for record in records] == [row["text"] for row in ROWS]
    assert notes == []


def test_a_row_with_too_few_cells_is_an_error(fails, write):
    rows = [{"f": [{"v": "no sound at all"}, {"v": "a"}]} for _ in range(25)]
    text = json.dumps({"rows": [*rows, {"f": [{"v": "b"}]}]}, indent=1)
    assert fails(read_examples, write("a.json", text))[0] == "HW110"


def test_a_path_that_is_asked_for_leaves_the_envelope():
    records, notes = fields_of(in_objects("fields"), text_column="fields.text")
    assert records[0] == {"id": "x1", "fields": ROWS[0], "fields.text": ROWS[0]["text"]}
    assert notes == []


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"$oid": "5f"}, "5f"),
        ({"$numberInt": "3"}, 3),
        ({"$numberDouble": "0.5"}, 0.5),
        ({"$numberLong": "many"}, "many"),
        ({"$date": {"$numberLong": "170"}}, 170),
        ([{"$numberInt": "3"}], [3]),
        ({"a": {"$oid": "5f"}}, {"a": "5f"}),
        ({"$numberInt": 3}, {"$numberInt": 3}),
        ({"S": "x"}, {"S": "x"}),
        ({"$set": "x"}, {"$set": "x"}),
    ],
)
def test_values_whose_type_has_a_dollar_are_plain(value, plain):
    assert fields_of([{"text": "a", "value": value}])[0] == [{"text": "a", "value": plain}]


def test_a_record_is_no_value_with_a_type():
    assert fields_of([{"$uuid": "5f"}, {"$oid": "5f"}])[0] == [{"$uuid": "5f"}, {"$oid": "5f"}]


def test_values_of_a_record_that_all_have_a_type_are_plain():
    row = {
        "text": {"S": "a"},
        "n": {"N": "3"},
        "no": {"NULL": True},
        "yes": {"BOOL": True},
        "tags": {"L": [{"S": "b"}, {"M": {"c": {"N": "1"}}}]},
        "names": {"SS": ["d"]},
    }
    plain = {"text": "a", "n": 3, "no": None, "yes": True, "tags": ["b", {"c": 1}], "names": ["d"]}
    assert fields_of([row])[0] == [plain]
    row = {
        "text": {"stringValue": "a"},
        "n": {"integerValue": "3"},
        "tags": {"arrayValue": {"values": [{"stringValue": "b"}]}},
        "none": {"arrayValue": {}},
        "map": {"mapValue": {"fields": {"c": {"doubleValue": 0.5}}}},
    }
    assert fields_of([row])[0] == [{"text": "a", "n": 3, "tags": ["b"], "none": [], "map": {"c": 0.5}}]


@pytest.mark.parametrize("depth", [150, 600, 900])
def test_objects_deep_within_each_other_are_read_as_they_are(write, fails, depth):
    deep = '{"a": ' * depth + '{"$oid": "1"}' + "}" * depth
    rows = [json.dumps(row)[:-1] + f', "more": {deep}}}' for row in ROWS]
    data = read_examples(write("a.jsonl", "\n".join(rows)))
    assert [{"text": item.text, "label": item.label} for item in data.items] == ROWS
    records = write("b.json", '{"info": ' + deep + ', "rows": [' + ",".join(rows) + "]}")
    assert [item.label for item in read_examples(records).items] == ["hardware", "billing"]
    assert fails(read_examples, write("c.json", deep))[0] == "HW131"


def enveloped(row, kind):
    """A row in an envelope."""
    return {
        "plain": row,
        "inner": {"id": "a1", "fields": row},
        "deep": {"id": "a1", "p": {"q": {"r": row}}},
        "typed": {name: {"S": value} for name, value in row.items()},
        "typed and inner": {
            "name": "p/1",
            "fields": {name: {"stringValue": value} for name, value in row.items()},
        },
        "two": {"in": {"text": row["text"]}, "out": {"label": row["label"]}},
    }[kind]


@given(
    texts=st.lists(st.sampled_from(["no sound since noon", "charged twice now", "it is fine"]), min_size=2),
    kind=st.sampled_from(["plain", "inner", "deep", "typed", "typed and inner", "two"]),
    document=st.sampled_from(["array", "lines", "by id", "list", "nodes", "beside others"]),
    indent=st.sampled_from([None, 0, 2]),
)
def test_rows_come_back_from_every_envelope_in_every_document(texts, kind, document, indent):
    rows = [{"text": f"{text} {n}", "label": "abc"[n % 3]} for n, text in enumerate(texts)]
    records = [enveloped(row, kind) for row in rows]
    written = {
        "array": records,
        "lines": records,
        "by id": {f"k{n}": record for n, record in enumerate(records)},
        "list": {"count": 3, "tickets": records, "next": None},
        "nodes": {"data": {"issues": {"nodes": records}, "n": 1}},
        "beside others": {"meta": {"title": "three words here"}, "items": records},
    }[document]
    text = json.dumps(written, indent=indent)
    if document == "lines":
        text = "\n".join(map(json.dumps, records))
    rows_read = read_records(enumerate(text.split("\n"), start=1), DataSource("a.json"))
    assert [{name: record.fields[name] for name in ("text", "label")} for record in rows_read] == rows


def test_an_object_as_type_names_no_type(write):
    rows = [
        {"text": f"text {n}", "label": "ab"[n % 2], "kind": {"id": 1, "type": {"a": 1}, "b": 2}}
        for n in range(6)
    ]
    assert len(read_examples(write("a.jsonl", "\n".join(map(json.dumps, rows)))).items) == 6
