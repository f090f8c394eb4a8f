"""Texts that occur several times: one row of each is kept, with the most frequent label or the last one."""

import pytest

from headwise.app.training_request import resolve
from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.files.file_lists import list_files
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import read_parts
from headwise.data.splits.repeated_items import RepeatedItems, without_repeated
from headwise.data.splits.split_config import SplitConfig

ROWS = "text,label\nx one,a\ny two,b\nX  ONE,b\nx one,b\ny two,a\n,a\n,b\nz,a\n"


def distinct_items(tmp_path, task, content, rule, *, suffix="csv", options=None):
    """The texts with labels (or tags) that are kept of a file, and the notes."""
    path = tmp_path / f"data.{suffix}"
    path.write_text(content)
    item_type = ITEM_TYPES_BY_TASK[task]
    data, notes = without_repeated(item_type, item_type.read(str(path), options), rule)
    return [(item_type.text(item), getattr(item, "tags", item.labels)) for item in data.items], notes


def test_all_rows_are_kept_by_default(tmp_path):
    rows, notes = distinct_items(tmp_path, "classify", ROWS, "keep")
    assert len(rows) == 8
    assert notes == ()
    assert SplitConfig().repeated_texts == "keep"


def test_the_most_frequent_label_is_kept_with_its_first_row_and_ties_are_noted(tmp_path):
    rows, notes = distinct_items(tmp_path, "classify", ROWS, "majority")
    assert rows == [("y two", ("b",)), ("X  ONE", ("b",)), ("", ("a",)), ("", ("b",)), ("z", ("a",))]
    path = tmp_path / "data.csv"
    assert notes == (
        "2 texts occur several times; one row of each, with the most frequent label, is used, and 3 rows "
        f"are left out (first {path}:2)",
        "1 text with several most frequent labels, of which the one that comes first is used (first "
        f"{path}:3)",
    )


def test_the_last_row_is_kept(tmp_path):
    rows, notes = distinct_items(tmp_path, "classify", ROWS, "last")
    assert rows == [("x one", ("b",)), ("y two", ("a",)), ("", ("a",)), ("", ("b",)), ("z", ("a",))]
    assert len(notes) == 1
    assert "with the last label, is used, and 3 rows are left out" in notes[0]


def test_rows_vote_by_their_weight(tmp_path):
    content = "text,label,weight\nx,a,1\nx,a,1\nx,b,2.5\ny,a,0\ny,b,1\n"
    rows, notes = distinct_items(tmp_path, "classify", content, "majority")
    assert rows == [("x", ("b",)), ("y", ("b",))]
    assert len(notes) == 1


def test_equal_label_sets_vote_for_each_other_in_any_order(tmp_path):
    content = "text,labels\nx,a|b\nx,a\nx,b|a\ny,c\n"
    rows, _ = distinct_items(tmp_path, "multi-label", content, "majority")
    assert rows == [("x", ("a", "b")), ("y", ("c",))]


def test_pairs_are_equal_if_both_texts_are_in_this_order(tmp_path):
    content = "premise,hypothesis,label\np,h,yes\nh,p,no\nP,H,no\np,h,no\n"
    rows, _ = distinct_items(tmp_path, "pair", content, "majority")
    assert [labels for _, labels in rows] == [("no",), ("no",)]


def test_tags_of_a_sentence_vote_as_a_whole(tmp_path):
    sentences = ["a\tX\nb\tO", "a\tO\nb\tO", "a\tX\nb\tO", "c\tO"]
    rows, _ = distinct_items(tmp_path, "tag", "\n\n".join(sentences) + "\n", "majority", suffix="conll")
    assert [tags for _, tags in rows] == [("X", "O"), ("O",)]
    rows, _ = distinct_items(tmp_path, "tag", "\n\n".join(sentences[:2]) + "\n", "last", suffix="conll")
    assert [tags for _, tags in rows] == [("O", "O")]


def test_texts_with_other_values_in_the_columns_beside_them_are_not_equal(tmp_path):
    content = "text,label,price\nx,a,1\nx,b,2\nx,b,1\nx,b,1\n"
    rows, _ = distinct_items(
        tmp_path, "classify", content, "majority", options=SoftLabelOptions(features="price")
    )
    assert len(rows) == 2
    rows, _ = distinct_items(tmp_path, "classify", content, "majority")
    assert len(rows) == 1


def test_the_last_row_of_numbers_is_kept_but_they_have_no_majority(tmp_path):
    content = "text,label\nx,1.5\nx,2.5\ny,1\n"
    assert distinct_items(tmp_path, "regress", content, "last")[0] == [("x", ("2.5",)), ("y", ("1",))]
    with pytest.raises(ConfigError, match="numbers have no majority"):
        distinct_items(tmp_path, "regress", content, "majority")


def test_probabilities_have_no_majority(tmp_path):
    content = "text,a,b\nx,0.5,0.5\nx,0.2,0.8\n"
    options = SoftLabelOptions(probability_columns="a,b")
    assert len(distinct_items(tmp_path, "classify", content, "last", options=options)[0]) == 1
    with pytest.raises(ConfigError, match="probabilities have no majority"):
        distinct_items(tmp_path, "classify", content, "majority", options=options)


def test_streams_cannot_be_compared():
    with pytest.raises(ConfigError, match="are not compared"):
        RepeatedItems.of(ITEM_TYPES_BY_TASK["language-model"], [1, 2, 3], "last")


def test_the_last_of_several_files_counts_in_training(tmp_path):
    lines = [f"text number {n},{'ab'[n % 2]}" for n in range(40)]
    (tmp_path / "1.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    (tmp_path / "2.csv").write_text("text,label\nText number 3,a\n")
    (tmp_path / "test.csv").write_text("text,label\nv,a\nv,b\n")
    item_type = ITEM_TYPES_BY_TASK["classify"]
    files = list_files([tmp_path / "1.csv", tmp_path / "2.csv"])
    split = SplitConfig(repeated_texts="last")
    parts = read_parts(item_type, files, test=str(tmp_path / "test.csv"), split=split)
    labels = {item.text: item.label for item in (*parts.train, *parts.dev)}
    assert len(labels) == 40
    assert labels["Text number 3"] == "a"
    assert [item.label for item in parts.test] == ["b"]
    assert any("1.csv:5" in note and note.startswith("train: 1 text occurs") for note in parts.notes)


@pytest.mark.parametrize(("rule", "label"), [("keep", None), ("majority", "a"), ("last", "b")])
def test_items_in_memory_are_read_by_the_same_rule(rule, label):
    many = [Example(f"text number {n}", "ab"[n % 2]) for n in range(40)]
    again = [Example(text, name) for text, name in (("x", "a"), ("X", "a"), ("x", "b"))]
    parts = (
        resolve({"split": {"repeated_texts": rule, "test": 0.0}}).split([*many, *again], dev=again).parts
    )
    trained = [item.label for item in parts.train if item.text.lower() == "x"]
    assert trained == (["a", "a", "b"] if label is None else [label])
    assert len(parts.dev) == (3 if label is None else 1)


def test_other_rules_are_errors():
    with pytest.raises(ConfigError, match="repeated_texts"):
        SplitConfig(repeated_texts="first")  # type: ignore[arg-type]
