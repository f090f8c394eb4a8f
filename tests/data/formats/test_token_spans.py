"""Lists of words with spans that count words."""

import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

WORDS = ["Tom", "Hanks", "met", "Ann"]
TAGS = ("B-PER", "I-PER", "O", "B-PER")


def span(start, end, **fields):
    return {"type": "PER", "start": start, "end": end, **fields}


def rows(**fields):
    return [{**fields, "orig_id": number} for number in range(4)]


@pytest.mark.parametrize(
    "records",
    [
        rows(tokens=WORDS, entities=[span(0, 2), span(3, 4)], relations=[]),
        rows(tokens=WORDS, entities=[span(3, 4, text="Ann"), span(0, 2, text="Tom Hanks")]),
        rows(tokenized_text=WORDS, ner=[[0, 1, "PER"], [3, 3, "PER"]]),
        rows(text=" ".join(WORDS), tokens=WORDS, spans=[[0, 2, "PER"], [3, 4, "PER"]]),
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_spans_of_words_become_tags(write, records, indent):
    path = write("a.json", json.dumps(records, indent=indent))
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [(item.tokens, item.tags) for item in data.items] == [(tuple(WORDS), TAGS)] * 4
    assert any("count words, and end with" in note for note in data.notes)


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        ([span(0, 9)], "a span of 'PER' from word 0 to 9 of 4"),
        ([span(0, 2), span(1, 3)], "spans that overlap: 'PER' and 'PER' at word 1"),
        ([span(0, 2, text="met Ann")], "the span 'met Ann' around the words 'Tom Hanks'"),
        ([span(0, 2), {"start": 3}], "spans of which one is none"),
    ],
)
def test_spans_that_cannot_be(write, spans, problem):
    good = rows(tokens=WORDS, entities=[span(0, 2)])
    path = write("a.json", json.dumps([*good, {"tokens": WORDS, "entities": spans}]))
    errors = []
    assert len(read_tagged(path, on_error=errors.append).items) == 4
    assert [error.code for error in errors] == ["HW246"]
    assert problem in str(errors[0])


def test_words_without_an_answer_are_no_words_without_spans(write, fails):
    unanswered = {"tokens": WORDS, "entities": None}
    path = write("a.json", json.dumps([*rows(tokens=WORDS, entities=[span(0, 2)]), unanswered]))
    assert fails(read_tagged, path)[0] == "HW251"


def test_spans_of_characters_beside_words_are_not_converted(write):
    records = rows(text="Tom ran", tokens=["Tom", "ran"], spans=[{"start": 0, "end": 3, "label": "PER"}])
    data = read_tagged(write("a.json", json.dumps(records)))
    assert (data.format, data.items[0].tags) == ("spans", ("B-PER", "O"))


def test_of_overlapping_spans_of_words_the_longest_are_kept(write):
    nested = {"tokens": WORDS, "entities": [span(1, 2), span(0, 2), span(3, 4)]}
    path = write("a.json", json.dumps([*rows(tokens=WORDS, entities=[span(0, 2)]), nested]))
    data = read_tagged(path, TagOptions(overlapping_spans="longest"))
    assert data.items[-1].tags == TAGS
    assert "spans that overlap a longer one, left out: 1" in data.notes
    shortest = read_tagged(path, TagOptions(overlapping_spans="shortest"))
    assert shortest.items[-1].tags == ("O", "B-PER", "O", "B-PER")
