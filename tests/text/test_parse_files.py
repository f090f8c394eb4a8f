"""Files of parses: three formats, told by name or content; the words must be the text's."""

import gzip

import numpy as np
import pytest

from headwise.data.errors import DataError
from headwise.data.formats.conllu import read_conllu
from headwise.text.parse_files import iterate_parses, read_parses
from headwise.text.syntax import ParseError, tree_distances

TEXTS = [["the", "cat", "sat", "."], [], ["no", "#", "verb"], ["Stop", "!", "Go", "!"]]
HEADS = [[2, 3, 0, 3], [], [3, 3, 0], [0, 1, 0, 3]]


def sentence(words, heads, comments=""):
    rows = [
        f"{number}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_"
        for number, (word, head) in enumerate(zip(words, heads, strict=True), start=1)
    ]
    return comments + "".join(row + "\n" for row in rows) + "\n"


FILES = {
    "heads": "2 3 0 3\n\n3 3 0\n0 1 0 3\n",
    "parsed": "the cat sat .\t2 3 0 3\n\t\nno # verb\t3 3 0\nStop ! Go !\t0 1 0 3\n",
    "conllu": sentence(TEXTS[0], HEADS[0], "# newdoc id = 1\n# text = the cat sat.\n")
    + sentence(TEXTS[2], HEADS[2], "# newdoc\n")
    + sentence(["Stop", "!"], [0, 1], "# newdoc\n# newpar\n")
    + sentence(["Go", "!"], [0, 1], "# newpar\n"),
}


@pytest.fixture
def file(tmp_path):
    def file(name: str, contents: str) -> str:
        data = contents.encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return file


@pytest.mark.parametrize("name", ["train.{}", "train.{}.gz", "{}", "train.{}.txt"])
@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_formats_by_name_and_by_content(file, form, name, newline):
    path = file(name.format(form), FILES[form].replace("\n", newline))
    parses = read_parses(path, TEXTS)
    assert [heads.tolist() for heads in parses] == HEADS
    assert all(heads.dtype == np.int64 for heads in parses)
    without_empty = [heads for heads in HEADS if heads or form != "conllu"]
    assert [heads.tolist() for heads in read_parses(path)] == without_empty


def test_without_documents_each_sentence_is_a_text(file):
    text = sentence("ab", [0, 1]) + sentence("cde", [2, 0, 2])
    path = file("a.conllu", text)
    assert [heads.tolist() for heads in read_parses(path, ["ab", "cde"])] == [[0, 1], [2, 0, 2]]
    path = file("b.conllu", "# newdoc\n" + text)
    assert [heads.tolist() for heads in read_parses(path, ["abcde"])] == [[0, 1, 4, 0, 4]]


def test_the_order_and_memory_are_those_of_a_stream(file):
    parses = iterate_parses(file("a.heads", "0\n0 1\nx\n"))
    assert next(parses).tolist() == [0]
    assert next(parses).tolist() == [0, 1]
    with pytest.raises(ParseError, match="HW231"):
        next(parses)


