"""Labels as numbers."""

import pytest

from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.errors import DataError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.items.numeric_labels import (
    look_like_scores,
    measured_labels_notes,
    parse_number,
    parse_numeric_labels,
    with_decimal_point,
)
from headwise.data.readers.labelled_files import read_examples


@pytest.mark.parametrize(
    ("label", "number"), [("3", 3), ("-1.5", -1.5), (" 2e3 ", 2000), ("+0", 0), (".5", 0.5)]
)
def test_numbers(label, number):
    assert parse_number(label) == number


@pytest.mark.parametrize(
    "label", [None, "", "good", "3,5", "nan", "inf", "-Infinity", "1e999", "1_000", "1e200"]
)
def test_no_numbers(label):
    assert parse_number(label) is None


def test_the_first_that_is_none_is_named():
    assert parse_numeric_labels(["1", "2.5"], [2, 3], "f.tsv").tolist() == [1, 2.5]
    with pytest.raises(DataError, match=r"f\.tsv:3: the label '2,5'.*write 3\.5 for 3,5") as raised:
        parse_numeric_labels(["1", "2,5"], [2, 3], "f.tsv")
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
        (["1,5", "2,5", "3"], True),  # decimal commas
        (["1.234,5", "-2,5", "3,0"], True),
        (["1,234.5", "2.5", "7"], True),
        (["1", "2", "3", "1,3"], False),  # sets of classes
        (["1,2", "2,3", "1,2,3"], False),
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
    read = ITEM_TYPES_BY_TASK["regress"].read(str(tmp_path / "f.csv"), on_error=lambda _: None)
    assert read.columns.label == label


