import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource
from headwise.data.formats.character_spans import tag_column
from headwise.data.formats.conllu_tags import COLUMNS, read_sentences

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
