"""Fields of objects in JSON, asked for by names with points."""

import json

import pytest

from headwise.data.columns.item_options import PairOptions
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.items.item_types import infer_task
from headwise.data.readers.labelled_files import read_examples, read_rows
from headwise.data.readers.pair_files import read_pairs

ROWS = [
    {"id": n, "data": {"text": f"a text of {n}", "said": [{"by": "x", "is": "ab"[n % 2]}]}}
    for n in range(4)
]
INNER = ReadOptions(text_column="data.text", label_column="data.said.0.is")


@pytest.fixture
def path(write):
    return write("a.jsonl", "\n".join(map(json.dumps, ROWS)))


def test_names_with_points_lead_into_objects_and_lists(path):
    assert not any("not used" in note for note in read_examples(path, INNER).notes)
    assert [(item.text, item.label) for item in read_examples(path, INNER).items[:2]] == [
        ("a text of 0", "a"),
        ("a text of 1", "b"),
    ]
    first = next(iter(read_rows(path, INNER)))
    assert first.fields == {**ROWS[0], "data.text": "a text of 0", "data.said.0.is": "a"}


def test_a_field_of_that_name_goes_first(write):
    path = write("a.jsonl", '{"data.text": "b c", "data": {"text": "d e"}, "label": "x"}')
    (item,) = read_examples(path, ReadOptions(text_column="data.text")).items
    assert item.text == "b c"


def test_pairs_too(write):
    rows = [{"q": {"first": "a b", "second": "c d"}, "same": "yes"}] * 2
    options = PairOptions(first_column="q.first", second_column="q.second", label_column="same")
    assert read_pairs(write("a.jsonl", "\n".join(map(json.dumps, rows))), options).items[0].second == "c d"


def test_what_is_not_there_is_told(path, fails):
    with pytest.raises(DataError, match=r"no column 'data\.txt'") as raised:
        read_examples(path, ReadOptions(text_column="data.txt", label_column="id"))
    assert raised.value.code == "HW111"
    with open(path, "a") as file:
        file.write('\n{"id": 5, "data": {}}')
    assert fails(lambda: read_examples(path, INNER).items) == ("HW117", 5, None)


def test_who_cannot_guess_lists_what_is_in_objects(path):
    with pytest.raises(
        DataError, match=r"\n  2 'text': 'a text of 0'[\s\S]*\n  said\.0\.is: 'a'"
    ) as raised:
        read_examples(path)
    assert raised.value.code == "HW131"
    labels = [item.label for item in read_examples(path, ReadOptions(label_column="said.0.is")).items]
    assert labels == ["a", "b", "a", "b"]


def test_objects_beside_a_text_are_listed_with_what_is_in_them(write):
    rows = [{"text": f"a text of {n}", "meta": {"said": [1], "kind": "ab"[n % 2]}} for n in range(4)]
    with pytest.raises(DataError, match=r"\n  meta\.said: '\[1\]'\n  meta\.kind: 'a'"):
        read_examples(write("a.jsonl", "\n".join(map(json.dumps, rows))))


def test_pairs_of_which_a_list_holds_both_texts_have_scores(write):
    """Else each of many scores was a class of its own."""
    rows = [{"pair": [f"one {n}", f"two {n}"], "meta": {"gold": n / 2}} for n in range(4)]
    path = write("a.jsonl", "\n".join(map(json.dumps, rows)))
    reading = {"first_column": "pair.0", "second_column": "pair.1", "label_column": "meta.gold"}
    assert infer_task(path, reading)[0] == "pair-score"


@pytest.mark.parametrize(
    ("value", "inner"),
    [({"id": 1, "text": "a b"}, "text.text"), (["a b", "c"], "text.0"), ({"id": 1}, None), (5, None)],
)
def test_what_is_no_text_but_holds_one_is_named(write, value, inner):
    row = {"text": value, "label": "x", "more": "y" * 200}
    path = write("a.jsonl", json.dumps(row) + '\n{"text": "c d", "label": "x"}')
    with pytest.raises(DataError) as raised:
        read_examples(path, ReadOptions(text_column="text", label_column="label"))
    advice = f"name what is in it as the column, such as {inner!r}" if inner else ""
    assert (raised.value.code, raised.value.advice) == ("HW118", advice)
