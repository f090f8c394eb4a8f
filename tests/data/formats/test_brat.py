"""Annotations of brat, with their texts beside them."""

import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.errors import DataError
from headwise.data.files.file_lists import check_labelled_folder
from headwise.data.files.label_folders import folder_lines
from headwise.data.items.item_types import infer_task
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.tagged_files import read_tagged

TEXT = "Ann sailed\nto New\nYork .\n\n\N{BICYCLE} Bo stayed ."
NOTES = "R1\tLives Arg1:T1 Arg2:T2\nE1\tSail:T1\n*\tEquiv T1 T2\n#1\tAnnotatorNotes T1\tsure\n"
SPANS = "T1\tPER 0 3\tAnn\nT2\tLOC 14 17;18 22\tNew York\nT3\tPER 28 30\tBo\n"


def test_spans_of_the_lines_of_a_text(write):
    write("a.txt", TEXT)
    path = write("a.ann", SPANS + NOTES)
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [(item.tokens, item.tags) for item in data.items] == [
        (("Ann", "sailed"), ("B-PER", "O")),
        (("to", "New", "York", "."), ("O", "B-LOC", "I-LOC", "O")),
        (("\N{BICYCLE}", "Bo", "stayed", "."), ("O", "B-PER", "O", "O")),
    ]
    assert data.items[1].text == "to New\nYork ."


def test_offsets_in_utf_16_are_converted(write):
    write("a.txt", TEXT)
    path = write("a.ann", SPANS.replace("28 30", "29 31"))
    assert read_tagged(path).entities == {"PER": 2, "LOC": 1}


def test_offsets_that_count_the_line_ends_of_windows_once_are_converted(write):
    """Brat itself counts so."""
    write("a.txt", TEXT.replace("\n", "\r\n"))
    data = read_tagged(write("a.ann", SPANS))
    assert data.entities == {"PER": 2, "LOC": 1}
    assert [item.tags for item in data.items][2] == ("O", "B-PER", "O", "O")


def test_a_folder_of_texts(write, tmp_path):
    for name in "ab":
        write(f"{name}.txt", TEXT)
        write(f"{name}.ann", SPANS if name == "a" else "")
    write("annotation.conf", "[entities]\n")
    assert infer_task(str(tmp_path), {})[0] == "tag"
    data = read_tagged(tmp_path)
    assert (len(data.items), data.entities) == (7, {"PER": 2, "LOC": 1})
    assert "texts without the field 'spans', which therefore have no spans: 4" in data.notes
    assert len(read_tagged(tmp_path, TagOptions(empty_labels="skip")).items) == 3


def test_the_texts_to_predict_of_a_folder_are_not_its_annotations(write, tmp_path):
    write("a.txt", TEXT)
    write("a.ann", SPANS)
    write("annotation.conf", "[entities]\n")
    assert [json.loads(line)["text"] for _, line in folder_lines(str(tmp_path))] == [TEXT]
    check_labelled_folder(str(tmp_path))  # which are as good as labels
    (tmp_path / "a.ann").unlink()
    assert len([*folder_lines(str(tmp_path))]) == 2
    with pytest.raises(DataError, match="a folder of files, which have no labels"):
        check_labelled_folder(str(tmp_path))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("T1\tPER 4 7\tAnn", "the span 4 to 7 is 'sai', beside it stands 'Ann'"),
        ("T1\tPER 40 99\t", "a span from 40 to 99"),
        ("T1\tPER 0 3;28 30\tAnn Bo", "a span in 2 pieces, 'Ann Bo'"),
        ("T1\tPER 0 3;28 30\t", "a span in 2 pieces, ''"),
        ("T1\tPER  0 3\tAnn", r"the span 'T1\\tPER  0 3\\tAnn'"),
    ],
)
def test_spans_that_cannot_be(write, line, problem):
    write("a.txt", TEXT)
    with pytest.raises(DataError, match=f"HW246.*{problem}") as caught:
        read_tagged(write("a.ann", f"T0\tPER 28 30\tBo\n{line}\n"))
    assert caught.value.line == 2


def test_annotations_without_a_text_or_for_another_task_get_advice(write):
    path = write("a.ann", SPANS)
    with pytest.raises(DataError, match=r"HW104.*put the text beside it"):
        read_tagged(path)
    write("a.txt", TEXT)
    with pytest.raises(DataError, match=r"HW104.*--task tag"):
        read_examples(path)


def test_what_is_wrong_in_a_folder_of_annotations_is_named(write, tmp_path):
    write("a.txt", "University of Oslo")
    path = write("a.ann", "T1\tORG 0 18\tUniversity of Oslo\nT2\tLOC 14 18\tOslo\n")
    assert infer_task(str(tmp_path), {})[0] == "tag"
    with pytest.raises(DataError, match="overlap, 'University of Oslo' and 'Oslo'") as error:
        read_tagged(str(tmp_path))
    assert (error.value.path, error.value.line) == (path, 2)


@pytest.mark.parametrize("name", ["b.txt", "b.ann"])
def test_folders_of_parts_or_of_annotations_are_no_labels(name, tmp_path):
    for part in ("train", "test"):
        (tmp_path / part).mkdir()
        (tmp_path / part / name).write_text("a text")
    with pytest.raises(DataError) as error:
        read_examples(str(tmp_path))
    assert error.value.code == "HW101"
