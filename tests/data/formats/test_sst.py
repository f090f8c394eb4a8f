import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.formats.sentiment_trees import parse_tree, read_records

TREE = "(3 (2 It) (4 (2 's) (4 lovely)))"


def records(*trees, **options):
    source = DataSource("a", ReadOptions(**options))
    labelled_texts = [(n, *fields.values()) for n, fields in read_records(enumerate(trees, 1), source)]
    return labelled_texts, source


def test_sentences_and_phrases():
    assert records(TREE, "", "(2 so)\r")[0] == [(1, "3", "It 's lovely"), (3, "2", "so")]
    assert records(TREE, sst_unit="phrases")[0] == [
        (1, "3", "It 's lovely"),
        (1, "2", "It"),
        (1, "4", "'s lovely"),
        (1, "2", "'s"),
        (1, "4", "lovely"),
    ]


def test_binary_labels_drop_and_count_the_neutral():
    trees = ["(0 a)", "(1 b)", "(2 c)", "(3 d)", "(4 e)"]
    labelled_texts, source = records(*trees, sst_labels="binary")
    assert labelled_texts == [(1, "0", "a"), (2, "0", "b"), (4, "1", "d"), (5, "1", "e")]
    assert source.counts.neutral == 1
    labelled_texts, source = records(TREE, sst_labels="binary", sst_unit="phrases")
    assert [label for _, label, _ in labelled_texts] == ["1", "1", "1"]
    assert source.counts.neutral == 2


@pytest.mark.parametrize(
    ("tree", "code", "column"),
    [
        ("(3 (2 a) (2 b)", "HW119", 1),
        ("(3 (2 a) (2 b", "HW119", 10),
        ("(3 (2 a))) ", "HW119", 10),
        ("(3 a) (2 b)", "HW119", 7),
        ("(3 )", "HW119", 4),
        ("a (3 b)", "HW119", 1),
        (") (3 b)", "HW119", 1),
        ("(5 a)", "HW122", 2),
        ("(3 (a b))", "HW122", 5),
        ("(3 a) (", "HW119", 7),
        ("(", "HW122", 1),
    ],
)
def test_broken_trees_are_located(fails, tree, code, column):
    assert fails(records, "(2 ok)", tree) == (code, 2, column)


def test_depth_is_no_problem():
    depth = 100_000
    words, nodes = parse_tree("(2 " * depth + "a" + ")" * depth)
    assert words == ["a"]
    assert len(nodes) == depth


LEAF = st.tuples(st.sampled_from("01234"), st.sampled_from(["It", "'s", "-LRB-", "é"]))
TREES = st.recursive(
    LEAF, lambda child: st.tuples(st.sampled_from("01234"), st.lists(child, min_size=1, max_size=3))
)


@given(TREES)
@settings(max_examples=100, deadline=None)
def test_against_a_recursive_walk(tree):
    def written(node):
        label, below = node
        inner = below if isinstance(below, str) else " ".join(map(written, below))
        return f"({label} {inner})"

    def phrases(node):
        label, below = node
        if isinstance(below, str):
            return [(label, below)]
        parts_below = [phrases(child) for child in below]
        return [
            (label, " ".join(part[0][1] for part in parts_below)),
            *(p for part in parts_below for p in part),
        ]

    words, nodes = parse_tree(written(tree))
    labelled_spans = [(node.label, " ".join(words[node.start : node.end])) for node in nodes]
    assert labelled_spans == phrases(tree)
