"""Files of texts with any number of labels."""

import json

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import MultiLabelOptions
from headwise.data.errors import DataError
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import separator_for
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.items.training_labels import check_label_names
from headwise.data.readers.labelled_files import read_examples


def check_known_in(train, data):
    check_label_names(train.labels, data, train.path)


def read_sets(path, options=None, *more, **arguments):
    return read_examples(path, options or MultiLabelOptions(), *more, **arguments)


def repeated(data):
    """Lines with a label twice or an empty place for one."""
    (finding,) = [candidate for candidate in data.findings if candidate.code == "HW169"]
    return tuple(int(place.rpartition(":")[2]) for place in finding.where)


def sets(data: Dataset) -> list[tuple[str, ...]]:
    return [example.labels for example in data.items]


CSV = "review,topics\ngood one,a|b\nbad one,\nlate one,b | a|b\nnone here,c\nmore of it,|c\n"


def test_a_table(write):
    data = read_sets(write("f.csv", CSV))
    assert sets(data) == [("a", "b"), (), ("b", "a"), ("c",), ("c",)]
    assert [example.line for example in data.items] == [2, 3, 4, 5, 6]
    assert {example.label for example in data.items} == {None}
    assert data.labels == {"a": 2, "b": 2, "c": 2}
    assert repeated(data) == (4, 6)
    assert any("texts without a label, which is an answer like others: 1" in note for note in data.notes)
    assert any("labels guessed to be in the column 'topics'" in note for note in data.notes)


def test_of_two_columns_with_equally_usual_names_the_first_is_read(write):
    rows = [
        ("good one", "a|b", "c|d"),
        ("bad one", "a", "d"),
        ("late one", "b|a", "c"),
        ("none", "b", "d|c"),
    ]
    table = "".join(f"{','.join(row)}\n" for row in [("review", "Tags (late)", "Tags (early)"), *rows])
    assert sets(read_sets(write("f.csv", table)))[0] == ("a", "b")


def test_another_separator(write):
    path = write("f.csv", CSV.replace("|", ";"))
    assert sets(read_sets(path, MultiLabelOptions(label_separator=" ; ")))[0] == ("a", "b")
    assert sets(read_sets(path))[0] == ("a;b",)  # a never stands without b
    with pytest.raises(ConfigError, match="label_separator"):
        MultiLabelOptions(label_separator="\t")


@pytest.mark.parametrize("mark", ["、", "，", "；", "،"])
def test_commas_of_other_scripts_separate_labels(write, mark):
    cells = ["good", f"good{mark}cheap", f"cheap{mark} late", "late"]
    rows = "".join(f"a text of number {n},{cells[n % 4]}\n" for n in range(20))
    path = write("f.csv", f"text,labels\n{rows}")
    assert infer_task(path, {})[0] == "multi-label"
    assert sets(read_sets(path))[:3] == [("good",), ("good", "cheap"), ("cheap", "late")]


ARXIV = ["cs.CL cs.LG", "cs.CL", "math.CO", "cs.LG stat.ML", "math.CO cs.DM", "cs.LG"]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("categories", ARXIV),
        ("Tags", ["c#", "c# asp.net", "asp.net", "java", "c++ java", "python-3.x", "python-3.x pandas"]),
        ("labels", ["garden kitchen", "kitchen", "bike garden", "bike", "garden"]),
        ("labels", ["2", "27", "2 27", "3 10", "10", "3"]),
    ],
)
def test_blanks_separate_labels_that_also_stand_alone(write, name, cells):
    rows = "".join(f"a text of number {n},{cells[n % len(cells)]}\n" for n in range(60))
    path = write("f.csv", f"text,{name}\n{rows}")
    assert infer_task(path, {})[0] == "multi-label"
    data = read_sets(path)
    assert data.items[2].labels == tuple(cells[2].split())
    assert {*data.labels} == {label for cell in cells for label in cell.split()}
    assert "labels are separated by ' ' - override with --label-separator" in data.notes


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("label", ["very positive", "positive", "neutral", "negative", "very negative"]),
        ("labels", ["very positive", "positive", "neutral", "negative", "very negative"]),
        ("category", ["home", "garden", "home garden", "kitchen"]),
        ("topics", ["real estate", "real madrid", "world news", "world cup"]),
    ],
)
def test_blanks_within_names_separate_nothing(write, name, cells):
    rows = "".join(f"a text of number {n},{cells[n % len(cells)]}\n" for n in range(60))
    path = write("f.csv", f"text,{name}\n{rows}")
    assert infer_task(path, {})[0] == "classify"
    assert {*read_examples(path).labels} == {*cells}


