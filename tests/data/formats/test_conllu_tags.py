import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.item_options import TagOptions
from headwise.data.errors import DataError
from headwise.data.formats.conllu_tags import COLUMNS, read_sentences
from headwise.data.readers.tagged_files import read_tagged, tag_column

TEXT = """\
# newdoc id = a
# text = Don't go du (là).
1-2	Don't	_	_	_	_	_	_	_	_
1	Do	do	AUX	VB	Mood=Imp	3	aux	_	_
2	n't	not	PART	RB	_	3	advmod	_	_
3	go	go	VERB	VB	_	0	root	_	_
4-5	du	_	_	_	_	_	_	_	_
4	de	de	ADP	P	_	5	case	_	_
5	le	le	DET	D	_	3	obl	_	_
6	(	(	PUNCT	_	_	7	punct	_	SpaceAfter=No
7	là	là	ADV	R	_	3	advmod	_	SpaceAfter=No
7.1	x	_	_	_	_	_	_	_	_
8	)	)	PUNCT	P	_	7	punct	_	SpaceAfter=No
9	.	.	PUNCT	P	_	3	punct	_	_

# text = something else
1	Yes	yes	INTJ	UH	_	0	root	_	_"""


def read(column="upos", text=TEXT, **options):
    lines = enumerate(text.split("\n"), start=1)
    options = {"labelled": True, **options}
    return list(read_sentences(iter(lines), DataSource("a"), column, **options))


def test_tags_heads_and_places():
    first, second = read()
    assert first.tokens == ("Do", "n't", "go", "de", "le", "(", "là", ")", ".")
    assert first.tags == ("AUX", "PART", "VERB", "ADP", "DET", "PUNCT", "ADV", "PUNCT", "PUNCT")
    assert first.parse == (3, 3, 0, 5, 3, 7, 3, 7, 3)
    assert (first.line, first.starts_document, second.starts_document) == (4, True, False)
    assert first.text == "Don't go du (là)."
    cut = [first.text[a:b] for a, b in first.spans]
    assert cut == ["Do", "n't", "go", "du", "du", "(", "là", ")", "."]
    assert set(first.columns) == {"xpos", "feats", "deprel", "lemma"}
    assert (second.text, second.spans) == (None, None)


def test_other_columns():
    assert read("deprel")[0].tags[:3] == ("aux", "advmod", "root")
    assert read("feats")[0].tags[:2] == ("Mood=Imp", "_")
    assert tag_column(None, COLUMNS, "CoNLL-U") == "upos"
    assert tag_column("XPOS", COLUMNS, "CoNLL-U") == "xpos"
    with pytest.raises(ConfigError, match="expected one of upos"):
        tag_column("misc", COLUMNS, "CoNLL-U")


def test_a_word_without_a_tag(fails):
    assert fails(read, "xpos") == ("HW251", 10, None)
    assert [s.tags for s in read("xpos", labelled=False)] == [(), ("UH",)]


NAMES = [
    [("Tom", "NER=B-PER"), ("ran", "NER=O|SpaceAfter=No"), (".", "_")],
    [("Ann", "SpaceAfter=Yes|NER=B-PER"), ("Lee", "NER=I-PER"), ("sat", "SpaceAfter=Yes")],
]
NAME_TAGS = [("B-PER", "O", "O"), ("B-PER", "I-PER", "O")]


def conllu_of(sentences, change=str):
    return "\n".join(
        "".join(
            f"{n}\t{word}\t_\tX\t_\t_\t{int(n > 1)}\t_\t_\t{change(misc)}\n"
            for n, (word, misc) in enumerate(sentence, 1)
        )
        for sentence in sentences
    )


def test_names_in_misc_are_the_tags_if_they_alone_mark_spans(tmp_path):
    (path := tmp_path / "a.conllu").write_text(conllu_of(NAMES))
    for options in (TagOptions(), TagOptions(tag_column="misc:ner")):
        data = read_tagged(path, options)
        assert [item.tags for item in data.items] == NAME_TAGS
        assert data.columns.tag == "misc:NER"
    assert {
        tag for item in read_tagged(path, TagOptions(tag_column="upos")).items for tag in item.tags
    } == {"X"}


def test_two_keys_with_such_tags_and_keys_without_are_not_guessed(tmp_path):
    path = tmp_path / "a.conllu"
    for change in (
        lambda misc: misc.replace("NER=B-PER", "NER=B-PER|NE=B-X"),
        lambda misc: misc.replace("NER=B-", "NER=").replace("NER=I-", "NER="),
    ):
        path.write_text(conllu_of(NAMES, change))
        assert read_tagged(path).columns.tag == "upos"
    plain = read_tagged(path, TagOptions(tag_column="misc:NER"))
    assert [item.tags for item in plain.items] == [("PER", "O", "O"), ("PER", "PER", "O")]


def test_a_key_that_is_not_in_misc_and_brackets_are_errors(tmp_path):
    (path := tmp_path / "a.conllu").write_text(
        conllu_of(NAMES, lambda misc: misc.replace("NER=B-PER", "NER=B-PER|Entity=(e1-person)"))
    )
    with pytest.raises(DataError, match=r"HW111.*no word has 'NE' in MISC; give one of misc:NER"):
        read_tagged(path, TagOptions(tag_column="misc:NE"))
    with pytest.raises(DataError, match=r"HW111.*'Entity' in MISC holds brackets of spans"):
        read_tagged(path, TagOptions(tag_column="misc:Entity"))
    with pytest.raises(ConfigError, match="or misc:KEY"):
        read_tagged(path, TagOptions(tag_column="ner"))
    assert len(read_tagged(path, TagOptions(tag_column="misc:NE"), labelled=False).items) == 2
