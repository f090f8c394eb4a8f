import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.item_options import TagOptions
from headwise.data.formats.conll import choose_token_columns, read_sentences, recognise, split_row

CONLL03 = "EU NNP I-NP I-ORG\nsays VBZ I-VP O\n\n-DOCSTART- -X- O O\n\nYes UH I-INTJ O"


def read(text, *, labelled=True, report=None, **options):
    lines = list(enumerate(text.split("\n"), start=1))
    source = DataSource("a", **({"report": report} if report else {}))
    layout = choose_token_columns(lines, source, TagOptions(**options), labelled=labelled)
    return list(read_sentences(iter(lines), source, layout, labelled=labelled)), layout, source


def tokens(text, **options):
    return [list(zip(s.tokens, s.tags, strict=True)) for s in read(text, **options)[0]]


def test_four_columns():
    sentences, layout, source = read(CONLL03)
    assert [(s.tokens, s.tags, s.line, s.starts_document) for s in sentences] == [
        (("EU", "says"), ("I-ORG", "O"), 1, False),
        (("Yes",), ("O",), 6, True),
    ]
    assert sentences[0].columns == {"pos": ("NNP", "VBZ"), "chunk": ("I-NP", "I-VP")}
    assert layout.names == ("word", "pos", "chunk", "ner")
    assert source.notes == [
        "4 columns, separated by spaces or tabs: token='word', tag='ner' "
        "- override with --token-column/--tag-column"
    ]


@pytest.mark.parametrize("language", ["en:", "zh-min-nan:", "simple:"])
def test_the_language_before_each_word_of_wikiann_is_left_out(language):
    words = [("Ann", "B-PER"), ("and", "O"), ("en:x", "O"), (":", "O"), ("", "O")] * 2
    text = "\n".join(f"{language}{word}\t{tag}" for word, tag in words)
    (sentence,), _, source = read(text)
    assert sentence.tokens == ("Ann", "and", "en:x", ":", language) * 2
    assert f"each token begins with {language!r}, which is left out" in source.notes


@pytest.mark.parametrize("words", [["en:Ann", "en:ran"], ["en:Ann"] * 9 + ["Tom"] + ["en:Ann"] * 9])
def test_a_few_words_with_such_a_beginning_keep_it(words):
    (sentence,), *_ = read("\n".join(f"{word}\tO" for word in words), tag_column="2")
    assert sentence.tokens == tuple(words)


@pytest.mark.parametrize("column", ["pos", "2", "POS"])
def test_the_tag_column_is_chosen_by_name_or_number(column):
    assert tokens(CONLL03, tag_column=column)[0] == [("EU", "NNP"), ("says", "VBZ")]


def test_tokens_are_not_looked_for_in_the_column_of_the_tags():
    text = "DT the\nNN dog\n\nDT a\nNN cat"
    assert tokens(text, tag_column="1")[0] == [("the", "DT"), ("dog", "NN")]
    assert tokens("1 DT the\n2 NN dog", tag_column="2")[0] == [("1", "DT"), ("2", "NN")]
    assert tokens("form tag\nthe DT\ndog NN", tag_column="form")[0] == [("DT", "the"), ("NN", "dog")]


def test_tokens_and_tags_are_in_two_columns():
    with pytest.raises(ConfigError, match="--token-column and --tag-column name the same column"):
        read("DT the\nNN dog", token_column="1", tag_column="1")


def test_line_ends_and_spaces_do_not_matter():
    for text in (
        "a\tO\r\nb\tB-x\r\n\r\nc\tO\r",
        "a O  \n b B-x\n \t \nc O \n",
        "a\t O\nb\tB-x \n\t\n\nc\tO\t\n\n",
    ):
        assert tokens(text) == [[("a", "O"), ("b", "B-x")], [("c", "O")]]


def test_line_ends_that_were_doubled():
    assert tokens(CONLL03.replace("\n", "\r\r\n")) == tokens(CONLL03)


def test_only_spaces_and_tabs_separate():
    assert tokens("a\x85b O\n\u00a0 B-x\n\u2028 O") == [
        [("a\x85b", "O"), ("\u00a0", "B-x"), ("\u2028", "O")]
    ]
    assert tokens("10 000\tO\nNew York\tB-x") == [[("10 000", "O"), ("New York", "B-x")]]
    assert split_row("a\t\tb ", tabs=True) == ["a", "", "b"]


def test_comments_and_number_signs():
    text = "# id 7 x=1\n# text = #a b\n#\tO\na\tO\nb\tB-x\n\n# O\n#\tO\nc\tO"
    sentences, *_ = read(text)
    assert [s.tokens for s in sentences] == [("#", "a", "b"), ("#", "c")]
    assert (sentences[0].text, sentences[0].spans) == ("#a b", ((0, 1), (1, 2), (3, 4)))
    assert sentences[0].line == 3
    assert sentences[1].text is None


