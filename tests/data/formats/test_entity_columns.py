"""Tables with a column for each type of entities."""

import json

import pytest

from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

ROWS = [
    ("Tom met Ann in Rome", "Tom{}Ann", "Rome"),
    ("it rains", "", ""),
    ("New York is large", "", "New York"),
]
TAGS = [("B-PER", "O", "B-PER", "O", "B-LOC"), ("O", "O"), ("B-LOC", "I-LOC", "O", "O")]


@pytest.mark.parametrize("separator", [", ", ";", " | "])
def test_entities_in_columns_of_their_types_are_located(write, separator):
    rows = [(text, people.format(separator), places) for text, people, places in ROWS]
    path = write(
        "a.csv",
        "id,text,PER,LOC\n" + "".join(f'{n},"{a}","{b}","{c}"\n' for n, (a, b, c) in enumerate(rows)),
    )
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [item.tags for item in data.items] == TAGS
    assert "the entities of 'text' are in columns of their types: 'PER', 'LOC'" in data.notes


def test_lists_in_json_are_entities_too(write):
    records = [{"text": a, "PER": b.format(" ").split(), "LOC": [c] if c else []} for a, b, c in ROWS]
    path = write("a.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    assert infer_task(path, {})[0] == "tag"
    assert [item.tags for item in read_tagged(path).items] == TAGS


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("text,city,label", "I love Rome,Rome,travel"),
        ("text,location,target", "fire in Rome,Rome,1"),
        ("text,location,channel", "fire in Rome,Rome,web"),
        ("text,name,product", "I love Rome,Ann,book"),
    ],
)
def test_tables_with_a_label_or_with_names_from_elsewhere_are_no_such_tables(write, header, row):
    assert infer_task(write("a.csv", f"{header}\n" + f"{row}\n" * 6), {})[0] != "tag"


def test_an_entity_that_is_not_in_its_text_is_reported(write, fails):
    lines = [f"{a},{b.format('|')},{c}" for a, b, c in ROWS] * 6
    path = write("a.csv", "\n".join(["text,PER,LOC", *lines, "Bob ran,Rob,"]) + "\n")
    assert fails(read_tagged, path)[:2] == ("HW246", 20)