def test_labels_with_a_long_tail_are_separated(write):
    """Of labels most of which occur once, those that recur are most of what the cells hold."""
    cells = [f"{'abcd'[n % 4]}; {'abcd'[(n + 1 + n // 4) % 4]}; {'abcd'[n // 2 % 4]}" for n in range(40)]
    cells = [f"{cell}; rare {n}" if n % 4 == 0 else cell for n, cell in enumerate(cells)]
    path = write("f.csv", "text,speakers\n" + "".join(f"a text it is,{cell}\n" for cell in cells))
    assert infer_task(path, {})[0] == "multi-label"
    data = read_sets(path)
    assert set(data.labels) == {*"abcd", *(f"rare {n}" for n in range(0, 40, 4))}


def test_a_mark_that_does_not_separate_is_told(write):
    data = read_sets(write("f.csv", CSV.replace("|", ";")))
    advice = "labels are taken to hold ';' themselves - give --label-separator ';' if it separates them"
    assert advice in data.notes
    assert not [note for note in read_sets(write("g.csv", CSV)).notes if "themselves" in note]
    parted = write("h.csv", "text,tags\none text,a|b;c\nanother text,d|e\n")  # as it may be, `|` parts them
    assert sets(read_sets(parted)) == [("a", "b;c"), ("d", "e")]
    assert not [note for note in read_sets(parted).notes if "themselves" in note]


def test_a_separator_of_the_training_file_that_another_file_lacks_is_told(write):
    """A model whose labels came as lists knows of none but the usual one."""
    kind = ITEM_TYPES_BY_TASK["multi-label"]
    path = write("f.csv", "text,labels\none text,a; b\nanother text,b\n")
    data = kind.read(path, MultiLabelOptions(label_separator="|"))
    assert [note for note in data.notes if "--label-separator ';' if it separates them" in note]
    separated = kind.read(path, MultiLabelOptions(label_separator=";"))
    assert not [note for note in separated.notes if "separates them" in note]


def test_lists_in_jsonl(write):
    lines = (
        '{"text": "x", "id": "q|r", "tags": ["b|c", "a"]}\n'
        '{"text": "y", "id": "s|q", "tags": []}\n'
        '{"text": "z", "id": "r|s", "tags": [1, "a", "a", ""]}\n'
    )
    data = read_sets(write("f.jsonl", lines))
    assert sets(data) == [("b|c", "a"), (), ("1", "a")]
    assert data.columns.label == "tags"
    assert repeated(data) == (3,)
    assert separator_for(MultiLabelOptions(), list(data.labels)) == ";"
    assert separator_for(MultiLabelOptions(label_separator="|"), list(data.labels)) == "|"


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        ("null", "HW120", r"a null.*empty-labels skip"),
        ('["a", ["b"]]', "HW123", r"the label \[\"b\"\]; expected a text"),
        ('["a", null]', "HW123", "the label null"),
        ('{"a": 1}', "HW123", "the labels .*; expected a list of texts"),
    ],
)
def test_what_is_no_list_of_labels(write, value, code, message):
    lines = '{"text": "x", "labels": ["a"]}\n{"text": "y", "labels": ' + value + "}\n"
    path = write("f.jsonl", lines)
    with pytest.raises(DataError, match=message) as raised:
        read_sets(path, MultiLabelOptions(label_column="labels"))
    assert (raised.value.code, raised.value.line) == (code, 2)
    errors: list[DataError] = []
    assert len(read_sets(path, MultiLabelOptions(label_column="labels"), errors.append).items) == 1
    assert len(errors) == 1


def test_a_missing_field(write):
    path = write("f.jsonl", '{"text": "x", "labels": ["a"]}\n{"text": "y"}\n')
    with pytest.raises(DataError, match=r"f\.jsonl:2.*no field 'labels'"):
        read_sets(path)


@pytest.mark.parametrize("mark", [";", ","])
def test_other_separators_are_guessed_and_hold_for_other_files(write, mark):
    kind = ITEM_TYPES_BY_TASK["multi-label"]
    train = kind.read(write("f.tsv", "text\ttags\n" + SEVERAL.replace(",", "\t").replace("+", mark)))
    assert sets(train) == [("a", "b"), ("b", "c"), (), ("a", "c"), ("b",)]
    assert f"labels are separated by {mark!r} - override with --label-separator" in train.notes
    assert separator_for(MultiLabelOptions(), list(train.labels), kind.schema(train)[1]) == mark
    dev = kind.read(write("g.tsv", f"text\ttags\nsix\tb{mark}c\n"), schema=kind.schema(train))
    assert sets(dev) == [("b", "c")]


