import pytest

from headwise.data.errors import DataError
from headwise.data.readers.tag_format_guess import guess_tagged_format, looks_tagged

NER = "Tom\tB-PER\nran\tO\n\nHe\tO\nwon\tO\n"
POS = "The DT\ndog NN\nran VBD\n. .\n\nA DT\ncat NN\nran VBD\n. .\n"
CONLLU = "# text = Yes .\n1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n2\t.\t.\tPUNCT\t.\t_\t1\tpunct\t_\t_\n"
SLASH = "The/DT dog/NN ran/VBD ./.\n\nA/DT cat/NN ran/VBD ,/, too/RB ./."
TREES = "( (S (NP (DT The) (NN dog))\n  (VP (VBD ran))) )"


def lines(text):
    return text.split("\n")


@pytest.mark.parametrize(
    ("text", "form", "reason"),
    [
        (NER, "columns", "in column 2 of 2 O, B-PER"),
        (NER.replace("\n", "\r\n"), "columns", "in column 2 of 2 O, B-PER"),
        ("-DOCSTART- O\n\n" + NER, "columns", "in column 2 of 2 O, B-PER"),
        ("Tom\tB-PER\nran\tO", "columns", "in column 2 of 2 B-PER, O"),
        (POS, "columns", "in column 2 of 2 DT, NN, VBD, .; blank lines between sentences"),
        ("1\tTom\tB-PER\t-\n2\tran\tO\t-\n", "columns", "in column 3 of 4 B-PER, O"),
        ("a/at b/nn c/nn d/at e/nn", "slash", "words with tags after a slash: nn, at"),
        (CONLLU, "conllu", "CoNLL-U, ten columns that begin with ids"),
        (SLASH, "slash", "words with tags after a slash: DT, NN, VBD, ., ..."),
        ("[ The/DT dog/NN ]\nran/VBD ./.\n=====", "slash", "words with tags after a slash: DT, NN, VBD, ."),
        (TREES, "trees", "bracketed trees with words and parts of speech"),
    ],
)
def test_tagged_sentences_are_recognised(text, form, reason):
    assert looks_tagged(lines(text)) == reason
    head = list(enumerate(lines(text), start=1))
    assert guess_tagged_format("a.txt", head) == (form, f"from the first lines: {reason}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "0 a rather good film\n1 bad\n0 good film\n",
        "pos\tgood film\nneg\tbad film\n\npos\tgood one\n",
        "good film\tpos\nbad film\tneg\n\ngood one\tpos\n",
        "good\tpos\nbad\tneg\nfine\tpos\n",
        "(3 (2 It) (4 works))\n(1 (2 bad) (2 film))\n",
        "__label__a text\n__label__b text\n",
        '{"text": "a", "label": 1}\n\n{"text": "b", "label": 0}',
        "a,b,c\n1,2,3\n\n4,5,6\n",
        "one line\n\nanother line\n\na third\n",
        "usr/lib etc/passwd home/me\n",
        "see http://a.b/c and and/or 1/2\nword word\n",
        "It is good\nIt was bad\n\nWe are here\nYou are there\n",
        "(see below) some text\nmore text",
    ],
)
def test_other_files_are_not(text):
    assert looks_tagged(lines(text)) is None


def test_a_few_damaged_lines_do_not_hide_tags():
    assert looks_tagged([*lines(NER * 5), "broken"]) is not None


def test_suffixes_and_what_is_left(fails):
    assert guess_tagged_format("a.conllu.gz", []) == ("conllu", "from the suffix .conllu")
    assert guess_tagged_format("b.zip!x/y.mrg", []) == ("trees", "from the suffix .mrg")
    assert guess_tagged_format("a", [(1, "a b"), (2, "c d")]) == ("columns", "as the lines have columns")
    assert fails(guess_tagged_format, "a", [(1, "word")]) == ("HW259", None, None)
    assert fails(guess_tagged_format, "a", [])[0] == "HW259"


def test_a_table_of_texts_is_no_file_of_tagged_words():
    rows = [(1, "text,label"), *((n, f"the door no {n} is stuck,{'ab'[n % 2]}") for n in range(2, 9))]
    with pytest.raises(DataError, match="no columns of words and tags were recognised") as error:
        guess_tagged_format("a.csv", rows)
    assert error.value.code == "HW259"
    assert guess_tagged_format("a.csv", [*enumerate(POS.split("\n"), 1)])[0] == "columns"


@pytest.mark.parametrize(
    "text",
    [
        '[["a good film", "pos"], ["a bad film", "neg"]]',
        '[{"word": "EU", "tag": "B-ORG"}, {"word": "ran", "tag": "O"}]',
    ],
)
def test_json_of_another_shape_is_no_file_of_columns(text):
    with pytest.raises(DataError, match="JSON, in which neither words with tags nor") as error:
        guess_tagged_format("a.json", [*enumerate(lines(text), 1)])
    assert error.value.code == "HW259"


def test_brackets_are_tokens_too():
    columns = [(1, "[ O x"), (2, "[ O x"), (3, 'the " x'), (4, "] O x")]
    assert guess_tagged_format("a.txt", columns)[0] == "columns"
