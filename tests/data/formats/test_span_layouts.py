"""Spans whose starts, ends and types stand elsewhere than in a list of spans."""

import json

import pytest

from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

TEXT, WORDS = "Tom Hanks met Ann", ("Tom", "Hanks", "met", "Ann")
TAGS = ("B-PER", "I-PER", "O", "B-NAME")
RAIN = {"text": "it rains"}


def lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


@pytest.mark.parametrize(
    ("spans", "none"),
    [
        ({"spans": [[0, 9], [14, 17]], "labels": ["PER", "NAME"]}, {"spans": [], "labels": []}),
        (
            {"spans": [{"start": 0, "end": 9}, {"start": 14, "end": 17}], "types": ["PER", "NAME"]},
            {"spans": [], "types": []},
        ),
        ({"entity_types": ["PER", "NAME"], "entities": [[0, 9], [14, 17]]}, {"entity_types": None}),
        ({"starts": [0, 14], "ends": [9, 17], "labels": ["PER", "NAME"]}, {"starts": [], "ends": []}),
        ({"label": {"PER": {"Tom Hanks": [[0, 8]]}, "NAME": {"Ann": [[14, 16]]}}}, {"label": {}}),
        ({"entities": {"PER": [[0, 9]], "NAME": [{"start": 14, "end": 17}]}}, {"entities": {}}),
        (
            {"entities": [{"span": [0, 9], "label": "PER"}, {"span": [14, 17], "label": "NAME"}]},
            {"entities": []},
        ),
        (
            {
                "entities": [
                    {"id": "T1", "type": "PER", "text": ["Tom Hanks"], "offsets": [[0, 9]]},
                    {"id": "T2", "type": "NAME", "text": ["Ann"], "offsets": [[14, 17]]},
                ]
            },
            {"entities": []},
        ),
        (
            {"annotations": {"entities": [[0, 9, "PER"], [14, 17, "NAME"]]}},
            {"annotations": {"entities": []}},
        ),
        (
            {"entities": '[{"start_idx": 0, "end_idx": 9, "type": "PER"}, [14, 17, "NAME"]]'},
            {"entities": "[]"},
        ),
    ],
)
def test_spans_with_their_types_elsewhere_become_tags(write, spans, none):
    path = write(
        "a.jsonl", lines(*[{"text": TEXT, **spans}] * 3, {**{name: [] for name in spans}, **RAIN, **none})
    )
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [(item.tokens, item.tags) for item in data.items[:3]] == [(WORDS, TAGS)] * 3
    assert data.items[3].tags == ("O", "O")


def test_lists_in_the_cells_of_a_table_are_spans_too(write):
    path = write("a.csv", f"text,spans,labels\n{TEXT},\"[[0, 9], [14, 17]]\",\"['PER', 'NAME']\"\n" * 2)
    assert infer_task(path, {})[0] == "tag"
    assert read_tagged(path).items[0].tags == TAGS


def test_a_text_with_several_spans_of_one_word_in_cluener(write):
    record = {"text": "上海的上海人", "label": {"address": {"上海": [[0, 1], [3, 4]]}}}
    data = read_tagged(write("a.json", lines(record)))
    assert data.items[0].tags == ("B-address", "I-address", "O", "B-address", "I-address", "O")
    assert "texts whose offsets count characters, with inclusive ends, and are converted: 1" in data.notes


def test_places_of_entities_count_and_not_their_other_occurrences(write):
    record = {"text": "Ann met Ann", "entities": [{"name": "Ann", "type": "PER", "pos": [8, 11]}]}
    assert read_tagged(write("a.jsonl", lines(*[record] * 3))).items[0].tags == ("O", "O", "B-PER")


def test_words_listed_by_their_places_become_tags(write):
    record = {"sentence": WORDS, "ner": [{"index": [3], "type": "NAME"}, {"index": [0, 1], "type": "PER"}]}
    path = write("a.json", json.dumps([record] * 3))
    assert infer_task(path, {})[0] == "tag"
    assert [(item.tokens, item.tags) for item in read_tagged(path).items] == [(WORDS, TAGS)] * 3


def test_words_that_do_not_follow_each_other_are_reported(write):
    good = {"sentence": WORDS, "ner": [{"index": [0, 1], "type": "PER"}]}
    bad = {"sentence": WORDS, "ner": [{"index": [0, 3], "type": "PER"}]}
    errors = []
    data = read_tagged(write("a.json", json.dumps([*[good] * 4, bad])), on_error=errors.append)
    assert len(data.items) == 4
    assert [(error.code, error.line) for error in errors] == [("HW246", 5)]
    assert "no spans in 'ner'" in str(errors[0])


def test_lists_of_different_lengths_are_reported(write):
    good, bad = ({"text": TEXT, "spans": [[0, 9], [14, 17]], "labels": ["PER"] * n} for n in (2, 1))
    path = write("a.jsonl", lines(*[good] * 1000, bad))
    errors = []
    assert len(read_tagged(path, on_error=errors.append).items) == 1000
    assert [(error.code, error.line) for error in errors] == [("HW246", 1001)]
    assert "lists of different lengths in 'spans' and 'labels'" in str(errors[0])


def test_labels_of_a_text_beside_another_number_of_spans_are_labels(write):
    records = [{"text": TEXT, "spans": [[0, 9]] * n, "labels": ["film", "people"]} for n in (1, 2, 3)]
    path = write("a.jsonl", lines(*records * 3))
    assert infer_task(path, {})[0] == "multi-label"