@pytest.mark.parametrize(
    "cells",
    [
        ["['a b', 'c']", "[]", '["it\'s"]'],  # as pandas writes lists
        ['["a b", "c"]', "[]", '["it\'s"]'],  # JSON
        ["['a b' 'c']", "[]", '["it\'s"]'],  # as pandas writes arrays of NumPy
        ["('a b', 'c')", "()", '("it\'s",)'],  # as pandas writes what MultiLabelBinarizer gives back
        ["{'c', 'a b'}", "set()", '{"it\'s"}'],
    ],
)
def test_lists_in_cells(write, cells):
    path = write("f.tsv", "text\tlabels\n" + "".join(f"some text\t{cell}\n" for cell in cells))
    assert sets(read_sets(path, MultiLabelOptions(label_separator="|"))) == [("a b", "c"), (), ("it's",)]
    odd = read_sets(write("h.tsv", "text\tlabels\nx\t('a', 'b')\ny\t(c)\nz\t('a')\nz\t('a',)\nz\t{[]}\n"))
    assert sets(odd) == [("a", "b"), ("(c)",), ("('a')",), ("a",), ("{[]}",)]


def test_fasttext(write):
    lines = "__label__a __label__b-c some\ttext\nno label here\n__label__a\t__label__a text\n__label__d\n"
    data = read_sets(write("f.txt", lines), MultiLabelOptions(format="fasttext"))
    assert sets(data) == [("a", "b-c"), (), ("a",), ("d",)]
    assert [example.text for example in data.items] == ["some\ttext", "no label here", "text", ""]


SEVERAL = "one,a+b\ntwo,b+c\nthree,\nfour,a+c\nfive,b\n"


@pytest.mark.parametrize(
    ("name", "content", "task"),
    [
        ("f.csv", CSV + "x,a\ny,c|b\n", "multi-label"),
        ("f.csv", "text,label\n" + "one,a|b\ntwo,c|d\nthree,e|f\n", "classify"),  # parts do not recur
        (
            "f.csv",
            "text,label\nsome text,a\nother text,b\nthird,a|b\nfourth,b\nfifth,a\n",
            "classify",
        ),  # once
        ("f.csv", "text,label\nsome | text,a\nother | text,b\nthird | text,a\nfourth,b\n", "classify"),
        ("f.csv", "text,label\nsome text,a\nother text,b\nthird,a\nfourth,b\nfifth,a\n", "classify"),
        ("f.csv", "text,tags\n" + SEVERAL.replace("+", ";"), "multi-label"),
        ("f.csv", "text;tags\n" + SEVERAL.replace(",", ";").replace("+", ", "), "multi-label"),
        ("f.csv", "text;tags\n" + "one;Toys, games\ntwo;Home, garden\nthree;Books\n" * 3, "classify"),
        ("f.csv", "text;city\n" + "one;Albany, NY\ntwo;Buffalo, NY\nthree;Troy, NY\n" * 3, "classify"),
        ("f.csv", "text;labels\none;['a', 'b']\ntwo;['b']\nthree;[]\nfour;['a']\n", "multi-label"),
        ("f.jsonl", '{"text": "x", "labels": ["a"]}\n{"text": "y", "labels": []}\n', "multi-label"),
        ("f.jsonl", '{"text": "x", "label": "a", "tags": ["a"]}\n' * 3, "classify"),
        ("f.jsonl", '{"text": "x", "label": "a"}\n{"text": "y", "label": "b"}\n', "classify"),
        ("f.txt", "__label__a one text\n__label__a __label__b two\n", "multi-label"),
        ("f.txt", "__label__a one text\n__label__b two\n", "classify"),
        (
            "f.tsv",
            "a|b\tone text it is\nb\ttwo texts\na\tthree of them\na|b\tfour of them\nb\tfive\n",
            "multi-label",
        ),
    ],
)
def test_the_task_of_a_file(write, name, content, task):
    inferred_task, why = infer_task(write(name, content), {})
    assert inferred_task == task, why
    assert bool(why) == (task == "multi-label")


def test_a_separator_that_is_named_says_it(write):
    assert infer_task(write("f.csv", "text,label\nx,a\n"), {"label_separator": ";"})[0] == "multi-label"
    inferred_task = infer_task(write("g.csv", CSV.replace("|", "/") + "x,a\n"), {})
    assert inferred_task == ("classify", "")


