"""Entities as answers to questions about a text."""

import json

from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

TEXT = "Tom Hanks flew to Rome"


def record(kind, *places, text=TEXT, **fields):
    return {
        "qas_id": "1.1",
        "context": text,
        "entity_label": kind,
        "query": f"find all {kind} in the text",
        "impossible": not places,
        "start_position": [start for start, _ in places],
        "end_position": [end for _, end in places],
        "span_position": [f"{start};{end}" for start, end in places],
        **fields,
    }


def test_the_questions_of_a_text_are_one_sentence(write):
    rain = "it rains in Rome"
    records = [
        *(record("PER", (0, 1)), record("LOC", (4, 4)), record("ORG")),
        *(record("PER", text=rain), record("LOC", (3, 3), text=rain), record("ORG", text=rain)),
    ]
    path = write("mrc-ner.train", json.dumps(records, indent=1))
    assert infer_task(path, {})[0] == "tag"
    items = read_tagged(path).items
    assert [(item.tokens, item.tags) for item in items] == [
        (("Tom", "Hanks", "flew", "to", "Rome"), ("B-PER", "I-PER", "O", "O", "B-LOC")),
        (("it", "rains", "in", "Rome"), ("O", "O", "O", "B-LOC")),
    ]


def test_a_text_with_places_that_are_none_is_left_out(write):
    records = [
        record("PER", (0, 1)),
        record("LOC", start_position=[4], end_position=[]),
        record("LOC", (0, 0), text="a b"),
    ]
    errors = []
    data = read_tagged(write("a.json", json.dumps(records)), on_error=errors.append)
    assert [item.tokens for item in data.items] == [("a", "b")]
    assert [(error.code, error.line) for error in errors] == [("HW246", 2)]
    assert "places of 'LOC' that are none" in str(errors[0])
