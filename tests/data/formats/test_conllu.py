"""CoNLL-U sentences: the standard's own examples, and every way in which a file can break it."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.data.columns.file_source import DataSource
from headwise.data.errors import DataError
from headwise.data.formats.conllu import ConlluSentence, MultiWord, read_conllu, read_sentences


def row(ident, form="a", head="0", upos="X", **more):
    cells = [ident, form, "_", upos, "_", "_", head, "dep", "_", "_"]
    for index, cell in more.items():
        cells[int(index[1:])] = cell
    return "\t".join(cells) + "\n"


def empty(ident, form="a"):
    return row(ident, form, "_", c7="_")


def lines_of(text):
    return iter(list(enumerate(text.removesuffix("\n").split("\n"), start=1)))


def read(text, **more) -> list[ConlluSentence]:
    return list(read_sentences(lines_of(text), DataSource("a.conllu", **more)))


# From the description of the format: "Sue likes coffee and Bill tea", and multi-word tokens.
SUE = (
    "# newdoc id = d1\n# newpar\n# sent_id = s1\n# text = Sue likes coffee and Bill tea\n#  odd\n"
    "1\tSue\tSue\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t2:nsubj\t_\n"
    "2\tlikes\tlike\tVERB\tVBZ\t_\t0\troot\t0:root\t_\n"
    "3\tcoffee\tcoffee\tNOUN\tNN\t_\t2\tobj\t2:obj\t_\n"
    "4\tand\tand\tCCONJ\tCC\t_\t5\tcc\t5.1:cc\t_\n"
    "5\tBill\tBill\tPROPN\tNNP\t_\t2\tconj\t5.1:nsubj\t_\n"
    "5.1\tlikes\tlike\tVERB\tVBZ\t_\t_\t_\t2:conj\t_\n"
    "6\ttea\ttea\tNOUN\tNN\t_\t5\torphan\t5.1:obj\tSpaceAfter=No\n"
)
VAMONOS = (
    row("1-2", "vámonos", "_", "_", c7="_", c9="SpaceAfter=No") + row("1", "vamos") + row("2", "nos", "1")
)


def test_all_columns_of_the_words():
    (sentence,) = read(SUE)
    assert sentence.words == ("Sue", "likes", "coffee", "and", "Bill", "tea")
    assert sentence.lemmas == ("Sue", "like", "coffee", "and", "Bill", "tea")
    assert sentence.upos == ("PROPN", "VERB", "NOUN", "CCONJ", "PROPN", "NOUN")
    assert sentence.xpos == ("NNP", "VBZ", "NN", "CC", "NNP", "NN")
    assert sentence.feats == ("Number=Sing", "_", "_", "_", "_", "_")
    assert sentence.heads == (2, 0, 2, 5, 2, 5)
    assert sentence.deprels == ("nsubj", "root", "obj", "cc", "conj", "orphan")
    assert sentence.misc == ("_", "_", "_", "_", "_", "SpaceAfter=No")
    assert sentence.lines == (6, 7, 8, 9, 10, 12)
    assert sentence.line == 1
    assert sentence.multiwords == ()


def test_comments_are_kept():
    (sentence,) = read(SUE)
    assert sentence.comments[2:] == ("sent_id = s1", "text = Sue likes coffee and Bill tea", "odd")
    assert sentence.comment("text") == "Sue likes coffee and Bill tea"
    assert sentence.comment("newdoc id") == "d1"
    assert sentence.comment("newpar") == ""
    assert sentence.comment("newdoc") is None
    assert sentence.starts_document
    one, two, three = read("#newdoc\n" + row("1") + "\n#newpar\n" + row("1") + "\n# a = b = c\n" + row("1"))
    assert (one.starts_document, two.starts_document, three.starts_document) == (True, False, False)
    assert three.comment("a") == "b = c"


def test_multi_word_tokens_keep_their_form_beside_their_words():
    (sentence,) = read(VAMONOS + row("3", "al", "1"))
    assert sentence.words == ("vamos", "nos", "al")
    assert sentence.heads == (0, 1, 1)
    assert sentence.multiwords == (MultiWord(1, 2, "vámonos", "SpaceAfter=No", 1),)
    assert sentence.lines == (2, 3, 4)
    two = read(VAMONOS + row("3-4") + row("3") + row("4"))[0].multiwords
    assert [(token.first, token.last) for token in two] == [(1, 2), (3, 4)]


def test_empty_nodes_are_no_words():
    (sentence,) = read(empty("0.1") + row("1", "a") + empty("1.1") + empty("1.2") + row("2", "b"))
    assert sentence.words == ("a", "b")
    (sentence,) = read(row("1-2") + row("1", "a") + empty("1.1") + row("2", "b"))
    assert sentence.words == ("a", "b")


def test_sentences_and_their_lines():
    expected_words = [("a",), ("b", "c"), ("d",)]
    text = (
        "\n"
        + row("1", "a")
        + "\n\n \n# text = b c\n"
        + row("1", "b")
        + row("2", "c")
        + "\n"
        + row("1", "d")
    )
    for end in ("", "\n", "\n\n"):
        sentences = read(text + end)
        assert [sentence.words for sentence in sentences] == expected_words
        assert [sentence.line for sentence in sentences] == [2, 6, 10]


def test_forms_may_hold_spaces_and_number_signs():
    (sentence,) = read(row("1", "10 000") + row("2", "#", "1") + row("3", "_", "1"))
    assert sentence.words == ("10 000", "#", "_")


def test_no_heads_and_several_roots():
    assert read(row("1", head="_") + row("2", head="_"))[0].heads is None
    assert read(row("1") + row("2"))[0].heads == (0, 0)


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "message"),
    [
        ("1\ta\n", "HW240", 1, None, "a row of 2 columns; expected the 10 columns ID FORM"),
        ("1 a _ X _ _ 0 dep _ _\n", "HW240", 1, None, "a row of 1 column; .* separated by tabs"),
        (row("1", c5=""), "HW240", 1, 11, "the column FEATS is empty"),
        (row("1", ""), "HW240", 1, 3, "the column FORM is empty"),
        (row("1") + "# text = b\n" + row("1"), "HW240", 2, None, "comment inside a sentence"),
        (row("1-1") + "# b\n" + row("1"), "HW240", 2, None, "comment inside a sentence"),
        (empty("0.1") + "# b\n" + row("1"), "HW240", 2, None, "comment inside a sentence"),
        (row("1") + row("3", head="1"), "HW241", 2, 1, "the id '3'; expected '2'"),
        (row("1") + row("1"), "HW241", 2, 1, "the id '1'; expected '2'; put a blank line"),
        (row("0"), "HW241", 1, 1, "the id '0'; expected '1'"),
        (row("01"), "HW241", 1, 1, "the id '01'"),
        (row("x"), "HW241", 1, 1, "the id 'x'"),
        (row("²"), "HW241", 1, 1, "the id '²'"),
        (row("9" * 5000), "HW241", 1, 1, "the id '999"),
        (row("1-" + "9" * 5000), "HW241", 1, 1, "the id '1-99"),
        (row("1") + empty("2.1"), "HW241", 2, 1, r"the id '2.1'; expected '1.1'"),
        (row("1") + empty("1.2"), "HW241", 2, 1, r"the id '1.2'; expected '1.1'"),
        (empty("0.1") + row("1") + empty("1.2"), "HW241", 3, 1, r"expected '1.1'"),
        (row("1") + row("1-2"), "HW241", 2, 1, r"the id '1-2'; expected '2-...'"),
        (row("1-2") + row("1"), "HW242", 1, 1, "token 1-2 in a sentence of 1 words"),
        (row("1-0") + row("1"), "HW242", 1, 1, "token 1-0 ends before it starts"),
        (
            row("1-2") + row("1") + row("2-3") + row("2"),
            "HW242",
            3,
            1,
            "2-3 shares words with the one before",
        ),
        (row("1") + row("2", head="3"), "HW243", 2, 13, "the head '3'; expected .* 1 to 2, or 0"),
        (row("1", "abc", head="-1"), "HW243", 1, 15, "the head '-1'"),
        (row("1", head="²"), "HW243", 1, 13, "the head '²'"),
        (row("1", head="9" * 5000), "HW243", 1, 13, "the head '999"),
        (
            row("1") + row("2", head="_"),
            "HW243",
            2,
            13,
            "the head '_'; .*give every word .* a head, or none",
        ),
        (row("1", head="1"), "HW244", 1, 13, "words 1 -> 1 depend on each other"),
        (row("1") + row("2", head="3") + row("3", head="2"), "HW244", 2, 13, "words 2 -> 3 -> 2 depend"),
        ("# text = a\n\n" + row("1"), "HW245", 1, None, "comments without a sentence"),
        (row("1") + "\n# end\n", "HW245", 3, None, "comments without a sentence"),
    ],
)
def test_what_breaks_the_format_is_located(text, code, line, column, message):
    with pytest.raises(DataError, match=message) as error:
        read(text)
    assert (error.value.code, error.value.line, error.value.column) == (code, line, column)
    assert error.value.path == "a.conllu"


def test_a_bad_sentence_can_be_left_out():
    errors = []
    text = row("1", "a") + "\n" + row("2", "b") + row("3") + "\n" + row("1", "c")
    assert [sentence.words for sentence in read(text, report=errors.append)] == [("a",), ("c",)]
    assert [error.where for error in errors] == ["a.conllu:3:1"]


def test_files_of_any_compression_and_line_end(tmp_path):
    path = tmp_path / "sue.conllu.gz"
    path.write_bytes(gzip.compress(("\ufeff" + SUE.replace("\n", "\r\n") + "\r\n").encode()))
    assert list(read_conllu(path)) == read(SUE)
    with pytest.raises(DataError, match="HW101"):
        list(read_conllu(tmp_path / "none.conllu"))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_every_list_of_heads_is_a_tree_or_an_error(heads):
    text = "".join(row(str(number), head=str(head)) for number, head in enumerate(heads, start=1))
    reached = {0}
    for _ in heads:
        reached |= {number for number, head in enumerate(heads, start=1) if head in reached}
    if max(heads) <= len(heads) < len(reached):
        assert read(text)[0].heads == tuple(heads)
    else:
        with pytest.raises(DataError, match="HW244" if max(heads) <= len(heads) else "HW243"):
            read(text)


def test_a_long_chain_takes_linear_time():
    count = 20_000
    text = "".join(row(str(number), head=str((number + 1) % (count + 1))) for number in range(1, count + 1))
    assert len(read(text)[0].words) == count


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("part", "sentences", "words", "documents"),
    [("train", 12_544, 204_577, 540), ("dev", 2_001, 25_147, 318), ("test", 2_077, 25_094, 316)],
)
def test_ewt(real_data, part, sentences, words, documents):
    path = real_data / f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz"
    sentence_count = multiwords = starts = total = 0
    for sentence in read_conllu(path):
        sentence_count += 1
        total += len(sentence.words)
        starts += sentence.starts_document
        multiwords += len(sentence.multiwords)
        assert sentence.heads is not None
        assert sentence.heads.count(0) == 1
        # The text is its tokens, where a multi-word token stands for its words.
        pieces, covered = [], {token.first: token for token in sentence.multiwords}
        number = 1
        while number <= len(sentence.words):
            token = covered.get(number)
            form, misc = (
                (token.form, token.misc)
                if token
                else (sentence.words[number - 1], sentence.misc[number - 1])
            )
            pieces.append(form + " " * ("SpaceAfter=No" not in misc))
            number = token.last + 1 if token else number + 1
        assert "".join(pieces).split() == sentence.comment("text").split()
    assert (sentence_count, total, starts) == (sentences, words, documents)
    assert multiwords > 300
