import gzip

import numpy as np
import pytest

from headwise.data.columns.item_options import BagOptions
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.readers.bags import read_bags

PLAIN = "1,a,0.5,-2\n1,a,1e3,7\n0,b,3,4\n1,a,0,0\n"


def shown(data):
    return [(bag.id, bag.label, bag.instances.tolist(), bag.line) for bag in data.items]


EXPECTED = [("a", "1", [[0.5, -2], [1000, 7], [0, 0]], 1), ("b", "0", [[3, 4]], 3)]


def test_label_bag_and_features(write):
    data = read_bags(write("a.csv", PLAIN))
    assert shown(data) == EXPECTED
    assert data.items[0].instances.dtype == np.float32
    assert (data.instances, data.labels, data.features) == (4, {"0": 1, "1": 1}, ("3", "4"))
    assert data.notes == (
        "format csv guessed from the first line - override with --format",
        "columns guessed: bag='2', label='1' - override with --bag-column/--label-column",
    )


def test_bytes_of_another_encoding(write, fails):
    path = write("a.csv", b"1,caf\xe9,2\n0,b,3\n")
    assert fails(read_bags, path) == ("HW105", 1, 6)
    assert read_bags(path, BagOptions(encoding_errors="replace")).items[0].id == "caf\ufffd"
    assert doctor_files([path], "bags").files[0].texts == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text.rstrip("\n"),
        lambda text: text.replace("\n", " \n").replace(",a", ", a"),
        lambda text: text.replace(",", ";"),
    ],
)
def test_line_ends_spaces_and_delimiters(write, change):
    assert shown(read_bags(write("a.csv", change(PLAIN)))) == EXPECTED


def test_a_header(write):
    data = read_bags(write("a.csv", "x1,bag_id,bag_label,x2\n5,a,yes,6\n7,b,no,8\n"))
    assert shown(data) == [("a", "yes", [[5, 6]], 2), ("b", "no", [[7, 8]], 3)]
    assert data.features == ("x1", "x2")


NUMBERED = "0,label,bag,1\n5,yes,a,6\n7,no,b,8\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (NUMBERED, {}),
        (
            NUMBERED.replace("bag", "who").replace("label", "what"),
            {"bag_column": "who", "label_column": "what"},
        ),
    ],
)
def test_a_header_in_which_features_have_numbers(write, text, options):
    data = read_bags(write("a.csv", text), BagOptions(**options))
    assert shown(data) == [("a", "yes", [[5, 6]], 2), ("b", "no", [[7, 8]], 3)]
    assert data.features == ("0", "1")


@pytest.mark.parametrize("text", ["1,bag,0\n6,a,5\n8,b,7\n", "label,1,bag,0\n,6,a,5\n,8,b,7\n"])
def test_features_that_have_numbers_are_found_by_them(write, text):
    data = read_bags(write("a.csv", text), features=("0", "1"), labelled=False)
    assert [bag.instances.tolist() for bag in data.items] == [[[5, 6]], [[7, 8]]]


def test_bag_before_label(write):
    data = read_bags(write("a.csv", "7,1,0.5\n8,1,0.5\n9,0,0.5\n7,1,2\n"))
    assert [(bag.id, bag.label, len(bag.instances)) for bag in data.items] == [
        ("7", "1", 2),
        ("8", "1", 1),
        ("9", "0", 1),
    ]


def test_chosen_columns(write):
    options = BagOptions("csv", bag_column="3", label_column="1", header=False)
    data = read_bags(write("a.csv", "1,5,a\n0,6,b\n"), options)
    assert shown(data) == [("a", "1", [[5]], 1), ("b", "0", [[6]], 2)]
    assert data.notes == ()


def test_uci(write):
    text = "\nMUSK-1,1_1+1,42,-198,1.\nMUSK-1,1_1+2,43,-1,1.\nNON-MUSK-2,2_1+1,4,5,0.\n"
    data = read_bags(write("clean1.data.gz", gzip.compress(text.encode())))
    assert (data.format, data.features) == ("uci", ("3", "4"))
    assert shown(data) == [
        ("MUSK-1", "1", [[42, -198], [43, -1]], 2),
        ("NON-MUSK-2", "0", [[4, 5]], 4),
    ]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("1,a,0.5,x", "HW290"),
        ("1,a,nan,1", "HW290"),
        ("1,a,1,-inf", "HW290"),
        ("1,a,1e39,1", "HW290"),
        ("1,a,,1", "HW290"),
        ("1,a,1_0,1", "HW290"),
        ("1,a,1", "HW291"),
        ("1,a,1,2,3", "HW291"),
        ("0,a,1,2", "HW292"),
        ("1,,1,2", "HW293"),
        (",a,1,2", "HW120"),
    ],
)
def test_what_is_wrong_is_located_and_left_out(write, fails, row, code):
    path = write("a.csv", f"{PLAIN}{row}\n")
    assert fails(lambda: read_bags(path).items) == (code, 5, None)
    errors = []
    assert shown(read_bags(path, on_error=errors.append)) == EXPECTED
    assert [(e.code, e.line) for e in errors] == [(code, 5)]


