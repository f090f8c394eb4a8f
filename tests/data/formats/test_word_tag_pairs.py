import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.items.item_types import infer_task
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.tagged_files import read_tagged

SENTENCES = [
    [("EU", "B-ORG"), ("rejects", "O"), ("German", "B-MISC"), ("call", "O")],
    [("Peter", "B-PER"), ("Blackburn", "I-PER"), ("sleeps", "O")],
    [("it", "O"), ("rains", "O")],
    [("BRUSSELS", "B-LOC"), ("1996-08-22", "O")],
]
WORDS = [[(word, "NN" if word[0].isupper() else "DT") for word, _ in sentence] for sentence in SENTENCES]


def objects(sentence, word="token", tag="tag", **more):
    return [{word: text, tag: name, **more} for text, name in sentence]


def placed(sentence):
    """Objects with the places of words, which are no spans of types `B-ORG` and `O`."""
    text, tokens = " ".join(word for word, _ in sentence), []
    for word, tag in sentence:
        start = text.index(word)
        tokens.append({"text": word, "start": start, "end": start + len(word), "tag": tag})
    return {"text": text, "tokens": tokens}


def text_of(sentence):
    return " ".join(word for word, _ in sentence)


ROWS = {
    "lists": SENTENCES,
    "tags first": [[(tag, word) for word, tag in sentence] for sentence in SENTENCES],
    "triples": [[(word, "NN", tag) for word, tag in sentence] for sentence in SENTENCES],
    "objects": [*map(objects, SENTENCES)],
    "field of lists": [{"id": n, "tokens": sentence} for n, sentence in enumerate(SENTENCES)],
    "beside the text": [{"sentence": text_of(s), "ner": s} for s in SENTENCES],
    "field of objects": [{"tokens": objects(s, "text", "label", pos="X")} for s in SENTENCES],
    "word and ner": [{"words": objects(s, "word", "ner")} for s in SENTENCES],
    "with places": [*map(placed, SENTENCES)],
}


def written(rows, form):
    if form == "jsonl":
        return "\n".join(map(json.dumps, rows)) + "\n"
    return json.dumps(rows, indent=2 if form == "indented" else None)


def pairs_of(data):
    return [[*zip(item.tokens, item.tags, strict=True)] for item in data.items]


@pytest.mark.parametrize("form", ["jsonl", "json", "indented"])
@pytest.mark.parametrize("shape", ROWS)
def test_words_beside_their_tags_are_sentences(write, shape, form):
    path = write("a.jsonl" if form == "jsonl" else "a.json", written(ROWS[shape], form))
    assert infer_task(path, {})[0] == "tag"
    assert pairs_of(read_tagged(path)) == SENTENCES


@pytest.mark.parametrize("form", ["jsonl", "json", "indented"])
def test_parts_of_speech_are_tags_of_words_too(write, form):
    assert pairs_of(read_tagged(write("a.json", written(WORDS, form)))) == WORDS


def test_one_sentence_is_a_file(write):
    assert pairs_of(read_tagged(write("a.json", json.dumps(SENTENCES[0])))) == SENTENCES[:1]


def test_sentences_of_documents_are_read_one_by_one(write):
    documents = [{"id": n, "sentences": [*map(objects, SENTENCES)]} for n in range(2)]
    assert pairs_of(read_tagged(write("a.json", json.dumps(documents)))) == 2 * SENTENCES


def test_what_else_stands_beside_a_word_is_a_column(write):
    rows = ROWS["triples"]
    data = read_tagged(write("a.json", json.dumps(rows)), TagOptions(tag_column="column 2"))
    assert {tag for item in data.items for tag in item.tags} == {"NN"}


@pytest.mark.parametrize("write_cell", [json.dumps, repr])
def test_cells_of_a_csv_hold_them_too(write, write_cell):
    rows = ['"' + write_cell(s).replace('"', '""') + f'",{text_of(s)}' for s in SENTENCES]
    path = write("a.csv", "tagged,sentence\n" + "\n".join(rows) + "\n")
    assert infer_task(path, {})[0] == "tag"
    assert pairs_of(read_tagged(path)) == SENTENCES


def test_entities_beside_a_text_are_no_words_of_it(write):
    rows = [
        {"text": text_of(s), "entities": [(word, tag[2:]) for word, tag in s if tag != "O"]}
        for s in SENTENCES
    ]
    data = read_tagged(write("a.jsonl", written(rows, "jsonl")))
    assert [item.tags for item in data.items][:2] == [
        ("B-ORG", "O", "B-MISC", "O"),
        ("B-PER", "B-PER", "O"),
    ]


def test_entities_without_a_text_are_no_sentences(write, fails):
    rows = [{"entities": [(word, tag[2:]) for word, tag in s if tag != "O"]} for s in SENTENCES]
    assert fails(read_tagged, write("a.jsonl", written(rows, "jsonl")))[0] == "HW111"


def test_texts_with_labels_are_no_words_with_tags(write, fails):
    rows = [["a good film", "pos"], ["a bad film", "neg"]] * 3
    path = write("a.json", json.dumps(rows))
    assert infer_task(path, {})[0] == "classify"
    assert len(read_examples(path).items) == 6
    assert fails(read_examples, write("b.json", json.dumps(rows) + "\n" + json.dumps(rows)))[0] == "HW115"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ([["x", "O"], "y"], "HW251"),
        ([["x", "O"], ["y"]], "HW251"),
        ([["x", "O"], ["y", None]], "HW251"),
        ([["x", "O"], [None, "O"]], "HW118"),
        ([["x", "O"], {"word": "y"}], "HW251"),
    ],
)
def test_a_word_without_a_tag_is_named(write, fails, bad, code):
    path = write("a.jsonl", written([*SENTENCES, bad], "jsonl"))
    assert fails(read_tagged, path)[:2] == (code, 5)


def test_sentences_that_nobody_has_tagged_can_be_left_out(write):
    path = write("a.jsonl", written([*SENTENCES, [["x", None], ["y", None]]], "jsonl"))
    assert pairs_of(read_tagged(path, TagOptions(empty_labels="skip"))) == SENTENCES


def test_words_are_predicted_without_their_tags(write):
    path = write("a.jsonl", written([*map(objects, SENTENCES)], "jsonl"))
    data = read_tagged(path, labelled=False)
    assert [[word for word, _ in s] for s in SENTENCES] == [[*item.tokens] for item in data.items]
