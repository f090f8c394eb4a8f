"""The training data of cloud services: names in place of numbers and objects."""

import json

import pytest

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.labelled_files import read_examples

TEXTS = [f"Ann sailed to Oslo on day {n}" for n in range(9)]
SPAN = {"startOffset": 0, "endOffset": 3, "label": "PER"}


def read(path, **options):
    task = infer_task(path, options)[0]
    kind = ITEM_TYPES_BY_TASK[task]
    return task, kind.read(path, kind.options(**options))


def manifest(name, value, metadata):
    rows = [
        {"source": text, name: value(n), f"{name}-metadata": {"human-annotated": "yes", **metadata(n)}}
        for n, text in enumerate(TEXTS)
    ]
    return "\n".join(map(json.dumps, rows))


def test_a_manifest_names_its_labels(write):
    text = manifest("topic", lambda n: n % 3, lambda n: {"class-name": ["sport", "news", "food"][n % 3]})
    task, data = read(write("output.manifest", text))
    assert (task, data.columns.text, data.columns.label) == ("classify", "source", "topic")
    assert [item.label for item in data.items[:3]] == ["sport", "news", "food"]


def test_the_column_of_a_manifest_that_is_asked_for_counts(write):
    text = manifest("topic", lambda n: n % 2, lambda n: {"class-name": "ab"[n % 2], "type": "cd"[n % 2]})
    options = ReadOptions(label_column="topic-metadata.type")
    assert [item.label for item in read_examples(write("a.jsonl", text), options).items[:2]] == ["c", "d"]


def test_texts_of_a_manifest_without_a_label_are_left_out(write):
    text = manifest("topic", lambda n: n % 2, lambda n: {"class-name": "ab"[n % 2]})
    text += "\n" + json.dumps({"source": "not yet", "topic-metadata": {"failure-reason": "timed out"}})
    _, data = read(write("output.manifest", text))
    assert len(data.items) == 9
    assert "texts of the manifest without a label, left out: not annotated 1" in data.notes


def test_label_sets_of_a_manifest(write):
    names = {"0": "sport", "2": "news"}
    text = manifest("topics", lambda n: [[0], [0, 2], []][n % 3], lambda _: {"class-map": names})
    task, data = read(write("output.manifest", text))
    assert task == "multi-label"
    assert [item.labels for item in data.items[:3]] == [("sport",), ("sport", "news"), ()]


def test_spans_of_a_manifest(write):
    value = {"annotations": {"entities": [SPAN], "labels": [{"label": "PER"}]}}
    task, data = read(write("output.manifest", manifest("names", lambda _: value, lambda _: {})))
    assert task == "tag"
    assert data.items[0].tags == ("B-PER", *["O"] * 6)


@pytest.mark.parametrize(
    ("fields", "task", "expected"),
    [
        (lambda n: {"classificationAnnotation": {"displayName": "ab"[n % 2]}}, "classify", ["a", "b"]),
        (
            lambda n: {"sentimentAnnotation": {"sentiment": n % 2, "sentimentMax": 1}},
            "classify",
            ["0", "1"],
        ),
        (
            lambda n: {"classificationAnnotations": [{"displayName": name} for name in ("ab", "a")[n % 2]]},
            "multi-label",
            [("a", "b"), ("a",)],
        ),
    ],
)
def test_labels_of_vertex(write, fields, task, expected):
    rows = [{"textContent": text, **fields(n)} for n, text in enumerate(TEXTS)]
    inferred_task, data = read(write("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert (inferred_task, data.columns.text) == (task, "textContent")
    assert [item.label if task == "classify" else item.labels for item in data.items[:2]] == expected
