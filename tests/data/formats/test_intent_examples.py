"""Intents with their examples, as builders of assistants export them."""

import json

import pytest

from headwise.data.formats.intent_examples import recognise
from headwise.data.items.item_types import infer_task
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.tagged_files import TagOptions, read_tagged

TEXTS = {
    "greet": ["hello to you", "good morning", "hi there"],
    "travel": ["fly to Oslo", "a train to Rome", "go to Lima"],
}


def parts(text):
    *words, last = text.split()
    return [{"text": " ".join(words) + " "}, {"text": last, "entity": "place", "slot_name": "to"}]


def listed(name, examples, make=str):
    return [{name: intent, examples: [*map(make, texts)], "slots": []} for intent, texts in TEXTS.items()]


WHOLE = {"text": lambda text: {"text": text}, "parts": lambda text: {"data": parts(text)}}
DOCUMENTS = {
    "Watson": {
        "name": "skill",
        "description": "of the shop",
        "intents": listed("intent", "examples", WHOLE["text"]),
        "entities": [{"entity": "place", "values": []}],
    },
    "Lex": {"metadata": {"version": "1"}, "resource": {"intents": listed("name", "sampleUtterances")}},
    "Alexa": {"interactionModel": {"languageModel": {"intents": listed("name", "samples"), "types": []}}},
    "Botpress": [
        {"name": intent, "contexts": ["global"], "utterances": {"en": texts, "fr": []}}
        for intent, texts in TEXTS.items()
    ],
    "a chat bot": {"intents": listed("tag", "patterns")},
    "Dialogflow's API": [
        {"displayName": intent, "trainingPhrases": [{"parts": parts(text)} for text in texts]}
        for intent, texts in TEXTS.items()
    ],
    "Snips": {
        "language": "en",
        "entities": {"place": {"data": [], "use_synonyms": True}},
        "intents": {
            intent: {"utterances": [*map(WHOLE["parts"], texts)]} for intent, texts in TEXTS.items()
        },
    },
    "Snips' benchmark": {intent: [*map(WHOLE["parts"], texts)] for intent, texts in TEXTS.items()},
    "lists of texts": TEXTS,
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("tool", DOCUMENTS)
def test_each_example_is_a_text_with_its_intent(write, tool, indent):
    path = write("a.json", json.dumps(DOCUMENTS[tool], indent=indent))
    assert infer_task(path, {})[0] == "classify"
    data = read_examples(path)
    assert [(item.text, item.label) for item in data.items] == [
        (text, intent) for intent, texts in TEXTS.items() for text in texts
    ]
    assert len({item.line for item in data.items}) == len(data.items)
    assert "the examples of intents are the records, with the fields 'text' and 'intent'" in data.notes


def test_jsonl_has_an_intent_a_line(write):
    path = write("a.jsonl", "\n".join(map(json.dumps, listed("intent", "examples"))))
    assert len(read_examples(path).items) == 6


def test_the_intent_of_dialogflow_is_the_name_of_the_file(write):
    says = {
        intent: [{"id": str(n), "data": parts(text), "count": 0} for n, text in enumerate(texts)]
        for intent, texts in TEXTS.items()
    }
    for intent in TEXTS:
        path = write(f"{intent}_usersays_en.json", json.dumps(says[intent]))
        assert infer_task(path, {})[0] == "classify"
        assert {item.label for item in read_examples(path).items} == {intent}


def test_entities_of_parts_are_tags(write):
    path = write("a.json", json.dumps(DOCUMENTS["Snips"]))
    tags = [sentence.tags for sentence in read_tagged(path, TagOptions(format="spans")).items]
    assert tags[3:5] == [("O", "O", "B-to"), ("O", "O", "O", "B-to")]


def test_an_example_without_a_text_is_told(write, fails):
    broken = {"intents": [{"intent": "greet", "examples": [{"text": "hello you"}, {"text": 3}]}]}
    assert fails(read_examples, write("a.json", json.dumps(broken)))[0] == "HW118"


@pytest.mark.parametrize(
    "record",
    [
        {"tokens": ["Ann", "ran"], "tags": ["B-PER", "O"]},
        {"text": "it is late", "label": "a", "examples": ["so it is"]},
        {"text": ["it is late", "it is early"], "label": ["a", "b"]},
        {"label": "a", "data": [{"text": "it is late"}]},
        {"dialogue": [{"speaker": "USER", "utterance": "fly to Oslo"}]},
    ],
)
def test_other_records_hold_no_intents(record):
    assert not recognise([record])


def test_parts_are_found_beside_a_field_that_is_called_like_them(write):
    says = [{"data": "x", "parts": [{"text": "fly to "}, {"text": "Oslo"}]}]
    path = write("fly.json", json.dumps(says))
    assert [(item.text, item.label) for item in read_examples(path).items] == [("fly to Oslo", "fly")]


def test_deep_values_hold_no_intents():
    value: object = {"intent": "greet", "examples": ["hello you"]}
    for _ in range(5_000):
        value = [value]
    assert not recognise([{"intents": value}])


@pytest.mark.parametrize("indent", [None, 1])
def test_an_intent_of_lex_has_a_file_of_its_own(write, indent):
    intent = {
        "name": "greet",
        "identifier": "X1",
        "sampleUtterances": [{"utterance": "hello there"}, {"utterance": "good day"}],
        "slotPriorities": [],
    }
    data = read_examples(write("Intent.json", json.dumps(intent, indent=indent)))
    assert [(item.text, item.label) for item in data.items] == [
        ("hello there", "greet"),
        ("good day", "greet"),
    ]
