"""A file is opened once to find out what it is."""

import pytest

import headwise.data.archives as archives
from headwise.data.kinds import infer_task


@pytest.mark.parametrize(
    "text", ["text,label\na,b\nc,d\n", "premise,hypothesis,label\na,b,c\nd,e,f\n", "a\tO\nb\tB-x\n\nc\tO\n"]
)
def test_one_opening(write, monkeypatch, text):
    path = write("train.txt", text)
    opened = []
    plain = archives.read_lines
    monkeypatch.setattr(archives, "read_lines", lambda *given: opened.append(given[0]) or plain(*given))
    infer_task(path, {})
    assert opened == [path]


def test_a_member_of_a_zip(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("b.csv", "premise,hypothesis,label\na,b,c\nd,e,f\n")
        file.writestr("c.csv", "text,label\na,b\n")
    assert infer_task(f"{tmp_path}/a.zip!b.csv", {})[0] == "pair"
    assert infer_task(f"{tmp_path}/a.zip!c.csv", {})[0] == "classify"


def test_what_cannot_be_read_is_left_to_the_reader(tmp_path, write):
    assert infer_task(str(tmp_path / "none.csv"), {}) == ("classify", "")
    assert infer_task(write("a.csv", "a\0b\n"), {}) == ("classify", "")
    assert infer_task("-", {"first_column": "a"})[0] == "pair"
    assert infer_task("-", {}) == ("classify", "")


@pytest.mark.parametrize(
    ("reading", "task"),
    [
        ({"tag_column": "2"}, "tag"),
        ({"format": "conllu"}, "tag"),
        ({"bag_column": "id"}, "bags"),
        ({"format": "uci"}, "bags"),
        ({"label_columns": "2-3"}, "multi-label"),
        ({"label_separator": ";"}, "multi-label"),
    ],
)
def test_what_the_user_says_of_the_file(write, reading, task):
    found, why = infer_task(write("a.csv", "text,label\na,b\nc,d\n"), reading)
    assert found == task
    assert why
