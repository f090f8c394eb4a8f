"""Entities by their texts, without offsets."""

import json

import pytest

from headwise.data.errors import DataError
from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

TEXT = "Ann Lee met Lee Ann in Paris, not Ann."
LISTED = [("Ann Lee", "PER"), ("Lee Ann", "PER"), ("Paris", "LOC"), ("Ann", "PER")]
TAGS = ("B-PER", "I-PER", "O", "B-PER", "I-PER", "O", "B-LOC", "O", "O", "B-PER", "O")
BY_TYPE = {"PER": ["Ann Lee", "Lee Ann", "Ann"], "LOC": ["Paris"]}


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize(
    "entities",
    [
        [{"text": text, "label": kind} for text, kind in LISTED],
        [{"Entity": text, "type": kind} for text, kind in LISTED],
        [{"entity": kind, "value": text} for text, kind in reversed(LISTED)],
        [{"name": f" {text}", "type": kind, "score": 0.5} for text, kind in LISTED],
        [[text, kind] for text, kind in LISTED],
        BY_TYPE,
        dict(LISTED),
    ],
)
@pytest.mark.parametrize("field", ["entities", "ner", "labels"])
def test_entities_are_located(write, entities, field):
    path = write("a.jsonl", lines({"text": TEXT, field: entities}, {"text": "No name", field: []}))
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [item.tags for item in data.items] == [TAGS, ("O", "O")]
    assert f"the entities in '{field}' are located in 'text', at the ends of words" in data.notes


def tags(write, text, entities):
    data = read_tagged(write("a.jsonl", lines({"text": text, "entities": entities})))
    (item,) = data.items
    return [
        f"{tag}:{word}" for word, tag in zip(item.tokens, item.tags, strict=True) if tag != "O"
    ], data.notes


def test_one_entity_of_a_type_and_one_type_of_an_entity(write):
    assert tags(write, "Ann in Rome", {"PER": "Ann", "LOC": "Rome"})[0] == ["B-PER:Ann", "B-LOC:Rome"]
    assert tags(write, "Ann in Rome", {"Ann": "PER", "Rome": "LOC"})[0] == ["B-PER:Ann", "B-LOC:Rome"]


def test_every_occurrence_is_tagged_and_counted(write):
    tagged_words, notes = tags(write, "Lima and Lima", {"LOC": ["Lima"]})
    assert tagged_words == ["B-LOC:Lima", "B-LOC:Lima"]
    assert "entities that occur more often than they are listed, and are tagged everywhere: 1" in notes
    _, notes = tags(write, "Lima and Lima", {"LOC": ["Lima", "Lima"]})
    assert not any("more often" in note for note in notes)


def test_entities_within_longer_ones_are_counted(write):
    tagged_words, notes = tags(
        write, "the New York Times", {"ORG": ["New York Times"], "LOC": ["New York"]}
    )
    assert tagged_words == ["B-ORG:New", "I-ORG:York", "I-ORG:Times"]
    assert "entities that are left out, as they occur only within longer ones: 1" in notes


def test_entities_that_overlap_themselves_are_apart(write):
    tagged_words, _ = tags(write, "ha ha ha ha ha", {"CRY": ["ha ha"]})
    assert tagged_words == ["B-CRY:ha", "I-CRY:ha"] * 2


def test_parts_of_words_are_none(write):
    tagged_words, _ = tags(write, "Parisians in Paris, Texas", {"LOC": ["Paris"]})
    assert tagged_words == ["B-LOC:Paris"]


def test_scripts_without_spaces(write):
    tagged_words, _ = tags(write, "我住在东京都", {"LOC": ["东京"]})
    assert tagged_words == ["B-LOC:东", "I-LOC:京"]


@pytest.mark.parametrize(
    ("entities", "problem"),
    [
        ({"LOC": ["Rome"]}, "the entity 'Rome' is not in the text"),
        ({"LOC": ["Pari"]}, "the entity 'Pari' is not in the text"),
        ({"LOC": ["Paris"], "PER": ["Paris"]}, "the entity 'Paris' of two types, 'LOC' and 'PER'"),
        ([{"text": "Paris"}], "entities of which one is none"),
        ("Paris", "entities of which one is none: Paris"),
    ],
)
def test_entities_that_cannot_be(write, entities, problem):
    good = [{"text": TEXT, "entities": BY_TYPE}] * 3
    with pytest.raises(DataError, match="HW246") as caught:
        read_tagged(write("a.jsonl", lines(*good, {"text": TEXT, "entities": entities})))
    assert problem in str(caught.value)
    assert caught.value.line == 4


@pytest.mark.parametrize(
    "entities", [{"topic": ["cities"], "mood": ["gloomy"]}, [{"text": "Rome", "label": "LOC"}]]
)
def test_texts_that_are_elsewhere_are_no_entities(write, entities):
    path = write("a.jsonl", lines({"text": TEXT, "entities": entities}))
    with pytest.raises(DataError, match="HW111") as caught:
        read_tagged(path)
    assert '{"text": "Paris", "label": "LOC"}' in str(caught.value)
    assert '{"start": 0, "end": 5, "label": "PER"}' in str(caught.value)


def test_labels_of_whole_texts_come_first(write):
    records = [{"text": TEXT, "label": label, "entities": BY_TYPE} for label in "abab"]
    assert infer_task(write("a.jsonl", lines(*records)), {})[0] == "classify"
