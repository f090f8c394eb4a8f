"""Label Studio's export: tasks become objects with their data and their answers."""

import csv
import json

import pytest

from headwise.data.columns.file_source import DataSource
from headwise.data.columns.item_options import TagOptions
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.formats.jsonl import read_records
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.labelled_files import read_examples, read_rows
from headwise.data.readers.tagged_files import read_tagged


def chosen(*names, control="sentiment"):
    return {"from_name": control, "to_name": "text", "type": "choices", "value": {"choices": [*names]}}


def span(start, end, *names):
    value = {"start": start, "end": end, "text": "", "labels": [*names]}
    return {"from_name": "label", "to_name": "text", "type": "labels", "value": value}


def task(number, text, *annotations, **annotation_fields):
    done = [
        {"id": 9, "was_cancelled": False, "result": results, **annotation_fields} for results in annotations
    ]
    return {"id": number, "annotations": done, "predictions": [], "data": {"text": text}, "meta": {}}


def records(*tasks):
    source = DataSource("a.json")
    lines = enumerate(json.dumps(tasks, indent=1).split("\n"), start=1)
    return [record.fields for record in read_records(lines, source)], source.notes


def test_choices_are_labels(write):
    tasks = [task(n, f"a text of {n}", [chosen(("good", "bad")[n % 2])]) for n in range(6)]
    path = write("export.json", json.dumps(tasks))
    data = read_examples(path)
    assert [(item.text, item.label) for item in data.items[:2]] == [
        ("a text of 0", "good"),
        ("a text of 1", "bad"),
    ]
    assert "Label Studio's export, read by task; what was annotated: 'sentiment'" in data.notes
    assert infer_task(path, {})[0] == "classify"
    assert next(row.fields for row in read_rows(path)) == {
        "id": 0,
        "text": "a text of 0",
        "sentiment": "good",
    }


def test_any_number_of_choices_are_label_sets(write):
    choices = (["a", "b"], ["b"], [])
    tasks = [task(n, f"a text of {n}", [chosen(*choices[n % 3], control="topic")]) for n in range(9)]
    path = write("export.json", json.dumps(tasks))
    assert infer_task(path, {})[0] == "multi-label"
    kind = ITEM_TYPES_BY_TASK["multi-label"]
    assert [item.labels for item in kind.read(path, kind.options()).items[:3]] == [("a", "b"), ("b",), ()]


def test_labelled_spans_are_tags(write):
    tasks = [task(1, "Tom ran to Rome", [span(0, 3, "PER"), span(11, 15, "LOC")]), task(2, "no one", [])]
    path = write("export.json", json.dumps(tasks))
    assert infer_task(path, {}) == ("tag", "spans of characters in 'label'")
    sentences = read_tagged(path).items
    assert [sentence.tags for sentence in sentences] == [("B-PER", "O", "O", "B-LOC"), ("O", "O")]


def test_the_smaller_export_has_spans_too(write):
    rows = [
        {"id": n, "text": "Tom ran", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]} for n in (1, 2)
    ]
    assert read_tagged(write("min.json", json.dumps(rows))).items[0].tags == ("B-PER", "O")


def test_which_annotation_counts():
    given_up = task(1, "a", [chosen("x")], was_cancelled=True)
    true = task(2, "b", [chosen("x")], [chosen("y")])
    true["annotations"][1]["ground_truth"] = True
    none, same = task(3, "c"), task(4, "d", [chosen("z")], [chosen("z")])
    rows, notes = records(given_up, true, none, same)
    assert [row["sentiment"] for row in rows] == [None, "y", None, "z"]
    assert notes[-1] == "tasks whose annotations differ, of which the first is read: 1"


def test_a_field_that_is_called_like_the_answer_moves():
    original = task(1, "a", [chosen("x")])
    original["data"]["sentiment"] = "guessed"
    (row,), _ = records(original)
    assert row == {"id": 1, "text": "a", "data.sentiment": "guessed", "sentiment": "x"}


def test_ratings_are_numbers():
    rated = {"from_name": "score", "type": "rating", "value": {"rating": 4}}
    (row,), _ = records(task(1, "a", [rated]))
    assert row["score"] == 4


@pytest.mark.parametrize(
    "bad",
    [
        {"id": 1, "data": None, "annotations": None},
        {"data": {"text": "a"}, "annotations": [1, {"result": 3}, {"result": [1, {"value": 2}]}]},
        {"data": {"text": "a"}, "annotations": [{"result": [{"value": {"choices": "x"}}]}]},
        {"text": "b"},
    ],
)
def test_what_is_no_task_is_left_to_the_reader(bad):
    assert len(records(task(1, "a", [chosen("x")]), bad)[0]) == 2
    assert len(records(bad, task(1, "a", [chosen("x")]))[0]) == 2