@pytest.mark.parametrize("comment", ["#id: doc0", "# id: 1", "#id:1 x", "#sent_id = 7 8", "#doc_id: a"])
def test_comments_as_wide_as_a_row(comment):
    text = "".join(f"{comment}\nTom B-PER\nran O\n\n" for _ in range(3))
    assert [s.tokens for s in read(text)[0]] == [("Tom", "ran")] * 3
    assert recognise(list(enumerate(text.split("\n"), start=1)))


def test_a_text_of_other_words_is_not_taken():
    assert read("# text = x y\na O\nb B-x")[0][0].text is None
    assert read("# text = a b\n\na O\nb B-x")[0][0].text is None


def test_documents_of_comments():
    sentences, *_ = read("# newdoc\na\tO\nb\tB-x\n\nc\tO\n\n# newdoc\nd\tO")
    assert [s.starts_document for s in sentences] == [True, False, True]


def test_a_document_starts_after_a_sentence_that_cannot_be_used():
    sentences, *_ = read("a O\nb B-x\n\n-DOCSTART- O\n\nc d e\n\nd O\ne O", report=lambda error: None)
    assert [(s.tokens[0], s.starts_document) for s in sentences] == [("a", False), ("d", True)]


def test_a_header_names_the_columns():
    sentences, layout, source = read("Token\tPOS\tNER\nTom\tNNP\tB-PER\nran\tVBD\tO\n\nHe\tPRP\tO")
    assert (layout.names, layout.token, layout.tag, layout.header) == (("Token", "POS", "NER"), 0, 2, 1)
    assert sentences[0].tokens == ("Tom", "ran")
    assert sentences[0].columns == {"POS": ("NNP", "VBD")}
    assert source.notes[0] == "line 1 names the columns"


def test_a_header_tells_tags_and_heads_from_remarks():
    rows = "\n\n".join(["Tom\tNNP\t2\tsubj\tx1\nran\tVBD\t0\troot\tx2"] * 3)
    sentences, layout, source = read(f"FORM\tUPOS\tHEAD\tDEPREL\tREMARK\n{rows}")
    assert (layout.token, layout.tag, layout.head, layout.extra) == (0, 1, 2, (3, 4))
    assert (sentences[0].tags, sentences[0].heads) == (("NNP", "VBD"), (2, 0))
    assert "head='HEAD', token='FORM', tag='UPOS'" in source.notes[-1]


def test_a_first_token_is_no_header():
    assert tokens("Word NN\nText NN") == [[("Word", "NN"), ("Text", "NN")]]


def test_ids_before_the_tokens_and_empty_columns_after_the_tags():
    text = "1\tTom\tB-PER\t-\n2\tran\tO\t-\n\n1\tHe\tO\t-\n"
    sentences, layout, _ = read(text)
    assert sentences[0].tokens == ("Tom", "ran")
    assert sentences[0].tags == ("B-PER", "O")
    assert layout.extra == (0, 3)


def test_heads():
    sentences, layout, _ = read("Tom\tNNP\t2\nran\tVBD\t0\n\nHe\tPRP\t3\nran\tVBD\t1\nfar\tRB\t0\n")
    assert layout.names == ("word", "pos", "head")
    assert [(s.parse, s.tags[0]) for s in sentences] == [((2, 0), "NNP"), ((3, 1, 0), "PRP")]
    chosen, *_ = read("Tom 2 NNP x\nran 0 VBD y", head_column="2", tag_column="3")
    assert (chosen[0].heads, chosen[0].columns) == ((2, 0), {"4": ("x", "y")})


def test_numbers_that_are_no_heads():
    assert tokens("a x 0\nb y 1\n\nc z 0\n")[0] == [("a", "0"), ("b", "1")]


@pytest.mark.parametrize(
    ("text", "options", "where"),
    [
        ("a N O\nb N\nc N O\nd N O", {}, ("HW250", 2, None)),
        ("a O\nb O\nc d e", {}, ("HW250", 3, None)),
        ("a O\nb B-x\n# x y = 3\nd O", {}, ("HW250", 3, None)),
        ("a\tN\tO\nb\tO\nc\tN\tO", {}, ("HW250", 2, None)),
        ("a\tN\tO\nb\tN\t\nc\tN\tO", {}, ("HW251", 2, 4)),
        ("a O\nbc\nd B-x", {}, ("HW251", 2, 3)),
        ("a\tO\nbc\t\nd\tB-x", {}, ("HW251", 2, 3)),
        ("a\tO\n\tO\nd\tB-x", {}, ("HW251", 2, None)),
        ("a\nb\n", {}, ("HW251", 1, None)),
        ("", {}, ("HW103", None, None)),
        ("-DOCSTART- O\n", {}, ("HW103", None, None)),
        ("word tag\n", {}, ("HW103", None, None)),
        ("word tag tag\na b c\n", {}, ("HW112", 1, None)),
        ("a N O\nb N O", {"tag_column": "ner"}, ("HW111", None, None)),
        ("a N O\nb N O", {"tag_column": "4"}, ("HW111", None, None)),
        ("a 2 O\nb 3 O", {"head_column": "2"}, ("HW255", 2, None)),
        ("a -1 O\nb x O", {"head_column": "2"}, ("HW255", 1, None)),
        ("a 0 O\nb 3 O\nc 2 O", {"head_column": "2"}, ("HW256", 2, None)),
        ("a 1 O\nb 0 O", {"head_column": "2"}, ("HW256", 1, None)),
        ("\n".join(f"t{i % 9} w{i}" for i in range(40)), {}, ("HW254", 1, None)),
    ],
)
def test_what_is_wrong_is_located(fails, text, options, where):
    assert fails(lambda: read(text, **options)[0]) == where


