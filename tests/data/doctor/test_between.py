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
    checked_files = {role: CheckedFile(role, data, kind) for role, data in files.items()}
    checks = *checks_of(kind).across, *checks_of(kind.label_type).across
    return [finding for check in checks for finding in check(checked_files)]


def test_shared_texts():
    train = dataset("a", [("One", "x"), ("two ", "y"), ("", "x")])
    test = dataset("b", [("three", "x"), ("one", "x"), (" TWO", "x"), ("two", "x"), ("", "x")])
    (finding,) = check_files({"train": train, "test": test})
    assert (finding.severity, finding.code) == ("warning", "HW160")
    assert finding.message == "2 distinct texts of test also in train (66.7% of its texts)"
    assert finding.where == ("b:2", "b:3", "b:4")
    (finding,) = check_files({"train": train, "train 2": test})
    assert finding.severity == "info"


def test_texts_that_are_nearly_shared():
    review = "This is one of the best films that I have seen this year, and the actors are a joy to watch."
    train = dataset("a", [(review, "x"), ("so so", "y")])
    test = dataset("b", [(review, "x"), (f"{review} Go!", "x"), ("So, so!", "y"), ("something else", "x")])
    same, nearly_same = check_files({"train": train, "test": test})
    assert (same.severity, same.code, same.where) == ("warning", "HW160", ("b:1",))
    assert (nearly_same.severity, nearly_same.code, nearly_same.where) == (
        "warning",
        "HW160",
        ("b:2", "b:3"),
    )
    assert nearly_same.message == "2 texts of test also in train but for a few words (50.0% of its texts)"


def test_strange_labels():
    train = dataset("a", [("1", "positive"), ("2", "negative")])
    more = dataset("a2", [("3", "neutral")])
    dev = dataset("b", [("4", "positve"), ("5", "neutral"), ("6", "positve"), ("7", "negative")])
    (finding,) = check_files({"train": train, "train 2": more, "dev": dev})
    assert (finding.severity, finding.code, finding.where) == ("error", "HW161", ("b:1", "b:3"))
    assert finding.message == "2 texts of dev with the label 'positve', unseen in train"
    assert "'positive'" in finding.fix
    assert list(check_files({"dev": dev})) == []


TEXTS = st.lists(st.sampled_from("abcdefgh").map(lambda text: (text, "x")), min_size=1)


@given(TEXTS, TEXTS)
@settings(max_examples=60, deadline=None)
def test_overlap_by_brute_force(train, test):
    files = {"train": dataset("a", train), "test": dataset("b", test)}
    messages = [f.message for f in check_files(files)]
    shared = len({t for t in test if t in train})
    share = f"({100 * shared / len(set(test)):.1f}%"
    assert bool(messages) == bool(shared)
    assert not messages or (messages[0].startswith(f"{shared} distinct") and share in messages[0])