def test_decimal_commas():
    labels = ["3,5", "-1.234,50", "3", "3.5", "1,2,3", "a,b", "1.23,4"]
    assert [with_decimal_point(label) for label in labels] == [
        "3.5",
        "-1234.50",
        None,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("row", ["{};{}\n", '{};"{}"\n'])
@pytest.mark.parametrize("name", ["score", "price"])
def test_a_column_with_decimal_commas_is_told_as_such(tmp_path, row, name):
    """And is not taken for one of several labels a text."""
    values = ["3,5", "1,0", "2" if name == "score" else "2,0", "1.000,25", "3,5"] * 5
    rows = [row.format(f"some words here {number}", value) for number, value in enumerate(values)]
    (tmp_path / "f.csv").write_text(f"text;{name}\n" + "".join(rows))
    path = str(tmp_path / "f.csv")
    assert infer_task(path, {})[0] == "regress"
    with pytest.raises(DataError, match=r"f\.csv:2: the label '3,5'; .*; write 3\.5 for 3,5"):
        ITEM_TYPES_BY_TASK["regress"].label_type.check(
            ITEM_TYPES_BY_TASK["regress"].read(path), ITEM_TYPES_BY_TASK["regress"].nouns
        )


@pytest.mark.parametrize(
    ("delimiter", "values", "numbers"),
    [
        (";", ["3,5", "-4", "0,25"], ["3.5", "-4", "0.25"]),
        (";", ["3,500", "2,5"], ["3.500", "2.5"]),
        (";", ["3,500", "2,250", "4"], None),  # perhaps thousands
        (";", ["3,5", "2.5"], None),
        (";", ["3,5", "n/a"], None),
        (";", ["3", "4"], None),
        (";", ["46%", "4%"], ["46", "4"]),
        ("\t", ["3,5", "4,25"], None),
        (";", ["1,234.5", "-12.5", "1,000,000", "7"], ["1234.5", "-12.5", "1000000", "7"]),
        ("\t", ["1,234.50", "999.00"], ["1234.50", "999.00"]),
        ("\t", ["1,234", "2,500"], None),  # perhaps decimals
        ("\t", ["1,234.5", "12,5.0"], None),
    ],
)
@pytest.mark.parametrize("texts", ["text", "sentence1|sentence2"])
def test_decimal_commas_of_files_with_semicolons(tmp_path, delimiter, values, numbers, texts):
    columns = texts.split("|")
    table = [
        [*columns, "score"],
        *([f"some words {n} of {c}" for c in columns] + [v] for n, v in enumerate(values)),
    ]
    (tmp_path / "f.csv").write_text("".join(delimiter.join(row) + "\n" for row in table))
    data = ITEM_TYPES_BY_TASK["pair-score" if columns[1:] else "regress"].read(str(tmp_path / "f.csv"))
    assert [item.label for item in data.items] == (numbers or values)
    assert any("are read as numbers" in note for note in data.notes) == (numbers is not None)


def test_pairs_with_decimal_commas(tmp_path):
    rows = "".join(f"a {n};b {n};{n % 5},{n % 7}\n" for n in range(30))
    (tmp_path / "f.csv").write_text("sentence1;sentence2;score\n" + rows)
    assert infer_task(str(tmp_path / "f.csv"), {})[0] == "pair-score"


def test_sets_of_numbered_classes_stay_sets(tmp_path):
    labels = ["27", "1", "1,27", "3", "3,27", "2", "1,2", "27", "27", "3"] * 4
    rows = "".join(f"words {n}\t{label}\n" for n, label in enumerate(labels))
    (tmp_path / "f.tsv").write_text("text\tlabels\n" + rows)
    assert infer_task(str(tmp_path / "f.tsv"), {})[0] == "multi-label"


@pytest.mark.parametrize("none", ["NA", "nan", "NULL", "#N/A", "inf", "-Infinity"])
def test_numbers_of_which_some_are_missing_are_no_classes(tmp_path, none):
    """Of R's and pandas' tables: each number would be a class of its own, and what is missing one more."""
    path = tmp_path / "f.csv"
    rows = [f"a text of some words,{n}.5" for n in range(9)]
    path.write_text("\n".join(["text,score", *rows, f"another one,{none}", ""]))
    assert infer_task(str(path), {})[0] == "regress"
    data = ITEM_TYPES_BY_TASK["regress"].read(str(path))
    lines = [item.line for item in data.items]
    with pytest.raises(DataError, match=r"HW287.*f:11.*empty cells .* --empty-labels skip"):
        parse_numeric_labels([item.label for item in data.items], lines, "f")
    assert not look_like_scores({none: 5, "nothing": 1, "1.5": 2})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([f"{n}%" for n in range(30)], "30 labels such as '0%'"),
        ([f"{n}.5 %" for n in range(3)], "3 labels such as '0.5 %'"),
        ([f"{n / 2}/10" for n in range(20)], "write '0.0' for '0.0/10'"),
        (["7/10", "8/10", "9/10", "10/10"], ""),
        ([*(f"{n}%" for n in range(30)), "none"], ""),
        ([], ""),
    ],
)
def test_percentages_and_marks_are_told(labels, message):
    notes = measured_labels_notes(labels)
    assert message in "".join(notes)
    assert bool(notes) == bool(message)
    if message:
        with pytest.raises(DataError, match=r"write 46 for 46%"):
            parse_numeric_labels(labels, range(1, 99), "f.tsv")


def test_percentages_of_a_file_are_told(write):
    path = write("f.csv", "text,score\n" + "".join(f"a text,{n}%\n" for n in range(30)))
    assert any("--task regress" in note for note in read_examples(path, SoftLabelOptions()).notes)


@pytest.mark.parametrize("sign", ["%", " %"])
def test_percentages_are_numbers(write, sign):
    path = write("f.csv", "text,score\n" + "".join(f"a text,{n}.5{sign}\n" for n in range(30)))
    assert infer_task(path, {})[0] == "regress"
    data = ITEM_TYPES_BY_TASK["regress"].read(path)
    assert [item.label for item in data.items[:2]] == ["0.5", "1.5"]
    assert f"percentages are read as numbers: '0.5{sign}' is 0.5" in data.notes
    mixed = write("g.csv", "text,score\na text,50%\na text,0.5\n")
    assert ITEM_TYPES_BY_TASK["regress"].read(mixed).items[0].label == "50%"  # which is an error
