import csv
import gzip
import io
import itertools
import json
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.data import Example, ReadOptions, read_examples, read_rows
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.columns.text_columns import Columns
from headwise.data.errors import DataError
from headwise.data.items.label_types import SINGLE_LABEL_TYPE
from headwise.data.items.training_labels import check_label_names
from headwise.data.readers.pair_files import read_pairs


def test_rows_of_nothing_are_passed_over_where_they_cannot_be_learnt_from(write):
    path = write("f.csv", "text;label;\ngood one;a;\n;;\nbad one;b; \n; ;\n")
    data = read_examples(path)
    assert [(example.text, example.line) for example in data.items] == [("good one", 2), ("bad one", 4)]
    assert "blank lines passed over: 2" in data.notes
    assert [row.line for row in read_rows(path)] == [2, 3, 4, 5]


def test_rows_without_a_label_are_left_out_if_that_is_asked_for(write, fails):
    path = write("f.csv", "text,label\ngood one,a\nnot yet,\nbad one,b\n")
    assert fails(read_examples, path, SoftLabelOptions()) == ("HW120", 3, None)
    data = read_examples(path, SoftLabelOptions(empty_labels="skip"))
    assert [example.label for example in data.items] == ["a", "b"]
    assert (data.skipped, "texts without a label left out: 1" in data.notes) == (1, True)
    assert [row.line for row in read_rows(path, SoftLabelOptions(empty_labels="skip"))] == [2, 3, 4]


def test_equal_labels_are_one_object(write):
    data = read_examples(write("a.jsonl", '{"text": "Good film", "label": "positive"}\n' * 5))
    assert [example.label for example in data.items] == ["positive"] * 5
    assert len({id(example.label) for example in data.items}) == 1


def test_a_file_in_memory(write):
    data = read_examples(write("a.csv", "id,label,text\n1, b ,Good film \n2,a,\n\n3,b,x\n"))
    assert data.items == [
        Example("Good film ", "b", 2),
        Example("", "a", 3),
        Example("x", "b", 5),
    ]
    assert (data.format, data.columns, data.empty) == ("csv", Columns("text", "label"), 1)
    assert data.labels == {"b": 2, "a": 1}
    assert data.notes == (
        "format csv guessed from the suffix .csv - override with --format",
        "line 1 is a header - override with --no-header",
        "columns guessed: text='text', label='label' - override with --text-column/--label-column",
        "blank lines passed over: 1",
        "leading or trailing white space or invisible characters stripped from 1 label",
    )


def test_nothing_given_is_guessed_and_everything_given_is_not(write):
    options = ReadOptions("csv", "2", "1", header=False, delimiter=";")
    data = read_examples(write("a.txt", "a;b\nc;d\n"), options)
    assert data.notes == ()
    assert data.items[0] == Example("b", "a", 1)


def test_json_labels_are_their_json_text(write):
    lines = [{"text": t, "label": label} for t, label in zip("abcd", [1, True, 2.5, "x"], strict=True)]
    data = read_examples(write("a.jsonl", "\n".join(map(json.dumps, lines))))
    assert [example.label for example in data.items] == ["1", "true", "2.5", "x"]


def test_the_value_within_an_object_is_told(write):
    path = write("a.jsonl", '{"text": "a b", "label": {"id": "7", "name": "x"}}\n' * 4)
    with pytest.raises(DataError, match=r"--label-column, such as 'label\.name'"):
        read_examples(path)


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ('{"label": 1}', ("HW117", 2, None)),
        ('{"text": "a"}', ("HW117", 2, None)),
        ('{"text": 3, "label": 1}', ("HW118", 2, None)),
        ('{"text": NaN, "label": NaN}', ("HW120", 2, None)),
        ('{"text": "a", "label": null}', ("HW120", 2, None)),
        ('{"text": "a", "label": " "}', ("HW120", 2, None)),
        ('{"text": "a", "label": ["x", "y"]}', ("HW121", 2, None)),
    ],
)
def test_records_that_cannot_be_used(write, fails, line, where):
    path = write("a.jsonl", '{"text": "a", "label": 1}\n' + line)
    assert fails(read_examples, path) == where
    problems = []
    assert len(read_examples(path, on_error=problems.append).items) == 1
    assert problems[0].code == where[0]


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("a.csv", "text,label\nx,\n", ("HW120", 2, None)),
        ("a.csv", "text,label\n", ("HW113", 1, None)),
        ("a.csv", "\n\n", ("HW103", None, None)),
        ("a.csv", "text,label\na,b,c\n", ("HW110", 2, None)),
        ("a.tsv", "text\tlabel\nb\ta\n1\t2\t3\n", ("HW110", 3, None)),
        ("a.csv", 'text,label\n"a,b\n', ("HW114", 2, 1)),
        ("a.csv", "text,text\na,b\n", ("HW112", 1, None)),
        ("a.txt", "__label__ x\n__label__b y\n", ("HW120", 1, None)),
        ("a.txt", "__label__a x\ny\n__label__b z\n", ("HW120", 2, None)),
        ("a.txt", "(3 a)\n(4 (2 a) (2 b))\n(2 c))\n", ("HW119", 3, 6)),
        ("a.txt", "{}\n{\nx\n{}\n{}", ("HW115", 2, 2)),
        ("a.txt", "(3 a)\n(2 b)\nc\n", ("HW119", 3, 1)),
        ("a.txt", "just\nlines\n", ("HW130", None, None)),
        ("a.txt", "", ("HW103", None, None)),
    ],
)
def test_files_that_cannot_be_used(write, fails, name, text, where):
    assert fails(read_examples, write(name, text)) == where


