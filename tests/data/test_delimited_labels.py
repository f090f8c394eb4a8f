"""Labels of lines and tables: one bad line, glued words, invisible characters, spellings of one value."""

import pytest

from headwise.core.text_normalization import without_invisible
from headwise.data.columns.reading_options import MultiLabelOptions
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.formats import FORMATS
from headwise.data.formats.label_text import labels_with_words
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.items.labels import training_spellings
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.pair_files import read_pairs

LINES = [f"{'garden' if n % 2 else 'kitchen'}\ttext of number {n}" for n in range(20)]


def read(path, **options):
    errors = []
    return read_examples(path, on_error=errors.append, **options), [(e.code, e.line) for e in errors]


@pytest.mark.parametrize("bad", [[3], [0], [2, 7, 11, 19]])
def test_lines_without_a_tab_are_named_and_change_no_other(write, bad):
    lines = [line.replace("\t", " ") if n in bad else line for n, line in enumerate(LINES)]
    data, errors = read(write("a.txt", "\n".join(lines) + "\n"))
    assert data.format == "label-text"
    assert set(data.labels) == {"garden", "kitchen"}
    assert errors == [("HW120", n + 1) for n in bad]


def test_a_line_that_does_not_begin_with_a_number_is_named(write):
    lines = [f"{n % 2} text of number {n}" for n in range(20)]
    lines[4] = "no number here"
    data, errors = read(write("a.txt", "\n".join(lines)))
    assert (set(data.labels), errors) == ({"0", "1"}, [("HW120", 5)])


def test_a_bad_tree_is_named(write):
    lines = [f"({n % 5} (2 a) (2 film))" for n in range(10)]
    lines[6] = "a film"
    data, errors = read(write("a.txt", "\n".join(lines)))
    assert (data.format, len(data.items), errors) == ("sst", 9, [("HW119", 7)])


def test_a_table_with_one_bad_row_is_a_table(write):
    rows = ["text,label", *(f"the film number {n},{'xy'[n % 2]}" for n in range(20))]
    rows[5] = "no label"
    data, errors = read(write("a.txt", "\n".join(rows)))
    assert (data.format, errors) == ("csv", [("HW110", 6)])
    data, errors = read(write("b.txt", "\n".join(rows).replace(",", "\t")))
    assert (data.format, errors) == ("tsv", [("HW110", 6)])


def test_a_blank_of_any_kind_ends_a_fasttext_label(write):
    text = "__label__a\tone text\n__label__b\u00a0another\n__label__a\u3000third\n__label__b\n"
    data, errors = read(write("a.txt", text))
    assert [(item.label, item.text) for item in data.items] == [
        ("a", "one text"),
        ("b", "another"),
        ("a", "third"),
        ("b", ""),
    ]
    assert not errors


def test_labels_of_fasttext_that_are_joined_are_an_error(write):
    text = "__label__a one\n__label__a,__label__b two\n__label__b three\n"
    for options in ({}, {"options": MultiLabelOptions()}):
        assert read(write("a.txt", text), **options)[1] == [("HW121", 2)]


@pytest.mark.parametrize("mark", [",", ";", ":", "|", ", "])
def test_words_that_are_glued_to_labels_are_told(write, mark):
    text = "\n".join(
        f"__label__{line}".replace("\ttext", f"{mark}{w}")
        for line, w in zip(LINES, "abcdefghijklmnopqrst", strict=True)
    )
    path = write("a.txt", text)
    assert any("first word" in note for note in read(path)[0].notes)
    assert "HW177" in [finding.code for finding in doctor_files([path]).findings]


def test_words_that_are_glued_to_labels_are_not_several_labels(write):
    words = ("oven", "knife", "my", "and")
    text = "".join(f"__label__{'ab'[n % 2]},{words[n // 2 % 4]} text number {n}\n" for n in range(24))
    codes = {finding.code for finding in doctor_files([write("a.txt", text)]).findings}
    assert codes & {"HW177", "HW186"} == {"HW177"}


@pytest.mark.parametrize(
    ("labels", "glued"),
    [
        ({"a": 9, "b": 9, "a,the": 1}, ["a,the"]),
        ({"a": 9, "b": 9, "athe": 1}, ["athe"]),
        ({"a,": 9, "b,": 9, ":|": 9}, ["a,", "b,"]),
        ({"sci:med": 90, "sci:space": 80, "sci:crypt": 85}, []),
        ({"a": 9, "b": 9, "c": 1}, []),
        ({"a": 1, "ab": 1}, []),
    ],
)
def test_what_is_glued(labels, glued):
    assert labels_with_words(labels) == glued


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("\u200bgarden", "garden"),
        ("garden\ufeff", "garden"),
        ("\u00a0garden \u00a0", "garden"),
        ("gar\u00adden", "garden"),
        ("my\u00a0garden", "my garden"),
        ("garden\u200d ", "garden"),
        ("\u0646\u0645\u06cc\u200c\u062e", "\u0646\u0645\u06cc\u200c\u062e"),
        ("a  b", "a  b"),
    ],
)
def test_invisible_characters_of_labels(written, label):
    assert without_invisible(written) == label