def test_messages_tell_what_was_expected():
    with pytest.raises(Exception, match=r"a:2: a row of 2 columns; expected 4: word pos chunk ner"):
        read("a N I-NP O\nb N\nc N B-NP I-x\nd N B-NP O")


def test_words_as_tags_are_believed_if_asked_for():
    text = "\n".join(f"t{i % 9} w{i}" for i in range(40))
    assert len(tokens(text, tag_column="2")[0]) == 40


def test_a_sentence_that_cannot_be_used_is_left_out():
    errors = []
    sentences, *_ = read("a O\nb B-x\n\nc O O\nd\n\ne O", report=errors.append)
    assert [s.tokens for s in sentences] == [("a", "b"), ("e",)]
    assert [(e.code, e.line) for e in errors] == [("HW250", 4)]


def test_without_labels():
    sentences, layout, _ = read("a\nb\n\nc\n", labelled=False)
    assert [(s.tokens, s.tags) for s in sentences] == [(("a", "b"), ()), (("c",), ())]
    assert layout.tag is None
    sentences, *_ = read("a\tO\nb\t\n\nc\tO", labelled=False)
    assert [s.tags for s in sentences] == [(), ("O",)]
    assert read("a N\nb N", labelled=False, tag_column="ner")[0][0].tags == ()


def test_tags_before_a_column_without_any_are_chosen():
    text = "\n\n".join(f"1\tTom{n}\tB-PER\tO\n2\tran{n}\tO\tO" for n in range(5))
    assert read(text)[1].tag == 2


@pytest.mark.parametrize("mark", ["\t", " "])
def test_the_tag_before_the_word(mark):
    text = "O\tshow\nB-ACTOR\tTom\nI-ACTOR\tHanks\n\nO\tnow".replace("\t", mark)
    sentences, layout, _ = read(text)
    assert [(s.tokens, s.tags) for s in sentences] == [
        (("show", "Tom", "Hanks"), ("O", "B-ACTOR", "I-ACTOR")),
        (("now",), ("O",)),
    ]
    assert layout.names == ("tag", "word")
    assert recognise(list(enumerate(text.split("\n"), start=1)))


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_tokens_are_no_tokens(first):
    rows = [["Tom", "B-PER"], ["ran", "O"], ["off", "O"]]
    text = "\n\n".join(["\n".join(f"{n}\t{word}\t{tag}" for n, (word, tag) in enumerate(rows, first))] * 2)
    assert tokens(text)[0] == [("Tom", "B-PER"), ("ran", "O"), ("off", "O")]


@pytest.mark.parametrize("last", ["0.{n}1", "w{n}"])
def test_tags_before_confidences_or_lemmas(last):
    lines = [f"w{n} {'B-X' if n % 3 == 0 else 'O'} {last.format(n=n)}" for n in range(60)]
    blocks = "\n\n".join("\n".join(lines[n : n + 6]) for n in range(0, 60, 6))
    assert tokens(blocks)[0][:2] == [("w0", "B-X"), ("w1", "O")]


def test_a_column_of_one_value_in_each_sentence_is_not_that_of_the_tags():
    rows = [
        "".join(f"{n}\t{word}\t{tag}\t-\t{person}\n" for n, (word, tag) in enumerate(words, start=1))
        for words, person in (
            ([("Tom", "B-PER"), ("ran", "O")], "ann"),
            ([("Rome", "B-LOC"), ("is", "O"), ("far", "O")], "bob"),
        )
    ]
    assert tokens("\n".join(rows)) == [
        [("Tom", "B-PER"), ("ran", "O")],
        [("Rome", "B-LOC"), ("is", "O"), ("far", "O")],
    ]


@pytest.mark.parametrize("first", ["", "{n}\t"])
def test_columns_in_the_opposite_order(first):
    words = [("B-LOC", "B-NP", "NNP", "Oslo"), ("O", "B-VP", "VBZ", "is"), ("O", "B-ADJP", "JJ", "far")]
    sentence = "".join(first.format(n=n) + "\t".join(row) + "\n" for n, row in enumerate(words, start=1))
    sentence += first.format(n=4) + "O\tO\t.\t.\n"
    item = read("\n".join([sentence] * 3))[0][0]
    assert (item.tokens, item.tags) == (("Oslo", "is", "far", "."), ("B-LOC", "O", "O", "O"))
