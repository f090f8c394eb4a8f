import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.text_lines import LONGEST_LINE
from headwise.data.formats.data_frames import lines_of_frame
from headwise.data.readers.file_preview import read_preview
from headwise.data.readers.labelled_files import read_examples, read_rows
from headwise.data.readers.tagged_files import read_tagged

TEXTS = ["no sound since noon", 'a "quoted" é 😀 text', "", "two\nlines", "and one more"]
LABELS = ["b", "a", "b", "a", "a"]
KEYS = ["7", "3", "11", "0", "5"]


def column_objects(keys=KEYS):
    return {"text": dict(zip(keys, TEXTS, strict=True)), "label": dict(zip(keys, LABELS, strict=True))}


def row_objects(keys=KEYS):
    rows = ({"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True))
    return dict(zip(keys, rows, strict=True))


FRAMES = {
    "columns": column_objects(),
    "columns with names of rows": column_objects([f"row {key}" for key in KEYS]),
    "index": row_objects(),
    "index with names": row_objects([f"row {key}" for key in KEYS]),
    "split": {
        "columns": ["text", "label"],
        "index": KEYS,
        "data": [*zip(TEXTS, LABELS, strict=True)],
    },
    "table": {
        "schema": {"fields": [{"name": "index", "type": "integer"}, {"name": "text", "type": "string"}]},
        "data": [{"index": key, **row} for key, row in row_objects().items()],
    },
    "records": [*row_objects().values()],
    "list": {"text": TEXTS, "label": LABELS},
    "polars": {
        "columns": [
            {"name": "text", "datatype": "String", "values": TEXTS},
            {"name": "label", "datatype": "String", "values": LABELS},
        ]
    },
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("frame", FRAMES)
def test_every_way_to_write_a_frame_is_the_same_table(write, frame, indent):
    data = read_examples(write("a.json", json.dumps(FRAMES[frame], indent=indent) + "\n"))
    assert [(example.text, example.label) for example in data.items] == [*zip(TEXTS, LABELS, strict=True)]


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table", "records", "values"])
@pytest.mark.parametrize("indent", [None, 1])
def test_what_pandas_writes_is_read_as_pandas_has_it(write, orient, indent):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "label": LABELS}, index=range(4, 9))
    if orient == "values":
        frame = pandas.concat([frame] * 3)
    data = read_examples(write("a.json", frame.to_json(orient=orient, indent=indent)))
    assert [(item.text, item.label) for item in data.items] == [*zip(frame.text, frame.label, strict=True)]


def test_columns_without_usual_names_and_with_numbers_for_names_are_columns(write):
    for names in (("a", "b"), ("0", "1")):
        frame = dict(zip(names, column_objects().values(), strict=True))
        data = read_examples(write("a.json", json.dumps(frame)))
        assert [example.text for example in data.items] == TEXTS


def test_a_null_is_an_empty_cell_and_other_columns_stay(write):
    frame = column_objects() | {"score": dict.fromkeys(KEYS, 1.5)}
    frame["text"]["7"] = None
    rows = [*read_rows(write("a.json", json.dumps(frame)))]
    assert rows[0].fields == {"text": None, "label": "b", "score": 1.5}
    assert [row.item.text for row in rows] == ["", *TEXTS[1:]]
    assert [row.line for row in rows] == [1, 2, 3, 4, 5]


def test_json_that_was_written_twice_is_read_as_what_it_holds(write):
    for inner in (
        json.dumps(column_objects()),
        json.dumps([*row_objects().values()]),
        "\n".join(map(json.dumps, row_objects().values())),
    ):
        data = read_examples(write("a.json", json.dumps(inner)))
        assert [example.text for example in data.items] == TEXTS


def test_a_series_of_texts_is_predicted(write):
    path = write("a.json", json.dumps({str(n): text for n, text in enumerate(TEXTS)}))
    assert [row.item.text for row in read_rows(path)] == TEXTS


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("labels", [("bill", "late"), (0, 1), (True, False)])
def test_an_object_of_texts_and_their_labels_is_a_table(write, labels, indent):
    rows = {f"one {number} more \\text": labels[number % 2] for number in range(6)}
    data = read_examples(write("a.json", json.dumps(rows, indent=indent)))
    assert [example.text for example in data.items] == [*rows]
    assert [example.label for example in data.items] == [
        json.dumps(label).strip('"') for label in rows.values()
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_column_without_a_cell_for_a_row_is_named(write, fails, indent):
    frame = column_objects()
    del frame["label"]["11"]
    path = write("a.json", json.dumps(frame, indent=indent))
    assert fails(read_examples, path)[0] == "HW117"
    with pytest.raises(Exception, match="column 'label' has no cell for the row '11'"):
        read_examples(path)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"text": TEXTS, "label": LABELS[1:]}, "HW117"),
        ({"columns": ["text", "label"], "data": [["a", "b"], ["a", "b", "c"]]}, "HW110"),
        ({"columns": ["text", "label", "label"], "data": [["a", "b", "c"]] * 4}, "HW112"),
        ({"k1": {"u": "a b", "v": "c"}, "k2": {"u": "d e", "v": "f"}}, "HW116"),
    ],
)
def test_frames_that_do_not_fit_are_errors(write, fails, frame, code):
    assert fails(read_examples, write("a.json", json.dumps(frame)))[0] == code


