"""Labels as numbers."""

import pytest

from headwise.data.errors import DataError
from headwise.data.kinds import KINDS
from headwise.data.numbers import look_like_scores, number_of, numbers_of


@pytest.mark.parametrize(
    ("label", "number"), [("3", 3), ("-1.5", -1.5), (" 2e3 ", 2000), ("+0", 0), (".5", 0.5)]
)
def test_numbers(label, number):
    assert number_of(label) == number


@pytest.mark.parametrize("label", [None, "", "good", "3,5", "nan", "inf", "-Infinity", "1e999", "1_000"])
def test_no_numbers(label):
    assert number_of(label) is None


def test_the_first_that_is_none_is_named():
    assert numbers_of(["1", "2.5"], [2, 3], "f.tsv").tolist() == [1, 2.5]
    with pytest.raises(DataError, match=r"f\.tsv:3: the label '2,5'.*write 3\.5 for 3,5") as raised:
        numbers_of(["1", "2,5"], [2, 3], "f.tsv")
    assert raised.value.code == "HW287"


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        (["1", "2", "3", "4", "5"], False),  # stars
        (["0", "1"], False),
        (["1.0", "2.0", "3.0"], False),
        (["1", "2", "2.5"], True),
        ([str(n) for n in range(100)], True),
        (["1", "2.5", "good"], False),
        ([], False),
    ],
)
def test_scores_or_classes(labels, scores):
    assert look_like_scores(dict.fromkeys(labels, 3)) is scores


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("id,text,score\n1,a b,1.5\n2,c d,n/a\n3,e f,2\n", "score"),  # one that is none changes nothing
        ("id,text,score\n1,a b,1/5\n2,c d,2/5\n3,e f,3/5\n", "score"),
        ("id,text,label,score\n1,a b,x,1.5\n2,c d,y,2.5\n", "score"),
        ("id,text,label,cm\n1,a b,x,-1.5\n2,c d,y,2.5\n", "cm"),
        ("text,label,id\na b,x,1\nc d,y,2\n", "label"),
        ("text,same,cm\na b,1.5,1.5\nc d,1.5,-2.5\n", "cm"),
        ("text,stars\na b,1\nc d,3\n", "stars"),
    ],
)
def test_the_column_of_numbers(tmp_path, text, label):
    (tmp_path / "f.csv").write_text(text)
    read = KINDS["regress"].read(str(tmp_path / "f.csv"), on_error=lambda _: None)
    assert read.columns.label == label
