"""Files are read by the columns that a model was trained on, where they have them."""

import io
import sys

import pytest

from headwise.app.model_columns import columns_used, label_column, reading_options_as_trained
from headwise.artifacts.model_info import ModelInfo
from headwise.core.config import from_dict
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.sentence_items import TaggedSentenceItems

CSV = "text,message,team,stars\nshort,a much longer text,a,1\nbrief,another longer text,b,2\n"
PAIRS = (
    "ask,reply,note,same\nwho is it,it is me,a note of it,yes\nwhere is it,it is here,a note of it,no\n"
    "what is it,it is a cat,another note,yes\nwhy is it,it is so,a last note,no\n"
)
CONLL = "A\tDT\tB-NP\tO\nTom\tNNP\tI-NP\tB-PER\n\nThe\tDT\tB-NP\tO\nAnn\tNNP\tI-NP\tB-PER\n\n"
HEADED = "token\tpos\tner\nA\tDT\tO\nTom\tNNP\tB-PER\n\nThe\tDT\tO\nAnn\tNNP\tB-PER\n\n"
ROWS = "sentence_id,w,pos,ner\n1,A,X,O\n1,b,Y,O\n"
LISTS = '{"words": ["A", "b"], "pos": ["X", "Y"], "ner": ["O", "B-PER"]}\n'
SPANS = '{"body": "Tom ran", "text": "t1", "marks": [[0, 3, "PER"]]}\n'