def test_records_of_values_of_several_kinds_are_rows_whatever_their_names(write):
    rows = {f"{n}_post": {"u": f"{n}", "v": [], "w": f"it is post {n}"} for n in range(9)}
    options = ReadOptions(text_column="w", label_column="u")
    data = read_examples(write("a.json", json.dumps(rows)), options)
    assert [(item.text, item.label) for item in data.items][8] == ("it is post 8", "8")


def test_a_frame_that_is_cut_short_is_invalid_json(write, fails):
    for indent in (None, 2):
        document = json.dumps(column_objects(), indent=indent)
        assert fails(read_examples, write("a.json", document[:-20]))[0] == "HW115"


def test_an_indented_frame_that_is_too_large_says_how_to_write_it(fails, monkeypatch):
    monkeypatch.setattr("headwise.data.formats.data_frames.LONGEST_LINE", 300)
    lines = json.dumps(column_objects([*map(str, range(5))]), indent=2).split("\n")
    long = [*lines[:3], *('    "9": "a long text",' for _ in range(99)), *lines[3:]]
    assert LONGEST_LINE > 300
    assert fails(lines_of_frame, enumerate(long, 1), "a.json", [])[0] == "HW116"


@pytest.mark.parametrize(
    "text",
    [
        '{"data": {"text": "a b", "label": "x"}, "meta": {"label": "y"}}\n{"data": {"text": "c"}}',
        '{"text": ["one text"], "label": ["x"]}\n{"text": ["one more"], "label": ["y"]}',
        '{"tokens": ["Tom", "ran"], "ner_tags": ["B-PER", "O"]}',
        '{"greet": ["hello there", "good day"], "bye": ["see you", "so long"]}',
        '{\n  "data": {\n    "text": "a"\n  }\n}\n{\n  "data": {\n    "text": "b"\n  }\n}',
        '\n\n"a text"\n"one more"\n',
        "text,label\na,b\n",
        '{"How was it today?": "good", "What did you buy?": "a lamp", "And why then?": "dark"}\n{"a": 1}',
        '{"What is the text?": "one text", "What is its label?": "x", "Who gave it?": "me"}',
        '{"text": "a", "label": "b"}',
        "",
    ],
)
def test_other_files_pass_unchanged(text):
    notes = []
    lines = [*enumerate(text.split("\n"), start=1)]
    assert [*lines_of_frame(iter(lines), "a.json", notes)] == lines
    assert not notes


def test_the_rows_of_a_frame_are_looked_at_before_its_columns_end(write):
    """A guess from the first lines of an indented file would see the first column alone."""
    keys = [*map(str, range(5000))]
    frame = {"text": dict.fromkeys(keys, "a text of some words"), "label": dict.fromkeys(keys, "a")}
    head = read_preview(write("a.json", json.dumps(frame, indent=2)))
    assert json.loads(head.texts[0]) == {"text": "a text of some words", "label": "a"}


def test_taggers_read_frames_with_lists_and_with_spans(write):
    lists = {
        "tokens": {"0": ["Tom", "ran"], "1": ["Ann", "sat", "here"]},
        "ner_tags": {"0": ["B-PER", "O"], "1": ["B-PER", "O", "O"]},
    }
    spans = {
        "text": {"0": "Tom ran", "1": "Ann sat here"},
        "entities": {"0": [[0, 3, "PER"]], "1": [[0, 3, "PER"]]},
    }
    for frame in (lists, spans):
        data = read_tagged(write("a.json", json.dumps(frame)), TagOptions())
        assert [s.tokens for s in data.items] == [("Tom", "ran"), ("Ann", "sat", "here")]
        assert [s.tags for s in data.items] == [("B-PER", "O"), ("B-PER", "O", "O")]


def test_half_of_a_surrogate_pair_in_a_frame_is_an_error(write, fails):
    text = '{"text":{"0":"a \\ud83d","1":"b"},"label":{"0":"x","1":"y"}}'
    assert fails(read_examples, write("a.json", text)) == ("HW105", 1, None)
