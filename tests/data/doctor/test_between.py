from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.columns.text_columns import Columns
from headwise.data.doctor.check_registry import checks_of
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK


def dataset(path, pairs):
    examples = [Example(text, label, line) for line, (text, label) in enumerate(pairs, start=1)]
    return Dataset(examples, path, "csv", Columns("text", "label"))


def check_files(files):
    kind = ITEM_TYPES_BY_TASK["classify"]
    own = {role: CheckedFile(role, data, kind) for role, data in files.items()}
    checks = *checks_of(kind).across, *checks_of(kind.label_type).across
    return [found for check in checks for found in check(own)]


def test_shared_texts():
    train = dataset("a", [("One", "x"), ("two ", "y"), ("", "x")])
    test = dataset("b", [("three", "x"), ("one", "x"), (" TWO", "x"), ("two", "x"), ("", "x")])
    (found,) = check_files({"train": train, "test": test})
    assert (found.severity, found.code) == ("warning", "HW160")
    assert found.message == "2 distinct texts of test also in train (66.7% of its texts)"
    assert found.where == ("b:2", "b:3", "b:4")
    (found,) = check_files({"train": train, "train 2": test})
    assert found.severity == "info"


def test_texts_that_are_nearly_shared():
    review = "This is one of the best films that I have seen this year, and the actors are a joy to watch."
    train = dataset("a", [(review, "x"), ("so so", "y")])
    test = dataset("b", [(review, "x"), (f"{review} Go!", "x"), ("So, so!", "y"), ("something else", "x")])
    same, near = check_files({"train": train, "test": test})
    assert (same.severity, same.code, same.where) == ("warning", "HW160", ("b:1",))
    assert (near.severity, near.code, near.where) == ("warning", "HW160", ("b:2", "b:3"))
    assert near.message == "2 texts of test also in train but for a few words (50.0% of its texts)"


def test_strange_labels():
    train = dataset("a", [("1", "positive"), ("2", "negative")])
    more = dataset("a2", [("3", "neutral")])
    dev = dataset("b", [("4", "positve"), ("5", "neutral"), ("6", "positve"), ("7", "negative")])
    (found,) = check_files({"train": train, "train 2": more, "dev": dev})
    assert (found.severity, found.code, found.where) == ("error", "HW161", ("b:1", "b:3"))
    assert found.message == "2 texts of dev with the label 'positve', unseen in train"
    assert "'positive'" in found.fix
    assert list(check_files({"dev": dev})) == []


TEXTS = st.lists(st.sampled_from("abcdefgh").map(lambda text: (text, "x")), min_size=1)


@given(TEXTS, TEXTS)
@settings(max_examples=60, deadline=None)
def test_overlap_by_brute_force(train, test):
    files = {"train": dataset("a", train), "test": dataset("b", test)}
    found = [f.message for f in check_files(files)]
    shared = len({t for t in test if t in train})
    share = f"({100 * shared / len(set(test)):.1f}%"
    assert bool(found) == bool(shared)
    assert not found or (found[0].startswith(f"{shared} distinct") and share in found[0])