def test_options_that_do_not_apply(write):
    path = write("a.txt", "1 a\n0 b\n")
    for wrong in (
        ReadOptions(format="label-txt"),
        ReadOptions(format="jsonl", delimiter=";"),
        ReadOptions(format="label-text", text_column="text"),
    ):
        with pytest.raises(ConfigError):
            read_examples(path, wrong)


def test_plain_text_has_no_labels(write):
    data = read_examples(write("a.txt", "a\n\nb\n"), ReadOptions(format="text"))
    assert [example.label for example in data.items] == [None, None, None]
    assert data.empty == 1


def test_neutral_trees_are_counted(write):
    path = write("a.txt", "(3 a)\n(2 b)\n(0 c)\n")
    data = read_examples(path, ReadOptions(sst_labels="binary"))
    assert (len(data.items), data.skipped) == (2, 1)
    assert data.notes[-1] == "neutral trees or phrases (label 2) left out: 1"


def test_null_is_an_empty_text_as_an_empty_cell_is_and_counted(write):
    path = write(
        "a.jsonl", '{"text": "a", "label": 1}\n{"text": null, "label": 1}\n{"text": NaN, "label": 2}\n'
    )
    data = read_examples(path)
    assert [(item.text, item.label) for item in data.items] == [("a", "1"), ("", "1"), ("", "2")]
    assert data.empty == 2
    assert data.notes[-1] == "texts that are null, read as empty ones: 2"
    assert [row.item.text for row in read_rows(path)] == ["a", "", ""]
    pairs = read_pairs(write("b.jsonl", '{"text1": "a", "text2": null, "label": 1}\n'))
    assert (pairs.items[0].second, pairs.empty) == ("", 1)
    assert pairs.notes[-1] == "texts that are null, read as empty ones: 1"


def test_rows_keep_all_fields_in_order(write):
    path = write("a.jsonl", '{"id": 7, "text": "a", "tags": ["x"]}\n{"text": "b", "id": null}\n')
    rows = read_rows(path)
    assert rows.columns == Columns("text")
    first, second = rows
    assert list(first.fields.items()) == [("id", 7), ("text", "a"), ("tags", ["x"])]
    assert (first.line, first.item.text, first.item.label) == (1, "a", None)
    assert list(second.fields) == ["text", "id"]


def test_rows_have_labels_where_there_are_some(write):
    rows = list(read_rows(write("a.csv", "text,label\na,x\nb, \n")))
    assert [row.item.label for row in rows] == ["x", None]
    options = ReadOptions(text_column="text", label_column="label")
    assert [row.item.label for row in read_rows(write("b.csv", "text\na\n"), options)] == [None]


def test_rows_of_plain_text(write):
    rows = list(read_rows(write("a.txt", "a, b\n\nc\n")))
    assert [(row.line, row.item.text) for row in rows] == [(1, "a, b"), (2, ""), (3, "c")]


def test_rows_come_while_a_pipe_is_still_open(monkeypatch):
    class Endless(io.RawIOBase):
        lines = itertools.count()

        def readable(self):
            return True

        def readinto(self, buffer):
            data = b"text %d\n" % next(self.lines)
            buffer[: len(data)] = data
            return len(data)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    rows = iter(read_rows("-", ReadOptions(format="text")))
    assert next(rows).item.text == "text 0"
    assert next(Endless.lines) < 5
    guessed = read_rows("-")
    assert guessed.format == "text"
    assert next(iter(guessed)).line == 1


def test_rows_take_constant_memory(write):
    line = '{"text": "a rather good film, all in all", "n": 1}\n'
    path = write("a.jsonl.gz", gzip.compress(line.encode() * 30_000, compresslevel=1))
    tracemalloc.start()
    assert sum(1 for _ in read_rows(path)) == 30_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_500_000


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt"])
def test_a_text_of_five_megabytes(write, name, takes_under):
    long = "word " * 1_000_000
    lines = {
        "a.csv": f'text,label\n"{long}",1\nb,0\n',
        "a.tsv": f"text\tlabel\n{long}\t1\nb\t0\n",
        "a.jsonl": f'{{"text": "{long}", "label": 1}}\n{{"text": "b", "label": 0}}\n',
        "a.txt": f"1 {long}\n0 b\n",
    }
    path = write(name, lines[name])
    results = []
    assert takes_under(5, lambda: results.append(read_examples(path)))
    assert [example.text for example in results[0].items] == [long, "b"]