@pytest.mark.parametrize(
    ("name", "contents", "texts", "code", "where", "message"),
    [
        ("a.heads", "0 1\n0\n", ["ab", "cd"], "HW234", ":2", "1 heads for a text of 2 words"),
        ("a.heads", "0\n", ["a", "b"], "HW234", "", "1 lines for 2 texts"),
        (
            "a.parsed",
            "a b\t0 1\nc\t0\n",
            ["ab", "d"],
            "HW236",
            ":2:1",
            "word 1 of the parse is 'c', .* 'd'",
        ),
        (
            "a.parsed",
            "aa b c\t0 1 1\n",
            [["aa", "b", "d"]],
            "HW236",
            ":1:6",
            r"word 3 .* \(3 and 3 words\)",
        ),
        ("a.parsed", "a b\t0 1\n", ["abc"], "HW236", ":1:5", "word 3 of the parse is missing, .* 'c'"),
        ("a.parsed", "a b c\t0 1 1\n", ["ab"], "HW236", ":1:5", "is 'c', of the text missing"),
        ("a.parsed", "a b\t0\n", None, "HW234", ":1", "1 heads for a text of 2 words"),
        ("a.parsed", "a b\t0 x\n", None, "HW231", ":1:7", "got 'x'"),
        ("a.parsed", "a b\t2 1\n", None, "HW233", ":1", "circle"),
        ("a.parsed", "a b 0 1\n", None, "HW237", ":1", "got no tab"),
        ("a.parsed", "a\t0\nb\t0\n", ["a"], "HW234", ":2", "a line more than the 1 texts"),
        ("a.parsed", "a\t0\n", ["a", "b"], "HW234", "", "1 lines for 2 texts"),
        ("a.conllu", sentence("ab", [0, 1]), ["ac"], "HW236", ":2", "word 2 of the parse is 'b', .* 'c'"),
        ("a.conllu", sentence("ab", [0, 1]), ["abc"], "HW236", ":2", "is missing, of the text 'c'"),
        ("a.conllu", sentence("ab", [0, 1]), ["a"], "HW236", ":2", "is 'b', of the text missing"),
        ("a.conllu", sentence("a", [0]), ["a", "", "b"], "HW234", "", "1 texts, expected 2; .*# newdoc"),
        ("a.conllu", sentence("a", [0]) * 2, ["a"], "HW234", ":3", "a text more than the 1 expected"),
        ("a.conllu", sentence("ab", "__"), None, "HW235", ":1", "without heads"),
        ("a.conllu", sentence("a", [0]) + "# newdoc\n" + sentence("b", [0]), None, "HW237", ":3", "newdoc"),
        ("a.txt", "Some text.\n", None, "HW237", ":1", "no parses were recognised"),
        ("a.txt", "\n\nlabel\tSome text.\n", None, "HW237", ":3", "no parses were recognised"),
    ],
)
def test_what_does_not_fit_is_located(file, name, contents, texts, code, where, message):
    path = file(name, contents)
    with pytest.raises(ParseError, match=message) as error:
        read_parses(path, texts)
    assert error.value.code == code
    assert f"{path}{where}: " in str(error.value)


def test_files_that_cannot_be_read(tmp_path, file):
    with pytest.raises(DataError, match="HW101"):
        read_parses(str(tmp_path / "none.conllu"))
    with pytest.raises(DataError, match="HW103"):
        read_parses(file("empty.heads", ""))
    with pytest.raises(DataError, match="HW241"):
        read_parses(file("bad.conllu", sentence("ab", [0, 1]).replace("2\tb", "3\tb")))


@pytest.mark.realdata
def test_documents_of_ewt(real_data):
    path = str(real_data / "ud_english_ewt/en_ewt-ud-dev.conllu.gz")
    parses = read_parses(path)
    assert len(parses) == 318
    assert sum(map(len, parses)) == 25_147
    assert sum(int((heads == 0).sum()) for heads in parses) == 2_001
    texts, sizes = [], []
    for sentence in read_conllu(path):
        if sentence.starts_document:
            texts.append([])
            sizes.append([])
        texts[-1].extend(sentence.words)
        sizes[-1].append(len(sentence.words))
    assert all((a == b).all() for a, b in zip(parses, read_parses(path, texts), strict=True))
    # A word and its head are in the same sentence, and words of two sentences meet over their roots.
    for heads, size in zip(parses, sizes, strict=True):
        number = np.repeat(np.arange(len(size)), size)
        arcs = np.flatnonzero(heads)
        assert (number[arcs] == number[heads[arcs] - 1]).all()
    heads, first = parses[0], sizes[0][0]
    steps = tree_distances(heads)
    own_root, next_root = np.flatnonzero(heads == 0)[:2]
    assert steps[0, first] == steps[0, own_root] + 2 + steps[next_root, first]


@pytest.mark.realdata
def test_parses_of_sst_and_sick_have_the_words_of_their_texts(real_data):
    parses = read_parses(str(real_data / "syntax/sick/trial.A.parsed.gz"))
    with gzip.open(real_data / "syntax/sick/trial.A.parsed.gz", "rt") as lines:
        texts = [line.split("\t")[0].split(" ") for line in lines]
    assert [len(heads) for heads in parses] == [len(text) for text in texts]
    assert len(read_parses(str(real_data / "syntax/sst/dev.heads.gz"))) == 1_101
