"""Training data of spaCy."""

import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task

TEXTS = ("Tom ran", "Oslo is cold", "nobody met Ann")
ENTITIES = ([[0, 3, "PER"]], [[0, 4, "LOC"]], [[11, 14, "PER"]])
TAGS = [("B-PER", "O"), ("B-LOC", "O", "O"), ("O", "O", "B-PER")]


def array(rows):
    return json.dumps(rows)


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def indented(rows):
    return json.dumps(rows, indent=1)


@pytest.mark.parametrize("form", [array, lines, indented])
def test_lists_of_texts_and_entities(write, form):
    rows = [[text, {"entities": entities}] for text, entities in zip(TEXTS, ENTITIES, strict=True)]
    path = write("train.jsonl" if form is lines else "train.json", form(rows))
    assert infer_task(path, {})[0] == "tag"
    data = ITEM_TYPES_BY_TASK["tag"].read(path, TagOptions())
    assert [sentence.tags for sentence in data.items] == TAGS
    assert [sentence.text for sentence in data.items] == list(TEXTS)


def cats(path):
    task = infer_task(path, {})[0]
    data = ITEM_TYPES_BY_TASK[task].read(path)
    return task, data, [note for note in data.notes if "cats" in note]


@pytest.mark.parametrize("form", [array, lines, indented])
def test_one_category_for_each_text_is_its_label(write, form):
    rows = [[text, {"cats": {"a": n % 2, "b": 1 - n % 2}}] for n, text in enumerate(TEXTS)]
    task, data, notes = cats(write("train.jsonl" if form is lines else "train.json", form(rows)))
    assert (task, [item.label for item in data.items]) == ("classify", ["b", "a", "b"])
    assert notes == ["spaCy's 'cats' are read as 'label'"]


def test_any_number_of_categories_are_its_labels(write):
    categories = [{"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}, {"b": 1.0}]
    rows = [
        {"text": text, "ents": [], "cats": scores} for text, scores in zip(TEXTS, categories, strict=True)
    ]
    task, data, _ = cats(write("train.jsonl", lines(rows)))
    assert (task, [item.labels for item in data.items]) == ("multi-label", [("a", "b"), (), ("b",)])


def test_probabilities_of_categories(write):
    rows = [{"text": text, "cats": {"a": 0.7, "b": 0.3}} for text in TEXTS[:2]]
    rows.append({"text": TEXTS[2], "cats": {"b": 1.0}})
    task, data, _ = cats(write("train.jsonl", lines(rows)))
    assert (task, [item.label for item in data.items]) == ("classify", ["a", "a", "b"])
    assert data.items[0].shares.values.tolist() == pytest.approx([0.7, 0.3])


@pytest.mark.parametrize("columns", [{"label": "x"}, {"a": 3}])
def test_other_labels_and_columns_go_before(write, columns):
    rows = [{"text": text, "label": "x", "cats": {"a": 1.0}} | columns for text in TEXTS]
    assert cats(write("train.jsonl", lines(rows)))[2] == []


def test_cats_that_are_something_else_stay(write):
    rows = [{"text": text, "label": "xy"[n % 2], "cats": {"name": "Tom"}} for n, text in enumerate(TEXTS)]
    assert cats(write("train.jsonl", lines(rows)))[2] == []


def test_who_predicts_gives_them_back(write):
    rows = [{"text": text, "cats": {"a": 1.0, "b": 0.0}} for text in TEXTS]
    rows_read = list(ITEM_TYPES_BY_TASK["classify"].rows(write("new.jsonl", lines(rows))))
    assert [row.item.text for row in rows_read] == list(TEXTS)
    assert [row.fields["cats"] for row in rows_read] == [row["cats"] for row in rows]
