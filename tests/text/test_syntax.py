"""Distances in dependency trees against a search through the tree, and files of heads."""

import gzip
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core import native
from headwise.data.errors import DataError
from headwise.text.parse_files import iterate_parses
from headwise.text.syntax import ParseError, distances_within, tree_distances, validate_heads

# "Two kids at a ballgame wash their hands", the example of MS-SAN's Figure 3.
WASH = [2, 6, 5, 5, 2, 0, 8, 6]
WASH_DISTANCES = [
    [0, 1, 3, 3, 2, 2, 4, 3],
    [1, 0, 2, 2, 1, 1, 3, 2],
    [3, 2, 0, 2, 1, 3, 5, 4],
    [3, 2, 2, 0, 1, 3, 5, 4],
    [2, 1, 1, 1, 0, 2, 4, 3],
    [2, 1, 3, 3, 2, 0, 2, 1],
    [4, 3, 5, 5, 4, 2, 0, 1],
    [3, 2, 4, 4, 3, 1, 1, 0],
]


@st.composite
def trees(draw, largest=12):
    """Heads of a tree or several, the words in any order."""
    words = draw(st.integers(0, largest))
    above = [draw(st.integers(0, k)) for k in range(words)]
    names = [0, *draw(st.permutations(range(1, words + 1)))]
    heads = [0] * words
    for k, parent in enumerate(above, start=1):
        heads[names[k] - 1] = names[parent]
    return heads


def by_search(heads):
    """Breadth first through the undirected tree, from every word; the roots hang under the node 0."""
    neighbours = {node: set() for node in range(len(heads) + 1)}
    for word, head in enumerate(heads, start=1):
        neighbours[word].add(head)
        neighbours[head].add(word)
    rows = []
    for start in range(1, len(heads) + 1):
        steps, border = {start: 0}, [start]
        for node in border:
            for second in neighbours[node] - steps.keys():
                steps[second] = steps[node] + 1
                border.append(second)
        rows.append([steps[word] for word in range(1, len(heads) + 1)])
    return rows


def test_the_papers_example():
    steps = tree_distances(WASH)
    assert steps.tolist() == WASH_DISTANCES
    from_wash = steps[5].tolist()
    assert from_wash.count(2) == 3  # "3 words at the same distance from wash"
    assert from_wash[1] < abs(5 - 1)  # kids are nearer in the tree than in the text


@settings(deadline=None, max_examples=100)
@given(trees())
def test_distances_equal_a_search_through_the_tree(heads):
    assert tree_distances(heads, len(heads)).tolist() == by_search(heads)


@settings(deadline=None, max_examples=100)
@given(trees(), st.data())
def test_distances_among_some_words_are_those_in_the_whole_tree(heads, data):
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(heads))] * 2)))
    actual = distances_within(np.array(heads, dtype=np.int64), start, stop)
    assert actual.tolist() == tree_distances(heads)[start:stop, start:stop].tolist()


def test_distances_among_some_words_of_a_long_chain_take_little_memory():
    actual = distances_within(np.arange(1_000_000), 500_000, 500_020)
    assert actual.tolist() == np.abs(np.arange(20)[:, None] - np.arange(20)).tolist()


@settings(deadline=None, max_examples=60)
@given(trees(largest=7))
def test_distances_are_a_tree_metric(heads):
    d = tree_distances(heads).astype(int)
    n = len(heads)
    assert d.tolist() == d.T.tolist()
    assert ((d == 0) == np.eye(n, dtype=bool)).all()
    for i, j, k in product(range(n), repeat=3):
        assert d[i, k] <= d[i, j] + d[j, k]
    for i, j, k, m in product(range(n), repeat=4):  # the four-point condition
        a, b, c = sorted((d[i, j] + d[k, m], d[i, k] + d[j, m], d[i, m] + d[j, k]))
        assert b == c >= a


def test_several_roots_hang_under_one_node():
    assert tree_distances([0, 0, 2]).tolist() == [[0, 2, 3], [2, 0, 1], [3, 1, 0]]


def test_shortest_texts():
    assert tree_distances([]).shape == (0, 0)
    assert tree_distances([], 0).dtype == np.int16
    assert tree_distances([0]).tolist() == [[0]]


