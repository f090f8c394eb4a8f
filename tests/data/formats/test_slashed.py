import pytest

from headwise.data.columns.file_source import DataSource
from headwise.data.errors import DataError
from headwise.data.formats.slashed_tags import is_spread, read_sentences, recognise
from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

PENN = """\
======================================

[ Pierre/NNP Vinken/NNP ]
,/,\x20
[ 61/CD years/NNS ]
old/JJ ./.

[ No./NN 1\\/2/CD ]
is/VBZ
[ J./. K./NNP ]
here/RB ./.
''/''
======================================
[ The/DT end/NN ]"""


def read(text, spread=False, report=None):
    lines = enumerate(text.split("\n"), start=1)
    source = DataSource("a", **({"report": report} if report else {}))
    return list(read_sentences(iter(lines), source, spread=spread))


def test_a_sentence_a_line():
    sentences = read("\tThe/at jury/nn 1/2/cd\r\n\n  \n//: a\x85b/x")
    assert [(s.tokens, s.tags, s.line) for s in sentences] == [
        (("The", "jury", "1/2"), ("at", "nn", "cd"), 1),
        (("/", "a\x85b"), (":", "x"), 4),
    ]


@pytest.mark.parametrize("mark", ["_", "|"])
def test_other_marks_before_the_tag(mark, tmp_path):
    path = tmp_path / "a.pos"
    path.write_text("The/DT e_mail/NN ran/VBD ./.\nAnn/NNP too/RB\n".replace("/", mark))
    assert infer_task(str(path), {})[0] == "tag"
    assert [(item.tokens, item.tags) for item in read_tagged(path).items] == [
        (("The", "e_mail", "ran", "."), ("DT", "NN", "VBD", ".")),
        (("Ann", "too"), ("NNP", "RB")),
    ]
    path.write_text(path.read_text() * 4 + f"The{mark}DT end\n")
    with pytest.raises(DataError, match=rf"HW257.*:9:8: 'end' without a '\{mark}'"):
        read_tagged(path)


@pytest.mark.parametrize(
    "row", ["user_1\tgroup_A", "user_1 item_22", "great|pos", "id_1|great|pos", "my_text my_label is_odd"]
)
def test_names_and_columns_with_these_marks_are_no_tags(row):
    assert recognise([*enumerate([row] * 4, start=1)]) is None


def test_sentences_spread_over_lines():
    sentences = read(PENN, spread=True)
    assert [(" ".join(s.tokens), s.line) for s in sentences] == [
        ("Pierre Vinken , 61 years old .", 3),
        ("No. 1\\/2 is J. K. here .", 8),
        ("''", 12),
        ("The end", 14),
    ]
    assert sentences[1].tags == ("NN", "CD", "VBZ", ".", "NNP", "RB", ".")
    assert is_spread(PENN.split("\n"))
    assert not is_spread(["The/at jury/nn", "a/b"])


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a/b\na/b c d/e", ("HW257", 2, 5)),
        ("a/b /c", ("HW257", 1, 5)),
        ("a/b cd/", ("HW251", 1, 7)),
    ],
)
def test_what_is_wrong_is_located(fails, text, where):
    assert fails(read, text) == where


def test_a_sentence_with_a_mistake_is_left_out():
    errors = []
    sentences = read("a/b c /d\nd/e\nf/", report=errors.append)
    assert [s.tokens for s in sentences] == [("d",)]
    assert [e.code for e in errors] == ["HW257", "HW251"]


@pytest.mark.parametrize(
    "row", ["{n}/1/2024,{label}", "https://x.org/a/index,{label}", "10/12/2024,{label}", "{n}/24"]
)
def test_dates_and_links_in_a_table_are_no_tags(row):
    lines = [row.format(n=n % 12 + 1, label=("garden", "kitchen")[n % 2]) for n in range(40)]
    assert recognise(list(enumerate(lines, start=1))) is None
