import csv
import io
import json
import random

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.errors import DataError
from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

TEXTS = [
    ("Tom met Ann in Paris", [("Tom", "PER"), ("Ann", "PER"), ("Paris", "LOC")]),
    ("it rains", []),
    ("Ann flew to Rome 😀 with Bob", [("Ann", "PER"), ("Rome", "LOC"), ("Bob", "PER")]),
    ("Oslo is cold", [("Oslo", "LOC")]),
]
ROWS = [
    (number, text, str(text.index(name)), str(text.index(name) + len(name)), kind, name)
    for number, (text, entities) in enumerate(TEXTS)
    for name, kind in entities
]
EMPTY = (1, "it rains", "", "", "", "")
ALL = sorted([*ROWS, EMPTY], key=lambda row: row[0])


def table(names, rows, places):
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(names)
    writer.writerows([row[place] for place in places] for row in rows)
    return file.getvalue()


def entities_of(data):
    return [
        (
            item.text,
            [(word, tag[2:]) for word, tag in zip(item.tokens, item.tags, strict=True) if tag != "O"],
        )
        for item in data.items
    ]


SHAPES = {
    "offsets": (("text", "start", "end", "label"), (1, 2, 3, 4)),
    "an id": (("doc_id", "text", "begin", "end", "type"), (0, 1, 2, 3, 4)),
    "offsets and entity": (("sentence", "entity", "start_char", "end_char", "label"), (1, 5, 2, 3, 4)),
    "entity": (("text", "entity", "label"), (1, 5, 4)),
    "mention": (("text", "mention", "entity_type"), (1, 5, 4)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_rows_of_a_text_are_one_sentence(write, shape):
    path = write("a.csv", table(SHAPES[shape][0], ALL, SHAPES[shape][1]))
    assert infer_task(path, {})[0] == "tag"
    assert entities_of(read_tagged(path)) == TEXTS


def test_rows_in_any_order_and_offsets_with_a_point_are_the_same(write):
    rows = [(*row[:2], *(f"{cell}.0" if cell else "" for cell in row[2:4]), *row[4:]) for row in ALL]
    random.Random(1).shuffle(rows)
    data = read_tagged(write("a.csv", table(*SHAPES["offsets"][:1], rows, (1, 2, 3, 4))))
    assert sorted(entities_of(data)) == sorted(TEXTS)


def test_equal_texts_with_different_ids_are_two_sentences(write):
    rows = [*ALL, *((row[0] + 4, *row[1:]) for row in ALL)]
    data = read_tagged(write("a.csv", table(*SHAPES["an id"][:1], rows, (0, 1, 2, 3, 4))))
    assert entities_of(data) == TEXTS * 2


def test_ids_of_rows_do_not_part_a_text(write):
    rows = [(number, *row[1:]) for number, row in enumerate(ALL)]
    data = read_tagged(write("a.csv", table(("id", *SHAPES["offsets"][0]), rows, (0, 1, 2, 3, 4))))
    assert entities_of(data) == TEXTS


def test_objects_with_an_entity_each_are_such_rows(write):
    rows = [dict(zip(("text", "start", "end", "label"), row[1:5], strict=True)) for row in ROWS]
    data = read_tagged(write("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert entities_of(data) == [TEXTS[0], *TEXTS[2:]]


def test_an_entity_must_occur_as_often_as_it_is_listed(write):
    twice = (9, "Tom and Tom", "", "", "PER", "Tom")
    names, places = SHAPES["entity"]
    assert len(read_tagged(write("a.csv", table(names, [*ALL, twice, twice], places))).items) == 5
    for row, problem in (
        (twice, "'Tom' occurs 2 times in its text"),
        ((9, "Tim", "", "", "PER", "Tom"), "'Tom' is not in its text"),
        ((9, "Tom", "", "", "", "Tom"), "an entity without a label"),
    ):
        with pytest.raises(DataError, match=rf"HW246.*a\.csv:10: .*{problem}"):
            read_tagged(write("a.csv", table(names, [*ALL, row], places)))


@pytest.mark.parametrize("cells", [("1", "", "PER"), ("a", "3", "PER"), ("0", "3", "")])
def test_an_entity_with_half_of_its_cells_is_an_error(write, fails, cells):
    path = write(
        "a.csv", table(*SHAPES["offsets"][:1], [*ALL, (9, "Tom ran", *cells, "Tom")], (1, 2, 3, 4))
    )
    assert fails(read_tagged, path)[:2] == ("HW246", 10)


def test_offsets_are_checked_against_the_entity_beside_them(write):
    utf_16 = [
        (*row[:2], *(str(len(row[1][: int(cell)].encode("utf-16-le")) // 2) for cell in row[2:4]), *row[4:])
        for row in ROWS
    ]
    names, places = SHAPES["offsets and entity"]
    data = read_tagged(write("a.csv", table(names, utf_16, places)))
    assert entities_of(data) == [TEXTS[0], *TEXTS[2:]]
    assert any("UTF-16" in note for note in data.notes)


def test_opinions_on_parts_are_read_if_the_task_is_named(write):
    rows = [
        (n, f"the soup was good {n}", "4", "8", ("positive", "negative")[n % 2], "soup") for n in range(9)
    ]
    for shape in ("offsets", "entity"):
        names, places = SHAPES[shape]
        path = write("a.csv", table(names, rows, places))
        assert infer_task(path, {})[0] == "classify"
        assert {tag for item in read_tagged(path, TagOptions()).items for tag in item.tags} > {"B-positive"}
