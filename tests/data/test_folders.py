"""A folder with a folder of texts for each label, or of texts."""

import gzip
from pathlib import Path

import pytest

from headwise.data import read_examples, read_rows
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task


@pytest.fixture
def folder(tmp_path):
    """Write the texts of a folder, by their names, and return its path."""

    def folder(**texts: bytes | str) -> str:
        for name, text in texts.items():
            path = tmp_path / "texts" / name.replace("_", "/").replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(tmp_path / "texts")

    return folder


def test_labels_are_the_names_of_folders(folder):
    path = folder(
        pos_b="good\r\nfilm\n", pos_a='"fine", I say', neg_1="\ufeffbad", neg_2=gzip.compress(b"poor")
    )
    folder(readme="no text", **{"neg_.hidden": "x"})
    assert infer_task(path, {})[0] == "classify"
    data = read_examples(path)
    assert [(item.label, item.text, item.line) for item in data.items] == [
        ("neg", "bad", 1),
        ("neg", "poor", 2),
        ("pos", '"fine", I say', 3),
        ("pos", "good\nfilm", 4),
    ]
    assert [row.fields["file"] for row in read_rows(path)] == ["neg/1", "neg/2", "pos/a", "pos/b"]
    assert doctor_files([path]).files[0].classes == (("neg", 2, 0.5), ("pos", 2, 0.5))


def test_new_texts_are_read_from_one_folder_in_a_folder(folder):
    rows = list(read_rows(folder(new_1="x", new_2="y\nz")))
    assert [(row.fields["file"], row.fields["text"]) for row in rows] == [("new/1", "x"), ("new/2", "y\nz")]


def test_new_texts_are_read_from_a_folder(folder):
    path = folder(b="x", a="y\nz", **{".hidden": "h"})
    rows = read_rows(path)
    assert [row.fields for row in rows] == [{"file": "a", "text": "y\nz"}, {"file": "b", "text": "x"}]
    assert (rows.columns.text, rows.columns.label) == ("text", None)
    assert "a folder of texts" in rows.notes
    assert [item.text for item in ITEM_TYPES_BY_TASK["masked-words"].read(path).items] == ["y\nz", "x"]
    tagged = ITEM_TYPES_BY_TASK["tag"].rows_to_predict(path, {})  # type: ignore[attr-defined]
    assert [row.item.text for row in tagged] == ["y\nz", "x"]


def test_pairs_are_not_read_from_folders(folder, fails):
    for path in (folder(a="one text", b="another"), folder(c_1="x")):
        for read in (ITEM_TYPES_BY_TASK["pair"].read, ITEM_TYPES_BY_TASK["pair"].rows):
            assert fails(read, path)[0] == "HW101"


def test_an_empty_text_is_an_empty_text(folder):
    assert [item.text for item in read_examples(folder(a_1="", b_1="x")).items] == ["", "x"]


def test_another_encoding_is_told_with_the_file(folder, fails):
    path = folder(a_1="x", b_1=b"a\nb\xe9")
    assert fails(read_examples, path) == ("HW105", 2, 2)
    with pytest.raises(Exception, match=r"texts/b/1:2:2"):
        read_examples(path)


@pytest.mark.parametrize(
    ("texts", "advice"),
    [
        (
            {"a": "x", "b": "y"},
            "no labels; give a file in it, or a folder with a folder of texts for each",
        ),
        ({"train_pos_1": "x", "test_pos_1": "y"}, "give .*texts/train, and .*texts/test with --test"),
        ({"a_b_c": "x", "d_1": "y"}, "texts/a has folders in it; expected texts"),
    ],
)
def test_other_folders_are_told(folder, texts, advice):
    path = folder(**texts)
    with pytest.raises(Exception, match=f"HW101.*{advice}"):
        ITEM_TYPES_BY_TASK["classify"].read(path)
    assert infer_task(path, {})[0] == "classify"


def test_tables_in_folders_are_no_texts(folder):
    path = folder(a_1="x")
    for name in ("a/1.csv", "a/2.json.gz", "a/3.csv"):
        (Path(path) / name).write_text("text,label")
    with pytest.raises(Exception, match=r"HW101.*a folder of tables.*give the files themselves.*a/\*\.csv"):
        read_examples(path)
    with pytest.raises(Exception, match="HW101"):
        list(read_rows(str(Path(path, "a"))))


def test_other_tasks_do_not_read_folders(folder, fails):
    path = folder(a_1="x", b_1="y")
    assert fails(ITEM_TYPES_BY_TASK["language-model"].prepare, [path], None)[0] == "HW101"
    assert fails(ITEM_TYPES_BY_TASK["tag"].read, path)[0] == "HW101"
