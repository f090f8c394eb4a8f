"""Sentences as lists in JSON."""

import csv
import io
import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.errors import DataError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.tagged_files import read_tagged

ROWS = [
    {"id": "0", "tokens": ["Tom", "ran"], "pos_tags": [3, 7], "ner_tags": ["B-PER", "O"]},
    {"id": "1", "tokens": [], "pos_tags": [], "ner_tags": []},
    {"id": "2", "tokens": ["He"], "pos_tags": [5], "ner_tags": ["O"]},
]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("text", [lines(ROWS), json.dumps(ROWS, indent=1)])
def test_lists_of_tokens_and_tags(write, text):
    path = write("a.json", text)
    assert infer_task(path, {}) == ("tag", "the lists 'tokens' and 'ner_tags'")
    data = read_tagged(path)
    assert [(sentence.tokens, sentence.tags) for sentence in data.items] == [
        (("Tom", "ran"), ("B-PER", "O")),
        (("He",), ("O",)),
    ]
    assert data.items[0].columns == {"pos_tags": ("3", "7")}
    assert (data.format, data.columns.token, data.entities) == ("lists", "tokens", {"PER": 1})
    assert "tags are those of the list 'ner_tags' - override with --tag-column" in data.notes
    assert read_tagged(path, TagOptions(tag_column="pos_tags")).tags == {"3": 1, "5": 1, "7": 1}


@pytest.mark.parametrize(
    ("row", "where"),
    [
        ({"tokens": ["a", "b"], "ner_tags": ["O"]}, ("HW251", 4, None)),
        ({"tokens": ["a"], "ner_tags": [None]}, ("HW251", 4, None)),
        ({"tokens": ["a", "b"], "ner_tags": ["O", ""]}, ("HW251", 4, None)),
        ({"tokens": "a b", "ner_tags": ["O", "O"]}, ("HW118", 4, None)),
        ({"tokens": ["a", 1], "ner_tags": ["O", "O"]}, ("HW118", 4, None)),
    ],
)
def test_lists_that_do_not_fit(write, fails, row, where):
    path = write("a.jsonl", lines([*ROWS, row]))
    assert fails(read_tagged, path, TagOptions(format="lists", tag_column="ner_tags")) == where
    problems = []
    options = TagOptions(format="lists", tag_column="ner_tags")
    assert len(read_tagged(path, options, problems.append).items) == 2
    assert len(problems) == 1


def test_a_row_without_tags_does_not_hide_the_others(write, fails):
    path = write("a.jsonl", lines([*ROWS, {"tokens": ["a"], "ner_tags": [None]}]))
    assert infer_task(path, {})[0] == "tag"
    assert fails(read_tagged, path) == ("HW251", 4, None)


def test_half_surrogates_are_told_and_replaced_on_request(write, fails):
    path = write("a.jsonl", '{"tokens": ["a\\ud83d", "b"], "ner_tags": ["B-PER", "O"]}\n')
    assert fails(read_tagged, path) == ("HW105", 1, None)
    [sentence] = read_tagged(path, TagOptions(encoding_errors="replace")).items
    assert sentence.tokens == ("a\ufffd", "b")


def test_no_sentences_to_predict(write, fails):
    path = write("a.jsonl", "\n\n")
    assert fails(ITEM_TYPES_BY_TASK["tag"].rows, path, TagOptions(format="lists")) == ("HW103", None, None)


def test_a_record_without_words_keeps_its_place_in_predictions(write):
    rows = ITEM_TYPES_BY_TASK["tag"].rows(
        write("a.jsonl", lines([ROWS[1], ROWS[0]])), TagOptions(format="lists")
    )
    assert [len(row.item.tokens) for row in rows] == [0, len(ROWS[0]["tokens"])]


def test_lists_without_tags_are_predicted_and_texts_stay_texts(write):
    bare = write("a.jsonl", lines([{"words": ["Tom", "ran"]}]))
    rows = ITEM_TYPES_BY_TASK["tag"].rows(bare, TagOptions(format="lists"))
    assert [row.item.tokens for row in rows] == [("Tom", "ran")]
    path = write("b.jsonl", lines([{"text": "Tom ran", "words": ["Tom", "ran"], "tags": ["B-A", "O"]}]))
    assert infer_task(path, {})[0] == "tag"
    [row] = ITEM_TYPES_BY_TASK["tag"].rows_to_predict(path, {})  # as headwise predict writes
    assert row.item.text == "Tom ran"


