import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.item_options import TagOptions
from headwise.data.formats.conll2012 import COLUMNS, recognise
from headwise.data.readers.tagged_files import read_tagged, tag_column

# document part number word pos parse lemma frame sense speaker names predicates... coreference
TEXT = """\
#begin document (nw/a/00); part 000
nw/a/00 0 0 Tom    NNP (TOP(S(NP* -   -  - - (PERSON*  (ARG0*  (0
nw/a/00 0 1 Sawyer NNP *)         -   -  - - *)        *)      0)
nw/a/00 0 2 left   VBD (VP*       leave 01 1 - *       (V*)    -
nw/a/00 0 3 #      NNP (NP*)))    -   -  - - (GPE)     (ARG1*) -

nw/a/00 0 0 #      SYM (TOP(NP*   -   -  - - *         -
nw/a/00 0 1 ten    CD  *))        -   -  - - (CARDINAL) (1)

#end document
#begin document (nw/a/00); part 001
nw/a/00 1 0 Yes    UH  (TOP*)     -   -  - - *         -
#end document
"""


def test_brackets_become_spans(write):
    data = read_tagged(write("a.v4_gold_conll", TEXT))
    assert (data.format, data.columns.tag, data.documents) == ("conll2012", "ner", (0, 2))
    assert [item.tokens for item in data.items] == [
        ("Tom", "Sawyer", "left", "#"),
        ("#", "ten"),
        ("Yes",),
    ]
    assert [item.tags for item in data.items] == [
        ("B-PERSON", "I-PERSON", "O", "B-GPE"),
        ("O", "B-CARDINAL"),
        ("O",),
    ]
    assert data.items[0].columns == {"pos": ("NNP", "NNP", "VBD", "NNP")}
    assert [item.line for item in data.items] == [2, 7, 12]


def test_parts_of_speech(write):
    data = read_tagged(write("a", TEXT), TagOptions(tag_column="pos"))
    assert data.items[1].tags == ("SYM", "CD")
    with pytest.raises(ConfigError, match="ner, pos"):
        tag_column("parse", COLUMNS, "CoNLL-2012")


def test_other_columns_are_not_recognised():
    rows = ["a DT I-NP O", "# comment", "", *["a"] * 3]
    assert recognise(list(enumerate(rows, 1))) is None


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("*         -\n#end", "*)        -\n#end", ("HW258", 12, None)),
        ("*)        *)      0)", "(ORG)     *)      0)", ("HW258", 3, None)),
        ("(CARDINAL) (1)", "(CARDINAL* (1)", ("HW258", 8, None)),
        ("- - (GPE)     (ARG1*) -", "", ("HW250", 5, None)),
    ],
)
def test_what_is_wrong_is_located(write, fails, old, new, where):
    assert old in TEXT
    assert fails(read_tagged, write("a", TEXT.replace(old, new))) == where
