"""What every item type promises: rows to predict, parses, identity, display of items."""

import numpy as np
import pytest

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.errors import DataError
from headwise.data.items.examples import Example, MultiLabelExample, Pair, TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, options_for
from headwise.data.items.parses import ParseReader, rows_with_parses, with_parses
from headwise.data.items.sentence_items import TaggedSentenceItems
from headwise.data.readers.bags import Bag

ITEMS = {
    "classify": [Example("One  two", "x", 3), Example("three", "y", 4)],
    "multi-label": [MultiLabelExample("One  two", labels=("x", "y")), MultiLabelExample("three")],
    "regress": [Example("One  two", "1.5"), Example("three", "2")],
    "pair": [Pair("One  two", "three", "x"), Pair("three", "four", "y")],
    "pair-score": [Pair("One  two", "three", "1"), Pair("three", "four", "2")],
    "tag": [TaggedSentence(("One", "two"), ("O", "B-x")), TaggedSentence(("three",), ("O",))],
    "bags": [Bag("b", "x", np.ones((2, 3), np.float32)), Bag("c", "y", np.zeros((1, 3), np.float32))],
}
FILES = {
    "classify": "id,text,label\n7,a b,x\n8,c,y\n",
    "multi-label": "id,text,labels\n7,a b,x|y\n8,c,\n",
    "regress": "id,text,score\n7,a b,1\n8,c,2\n",
    "pair": "id,premise,hypothesis,label\n7,a b,c,x\n8,d,e,-\n",
    "pair-score": "id,premise,hypothesis,score\n7,a b,c,1\n8,d,e,2\n",
    "tag": "a\tO\nb\tB-x\n\nc\tO\n",
    "bags": "bag_label,bag_id,f1,f2\nx,7,1,2\nx,7,2,3\ny,8,0,1\n",
}


@pytest.mark.parametrize("task", ITEMS)
def test_a_fingerprint_is_of_items_answers_and_parses(task):
    kind, (first, second) = ITEM_TYPES_BY_TASK[task], ITEMS[task]
    combined = kind.fingerprint([first, second])
    assert combined.texts == 2
    assert combined.sha256 != kind.fingerprint([second, first]).sha256 != kind.fingerprint([first]).sha256
    assert sum(combined.labels.values()) == sum(len(item.labels) for item in (first, second))
    if kind.sides:
        with_heads = kind.with_parses(first, [[0, 1], [0]][: kind.sides])
        assert kind.has_parses(with_heads)
        assert not kind.has_parses(first)
        assert kind.fingerprint([with_heads, second]).sha256 != combined.sha256


def test_the_order_of_labels_in_a_set_does_not_matter():
    kind = ITEM_TYPES_BY_TASK["multi-label"]
    one, reordered = (MultiLabelExample("a", labels=labels) for labels in (("x", "y"), ("y", "x")))
    assert kind.fingerprint([one]) == kind.fingerprint([reordered])


@pytest.mark.parametrize(
    ("task", "name", "message"),
    [
        (
            "classify",
            "second_column",
            "--second-column is for the tasks pair, pair-score; the task here is",
        ),
        ("multi-label", "bag-column", "--bag-column is for the task bags; the task here is multi-label"),
        ("pair", "text_column", "which has --first-column, --label-column, --second-column"),
        ("bags", "text_column", "the task here is bags, which has --bag-column, --label-column"),
        (
            "language-model",
            "tag_column",
            "--tag-column is for the task tag; the task here is language-model",
        ),
        ("classify", "tex_column", "unknown setting 'tex_column'; did you mean 'text_column'?"),
    ],
)
def test_options_of_other_tasks_are_told_from_unknown_ones(task, name, message):
    with pytest.raises(ConfigError) as caught:
        options_for(task, {name: "x"}, "data")
    assert message in str(caught.value)
    assert "data: " in str(caught.value)