def test_a_chain_is_the_distance_in_the_text():
    places = np.arange(30)
    expected = np.abs(places[:, None] - places)
    assert (tree_distances([*range(2, 31), 0]) == expected).all()


def test_kernels_check_that_parents_come_first():
    with pytest.raises(ValueError, match="parents come before"):
        native.fill_tree_steps(np.array([0, 1]), np.zeros((2, 2), dtype=np.int16))


def test_a_text_of_400_words_takes_little_time(takes_under):
    random = np.random.default_rng(0)
    bushy = [0, *(int(random.integers(1, k + 1)) for k in range(1, 400))]
    for heads in (bushy, [*range(2, 401), 0], [0, *[1] * 399]):
        assert takes_under(0.005, partial(tree_distances, heads, 400))


@pytest.mark.parametrize(
    ("heads", "code", "message"),
    [
        ([2, 1], "HW233", "words 1 -> 2 -> 1 depend on each other in a circle"),
        ([0, 2], "HW233", "words 2 -> 2 "),
        ([0, 4, 2, 5, 3], "HW233", "words 4 -> 5 -> 3 -> 2 -> 4|words 2 -> 4 -> 5 -> 3 -> 2"),
        ([*range(2, 21), 1], "HW233", r"-> \.\.\. ->"),
        ([0, 3], "HW232", "head of word 2 is 3; expected 1 to 2, 0 for"),
        ([-1], "HW232", "head of word 1 is -1"),
        ([0.0], "HW231", "whole number"),
        ([True], "HW231", "whole number"),
        ([[0]], "HW231", "one whole number for each word"),
    ],
)
def test_what_makes_no_tree(heads, code, message):
    with pytest.raises(ParseError, match=message) as error:
        tree_distances(heads)
    assert error.value.code == code


def test_heads_and_words_must_agree():
    with pytest.raises(ParseError, match="2 heads for a text of 3 words") as error:
        tree_distances([0, 1], words=3)
    assert error.value.code == "HW234"
    assert validate_heads([0, 1], 2).tolist() == [0, 1]


@settings(deadline=None)
@given(st.lists(st.integers(-1, 7), max_size=6))
def test_every_list_of_numbers_is_a_tree_or_an_error(heads):
    try:
        steps = tree_distances(heads)
    except ParseError:
        reached = {0}
        for _ in heads:
            reached |= {word for word, head in enumerate(heads, start=1) if head in reached}
        assert len(reached) < len(heads) + 1
    else:
        assert steps.tolist() == by_search(heads)


def read_heads(path: str, counts: list[int] | None = None):
    return iterate_parses(path, None if counts is None else [["word"] * count for count in counts])


@pytest.mark.parametrize("ending", ["heads", "heads.gz"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_reading(tmp_path, ending, newline):
    data = newline.join(["2 0", "", "0 ", "2  0 2", ""]).encode()
    path = tmp_path / f"train.{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    expected = [[2, 0], [], [0], [2, 0, 2]]
    assert [heads.tolist() for heads in read_heads(str(path))] == expected
    assert [heads.tolist() for heads in read_heads(str(path), [2, 0, 1, 3])] == expected


@pytest.mark.parametrize(
    ("data", "words", "where", "message"),
    [
        ("0 1\n0 x 1\n", None, ":2:3", "expected the number of a word, got 'x'"),
        ("0 ²\n", None, ":1:3", "got '²'"),
        ("0 -1\n", None, ":1:3", "got '-1'"),
        ("0\n2 1\n", None, ":2", "circle"),
        ("0 7\n", None, ":1", "head of word 2 is 7"),
        ("0\n0 1\n", [1, 3], ":2", "2 heads for a text of 3 words"),
        ("0\n0\n", [1], ":2", "more than the 1 texts"),
        ("0\n0\n", [1, 1, 1], "", "2 lines for 3 texts"),
    ],
)
def test_bad_lines_are_located(tmp_path, data, words, where, message):
    path = tmp_path / "train.heads"
    path.write_text(data, encoding="utf-8")
    with pytest.raises(ParseError, match=message) as error:
        list(read_heads(str(path), words))
    assert f"{path}{where}: " in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="HW101"):
        list(read_heads(str(tmp_path / "none.heads")))
