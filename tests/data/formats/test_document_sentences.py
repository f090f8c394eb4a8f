"""Documents whose sentences stand in lists."""

import json

import pytest

from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

SENTENCES = [["Tom", "Hanks", "ran"], ["Ann", "met", "Tom"], ["it", "rains"]]
TAGS = [("B-PER", "I-PER", "O"), ("B-PER", "O", "B-PER"), ("O", "O")]


def of_document(write, fields, count=3):
    path = write("a.jsonl", "".join(json.dumps(fields) + "\n" for _ in range(count)))
    assert infer_task(path, {})[0] == "tag"
    return read_tagged(path)


@pytest.mark.parametrize(
    "ner",
    [
        [[[0, 1, "PER"]], [[3, 3, "PER"], [5, 5, "PER"]], []],  # of the document
        [[[0, 1, "PER"]], [[0, 0, "PER"], [2, 2, "PER"]], []],  # of the sentence
    ],
)
def test_spans_of_documents_and_of_sentences_become_tags(write, ner):
    data = of_document(
        write, {"doc_key": "d1", "sentences": SENTENCES, "ner": ner, "relations": [[], [], []]}
    )
    assert [(list(item.tokens), item.tags) for item in data.items] == [
        *zip(SENTENCES, TAGS, strict=True)
    ] * 3
    assert "the lists of 'sentences' are sentences, with those of 'ner'" in data.notes


def test_spans_of_a_document_alone_in_the_first_sentences_count_the_same_words(write):
    data = of_document(write, {"sentences": SENTENCES, "ner": [[[0, 1, "PER"]], [], []]})
    assert [item.tags for item in data.items[:3]] == [TAGS[0], ("O",) * 3, ("O",) * 2]


@pytest.mark.parametrize("words", ["tokens", "sentences", "words"])
def test_nested_lists_of_words_and_tags_are_sentences(write, words):
    data = of_document(write, {"id": 1, words: SENTENCES, "ner_tags": TAGS})
    assert [item.tags for item in data.items] == TAGS * 3


def test_sentences_that_are_objects_are_records(write):
    objects = [
        {
            "part_id": 0,
            "words": words,
            "pos_tags": [5] * len(words),
            "named_entities": tags,
            "speaker": None,
        }
        for words, tags in zip(SENTENCES, TAGS, strict=True)
    ]
    data = of_document(write, {"document_id": "nw/1", "sentences": objects})
    assert [(list(item.tokens), item.tags) for item in data.items] == [
        *zip(SENTENCES, TAGS, strict=True)
    ] * 3
    assert data.columns.tag == "named_entities"


def test_a_document_without_lists_of_words_is_reported(write):
    good = {"sentences": SENTENCES, "ner": [[[0, 1, "PER"]], [], []]}
    bad = {**good, "sentences": "Tom ran."}
    path = write("a.jsonl", "".join(json.dumps(record) + "\n" for record in [*[good] * 1000, bad]))
    errors = []
    assert len(read_tagged(path, on_error=errors.append).items) == 3000
    assert [(error.code, error.line) for error in errors] == [("HW118", 1001)]


def test_a_label_for_each_sentence_is_no_tag(write):
    record = {"sentences": SENTENCES, "labels": ["news", "news", "weather"]}
    path = write("a.jsonl", "".join(json.dumps(record) + "\n" for _ in range(5)))
    assert infer_task(path, {})[0] != "tag"