@pytest.mark.parametrize("words", [["Tom", "ran", "home"], "Tom ran home"])
def test_two_lists_of_equal_length_are_words_and_tags(write, words):
    rows = [
        {"id": 1, "sentence": words, "tag": ["B-PER", "O", "O"]},
        {"sentence": ["x", "y"], "tag": ["O", "O"]},
    ]
    rows[1]["sentence"] = " ".join(rows[1]["sentence"]) if isinstance(words, str) else rows[1]["sentence"]
    buffer = io.StringIO()
    table = csv.DictWriter(buffer, ["id", "sentence", "tag"])
    table.writeheader()
    table.writerows(rows)
    for path in (write("a.jsonl", lines(rows)), write("a.csv", buffer.getvalue())):
        assert infer_task(path, {})[0] == "tag"
        data = read_tagged(path)
        assert data.items[0].tokens == ("Tom", "ran", "home")
        assert data.tags == {"O": 4, "B-PER": 1}


@pytest.mark.parametrize("columns", [{}, {"keywords": ["p", "q"]}])
def test_label_sets_that_are_as_long_as_texts_are_no_tags(write, columns):
    rows = [{"text": f"text {n}", "labels": ["ab"[n % 2], "x"]} | columns for n in range(9)]
    assert infer_task(write("a.jsonl", lines(rows)), {})[0] == "multi-label"


def test_parts_of_speech_need_no_names(write):
    words, tags = ["le", "chat", "dort", "bien"], ["D", "N", "V", "D"]
    rows = [{"mots": words[:n], "nature": tags[:n]} for n in (2, 3, 4)]
    assert [item.tags for item in read_tagged(write("a.jsonl", lines(rows))).items][2] == tuple(tags)


def test_lists_of_labels_beside_a_text_are_label_sets(write):
    rows = [{"text": "a b c", "labels": ["x", "y", "z"][: n % 3]} for n in range(9)]
    assert infer_task(write("a.jsonl", lines(rows)), {})[0] == "multi-label"
    labelled = [{"tokens": ["a", "b"], "pos": ["X", "Y"], "text": "a b", "label": "n"} for _ in range(4)]
    assert infer_task(write("b.jsonl", lines(labelled)), {})[0] != "tag"


def test_sentences_without_tags_are_left_out_on_request(write, fails):
    rows = [*ROWS[::2], {"tokens": ["a"], "ner_tags": None}, {"tokens": ["b"], "ner_tags": [None]}]
    path = write("a.jsonl", lines(rows))
    assert fails(read_tagged, path) == ("HW251", 3, None)
    data = read_tagged(path, TagOptions(empty_labels="skip"))
    assert len(data.items) == 2
    assert "sentences that nobody has tagged, left out: 2" in data.notes


def test_names_that_are_not_there(write, fails):
    path = write("a.jsonl", lines(ROWS))
    assert fails(read_tagged, path, TagOptions(format="lists", tag_column="tag")) == ("HW111", None, None)
    assert fails(read_tagged, path, TagOptions(format="lists", token_column="w")) == ("HW111", None, None)
    assert (
        fails(read_tagged, write("b.jsonl", '{"tokens": ["a"]}'), TagOptions(format="lists"))[0] == "HW111"
    )


def test_tags_that_are_numbers_are_learnt_as_they_are_and_told(write):
    rows = [{"tokens": ["Tom", "ran"], "ner_tags": [1, 0]}, {"tokens": ["He"], "ner_tags": [0]}]
    path = write("a.jsonl", lines(rows))
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert data.tags == {"0": 2, "1": 1}
    [finding] = data.findings
    assert (finding.severity, finding.code, finding.where) == ("warning", "HW248", (path,))
    assert finding.message.startswith(
        "tags that are numbers (0, 1): each is learnt as a class of single words"
    )
    assert "names" in finding.fix


NULL_ROWS = [
    {"tokens": ["A", "dog"], "tags": ["O", "B-X"]},
    {"tokens": None, "tags": None},
    {"tokens": ["A", None], "tags": ["O", "O"]},
    {"tokens": ["It", "ran"], "tags": ["O", "O"]},
]