def test_sets_of_labels_are_seen_beside_a_column_that_could_be_one(write):
    """Who wrote a text recurs, too, and in every row, while most texts may have no label at all."""
    rows = [
        f"{n},u{n % 7},some words of text {n},{('', 'a', 'a;b', 'b;c', 'c')[n % 5]}\n" for n in range(60)
    ]
    path = write("f.csv", "id,user,comment,flags\n" + "".join(rows))
    assert infer_task(path, {}) == ("multi-label", "the labels are separated by ';' and recur")
    assert read_sets(path).labels == {"a": 24, "b": 24, "c": 24}
    assert infer_task(path, {"label_column": "user"})[0] == "classify"
    one = write("g.csv", "id,user,comment\n" + "".join(row[: row.rindex(",")] + "\n" for row in rows))
    assert infer_task(one, {})[0] == "classify"


def test_a_label_in_other_capitals_is_meant(write):
    train = read_sets(write("train.csv", "review,topics\nx,ab|c\ny,c|ab\n"))
    with pytest.raises(DataError, match=r"the label 'AB' does not occur .*did you mean 'ab'"):
        check_known_in(train, read_sets(write("test.csv", "review,topics\nx,AB|c\ny,c|AB\n")))


def test_unknown_labels(write):
    train = read_sets(write("train.csv", CSV))
    check_known_in(train, read_sets(write("dev.csv", "review,topics\nx,b|a\ny,c|a\nz,\n")))
    test = read_sets(write("test.csv", "review,topics\nx,b|a\ny,c|aa\nz,aa|b\n"))
    message = r"test\.csv:3: the label 'aa' does not occur in .*\(2 have such labels: .*did you mean 'a'"
    with pytest.raises(DataError, match=message) as raised:
        check_known_in(train, test)
    assert raised.value.code == "HW140"


def test_fingerprints_see_the_sets_but_not_their_order(write):
    one, two, three = (
        ITEM_TYPES_BY_TASK["multi-label"].fingerprint(
            read_sets(write(f"{n}.csv", "text,labels\nx y,b|a\nz,\n" + more)).items
        )
        for n, more in enumerate(["w,a|b\n", "w,b|a\n", "w,a\n"])
    )
    assert one == two
    assert one.sha256 != three.sha256
    assert (one.texts, one.labels, three.labels) == (3, {"a": 2, "b": 2}, {"a": 2, "b": 1})


@pytest.mark.parametrize(
    "text",
    [
        "text,labels,weight\na fine film,good|long,2\na film,,0.5\nanother film,good|long,1\n",
        "text,good,long,weight\na fine film,1,1,2\na film,0,0,0.5\nanother film,1,1,1\n",
        "text,good,long,weight\na fine film,1,1,2\na film,0,0,0.5\nanother film,1,0,2\n",
    ],
)
def test_how_much_texts_count(write, text):
    data = read_examples(write("f.csv", text), MultiLabelOptions())
    assert [item.weight for item in data.items[:2]] == [2, 0.5]
    assert [set(item.labels) for item in data.items[:2]] == [{"good", "long"}, set()]
    assert "weights of texts from the column 'weight' (--weight-column)" in data.notes
    plain = read_examples(
        write("f.csv", text), MultiLabelOptions(weight_column="none"), on_error=lambda _: None
    )
    assert {item.weight for item in plain.items} == {1}


def test_a_label_may_be_called_weight(write):
    path = write("f.csv", "text,sleep,weight\nI gained much,0,1\nI lie awake,1,0\nboth of them,1,1\n")
    data = read_examples(path, MultiLabelOptions())
    assert data.labels == {"sleep": 2, "weight": 2}
    assert {item.weight for item in data.items} == {1}
    weighted = read_examples(path, MultiLabelOptions(label_columns="sleep", weight_column="weight"))
    assert ([item.weight for item in weighted.items], weighted.labels) == ([1, 0, 1], {"sleep": 2})
    ticked = write("h.csv", "text,sleep,weight\nI gained much,,x\nI lie awake,x,\nboth of them,x,x\n")
    assert read_examples(ticked, MultiLabelOptions()).labels == {"sleep": 2, "weight": 2}
    restricted = read_examples(
        write("g.csv", "text,weight,sleep\nI lie,0,1\nx,1,1\n"),
        MultiLabelOptions(),
        training_labels=["weight"],
    )
    assert restricted.labels == {"weight": 1}


def test_offsets_of_spans_are_no_label_sets(write):
    rows = [f'the king is number {n},"[{n % 3}, {n % 3 + 1}]"' for n in range(20)]
    path = write("a.csv", "\n".join(["text,spans", *rows]))
    assert infer_task(path, {})[0] == "classify"


