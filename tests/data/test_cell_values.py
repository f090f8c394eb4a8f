"""Lists and objects in the cells of tables."""

import csv
import io

import pytest

from headwise.data.columns.cell_values import is_link, is_structured, parse_cell, parse_list_cell
from headwise.data.columns.reading_options import MultiLabelOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.labelled_files import read_examples


def table(*rows):
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['a', b'b']", ["a", "b"]),
        ("('a', 'b')", ["a", "b"]),
        ("{'b', 'a'}", ["a", "b"]),
        ("set()", []),
        ("frozenset({'a'})", ["a"]),
        ("['a' 'b']", ["a", "b"]),
        ("['a'\n 'b c']", ["a", "b c"]),
        ("['it  \\'s' \"b  c\"]", ["it  's", "b  c"]),
        ("array(['a', 'b'], dtype=object)", ["a", "b"]),
        ("array([], dtype=object)", []),
        ("[0 3 -1]", [0, 3, -1]),
        ("[None, 1, 2.5, True]", [None, 1, 2.5, True]),
        ("[('a', 1), [b'b']]", [["a", 1], ["b"]]),
        ("{'a': (1, 2), 3: {4}}", {"a": [1, 2], "3": [4]}),
        ("[np.str_('a'), np.int64(3)]", ["a", 3]),
        ("[]", []),
        ("{}", {}),
    ],
)
def test_literals_are_values_of_json(cell, value):
    assert parse_cell(cell) == value


@pytest.mark.parametrize(
    "cell",
    ["[nan]", "[b'\\xff']", "[...]", "[1j]", "(a)", "('a')", "[a, b", "a", "", "[" * 9000 + "]" * 9000],
)
def test_other_cells_are_unchanged(cell):
    assert parse_cell(cell) == cell


def test_choices_are_lists():
    assert parse_list_cell('{"choices": ["a", "b"]}') == ["a", "b"]
    assert parse_list_cell('{"choices": ["a"], "x": 1}') == '{"choices": ["a"], "x": 1}'


@pytest.mark.parametrize(
    ("cell", "structured", "link"),
    [
        ('{"pos": 3}', True, False),
        ("['a']", True, False),
        ("('a', 'b')", True, False),
        ("(1, 2)", False, False),
        ("[other]", False, False),
        ("['a', nan]", True, False),
        ("['a' of all]", False, False),
        ("https://example.org/a", False, True),
        ("see https://example.org", False, False),
    ],
)
def test_values_that_are_no_names(cell, structured, link):
    assert (is_structured(cell), is_link(cell)) == (structured, link)


@pytest.mark.parametrize("label", ['{"pos": 3, "neg": 1}', "[1, 2]", "{'a': 'b'}", "https://example.org/7"])
def test_structured_values_and_links_are_no_labels(write, fails, label):
    rows = [(f"a text of {n}", "xy"[n % 2]) for n in range(8)]
    path = write("a.csv", table(("text", "label"), *rows, ("one more", label)))
    assert fails(read_examples, path) == ("HW121", 10, None)


def test_several_choices_in_a_cell_are_a_label_set(write):
    cells = ["good", "bad", '{"choices": ["good", "bad"]}'] * 3
    path = write("a.csv", table(("text", "sentiment"), *((f"a text {n}", c) for n, c in enumerate(cells))))
    assert infer_task(path, {})[0] == "multi-label"
    data = ITEM_TYPES_BY_TASK["multi-label"].read(path)
    assert [item.labels for item in data.items[:3]] == [("good",), ("bad",), ("good", "bad")]


def test_the_words_of_a_text_are_no_labels(write, fails):
    texts = [f"a text about {n} boats" for n in range(6)]
    path = write("a.csv", table(("text", "label"), *((text, str(text.split())) for text in texts)))
    assert infer_task(path, {})[0] == "classify"
    assert fails(read_examples, path)[:2] == ("HW121", 2)
    rows = [(text, str(text.split()), str(["x", "xy"[n % 2]])) for n, text in enumerate(texts)]
    path = write("b.csv", table(("text", "words", "about"), *rows))
    assert infer_task(path, {})[0] == "multi-label"
    assert [*ITEM_TYPES_BY_TASK["multi-label"].read(path).labels] == ["x", "y"]


def test_arrays_of_postgresql_are_sets(write):
    rows = [("one text", '{film,"war film"}'), ("a text", "{film}"), ("no text", "{}")]
    path = write("a.csv", table(("text", "labels"), *rows * 4))
    assert infer_task(path, {})[0] == "multi-label"
    data = ITEM_TYPES_BY_TASK["multi-label"].read(path)
    assert [item.labels for item in data.items[:3]] == [("film", "war film"), ("film",), ()]


def test_bytes_in_lists_are_their_text(write):
    path = write("a.csv", table(("text", "labels"), *[(f"text {n}", "['a', b'b']") for n in range(4)]))
    assert {item.labels for item in ITEM_TYPES_BY_TASK["multi-label"].read(path).items} == {("a", "b")}


def test_a_label_in_bytes_is_its_text(write):
    labels = ["b'a'", 'b"b"', "b'no end", "a", "b"]
    path = write(
        "a.csv", table(("text", "label"), *((f"text {n}", label) for n, label in enumerate(labels)))
    )
    assert [item.label for item in read_examples(path).items] == ["a", "b", "b'no end", "a", "b"]


@pytest.mark.parametrize("mark", ["|", "; ", ","])
def test_words_in_brackets_are_sets_whatever_separates_them(write, mark):
    path = write("a.csv", table(("text", "labels"), *[("one", f"[a b{mark}c]"), ("two", "[c]")] * 4))
    assert infer_task(path, {})[0] == "multi-label"
    items = ITEM_TYPES_BY_TASK["multi-label"].read(path).items
    assert [item.labels for item in items[:2]] == [("a b", "c"), ("c",)]


@pytest.mark.parametrize(
    "cell", ["['a', None]", "[['a']]", "['a', b'\\xff']", "[nan]", "{'a': 1}", "['a', ...]"]
)
def test_lists_that_hold_no_labels_are_refused(write, fails, cell):
    rows = [(f"text {n}", "['a', 'b']") for n in range(6)]
    path = write("a.csv", table(("text", "labels"), *rows, ("more", cell)))
    read = ITEM_TYPES_BY_TASK["multi-label"].read
    assert fails(lambda: read(path, MultiLabelOptions()).items)[:2] == ("HW123", 8)


def test_lists_of_texts_that_do_not_recur_are_no_labels(write):
    rows = [(f"where is it {n}", str([f"it is number {n}", f"it is not {n}"])) for n in range(9)]
    assert infer_task(write("a.csv", table(("query", "pos"), *rows)), {})[0] == "classify"
    rows = [(query, str(["it is there", "it is here"][: n % 2 + 1])) for n, (query, _) in enumerate(rows)]
    assert infer_task(write("b.csv", table(("query", "pos"), *rows)), {})[0] == "multi-label"


def test_a_text_in_brackets_gives_no_warning_of_python(recwarn):
    assert parse_cell("[1or 2]") == "[1or 2]"
    assert not recwarn.list