@pytest.mark.parametrize(
    ("rows", "policy", "notes"),
    [
        ([0, 1, 3], "empty", "texts that are null, read as empty ones: 1"),
        ([0, 1, 2, 3], "skip", "rows left out because their text is null: 2"),
    ],
)
def test_null_words_go_by_the_policy(write, rows, policy, notes):
    path = write("a.jsonl", "\n".join(json.dumps(NULL_ROWS[row]) for row in rows))
    data = read_tagged(path, TagOptions(null_texts=policy))
    assert [item.tokens for item in data.items] == [("A", "dog"), ("It", "ran")]
    assert notes in data.notes


@pytest.mark.parametrize(("rows", "policy"), [([0, 1], "error"), ([0, 2], "empty")])
def test_null_words_that_cannot_be_read_are_named(write, rows, policy):
    path = write("a.jsonl", "\n".join(json.dumps(NULL_ROWS[row]) for row in rows))
    with pytest.raises(DataError, match="--null-texts skip leaves") as error:
        read_tagged(path, TagOptions(null_texts=policy))
    assert (error.value.code, error.value.line) == ("HW118", 2)


def test_null_texts_with_spans_and_empty_words_of_a_table(write):
    rows = [{"text": "Ann ran", "spans": [[0, 3, "PER"]]}, {"text": None, "spans": []}]
    path = write("s.jsonl", "\n".join(map(json.dumps, rows)))
    for policy in ("empty", "skip"):
        data = read_tagged(path, TagOptions(null_texts=policy))
        assert [item.tokens for item in data.items] == [("Ann", "ran")]
    with pytest.raises(DataError, match="the field 'text' is null"):
        read_tagged(path, TagOptions(null_texts="error"))
    table = write("t.csv", "Sentence #,Word,Tag\n1,Ann,B-PER\n1,,O\n1,ran,O\n2,It,O\n2,ran,O\n")
    assert read_tagged(table, TagOptions(null_texts="skip")).items[0].tokens == ("Ann", "ran")
    with pytest.raises(DataError, match=r"HW251.*--null-texts skip leaves such rows out"):
        read_tagged(table, TagOptions())


def test_a_null_is_predicted_as_a_sentence_without_words(write):
    path = write("a.jsonl", "\n".join(json.dumps({"tokens": words}) for words in (["A", "dog"], None)))
    rows = ITEM_TYPES_BY_TASK["tag"].rows(path)
    assert [row.item.tokens for row in rows] == [("A", "dog"), ()]


TAGGED = [("Tom went home", "B-PER O O"), ("Then Ann ran", "O B-PER O"), ("No", "O"), ("It is on", "O O O")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "sentence,labels\n" + "".join(f"{text},{tags}\n" for text, tags in TAGGED)),
        ("a.tsv", "text\ttags\n" + "".join(f"{text}\t{tags}\n" for text, tags in TAGGED)),
        ("a.jsonl", lines([{"text": text, "tags": tags} for text, tags in TAGGED])),
        ("a.jsonl", lines([{"tokens": text.split(), "tags": tags} for text, tags in TAGGED])),
    ],
)
def test_tags_with_spaces_between_them(write, name, text):
    path = write(name, text)
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [(sentence.tokens, sentence.tags) for sentence in data.items] == [
        (tuple(words.split()), tuple(tags.split())) for words, tags in TAGGED
    ]


def test_too_few_tags_in_a_text_are_named(write, fails):
    rows = "".join(f"{text},{tags}\n" for text, tags in TAGGED) + "He ran home,O O\n"
    assert fails(read_tagged, write("a.csv", "sentence,labels\n" + rows)) == ("HW251", 6, None)


def test_a_label_beside_tags_decides(write):
    rows = "".join(f"{text},{tags},{'xy'[n % 2]}\n" for n, (text, tags) in enumerate(TAGGED * 3))
    path = write("a.csv", "utterance,slots,intent\n" + rows)
    assert infer_task(path, {})[0] == "classify"
    assert {*read_examples(path).labels} == {"x", "y"}


