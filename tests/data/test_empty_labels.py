"""`--empty-labels skip`: what nobody has answered is left out and counted, whatever the task."""

import json

import pytest

from headwise.data.columns.item_options import BagOptions, TagOptions
from headwise.data.columns.reading_options import MultiLabelOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, options_for

SKIP = {"empty_labels": "skip"}
SPANS = json.dumps({"text": "Ann ran", "label": [[0, 3, "PER"]]})
FILES = {
    "columns": ("tag", "a.conll", "Ann\tB-PER\nran\tO\n\nTom\t\nsat\t\n\nBo\tB-PER\n\n"),
    "table": (
        "tag",
        "a.csv",
        "Sentence #,Word,Tag\n1,Ann,B-PER\n,ran,O\n2,Tom,\n,sat,\n3,Bo,B-PER\n,ran,O\n",
    ),
    "conllu": (
        "tag",
        "a.conllu",
        "".join(
            f"1\t{word}\t_\t{tag}\t_\t_\t0\troot\t_\t_\n\n"
            for word, tag in (("Ann", "X"), ("Tom", "_"), ("Bo", "Y"))
        ),
    ),
    "lists": (
        "tag",
        "a.jsonl",
        '{"tokens": ["Ann"], "ner_tags": ["B-PER"]}\n{"tokens": ["Tom"], "ner_tags": null}\n'
        '{"tokens": ["Bo"], "ner_tags": ["O"]}\n',
    ),
    "spans": ("tag", "a.jsonl", f'{SPANS}\n{{"text": "Tom sat", "label": null}}\n{SPANS}\n'),
    "sets": ("multi-label", "a.csv", "text,labels\na b,x|y\nc d,\ne f,y|x\n"),
    "null sets": (
        "multi-label",
        "a.jsonl",
        '{"text": "a", "labels": ["x"]}\n{"text": "b", "labels": null}\n{"text": "c", "labels": []}\n',
    ),
    "columns of labels": ("multi-label", "a.csv", "text,x,y\na b,1,0\nc d,,\ne f,0,1\ng h,,\n"),
    "bags": ("bags", "a.csv", "bag_label,bag_id,f\nx,one,1\nx,one,2\n,two,1\n,two,3\ny,three,1\n"),
    "labels": ("classify", "a.csv", "text,label\na b,x\nc d,\ne f,y\n"),
    "pairs": ("pair", "a.csv", "premise,hypothesis,label\na b,b,x\nc d,e,\ne f,f,y\n"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_has_no_answer_is_left_out_and_counted(write, name):
    task, file, text = FILES[name]
    path = write(file, text)
    data = ITEM_TYPES_BY_TASK[task].read(path, options_for(task, SKIP))
    assert len(data.items) == 2
    assert [note for note in data.notes if "left out: " in note and note[-1] in "12"]


def test_a_sentence_with_some_tags_is_no_untagged_one(write, fails):
    path = write("a.conll", "Ann\tB-PER\nran\tO\n\nTom\tB-PER\nsat\t\n\n")
    assert fails(ITEM_TYPES_BY_TASK["tag"].read, path, TagOptions(empty_labels="skip")) == ("HW251", 5, 4)


def test_a_bag_with_and_without_a_label(write, fails):
    path = write("a.csv", "bag_label,bag_id,f\nx,one,1\n,one,2\ny,two,1\n")
    assert fails(ITEM_TYPES_BY_TASK["bags"].read, path, BagOptions(empty_labels="skip")) == (
        "HW120",
        3,
        None,
    )


def test_an_empty_list_of_labels_is_an_answer(write):
    path = write("a.jsonl", '{"text": "a", "labels": ["x", "y"]}\n{"text": "b", "labels": []}\n')
    data = ITEM_TYPES_BY_TASK["multi-label"].read(path, MultiLabelOptions(empty_labels="skip"))
    assert [item.labels for item in data.items] == [("x", "y"), ()]
