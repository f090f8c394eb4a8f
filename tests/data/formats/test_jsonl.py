import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.formats.jsonl import read_records
from headwise.data.items.item_types import infer_task
from headwise.data.readers.labelled_files import read_examples, read_rows


def records(text, report=None, **options):
    source = DataSource("a.jsonl", ReadOptions(**options))
    if report is not None:
        source.report = report.append
    return list(read_records(enumerate(text.split("\n"), start=1), source))


@pytest.mark.parametrize(("value", "why"), [("9" * 5000, "too many digits"), ("[" * 10_000, "too deep")])
def test_json_that_python_does_not_read_says_why(write, value, why):
    with pytest.raises(DataError, match=f"HW115.*{why}"):
        read_examples(write("a.jsonl", f'{{"text": "a b", "label": {value}}}\n'))


def test_objects_and_blank_lines():
    text = '{"text": "a"}\r\n\n  \n{"text": "b", "n": [1]}'
    assert records(text) == [(1, {"text": "a"}), (4, {"text": "b", "n": [1]})]


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ('{"text": "a" "b"}', ("HW115", 2, 14)),
        ('{"text": "a"', ("HW115", 2, 13)),
        ('{"text": "a"} {}', ("HW115", 2, 15)),
        ("[" * 100_000, ("HW115", 2, None)),
        ('{"n": ' + "9" * 5000 + "}", ("HW115", 2, None)),
        ("[1]", ("HW116", 2, None)),
        ("3", ("HW116", 2, None)),
        ("null", ("HW116", 2, None)),
        (r'{"text": "\ud800"}', ("HW105", 2, None)),
    ],
)
def test_lines_that_cannot_be_used(fails, line, where):
    assert fails(records, '{"text": "a"}\n' + line) == where
    problems = []
    assert len(records(f'{line}\n{{"text": "a"}}', report=problems)) == 1
    assert len(problems) == 1


ROWS = [{"text": "a } b"}, {"text": "b", "n": [1, {"c": ["]", None]}]}, {}, {"text": "[d"}]


def test_objects_of_several_lines():
    indented = "\n".join(json.dumps(row, indent=2) for row in ROWS[:2])
    assert [(record.line, record.fields) for record in records(indented)] == [(1, ROWS[0]), (4, ROWS[1])]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "outer",
    [
        '{"version": 1, "data": ROWS}',
        '{"rasa_nlu_data": {"regex_features": [], "common_examples": ROWS, "entity_synonyms": []}}',
        '{"classes": ["a"], "annotations": ROWS}',
        '{"data": ROWS, "meta": {"result_count": 3}}',
        '{"metadata": {"language": "en"}, "assets": {"intents": [{"category": "x"}], "utterances": ROWS}}',
    ],
)
def test_a_list_within_an_object_holds_the_records(indent, outer):
    outer = outer.replace("ROWS", '[{"text": "a"}, null, ["b", {"cats": {}}]]')
    members = records(json.dumps(json.loads(outer), indent=indent))
    assert [record.fields["text"] for record in members] == ["a", "b"]


@pytest.mark.parametrize(
    "row", [{"text": "a", "annotations": [{"x": 1}]}, {"data": {"text": "a"}, "annotations": [{"x": 1}]}]
)
def test_a_single_object_with_a_list_is_a_record(row):
    assert [[*record.fields] for record in records(json.dumps(row))] == [[*row]]


def test_commas_behind_the_objects_of_lines_are_left_out(write):
    lines = "".join(f'{{"text": "a b {n}", "label": "{n % 2}"}},\n' for n in range(4))
    data = read_examples(write("a.jsonl", lines))
    assert [(item.line, item.label) for item in data.items] == [(1, "0"), (2, "1"), (3, "0"), (4, "1")]
    assert any("with a comma behind the object, which is left out: 4" in note for note in data.notes)


