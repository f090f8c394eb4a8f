"""Phrases of sentiment trees have the trees that they would have as sentences."""

import random
from itertools import pairwise

import numpy as np
import pytest

from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.parses import ParseFiles, ParseReader
from headwise.data.splits.data_parts import read_parts
from headwise.text.parse_files import constituency_heads, read_parses, read_phrase_parses
from headwise.text.syntax import ParseError


def tree(words, choose):
    """A random tree over words, with nodes of two and three parts."""
    label = choose.randrange(5)
    if len(words) == 1:
        return f"({label} {words[0]})"
    parts = min(len(words), choose.choice([2, 2, 3]))
    cuts = [0, *sorted(choose.sample(range(1, len(words)), parts - 1)), len(words)]
    below = [tree(words[start:end], choose) for start, end in pairwise(cuts)]
    return f"({label} {' '.join(below)})"


def nodes(text):
    """The brackets of a tree, each before those within it."""
    opened, nodes_read = [], {}
    for place, letter in enumerate(text):
        if letter == "(":
            opened.append(place)
        elif letter == ")":
            start = opened.pop()
            nodes_read[start] = text[start : place + 1]
    return [nodes_read[start] for start in sorted(nodes_read)]


@pytest.fixture
def trees():
    choose = random.Random(0)
    # Few words, so that phrases of a sentence recur in it.
    return [tree(choose.choices("abc", k=choose.randint(1, 9)), choose) for _ in range(60)]


@pytest.fixture
def file(tmp_path, trees):
    path = tmp_path / "trees.txt"
    path.write_text("".join(f"{tree}\n" for tree in trees))
    return str(path)


@pytest.mark.parametrize("labels", ["five", "binary"])
def test_every_phrase_has_its_own_tree(file, trees, labels):
    kind = ITEM_TYPES_BY_TASK["classify"]
    options = kind.options(sst_unit="phrases", sst_labels=labels)
    reader = ParseReader(str.split, read_parses, read_phrase_parses)
    files, heads = [file] * 3, ParseFiles(file, file, file)
    parts = read_parts(kind, *files, options, parses=heads, reader=reader)
    expected = [node for text in trees for node in nodes(text) if labels == "five" or node[1] != "2"]
    assert [item.text for item in parts.train] == [
        " ".join(constituency_heads(tree)[0]) for tree in expected
    ]
    for item, tree in zip(parts.train, expected, strict=True):
        np.testing.assert_array_equal(item.parse, constituency_heads(tree)[1])
    full = [text for text in trees if labels == "five" or text[1] != "2"]
    for item, tree in zip(parts.dev, full, strict=True):
        np.testing.assert_array_equal(item.parse, constituency_heads(tree)[1])


def test_trees_of_another_file_are_an_error(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("(3 (2 It) (4 works))\n\n(2 Yes)\n")
    assert [parse.tolist() for parse in read_phrase_parses(str(path), [(1, "It"), (3, "Yes")])] == [
        [0],
        [0],
    ]
    with pytest.raises(ParseError, match=r"a.txt:1: the tree has no phrase 'fails'") as caught:
        read_phrase_parses(str(path), [(1, "It"), (1, "fails")])
    assert caught.value.code == "HW236"
    with pytest.raises(ParseError, match=r"a.txt: no line 4, of which there are phrases") as caught:
        read_phrase_parses(str(path), [(3, "Yes"), (4, "It")])
    assert caught.value.code == "HW234"