@pytest.mark.parametrize(
    "annotations", [[{"label": "good"}], ["good"], [{"label": "good", "was_cancelled": False}]]
)
def test_objects_with_data_and_annotations_of_their_own_stay_as_they_are(annotations):
    objects = [{"data": {"text": "a film"}, "annotations": annotations} for _ in range(3)]
    rows, notes = records(*objects)
    assert rows == objects
    assert notes == []


def test_a_column_that_is_asked_for_inside_of_a_task_is_found(write):
    path = write("export.json", json.dumps([task(n, f"text {n}", [chosen("ab"[n % 2])]) for n in range(4)]))
    label = "annotations.0.result.0.value.choices.0"
    data = read_examples(path, ReadOptions(text_column="data.text", label_column=label))
    assert [(item.text, item.label) for item in data.items[:2]] == [("text 0", "a"), ("text 1", "b")]


TAXONOMY = [["food", "bread"], ["food"]]


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize(
    ("answers", "labels"),
    [
        (({"rating": 4}, {"rating": 2}), ["4", "2"]),
        (({"number": 4}, {"number": 2}), ["4", "2"]),
        (({"selected": "left"}, {"selected": "right"}), ["left", "right"]),
        (({"taxonomy": TAXONOMY[:1]}, {"taxonomy": TAXONOMY[1:]}), ["food/bread", "food"]),
        ((TAXONOMY[:1], TAXONOMY[1:]), ["food/bread", "food"]),
        (("good", "bad"), ["good", "bad"]),
        (({"taxonomy": TAXONOMY}, {"taxonomy": TAXONOMY[1:]}), [("food", "food/bread"), ("food",)]),
        (({"choices": ["a", "b"]}, "b"), [("a", "b"), ("b",)]),
        (([{"choices": ["a", "b"]}, {"choices": ["c"]}], "b"), [("a", "b", "c"), ("b",)]),
    ],
)
def test_the_answers_of_smaller_exports(write, form, answers, labels):
    rows = [
        {
            "id": n,
            "text": f"this is the text {n}",
            "kind": answers[n % 2],
            "annotator": 1,
            "annotation_id": n,
            "created_at": "2024-03-01T09:30:00Z",
            "lead_time": n + 0.25,
        }
        for n in range(12)
    ]
    path = write("export.json", json.dumps(rows))
    if form == "csv":
        cells = [
            [json.dumps(cell) if isinstance(cell, dict | list) else cell for cell in row.values()]
            for row in rows
        ]
        path = write("export.csv", "")
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([[*rows[0]], *cells])
    task = infer_task(path, {})[0]
    kind = ITEM_TYPES_BY_TASK[task]
    data = kind.read(path, kind.options())
    assert data.columns.label == "kind"
    item_labels = [item.label if task == "classify" else tuple(sorted(item.labels)) for item in data.items]
    assert item_labels == labels * 6


def test_the_time_of_an_annotation_is_no_label(write):
    rows = [
        {"id": n, "text": f"this is the text {n}", "annotator": 1, "lead_time": n / 3} for n in range(9)
    ]
    path = write("export.json", json.dumps(rows))
    assert infer_task(path, {})[0] == "classify"
    with pytest.raises(DataError, match="HW131"):
        read_examples(path)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_an_annotated_row_without_spans_has_none(write, form):
    spans = [{"start": 0, "end": 3, "text": "Tom", "labels": ["PER"]}]
    rows = [
        {"annotation_id": 1, "annotator": 1, "id": 1, "label": spans, "lead_time": 2.0, "text": "Tom ran"},
        {"annotation_id": 2, "annotator": 1, "id": 2, "label": "", "lead_time": 2.0, "text": "it rained"},
        {"annotation_id": 3, "annotator": 1, "id": 3, "lead_time": 2.0, "text": "it snowed"},
    ]
    if form == "json":
        path = write("export.json", json.dumps(rows))
    else:
        path = write("export.csv", "")
        with open(path, "w", newline="") as file:
            cells = [
                [json.dumps(v) if isinstance(v := row.get(name, ""), list) else v for name in rows[0]]
                for row in rows
            ]
            csv.writer(file).writerows([[*rows[0]], *cells])
    for options in (TagOptions(), TagOptions(empty_labels="skip")):
        data = read_tagged(path, options)
        assert [item.tags for item in data.items] == [("B-PER", "O"), ("O", "O"), ("O", "O")]


def test_a_row_that_nobody_annotated_is_no_negative(write, fails):
    spans = [{"start": 0, "end": 3, "text": "Tom", "labels": ["PER"]}]
    fields = {"annotator": 1, "lead_time": 2.0}
    rows = [
        {"id": 1, "annotation_id": 1, "text": "Tom ran", "label": spans, **fields},
        {"id": 2, "annotation_id": None, "text": "it rained", "label": None, **fields},
    ]
    assert fails(read_tagged, write("export.json", json.dumps(rows)))[0] == "HW246"
