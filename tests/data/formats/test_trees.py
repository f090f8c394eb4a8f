import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.columns.file_source import DataSource
from headwise.data.formats.penn_trees import read_sentences

TREES = """
( (S (NP-SBJ (PRP It)
       (-NONE- *T*-1) )
    (VP (VBZ works)) (. .) ))\r
(S (-LRB- -LRB-) (CD 1\\/2) (X a\x85b))((Y z))
( (S (-NONE- *) ))
"""


def read(text, report=None):
    lines = enumerate(text.split("\n"), start=1)
    source = DataSource("a", **({"report": report} if report else {}))
    return list(read_sentences(iter(lines), source))


def test_words_and_parts_of_speech():
    assert [(s.tokens, s.tags, s.line) for s in read(TREES)] == [
        (("It", "works", "."), ("PRP", "VBZ", "."), 2),
        (("-LRB-", "1\\/2", "a\x85b"), ("-LRB-", "CD", "X"), 5),
        (("z",), ("Y",), 5),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("(S (A b)\n(C d)", 1, 1),
        ("(S (A b)))", 1, 10),
        ("x", 1, 1),
        ("(S\n (A))", 2, 2),
        ("(S ())", 1, 4),
        ("(S (A b c))", 1, 4),
        ("(S (A b (C d)))", 1, 4),
    ],
)
def test_broken_trees_are_located(fails, text, line, column):
    assert fails(read, text) == ("HW258", line, column)


def test_reading_goes_on_at_the_next_tree():
    errors = []
    sentences = read("( (A b c)\n (D e) )\n( (F g) )\n)\n( (H i) )\n( (J", report=errors.append)
    assert [s.tokens for s in sentences] == [("g",), ("i",)]
    assert [(e.line, e.column) for e in errors] == [(1, 3), (4, 1), (6, 1)]


def test_depth_is_no_problem():
    assert read("(A " * 50_000 + "b" + ")" * 50_000, report=lambda error: None) != []


LEAF = st.tuples(st.sampled_from(["NN", "-NONE-", "."]), st.sampled_from(["It", "'s", "é"]))
NODES = st.recursive(LEAF, lambda child: st.tuples(st.just("S"), st.lists(child, min_size=1, max_size=3)))


@given(NODES, st.sampled_from([" ", "\n  ", ""]))
@settings(max_examples=100, deadline=None)
def test_against_a_recursive_walk(tree, space):
    def written(node):
        label, below = node
        return f"({label} {below if isinstance(below, str) else space.join(map(written, below))})"

    def leaves(node):
        label, below = node
        if isinstance(below, str):
            return [] if label == "-NONE-" else [(below, label)]
        return [leaf for child in below for leaf in leaves(child)]

    tagged_leaves = [
        leaf for s in read(f"( {written(tree)} )") for leaf in zip(s.tokens, s.tags, strict=True)
    ]
    assert tagged_leaves == leaves(tree)