def test_labels_lose_invisible_characters_which_is_told(write):
    rows = "text,label\na,x\nb,\u200bx\nc,y \nd,y\n"
    data, _ = read(write("a.csv", rows))
    assert data.labels == {"x": 2, "y": 2}
    assert any(note.endswith("stripped from 2 labels") for note in data.notes)
    sets, _ = read(write("b.csv", "text,labels\na,x|\ufeffy\nb,y\n"), options=MultiLabelOptions())
    assert sets.labels == {"y": 2, "x": 1}
    pairs = read_pairs(write("c.csv", "sentence1,sentence2,label\na,b,x\u00a0\nc,d,x\n"))
    assert pairs.labels == {"x": 2}


def test_a_label_of_invisible_characters_alone_is_empty(write):
    assert read(write("a.csv", "text,label\na,x\nb,\u200b\n"))[1] == [("HW120", 3)]


def test_names_of_columns_lose_invisible_characters(write):
    data, _ = read(write("a.csv", "\u200btext,label\ufeff\na,x\nb,y\n"))
    assert (data.columns.text, data.columns.label) == ("text", "label")


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (["True", "true", "TRUE", "false", "False", "False"], {"TRUE": 3, "False": 3}),
        (["1", "1.0", "1", "0.0", "0", "0"], {"1": 3, "0": 3}),
        (["yes", "Yes", "yes", "no", "no", "NO"], {"yes": 3, "no": 3}),
    ],
)
def test_spellings_of_one_value_in_one_file_are_one_label(write, rows, labels):
    data, _ = read(write("a.csv", "text,label\n" + "".join(f"t{n},{row}\n" for n, row in enumerate(rows))))
    assert data.labels == labels
    assert any("of one value" in note for note in data.notes)


def test_evaluation_spells_truth_values_as_training():
    assert training_spellings(["true", "FALSE", "x"], ["True", "False"]) == {
        "true": "True",
        "FALSE": "False",
    }
    assert training_spellings(["true"], ["True", "TRUE"]) == {}


GAPS = ["text,garden,kitchen,bicycle", *(f"text {n},{n % 2},{(n + 1) % 2},{n % 3 % 2}" for n in range(20))]


@pytest.mark.parametrize("gap", ["", "-1", "nan", "\u200b"])
def test_columns_of_yes_and_no_with_gaps_are_labels_and_the_gaps_are_named(write, gap):
    rows = [row.rpartition(",")[0] + f",{gap}" if n in (3, 9) else row for n, row in enumerate(GAPS)]
    data, errors = read(write("a.csv", "\n".join(rows)), options=MultiLabelOptions())
    assert set(data.labels) == {"garden", "kitchen", "bicycle"}
    assert errors == [("HW124", 4), ("HW124", 10)]


def test_all_columns_of_labels_may_have_gaps(write):
    rows = [
        GAPS[0],
        *(f"text {n},{'' if n == 3 else n % 2},{'' if n == 8 else n % 3 % 2},{n % 2}" for n in range(20)),
    ]
    _, errors = read(write("a.csv", "\n".join(rows)), options=MultiLabelOptions())
    assert errors == [("HW124", 5), ("HW124", 10)]


def test_objects_of_objects_may_be_records():
    records = ['{"data": {"text": "a"}, "meta": {"label": "x"}}', '{"data": {"text": "b"}}']
    assert FORMATS["jsonl"].recognise(records)


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (("a#b", "b", "a", "b#c", "c", "a#c"), {"a", "b", "c"}),  # doccano
        (("<a><b>", "<b>", "<a>", "<b><c#>", "<c#>", "<a><c#>"), {"a", "b", "c#"}),  # Stack Overflow
        (("C#", "F#", "Java", "C#", "F#", "Java"), {"C#", "F#", "Java"}),
    ],
)
def test_label_sets_as_doccano_and_stack_overflow_write_them(write, cells, labels):
    rows = "".join(f"a text of number {n},{cells[n % 6]}\n" for n in range(30))
    path = write("a.csv", "text,label\n" + rows)
    task, _ = infer_task(path, {})
    assert task == ("classify" if "Java" in labels else "multi-label")
    assert {*ITEM_TYPES_BY_TASK[task].read(path).labels} == labels


def test_the_null_of_databases_is_no_label(write):
    lines = [f"{n}\ta text of number {n}\t{'xy'[n % 2]}\n" for n in range(20)]
    lines[4] = "4\ta text of number 4\t\\N\n"
    data, errors = read(write("a.tsv", "".join(lines)))
    assert ({*data.labels}, errors) == ({"x", "y"}, [("HW120", 5)])


@pytest.mark.parametrize("mark", ["\n", "/", " + ", "&"])
def test_other_separators_of_labels(write, mark):
    sets = [["a b"], ["c"], ["a b", "c"], ["c", "d e"], ["d e"], ["d e", "a b"]] * 5
    rows = [f'text of number {n},"{mark.join(labels)}"' for n, labels in enumerate(sets)]
    path = write("a.csv", "\n".join(["text,labels", *rows]))
    assert infer_task(path, {})[0] == "multi-label"
    data = ITEM_TYPES_BY_TASK["multi-label"].read(path)
    assert [[*item.labels] for item in data.items] == sets


def test_names_with_a_mark_in_them_are_one_label(write):
    names = ["Sci/Tech", "Food & Drink", "Arts+", "Sports"]
    rows = [f"text of number {n},{names[n % 4]}" for n in range(40)]
    assert infer_task(write("a.csv", "\n".join(["text,labels", *rows])), {})[0] == "classify"


def test_numbered_lines_without_letters_are_no_texts(write, fails):
    lines = [f"{n % 2} 1:0.{n} 3:1" for n in range(20)]
    assert fails(read_examples, write("a.txt", "\n".join(lines)))[0] == "HW104"