def test_unknown_labels_are_located(write, fails):
    train = read_examples(write("train.csv", "text,label\na,positive\nb,negative\n"))
    dev = read_examples(write("dev.csv", "text,label\na,positive\nb,negatve\nc,?\n"))
    check_label_names(train.labels, train, train.path)
    assert fails(check_label_names, train.labels, dev, train.path) == ("HW140", 3, None)
    with pytest.raises(
        Exception, match=r"\(2 have such labels: 'negatve' \(1\), '\?' \(1\)\).*did you mean 'negative'\?"
    ):
        check_label_names(train.labels, dev, train.path)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0")) | st.sampled_from(
    ['"great', 'say ""hi""', "a\nb\r\nc", "a\x85b\u2028c", "😀", "", "\ufeff"]
)


@given(st.lists(st.tuples(TEXT, st.sampled_from(["pos", "neg", '"x"'])), min_size=1))
@settings(max_examples=80, deadline=None)
def test_csv_and_jsonl_files_round_trip(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("round")
    with open(folder / "a.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *pairs])
    rows = [json.dumps({"text": t, "label": label}, ensure_ascii=False) for t, label in pairs]
    (folder / "a.jsonl").write_text("\n".join(rows), encoding="utf-8", newline="")
    for path in folder.iterdir():
        options = ReadOptions(text_column="text", label_column="label", delimiter=None)
        read = read_examples(path, options).items
        assert [(example.text, example.label) for example in read] == pairs


@given(st.lists(st.tuples(TEXT, st.sampled_from(["pos", "neg"])), min_size=1))
@settings(max_examples=80, deadline=None)
def test_tsv_files_round_trip(tmp_path_factory, pairs):
    pairs = [(t.translate(dict.fromkeys(map(ord, "\t\r\n"), " ")), label) for t, label in pairs]
    path = tmp_path_factory.mktemp("round") / "a.tsv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, dialect="excel-tab").writerows([("text", "label"), *pairs])
    read = read_examples(path, ReadOptions(text_column="text", label_column="label")).items
    assert [(example.text, example.label) for example in read] == pairs


def test_a_field_that_is_missing_is_an_empty_label_too(write):
    rows = [{"text": "a", "label": "x"}, {"text": "b"}, {"text": "c", "label": None}]
    path = write("f.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=r"f.jsonl:2: no field 'label'.*--empty-labels skip leaves"):
        read_examples(path, SoftLabelOptions())
    assert [item.text for item in read_examples(path, SoftLabelOptions(empty_labels="skip")).items] == ["a"]


def test_whole_numbers_as_labels_are_told(write):
    rows = [f"text {n},{n % 6 + 1}" for n in range(30)]
    data = read_examples(write("f.csv", "\n".join(["text,stars", *rows, ""])))
    (note,) = SINGLE_LABEL_TYPE.training_notes(data.items, list(data.labels))
    assert "whole numbers, 1 to 6, read as classes; --task regress" in note
    assert (
        SINGLE_LABEL_TYPE.training_notes([], ["0", "1", "2"])
        == SINGLE_LABEL_TYPE.training_notes([], ["10", "2000", "30", "4"])
        == ()
    )
    assert (
        SINGLE_LABEL_TYPE.training_notes([], ["1", "2", "3", "4", "none"])
        == SINGLE_LABEL_TYPE.training_notes([], [])
        == ()
    )
    (test_path := Path(data.path).with_name("g.csv")).write_text("text,stars\nmore,7\n")
    with pytest.raises(DataError, match="--task regress"):
        SINGLE_LABEL_TYPE.check_against_train(data, read_examples(str(test_path)))


def test_words_with_tags_that_are_read_as_texts_are_told(write):
    words = "Ann B-PER\nsaw O\nBo B-PER\n\n" * 9
    rows = read_rows(write("a.txt", words))
    assert any("the lines look like words with tags" in note for note in rows.notes)
    assert any(note.startswith("format text guessed as no columns") for note in rows.notes)
    assert not any(
        "words with tags" in note for note in read_rows(write("b.txt", "a text\nanother\n")).notes
    )


def test_words_most_of_which_have_no_tag_are_no_texts_with_labels(write):
    words = "Ann\tPER\nsaw\t\nthe\t\nred\t\nold\t\nfox\t\n"
    with pytest.raises(DataError) as error:
        read_examples(write("a.txt", words * 9))
    assert error.value.code in ("HW130", "HW131")
