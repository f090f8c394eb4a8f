"""Texts in several columns, which are joined."""

import pytest

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.columns.column_names import join_text_parts, joined_column_names
from headwise.data.columns.reading_options import MultiLabelOptions, ReadOptions
from headwise.data.readers.labelled_files import read_examples, read_rows

CSV = "Subject,body,queue,team\nhello,my screen is dark,a,x\n,no subject here,b,x\nbye, ,a,y\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="mails.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def texts(path, **options):
    return [item.text for item in read_examples(path, ReadOptions(label_column="queue", **options)).items]


@pytest.mark.parametrize("names", ["Subject+body", " subject + Body", "1+body", "1+2"])
def test_the_parts_stand_one_below_the_other(write, names):
    path = write(CSV)
    assert texts(path, text_column=names) == ["hello\nmy screen is dark", "no subject here", "bye"]
    data = read_examples(path, ReadOptions(text_column=names, label_column="queue"))
    assert data.columns.text == "Subject+body"
    assert texts(path, text_column=data.columns.text) == [item.text for item in data.items]
    assert texts(path, text_column="body+Subject")[0] == "my screen is dark\nhello"


def test_a_column_of_this_name_goes_before(write):
    path = write("a+b,a,b,queue\nwhole,x,y,q\nall,x,y,r\n")
    assert texts(path, text_column="A+B") == ["whole", "all"]


def test_files_without_a_header(write):
    path = write("hello,my screen is dark,a\nbye,the mouse is dead,b\n")
    data = read_examples(path, ReadOptions(text_column="1+2", label_column="3"))
    assert [item.text for item in data.items] == ["hello\nmy screen is dark", "bye\nthe mouse is dead"]


def test_json_with_objects_and_what_is_missing(write):
    path = write(
        '{"mail": {"subject": "hello", "body": "a b"}, "queue": "x"}\n'
        '{"mail": {"subject": null, "body": "c d"}, "queue": "y"}\n'
        '{"mail": {"body": "e f"}, "queue": "y"}\n',
        "mails.jsonl",
    )
    problems = []
    options = ReadOptions(text_column="mail.subject+mail.body", label_column="queue")
    data = read_examples(path, options, problems.append)
    assert [item.text for item in data.items] == ["hello\na b", "c d"]
    assert not any("null" in note for note in data.notes)
    assert ["mails.jsonl:3: no field 'mail.subject'" in str(error) for error in problems] == [True]


def test_parts_are_no_labels(write):
    rows = ["a,my screen is dark,x", "b,another mouse is dead,y", "a,so it is,x", "b,so it was,y"]
    path = write("\n".join(["subject,body,team", *rows]))
    data = read_examples(path, ReadOptions(text_column="subject+body"))
    assert data.columns.label == "team"
    with pytest.raises(ConfigError, match="name the same column"):
        read_examples(path, ReadOptions(text_column="subject+body", label_column="subject"))
    flags = write("urgent,body,spam,rude\n1,my screen is dark,0,1\n0,another mouse is dead,1,0\n")
    assert read_examples(flags, MultiLabelOptions(text_column="urgent+body")).columns.flags == (
        "spam",
        "rude",
    )


@pytest.mark.parametrize("names", ["subject+bodi", "subject+", "+", "subject++body"])
def test_a_part_that_is_not_there(write, names):
    with pytest.raises(HeadwiseError, match=r"HW111.*there is no column"):
        texts(write(CSV), text_column=names)


def test_a_column_twice(write):
    with pytest.raises(ConfigError, match="names the column 'Subject' twice"):
        texts(write(CSV), text_column="subject+body+1")


def test_predictions_get_no_further_column(write):
    rows = list(read_rows(write(CSV), ReadOptions(text_column="subject+body")))
    assert list(rows[0].fields) == ["Subject", "body", "queue", "team"]
    assert rows[1].item.text == "no subject here"


def test_names():
    assert joined_column_names("a") == ["a"]
    assert joined_column_names("a + b") == ["a", "b"]
    assert joined_column_names("C++", ["c++"]) == ["C++"]
    assert join_text_parts(["", " ", "x\n", "y"]) == "x\n\ny"