@pytest.mark.parametrize("task", ITEMS)
def test_an_item_is_shown_on_one_line(task):
    for item in ITEMS[task]:
        assert ITEM_TYPES_BY_TASK[task].show(item)
        assert "\n" not in ITEM_TYPES_BY_TASK[task].show(item)
    assert ITEM_TYPES_BY_TASK["pair"].show(ITEMS["pair"][0]) == "One two  |  three"


def test_the_same_pairs_have_the_same_key_and_others_have_not():
    key = ITEM_TYPES_BY_TASK["pair"].key
    assert key(Pair("a b", "c")) == key(Pair("a b", "c", "x"))
    assert key(Pair("a b", "c")) != key(Pair("a", "b c"))


@pytest.mark.parametrize("task", FILES)
def test_rows_are_the_items_of_a_file_with_all_their_fields(task, write):
    kind = ITEM_TYPES_BY_TASK[task]
    path = write("new.conll" if task == "tag" else "new.csv", FILES[task])
    rows, data = list(kind.rows(path)), kind.read(path)
    assert [row.line for row in rows][:1] == [data.items[0].line]
    first = rows[0].item
    assert kind.key(first) == kind.key(data.items[0])
    if task == "bags":
        assert rows[0].fields == {"bag": "7", "instances": 2}
    else:
        assert list(rows[0].fields) == ([] if task == "tag" else FILES[task].split("\n")[0].split(","))
    if task == "pair":
        assert (len(data.items), data.skipped, rows[1].item.label) == (1, 1, None)


def test_streams_have_no_rows():
    with pytest.raises(ConfigError, match="headwise sample"):
        ITEM_TYPES_BY_TASK["language-model"].rows("a.txt")


def test_sentences_or_texts_to_tag(write):
    kind = ITEM_TYPES_BY_TASK["tag"]
    assert isinstance(kind, TaggedSentenceItems)
    rows = list(kind.rows_to_predict(write("a.txt", FILES["tag"]), {}))
    assert [row.item.tokens for row in rows] == [("a", "b"), ("c",)]
    for name, text, reading in (
        ("b.txt", "Just a text, and\nanother one\n", {}),
        ("c.csv", "text,id\nJust a text,1\nanother one,2\n", {}),
        ("d.tsv", "text\tid\na b\t1\n", {"text_column": "text"}),
    ):
        items = [row.item for row in kind.rows_to_predict(write(name, text), reading)]
        assert all(isinstance(item, Example) for item in items)


@pytest.mark.parametrize("task", ["classify", "pair", "tag"])
def test_rows_get_their_parses_one_by_one(task, write):
    kind = ITEM_TYPES_BY_TASK[task]
    path = write("new.conll" if task == "tag" else "new.csv", FILES[task])
    paths = ",".join(["heads"] * kind.sides)
    rows = list(rows_with_parses(kind, iter(kind.rows(path)), paths, lambda path: iter([[0, 1], [0]])))
    assert all(kind.has_parses(row.item) for row in rows)
    assert list(rows_with_parses(kind, iter(rows), None, iter)) == rows  # type: ignore[arg-type]
    for heads, message in (([[0, 1]], "has more"), ([[0, 1], [0], [0]], "more parses than the 2 records")):
        with pytest.raises(HeadwiseError, match=message) as caught:
            list(rows_with_parses(kind, iter(rows), paths, lambda path, parses=heads: iter(parses)))
        assert caught.value.code == "HW234"


def test_parses_of_a_file_with_left_out_records_go_by_lines(write):
    kind = ITEM_TYPES_BY_TASK["classify"]
    path = write("a.txt", "(2 (2 a) (2 b))\n(3 (2 c) (2 d))\n(0 (2 e) (2 f))\n")
    data = kind.read(path, kind.options(sst_labels="binary"))
    assert data.skipped == 1
    reader = ParseReader(str.split, lambda path, words: [[9], [1], [2]])
    assert [item.parse for item in with_parses(kind, data, "x", reader).items] == [[1], [2]]
    short = ParseReader(str.split, lambda path, words: [[9]])
    with pytest.raises(DataError, match="1 parses for the 2 texts"):
        with_parses(kind, data, "x", short)