SENTENCES = [
    ("A dog runs .", "DT NN VB ."),
    ("Cats sleep on the mat .", "NN VB IN DT NN ."),
    ("He saw a red house with trees", "PR VB DT JJ NN IN NN"),
    ("The king likes cake", "DT NN VB NN"),
]


def table(rows, delimiter=","):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", table([("sentence", "pos"), *SENTENCES])),
        ("b.csv", table([("text", "labels"), *SENTENCES])),
        ("c.tsv", table(SENTENCES, "\t")),
        ("d.jsonl", lines([{"id": n, "text": a, "pos_tags": b} for n, (a, b) in enumerate(SENTENCES)])),
    ],
)
def test_tags_that_are_written_as_one_text(write, name, text):
    path = write(name, text)
    assert infer_task(path, {})[0] == "tag"
    sentences = [(" ".join(s.tokens), " ".join(s.tags)) for s in read_tagged(path).items]
    assert sentences == SENTENCES


def test_tags_with_commas_between_them(write):
    path = write(
        "a.csv", table([("sentence", "word_labels"), ("A king ran", "O,B-PER,O"), ("He ran", "O,O")])
    )
    assert infer_task(path, {})[0] == "tag"
    assert [s.tags for s in read_tagged(path).items] == [("O", "B-PER", "O"), ("O", "O")]


def test_the_words_are_the_most_varied_of_several_parallel_columns(write):
    rows = [(a, str(b.split()), str(["O"] * len(b.split()))) for a, b in SENTENCES]
    data = read_tagged(write("a.csv", table([("Sentence", "POS", "Tag"), *rows])))
    assert (" ".join(data.items[0].tokens), {*data.tags}) == (SENTENCES[0][0], {"O"})
    rows = [(a, b, " ".join("O" for _ in b.split())) for a, b in SENTENCES]
    data = read_tagged(write("b.csv", table([("tokens", "pos", "slots"), *rows])))
    assert {*data.tags} == {"O"}


def test_texts_as_long_as_each_other_are_no_words_and_tags(write):
    rows = [(a, " ".join(a.split()[::-1]), "yn"[n % 2]) for n, (a, _) in enumerate(SENTENCES)]
    assert infer_task(write("a.csv", table([("sentence1", "sentence2", "label"), *rows])), {})[0] == "pair"
    rows = [(a, a.lower(), "yn"[n % 2]) for n, (a, _) in enumerate(SENTENCES)]
    assert infer_task(write("b.csv", table([("text", "clean", "label"), *rows])), {})[0] == "classify"


def test_heads_of_parses_are_no_tags(write):
    rows = [(a, " ".join(str(n) for n in range(len(a.split())))) for a, _ in SENTENCES]
    assert infer_task(write("a.tsv", table(rows, "\t")), {})[0] == "classify"
    numbered = [(a, " ".join("07"[len(word) > 3] for word in a.split())) for a, _ in SENTENCES]
    path = write("b.csv", table([("text", "ner_tags"), *numbered]))
    assert read_tagged(path).tags == {"0": 12, "7": 9}


@pytest.mark.parametrize("tags", [[1, -100, 0], ["1", "-100", "0"]])
def test_words_that_do_not_count_for_a_model_are_no_class(write, fails, tags):
    path = write("a.jsonl", json.dumps({"tokens": ["Tom", "##my", "ran"], "ner_tags": tags}) + "\n")
    assert fails(read_tagged, path)[:2] == ("HW251", 1)


def test_names_of_tags_are_preferred_to_their_numbers(write):
    rows = [
        {"tokens": ["Tom", "ran"], "ner_tags": [1, 0], "ner_tag_names": ["B-PER", "O"]},
        {"tokens": ["it", "rains", "here"], "ner_tags": [0, 0, 0], "ner_tag_names": ["O", "O", "O"]},
    ]
    path = write("a.jsonl", "\n".join(map(json.dumps, rows)))
    assert read_tagged(path).items[0].tags == ("B-PER", "O")
    assert read_tagged(path, TagOptions(tag_column="ner_tags")).items[0].tags == ("1", "0")
    plain = [{key: value for key, value in row.items() if key != "ner_tag_names"} for row in rows]
    assert read_tagged(write("b.jsonl", "\n".join(map(json.dumps, plain)))).items[0].tags == ("1", "0")
