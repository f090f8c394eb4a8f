"""Names that a JSON document gives for the numbers of its labels."""

import json

import pytest

from headwise.data.items.item_types import infer_task
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.tagged_files import read_tagged

TEXTS = ["no sound since noon", "how are you today", "the screen stays black", "good morning to all"]
ROWS = [{"text": text, "label": number % 2} for number, text in enumerate(TEXTS)]
NAMES = ["hardware", "other"]
NOTE = "the numbers of 'label' stand for names, which the file gives: 0 is 'hardware', 1 is 'other'"
LEGENDS = {
    "label_map": {"0": "hardware", "1": "other"},
    "label2id": {"hardware": 0, "other": 1},
    "label_to_id": {"hardware": "0", "other": "1"},
    "labels": NAMES,
    "class_names": NAMES,
    "categories": [{"id": number, "name": name} for number, name in enumerate(NAMES)],
}


def answer_of_hub(features, rows):
    """What the hub of Hugging Face answers for rows of a data set."""
    described = [
        {"feature_idx": number, "name": name, "type": kind} for number, (name, kind) in enumerate(features)
    ]
    listed = [{"row_idx": number, "row": row, "truncated_cells": []} for number, row in enumerate(rows)]
    return {"features": described, "rows": listed, "num_rows_total": len(rows), "partial": False}


def labels_of(path):
    data = read_examples(path)
    return [item.label for item in data.items], data.notes


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", LEGENDS)
def test_numbers_become_the_names_that_stand_beside_the_records(write, name, indent, first):
    parts = [(name, LEGENDS[name]), ("data", ROWS)]
    document = dict(parts if first else parts[::-1])
    labels, notes = labels_of(write("a.json", json.dumps(document, indent=indent)))
    assert labels == NAMES * 2
    assert NOTE in notes


def test_numbers_in_strings_have_names_too(write):
    rows = [{**row, "label": str(row["label"])} for row in ROWS]
    labels, notes = labels_of(
        write("a.json", json.dumps({"label_map": LEGENDS["label_map"], "data": rows}))
    )
    assert labels == NAMES * 2
    assert NOTE in notes


@pytest.mark.parametrize(
    ("name", "legend", "rows"),
    [
        ("labels", NAMES[:1], ROWS),  # a number without a name
        (
            "labels",
            ["none", *NAMES],
            [{**row, "label": row["label"] + 1} for row in ROWS],
        ),  # perhaps from 1
        ("label_map", {"0": "a", "1": "a"}, ROWS),
        ("authors", NAMES, ROWS),
        ("labels", {"of": "mails"}, ROWS),
        ("labels", [1, 2], ROWS),
    ],
)
def test_what_does_not_name_all_numbers_leaves_them(write, name, legend, rows):
    labels, notes = labels_of(write("a.json", json.dumps({name: legend, "data": rows})))
    assert labels == [str(row["label"]) for row in rows]
    assert not any("stand for names" in note for note in notes)
    assert any("the numbers of 'label' stay as they are" in note for note in notes) == (name != "authors")


def test_other_numbers_and_names_stay(write):
    rows = [{"stars": 1, **row, "label": name} for row, name in zip(ROWS, NAMES * 2, strict=True)]
    labels, notes = labels_of(write("a.json", json.dumps({"labels": NAMES, "data": rows})))
    assert labels == NAMES * 2
    assert not any("stand for names" in note for note in notes)


def test_the_answer_of_the_hub_is_read_with_the_names_of_labels(write):
    features = [
        ("text", {"dtype": "string", "_type": "Value"}),
        ("label", {"names": NAMES, "_type": "ClassLabel"}),
    ]
    path = write("rows.json", json.dumps(answer_of_hub(features, ROWS)))
    assert infer_task(path, {})[0] == "classify"
    labels, notes = labels_of(path)
    assert labels == NAMES * 2
    assert NOTE in notes


def test_the_tags_of_an_answer_of_the_hub_have_their_names(write):
    tags = ["O", "B-PER", "I-PER"]
    features = [
        ("tokens", {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"}),
        ("ner_tags", {"feature": {"names": tags, "_type": "ClassLabel"}, "_type": "Sequence"}),
    ]
    rows = [
        {"tokens": ["Tom", "Lee", "ran"], "ner_tags": [1, 2, 0]},
        {"tokens": ["it", "rains"], "ner_tags": [0, 0]},
    ]
    path = write("rows.json", json.dumps(answer_of_hub(features, rows * 2)))
    assert infer_task(path, {})[0] == "tag"
    assert [item.tags for item in read_tagged(path).items][:2] == [("B-PER", "I-PER", "O"), ("O", "O")]
