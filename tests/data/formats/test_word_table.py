"""A word a row of a csv that says of which sentence it is."""

import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.tagged_files import read_tagged

KAGGLE = (
    "Sentence #,Word,POS,Tag\n"
    "Sentence: 1,Tom,NNP,B-per\n"
    ",says,VBZ,O\n"
    ',",",",",O\n'
    ',"""",``,O\n'
    "Sentence: 2,Zoë,NNP,B-per\n"
    ",Li,NNP,I-per\n"
    ",left,VBD,O\n"
)
NUMBERED = "sentence_idx;lemma;word;tag\n1;tom;Tom;B-per\n1;run;ran;O\n2;he;He;O\n2;win;won;O\n"


def test_the_sentence_is_named_in_its_first_row(write):
    path = write("ner.csv", KAGGLE)
    assert infer_task(path, {}) == ("tag", "the columns 'Sentence #', 'Word' and 'Tag'")
    data = read_tagged(path)
    assert [(sentence.tokens, sentence.tags, sentence.line) for sentence in data.items] == [
        (("Tom", "says", ",", '"'), ("B-per", "O", "O", "O"), 2),
        (("Zoë", "Li", "left"), ("B-per", "I-per", "O"), 6),
    ]
    assert (data.format, data.columns.token, data.columns.tag) == ("table", "Word", "Tag")
    assert data.entities == {"per": 2}
    assert data.where(1, 1) == f"{path}:7"
    assert read_tagged(path, TagOptions(tag_column="POS")).items[0].tags == ("NNP", "VBZ", ",", "``")


def test_the_sentence_is_named_in_each_row(write):
    path = write("ner.txt", NUMBERED)
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [sentence.tokens for sentence in data.items] == [("Tom", "ran"), ("He", "won")]
    assert data.items[0].columns["lemma"] == ("tom", "run")


def test_tabs_may_separate_too(write):
    data = read_tagged(write("ner.tsv", NUMBERED.replace(";", "\t")))
    assert (data.format, len(data.items)) == ("table", 2)


def test_in_latin_1_the_encoding_is_named(write, fails):
    path = write("ner.csv", KAGGLE.encode("latin-1"))
    assert infer_task(path, {})[0] == "tag"
    assert fails(read_tagged, path)[0] == "HW105"
    assert read_tagged(path, TagOptions(encoding="latin-1")).items[1].tokens[0] == "Zoë"


@pytest.mark.parametrize(
    ("row", "where"),
    [
        (",and,CC\n", ("HW250", 9, None)),
        (",,CC,O\n", ("HW251", 9, None)),
        (",and,CC,\n", ("HW251", 9, None)),
        (",and,CC,0\n", ("HW252", 9, None)),
    ],
)
def test_a_row_that_does_not_fit_is_told_and_its_sentence_left_out(write, fails, row, where):
    path = write("ner.csv", KAGGLE + row + "Sentence: 3,Go,VB,O\n")
    assert fails(read_tagged, path) == where
    problems = []
    assert [sentence.line for sentence in read_tagged(path, on_error=problems.append).items] == [2, 10]
    assert len(problems) == 1


def test_a_row_before_the_first_sentence(write, fails):
    path = write("ner.csv", "Sentence #,Word,Tag\n,Tom,B-per\nSentence: 1,He,O\n")
    assert fails(read_tagged, path, TagOptions(format="table")) == ("HW251", 2, None)


def test_words_without_tags_are_predicted(write):
    path = write("new.csv", "Sentence #,Word\nSentence: 1,Tom\n,ran\nSentence: 2,He\n")
    rows = ITEM_TYPES_BY_TASK["tag"].rows_to_predict(path, {})
    assert [row.item.tokens for row in rows] == [("Tom", "ran"), ("He",)]


def test_other_tables_are_not(write):
    assert infer_task(write("a.csv", "sentence,label\nTom ran,good\nHe won,bad\n"), {})[0] == "classify"
    assert infer_task(write("b.csv", "id,text,tag\n1,Tom ran,good\n2,He won,bad\n"), {})[0] == "classify"
    pairs = "sentence,word,label\nTom ran home,ran,yes\nHe won it all,won,no\n"
    assert infer_task(write("c.csv", pairs), {})[0] != "tag"


def test_columns_that_are_not_there(write, fails):
    path = write("ner.csv", KAGGLE)
    assert fails(read_tagged, path, TagOptions(tag_column="Tags"))[0] == "HW111"