@pytest.fixture
def write(tmp_path):
    def write(text, name="new.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def info(columns=(), **said):
    """What a folder says of a model that was trained on columns, of which the user has named some."""
    return ModelInfo({"training": {"columns": dict(columns), "recipe": {"data": said}}})


def test_texts_and_labels_are_read_from_the_columns_of_the_training(write):
    kind, path = ITEM_TYPES_BY_TASK["classify"], write(CSV)
    known = info({"text_column": "message", "label_column": "team"})
    reading, told = reading_options_as_trained(kind, known, path, {})
    assert reading == {"text_column": "message", "label_column": "team"}
    assert told == (
        "columns as in training: text='message', label='team' - override with --text-column/--label-column",
    )
    data = kind.read(path, from_dict(kind.options, reading))
    assert [item.text for item in data.items] == ["a much longer text", "another longer text"]
    assert columns_used(data) == known["training"]["columns"]
    assert reading_options_as_trained(kind, known, path, {}, answers=False)[0] == {"text_column": "message"}
    assert label_column(known, ["Team", "b"]) == "Team"
    assert label_column(known, ["a", "b"]) is None


def test_texts_in_several_columns_are_known_by_the_names_of_all(write):
    kind, path = ITEM_TYPES_BY_TASK["classify"], write(CSV)
    known = info({"text_column": "Team+message", "label_column": "stars"})
    assert reading_options_as_trained(kind, known, path, {})[0] == {
        "text_column": "team+message",
        "label_column": "stars",
    }
    known = info({"text_column": "subject+message", "label_column": "stars"})
    assert reading_options_as_trained(kind, known, path, {})[0] == {"label_column": "stars"}
    joint = write(CSV.replace("text,", "subject+message,", 1))
    assert reading_options_as_trained(kind, known, joint, {}, answers=False)[0] == {
        "text_column": "subject+message"
    }


def test_what_the_user_says_goes_before_the_training(write):
    kind, path = ITEM_TYPES_BY_TASK["classify"], write(CSV)
    known = info({"text_column": "message", "label_column": "team"})
    assert reading_options_as_trained(kind, known, path, {"text_column": "text"})[0] == {
        "text_column": "text",
        "label_column": "team",
    }
    # No column is both.
    assert reading_options_as_trained(kind, known, path, {"text_column": "3"})[0] == {"text_column": "3"}
    soft = {"probability_columns": "team,stars"}
    assert reading_options_as_trained(kind, known, path, soft)[0] == {"text_column": "message"} | soft


def test_a_column_that_a_file_lacks_is_guessed(write):
    kind = ITEM_TYPES_BY_TASK["classify"]
    known = info({"text_column": "message", "label_column": "team"})
    for text, name in (
        ("text,label\nshort,a\n", "new.csv"),
        ("a text\nanother text\n", "new.txt"),
        ("a\tone text\nb\tother text\n", "new.txt"),
        ("", "new.csv"),
    ):
        assert reading_options_as_trained(kind, known, write(text, name), {}) == ({}, ())
    assert reading_options_as_trained(kind, known, "no such file", {}) == ({}, ())
    assert reading_options_as_trained(kind, known, write("Message,label\nshort,a\n"), {})[0] == {
        "text_column": "Message"
    }


def test_columns_have_no_names_without_a_header(write):
    kind, path = ITEM_TYPES_BY_TASK["classify"], write("1,a,b text of words\n2,b,b text of more words\n")
    assert reading_options_as_trained(kind, info({"text_column": "2"}), path, {}) == ({}, ())
    # But what the user has said of one such file holds for others.
    assert reading_options_as_trained(kind, info({"text_column": "2"}, text_column="2"), path, {})[0] == {
        "text_column": "2"
    }
    named = info({"text_column": "2"}, text_column="2")
    assert reading_options_as_trained(kind, named, write(CSV), {}) == ({}, ())


def test_old_folders_name_what_the_user_said(write):
    kind, path = ITEM_TYPES_BY_TASK["classify"], write(CSV)
    old = ModelInfo({"training": {"recipe": {"data": {"text_column": "message", "encoding": "utf-8"}}}})
    assert reading_options_as_trained(kind, old, path, {})[0] == {"text_column": "message"}
    for strange in ({}, {"recipe": 1}, {"columns": {"text_column": 3}}, {"columns": []}):
        assert reading_options_as_trained(kind, ModelInfo({"training": strange}), path, {}) == ({}, ())


def test_fields_within_fields(write):
    kind = ITEM_TYPES_BY_TASK["classify"]
    path = write('{"text": "t", "data": {"body": "a text"}, "label": "a"}\n' * 3, "new.jsonl")
    reading, _ = reading_options_as_trained(kind, info({"text_column": "data.body"}), path, {})
    assert [row.item.text for row in kind.rows(path, from_dict(kind.options, reading))] == ["a text"] * 3


@pytest.mark.parametrize(("task", "labels"), [("multi-label", "team"), ("regress", "stars")])
def test_other_answers(write, task, labels):
    kind, path = ITEM_TYPES_BY_TASK[task], write(CSV)
    columns = {"text_column": "message", "label_column": labels}
    reading, _ = reading_options_as_trained(kind, info(columns), path, {})
    assert reading == columns
    assert columns_used(kind.read(path, from_dict(kind.options, reading))) == columns


def test_label_columns_take_the_place_of_a_label_column(write):
    known, own = info({"label_column": "team"}), {"label_columns": "stars"}
    assert reading_options_as_trained(ITEM_TYPES_BY_TASK["multi-label"], known, write(CSV), own) == (
        own,
        (),
    )


@pytest.mark.parametrize("task", ["pair", "pair-score"])
def test_pairs(write, task):
    kind, path = ITEM_TYPES_BY_TASK[task], write(PAIRS)
    columns = {"first_column": "reply", "second_column": "note", "label_column": "same"}
    reading, _ = reading_options_as_trained(kind, info(columns), path, {})
    assert reading == columns
    assert columns_used(kind.read(path, from_dict(kind.options, reading))) == columns
    assert reading_options_as_trained(kind, info(columns), path, {"first_column": "note"}, answers=False)[
        0
    ] == {"first_column": "note"}


@pytest.mark.parametrize(
    ("text", "form", "columns"),
    [
        (HEADED, "columns", {"tag_column": "pos", "token_column": "token"}),
        (CONLL, "columns", {"tag_column": "pos", "token_column": "word"}),
        (LISTS, "lists", {"tag_column": "pos", "token_column": "words"}),
        (SPANS, "spans", {"tag_column": "marks", "token_column": "body"}),
        (ROWS, "table", {"tag_column": "pos", "token_column": "w"}),
    ],
)
def test_tags(write, text, form, columns):
    kind, path, given = ITEM_TYPES_BY_TASK["tag"], write(text, "new.txt"), {"format": form}
    reading, _ = reading_options_as_trained(kind, info(columns), path, given)
    assert reading == columns | given
    used = columns_used(kind.read(path, from_dict(kind.options, reading)))
    assert used.items() >= columns.items()
    # Tags are not asked for where they are predicted.
    reading, _ = reading_options_as_trained(kind, info(used), path, given, answers=False)
    assert reading == {"token_column": columns["token_column"]} | given


def test_the_format_of_tags_is_guessed_first(write):
    kind, path = ITEM_TYPES_BY_TASK["tag"], write(CONLL, "new.txt")
    assert reading_options_as_trained(kind, info({"tag_column": "pos"}), path, {})[0] == {
        "tag_column": "pos"
    }
    assert reading_options_as_trained(kind, info({"token_column": "word"}), path, {}, answers=False)[0] == {
        "token_column": "word"
    }
    # CoNLL-U has no column of tokens to choose.
    path = write(
        "1\tA\ta\tDET\tDT\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n\n", "a.conllu"
    )
    known = info({"tag_column": "xpos", "token_column": "form"})
    assert reading_options_as_trained(kind, known, path, {})[0] == {"tag_column": "xpos"}


def test_texts_to_tag_are_read_from_the_column_that_spans_were_in(write):
    kind, path = ITEM_TYPES_BY_TASK["tag"], write('{"text": "t1", "body": "Tom ran"}\n' * 2, "new.jsonl")
    spans = from_dict(kind.options, {"token_column": "body", "tag_column": "marks", "format": "spans"})
    known = info(columns_used(kind.read(write(SPANS, "t.jsonl"), spans)))
    reading, _ = reading_options_as_trained(kind, known, path, {}, answers=False)
    assert reading == {"text_column": "body"}
    assert [row.item.text for row in TaggedSentenceItems().rows_to_predict(path, reading)] == [
        "Tom ran"
    ] * 2
    assert reading_options_as_trained(kind, known, path, {"token_column": "text"}, answers=False)[0] == {
        "token_column": "text"
    }


def test_bags(write):
    kind, path = ITEM_TYPES_BY_TASK["bags"], write("a,b,c,x,y\n1,p,q,.1,.2\n0,r,s,.3,.4\n")
    known = info({}, bag_column="c", label_column="a")
    assert reading_options_as_trained(kind, known, path, {})[0] == {"bag_column": "c", "label_column": "a"}


def test_standard_input_is_looked_at_and_stays_to_be_read(monkeypatch):
    kind = ITEM_TYPES_BY_TASK["classify"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(CSV.encode()))))
    reading, told = reading_options_as_trained(
        kind, info({"text_column": "message"}), "-", {}, answers=False
    )
    assert reading == {"text_column": "message"}
    assert told
    rows = list(kind.rows("-", from_dict(kind.options, reading)))
    assert [row.item.text for row in rows] == ["a much longer text", "another longer text"]