def test_empty_cells_beside_lists_do_not_hide_them(write):
    rows = [f"the king is number {n},{cell}" for n, cell in enumerate(["\"['a', 'b']\"", ""] * 10)]
    path = write("a.csv", "\n".join(["text,labels", *rows]))
    assert infer_task(path, {})[0] == "multi-label"


def test_words_in_brackets_are_lists(write):
    rows = 'a one,[x]\na two,"[x, y z]"\na three,[]\na four,"[y z, x]"\n'
    path = write("f.csv", f"text,labels\n{rows}")
    assert infer_task(path, {})[0] == "multi-label"
    assert sets(read_sets(path)) == [("x",), ("x", "y z"), (), ("y z", "x")]
    single = write("g.csv", "text,label\na one,[x]\na two,[y]\na three,[x]\na four,[y]\n")
    assert infer_task(single, {})[0] == "classify"  # names
    separated = write("h.csv", "text,labels\na,[x];[y]\nb,[x]\nc,[y]\nd,[x];[y]\ne,[y];[x]\n")
    assert sets(read_sets(separated, MultiLabelOptions(label_separator=";")))[:2] == [
        ("[x]", "[y]"),
        ("[x]",),
    ]


def test_objects_that_say_yes_or_no_are_sets(write):
    objects = ({"x": True, "y": False}, {"x": True, "y": True}, {"x": False, "y": False})
    rows = [json.dumps({"text": f"a text {n}", "labels": value}) for n, value in enumerate(objects)]
    path = write("f.jsonl", "\n".join(rows))
    assert infer_task(path, {})[0] == "multi-label"
    assert sets(read_sets(path)) == [("x",), ("x", "y"), ()]


@pytest.mark.parametrize("values", [(0, 1), (0.0, 1.0), (False, True)])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_vectors_of_zeros_and_ones_have_no_names(write, values, form):
    vectors = [[values[place == n % 3] for place in range(3)] for n in range(6)]
    rows = [{"text": f"a text of {n}", "labels": vector} for n, vector in enumerate(vectors)]
    lines = [json.dumps(row) for row in rows]
    if form == "csv":
        lines = ["text,labels", *(f'{row["text"]},"{row["labels"]}"' for row in rows)]
    path = write(f"f.{form}", "\n".join(lines))
    with pytest.raises(DataError, match="lists of 0 and 1 in 'labels'"):
        read_sets(path)


def test_sets_of_two_numbers_are_sets(write):
    rows = [{"text": f"a text of {n}", "labels": [[0, 1], [1, 0], [0, 2]][n % 3]} for n in range(6)]
    assert sets(read_sets(write("f.jsonl", "\n".join(map(json.dumps, rows)))))[0] == ("0", "1")
    rows = [{"text": f"a text of {n}", "labels": [[0, 1], [1], [0]][n % 3]} for n in range(6)]
    assert sets(read_sets(write("f.jsonl", "\n".join(map(json.dumps, rows)))))[0] == ("0", "1")


@pytest.mark.parametrize(
    "values",
    [
        [{"a": 1, "b": 0}, {"a": 1, "b": 1}, {"a": 0, "b": 0}],
        [[{"id": 1, "name": "a"}], [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], []],
    ],
)
def test_objects_name_labels(write, values):
    rows = [{"title": "x", "body": f"a text of {n}", "labels": values[n % 3]} for n in range(12)]
    path = write("f.jsonl", "\n".join(map(json.dumps, rows)))
    assert infer_task(path, {})[0] == "multi-label"
    assert sets(read_sets(path))[:3] == [("a",), ("a", "b"), ()]


def test_words_between_labels_are_no_labels(write):
    cells = ["food", "room", "food and room", "room and staff", "staff"] * 5
    rows = [f"a text of {n},{cell}" for n, cell in enumerate(cells)]
    assert infer_task(write("f.csv", "\n".join(["text,topics", *rows])), {})[0] == "classify"


def test_two_columns_of_lists_without_a_usual_name_are_asked_for(write):
    rows = [{"text": f"one text {n}", "people": ["a", "b"], "places": ["c"]} for n in range(6)]
    path = write("f.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(
        DataError, match=r"\[HW131\].*the column of labels cannot be guessed.*--label-column"
    ):
        read_examples(path, MultiLabelOptions())
    read_examples(path, MultiLabelOptions(label_column="places"))
    named = write("g.jsonl", "\n".join(json.dumps({**row, "labels": ["x"]}) for row in rows))
    assert read_examples(named, MultiLabelOptions()).columns.label == "labels"