def test_a_column_called_sent_tells_the_sentences(write):
    rows = "".join(f'{n};Tom;NNP;B-PER\n{n};ran;VB;O\n{n};",";PU;O\n' for n in range(4))
    path = write("ner.csv", "sent;token;pos;ner\n" + rows)
    assert infer_task(path, {})[0] == "tag"
    assert [sentence.tokens for sentence in read_tagged(path).items] == [("Tom", "ran", ",")] * 4


@pytest.mark.parametrize("gap", ["", ","])
def test_blank_lines_end_sentences_without_a_column_that_names_them(write, gap):
    words = [f"Tom{n},B-per\nran{n},O\n{gap}\n" for n in range(5)]
    path = write("ner.csv", "word,tag\n" + "".join(words))
    assert infer_task(path, {}) == ("tag", "the columns 'word' and 'tag'")
    data = read_tagged(path)
    assert [item.tokens for item in data.items] == [(f"Tom{n}", f"ran{n}") for n in range(5)]
    assert data.items[1].line == 5


@pytest.mark.parametrize("first", ["", "{},"])
def test_words_and_tags_without_a_header(write, first):
    words = [f'{first}Tom,B-PER\n{first}ran,O\n{first}",",O\n'.replace("{}", str(n)) for n in range(5)]
    path = write("ner.csv", ("" if first else "\n").join(words))
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [(item.tokens, item.tags) for item in data.items] == [
        (("Tom", "ran", ","), ("B-PER", "O", "O"))
    ] * 5


def test_numbers_of_words_without_a_header_are_no_sentences(write):
    words = "".join(f"{n},word{n},{'B-PER' if n % 2 else 'O'}\n" for n in range(20))
    assert infer_task(write("ner.csv", words), {})[0] != "tag"


def test_words_without_an_end_of_a_sentence_are_an_error(write, fails):
    path = write("ner.csv", "word,tag\n" + "".join(f"Tom{n},B-per\nran{n},O\n" for n in range(60)))
    assert infer_task(path, {})[0] == "tag"
    assert fails(read_tagged, path)[0] == "HW111"


@pytest.mark.parametrize("gap", ["nan", "NaN", "NULL"])
def test_a_missing_value_is_no_name_of_a_sentence(write, gap):
    path = write(
        "a.csv", f"Sentence #,Word,Tag\nSentence: 1,Tom,B-per\n{gap},ran,O\nSentence: 2,He,O\n{gap},sat,O\n"
    )
    assert [item.tokens for item in read_tagged(path).items] == [("Tom", "ran"), ("He", "sat")]


def test_the_sentence_itself_may_stand_beside_its_words(write):
    sentences = ["Tom Lee says that he won", "then Ann went to see him", "he won the game in May"]
    rows = [
        f"{text},{word},{'B-per' if word in ('Tom', 'Ann') else 'O'}"
        for text in sentences
        for word in text.split()
    ]
    path = write("ner.csv", "\n".join(["sentence,word,tag", *rows]))
    assert infer_task(path, {})[0] == "tag"
    assert [" ".join(item.tokens) for item in read_tagged(path).items] == sentences
    terms = [f"{text},{text.split()[1]},{'xy'[n % 2]}" for n, text in enumerate(sentences * 3)]
    assert infer_task(write("terms.csv", "\n".join(["sentence,word,label", *terms])), {})[0] == "classify"


@pytest.mark.parametrize("indent", [None, 2])
def test_objects_with_a_word_each_are_such_a_table(write, indent):
    rows = [
        {"sentence_id": n, "word": word, "pos": None if word == "ran" else "X", "tag": tag}
        for n in range(3)
        for word, tag in (("Tom", "B-per"), ("ran", "O"), (f"{n}.", "O"))
    ]
    path = write("a.json", json.dumps(rows, indent=indent))
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [item.tokens for item in data.items] == [("Tom", "ran", f"{n}.") for n in range(3)]
    assert [item.tags for item in data.items] == [("B-per", "O", "O")] * 3
    assert data.items[0].columns["pos"] == ("X", "", "X")
    lines = write("b.jsonl", "\n".join(map(json.dumps, rows)))
    assert [item.line for item in read_tagged(lines).items] == [1, 4, 7]


def test_objects_without_a_sentence_are_no_such_table(write, fails):
    rows = [{"word": word, "tag": tag} for word, tag in (("Tom", "B-per"), ("ran", "O")) * 9]
    assert fails(read_tagged, write("a.json", json.dumps(rows)))[0] == "HW259"