def test_messages_name_the_other_line(write):
    with pytest.raises(Exception, match=r"the bag 'a' has the label '0' here and '1' in line 1"):
        read_bags(write("a.csv", PLAIN + "0,a,1,2"))


@pytest.mark.parametrize("text", ["bag,x,y\na,1,2\na,1,3\n", "id,x,z,kind\na,1,2,yes\na,2,3,yes\n"])
def test_errors_that_a_wrong_guess_may_have_made_name_it(write, text):
    with pytest.raises(Exception, match=r"columns guessed: bag=.* - override with --bag-column"):
        read_bags(write("a.csv", text))


@pytest.mark.parametrize("options", [{"bag_column": "id"}, {"label_column": "kind"}])
def test_a_column_that_is_named_is_not_guessed_for_the_other(write, options):
    path = write("a.csv", "id,x,z,kind\na,1,2,yes\na,2,3,yes\nb,4,5,no\n")
    data = read_bags(path, BagOptions(**options))
    assert shown(data) == [("a", "yes", [[1, 2], [2, 3]], 2), ("b", "no", [[4, 5]], 4)]


def test_labels_that_are_missed(write):
    with pytest.raises(Exception, match="no column but 'bag' and features; expected the label of a bag"):
        read_bags(write("a.csv", "bag,x,y\na,1,2\n"), features=LEARNED)


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        ("", {}, "HW103"),
        ("\n\n", {}, "HW103"),
        ("1,a\n0,b\n", {}, "HW293"),
        ("label,bag,x\n", {}, "HW113"),
        ("x,x,y\n1,2,3\n", {}, "HW112"),
        (PLAIN, {"bag_column": "5"}, "HW111"),
        (PLAIN, {"bag_column": "1"}, "HW293"),
    ],
)
def test_files_that_hold_no_bags(write, fails, text, options, code):
    path = write("a.csv", text)
    assert fails(lambda: read_bags(path, BagOptions(**options)).items)[0] == code


LEARNED = ("x", "y")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("bag,x,y\na,1,2\nb,3,4\n", {}),
        ("y,note,x,bag,label\n2,?,1,a,0\n4,?,3,b,1\n", {}),  # by name, whatever the order
        ("label,bag,x,y\n,a,1,2\n,b,3,4\n", {}),  # labels are not read
        ("molecule,x,y\na,1,2\nb,3,4\n", {}),
        ("x,y,molecule\n1,2,a\n3,4,b\n", {}),
        ("a,1,2\nb,3,4\n", {}),
        ("1,a,1,2\n0,b,3,4\n", {}),
        ("1,2,a\n3,4,b\n", {"bag_column": "3", "header": False}),
        ("a,1_1,1,2,1.\nb,1_1,3,4,0.\n", {}),  # UCI
    ],
)
def test_bags_to_predict(write, text, options):
    data = read_bags(write("a.csv", text), BagOptions(**options), features=LEARNED, labelled=False)
    assert [(bag.id, bag.label, bag.instances.tolist()) for bag in data.items] == [
        ("a", "", [[1, 2]]),
        ("b", "", [[3, 4]]),
    ]
    assert data.features == LEARNED


def test_features_of_a_model_in_a_labelled_file(write):
    text = "y,x,bag,label\n2,1,a,0\n4,3,b,1\n"
    data = read_bags(write("a.csv", text), features=LEARNED)
    assert shown(data) == [("a", "0", [[1, 2]], 2), ("b", "1", [[3, 4]], 3)]


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("bag,label,x,z\na,1,2,3\n", ("x", "y")),
        ("a,1,2,3,4,5\n", ("x", "y")),
        ("a,1,2\n", ("3", "4", "5")),
        ("x,y\n1,2\n", ("x", "y")),
    ],
)
@pytest.mark.parametrize("labelled", [True, False])
def test_files_that_do_not_fit_a_model(write, fails, text, features, labelled):
    path = write("a.csv", text)
    assert fails(lambda: read_bags(path, features=features, labelled=labelled).items)[0] == "HW293"