def test_objects_that_were_written_twice_are_read():
    assert records(json.dumps(json.dumps(ROWS[0]))) == [(1, ROWS[0])]
    assert records('"{not} one"') == [(1, {"text": "{not} one"})]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('callback([{"text": "a"}])', "keep only what is between the outermost brackets"),
        ('var rows = [{"text": "a"}];', "keep only what is between the outermost brackets"),
        ('\x1e{"text": "a"}', "tr -d '\\036'"),
        ("[\n// note\n{}]", "no comments"),
        ("{text: 'a'}", "double quotation marks"),
        ("{'text': 'a'}", "json.dumps"),
    ],
)
def test_what_is_nearly_json_is_named(text, advice):
    problems = []
    records(text, report=problems)
    assert problems[0].code == "HW115"
    assert advice in problems[0].advice


def test_an_invalid_first_line_leaves_the_others():
    problems = []
    good = '{"text": "b"}\n' * 2
    assert len(records('{"text": "a"\n' + good, report=problems)) == 2
    assert [(error.code, error.line) for error in problems] == [("HW115", 1)]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_an_array_of_objects(indent):
    text = json.dumps(ROWS, indent=indent)
    assert [record.fields for record in records(text)] == ROWS
    lines = [record.line for record in records(text.replace("\n", "\r\n") + "\n\n")]
    assert lines == {None: [1, 2, 3, 4], 0: [2, 5, 17, 18], 2: [2, 5, 17, 18]}[indent]
    assert [record.fields for record in records("[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]")] == ROWS
    assert [record.line for record in records(" \n\n" + text)] == [line + 2 for line in lines]


def test_no_two_objects_of_an_array_have_the_same_place():
    text = '[{"a": 1}, {"a": 2},\n{"a": 3}, {"a": 4},\n\n\n\n{"a": 5}]'
    assert [record.line for record in records(text)] == [1, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("text", "where", "good"),
    [
        ('[{"a": 1},\n{"a" 2},\n{"a": 3}]', ("HW115", 2, 6), 1),
        ('[{"a": 1},\n{"a": \n\n', ("HW115", 4, 1), 1),
        ('[{"a": 1},\n{"a": 2},', ("HW115", 2, None), 2),
        ('[{"a": 1}, 3, {"a": 2}]', ("HW116", 2, None), 2),
        ('[{"a": 1}, {"a": 2}, {"a" 2}]', ("HW115", 3, 6), 2),
        ('[{"a": 1},\n' + "[" * 100_000, ("HW115", 2, None), 1),
    ],
)
def test_arrays_that_cannot_be_used(fails, text, where, good):
    assert fails(records, text) == where
    problems = []
    assert len(records(text, report=problems)) == good
    assert len(problems) == 1


def test_half_surrogates_are_replaced_on_request():
    text = r'{"text": "a\ud800b", "n": 1, "ok": "\ud83d\ude00", "of": {"\udfff": ["\ud83d", 0.1]}}'
    replaced = records(text, encoding_errors="replace")
    assert replaced[0].fields == {"text": "a\ufffdb", "n": 1, "ok": "😀", "of": {"\ufffd": ["\ufffd", 0.1]}}


def test_values_as_text():
    assert list(map(as_text, ["a", 1, 1.5, True, None, [1, "ä"]])) == [
        "a", "1", "1.5", "true", "", '[1, "ä"]',
    ]  # fmt: skip


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none())), st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_json_writes_is_read_back(rows, ascii_only):
    lines = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows)
    assert [record.fields for record in records(lines)] == rows


def test_an_object_of_very_many_lines_takes_no_long_time(takes_under):
    inner = [f'{{"b": {number}}},' for number in range(40_000)]
    text = ["[", '{"text": "x", "label": "a", "more": [', *inner, '{"b": 1}]},', '{"text": "y"}', "]"]
    members = []

    def read():
        members[:] = read_records(iter(enumerate(text, 1)), DataSource(""))

    assert takes_under(5, read)
    assert [record.line for record in members] == [2, 40_004]


@pytest.mark.parametrize("more", [' {"text": "c", "label": "x"}', '\n[{"text": "c", "label": "x"}]'])
def test_more_text_after_an_array_is_an_error(write, fails, more):
    """Two exports put together read as the first alone."""
    path = write("a.json", '[{"text": "a", "label": "x"}, {"text": "b", "label": "y"}]\n' + more)
    assert fails(read_examples, path)[0] == "HW115"


def test_one_record_of_lists_is_no_frame(write):
    record = write("words.json", json.dumps({"tokens": ["Tom", "ran"], "ner_tags": ["B-PER", "O"]}))
    assert infer_task(record, {})[0] == "tag"


TWICE = '{"text": "a text of its own", "note": 1, "label": "x", "label": "y", "note": %s}\n'


def test_a_field_that_is_read_has_one_value(write):
    path = write("a.jsonl", TWICE % 1 * 9)
    with pytest.raises(DataError, match=r"HW112.*a\.jsonl:1: an object with two values of 'label'"):
        read_examples(path)
    assert len(read_examples(path, options=ReadOptions(label_column="note")).items) == 9


def test_a_field_of_two_values_that_is_not_read_is_told(write):
    rows = TWICE.replace('"label": "y"', '"label": "x"') % 2 * 9
    data = read_examples(write("a.jsonl", rows))
    assert "objects with two values of 'note', of which the last is read: 9" in data.notes


def test_the_records_are_the_list_of_objects_with_a_text(write):
    luis = {"name": "x", "culture": "en-us", "intents": [{"name": "go"}], "entities": []}
    luis["utterances"] = [{"text": f"a text of {n}", "intent": ["go", "stay"][n % 2]} for n in range(9)]
    data = read_examples(write("a.json", json.dumps(luis)))
    assert (len(data.items), {*data.labels}) == (9, {"go", "stay"})


TABLE = [["it is late", "a"], ["it is early", "b"], ["so it is", "a"], ["no, it is not", "b"]]


@pytest.mark.parametrize("header", [[], [["text", "label"]]])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_arrays_are_rows_of_a_table(write, name, header):
    rows = [*header, *TABLE]
    lines = "\n".join(map(json.dumps, rows))
    path = write(name, json.dumps(rows, indent=1) if name == "a.json" else lines)
    data = read_examples(path)
    assert [[item.text, item.label] for item in data.items] == TABLE
    assert (data.columns.text, data.columns.label) == (("text", "label") if header else ("1", "2"))


def test_an_array_of_another_length_is_told(write, fails):
    path = write("a.jsonl", "\n".join(map(json.dumps, [*TABLE, ["it is", "a", 3]])))
    assert fails(read_examples, path) == ("HW110", 5, None)


def test_lists_of_texts_in_a_record_are_named(write):
    turns = [{"id": str(n), "turns": [{"speaker": "a", "utterance": "it is late"}]} for n in range(5)]
    with pytest.raises(DataError, match=r"HW131.*'turns' may hold several texts in a record"):
        read_examples(write("a.jsonl", "\n".join(map(json.dumps, turns))))


def test_objects_may_share_a_line(write):
    path = write("a.jsonl", "".join(json.dumps({"text": text, "label": label}) for text, label in TABLE))
    assert [[item.text, item.label] for item in read_examples(path).items] == TABLE


def test_lines_of_json_may_be_named_csv(write):
    path = write("a.csv", "\n".join(json.dumps({"text": text, "label": label}) for text, label in TABLE))
    assert [[item.text, item.label] for item in read_examples(path).items] == TABLE


def test_python_is_no_json(write):
    path = write("a.jsonl", "\n".join(repr({"text": text, "label": label}) for text, label in TABLE))
    with pytest.raises(DataError, match=r"HW115.*json\.dumps"):
        read_examples(path)


def test_strings_are_texts_to_predict(write):
    lines = "\n".join(json.dumps(text) for text, _ in TABLE) + '\n"so \\"it\\" is\\nlate"'
    for name in ("a.jsonl", "a.txt"):
        texts = [row.item.text for row in read_rows(write(name, lines))]
        assert texts == [*(text for text, _ in TABLE), 'so "it" is\nlate']
    quoted = write("b.txt", '"text"\n"it is late"\n"so, it is"')
    assert [row.item.text for row in read_rows(quoted)] == ["it is late", "so, it is"]


@pytest.mark.parametrize("key", ["0", "[1]", "null"])
def test_a_key_that_is_no_string_is_told(write, fails, key):
    path = write("a.json", f'{{ {key}"texts": "a"}}')
    assert fails(read_examples, path)[0] == "HW115"
    assert infer_task(path, {})[0] == "classify"
