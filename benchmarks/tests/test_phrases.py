"""phrases.py: phrases have the trees that they would have as sentences."""

import random

import numpy as np
import pytest

from headwise.core.errors import ConfigError
from headwise.data.items.examples import Example
from headwise.text.parse_files import constituency_heads


def tree(words, choose):
    """A random tree over words."""
    label = choose.randrange(5)
    if len(words) == 1:
        return f"({label} {words[0]})"
    cut = choose.randint(1, len(words) - 1)
    return f"({label} {tree(words[:cut], choose)} {tree(words[cut:], choose)})"


def below(text):
    """The trees below each node of one, itself among them, by their words."""
    opened, subtrees = [], {}
    for place, letter in enumerate(text):
        if letter == "(":
            opened.append(place)
        elif letter == ")":
            subtree = text[opened.pop() : place + 1]
            subtrees[" ".join(constituency_heads(subtree)[0])] = subtree
    return subtrees


@pytest.fixture
def trees(monkeypatch, tmp_path):
    from benchmarks.papers import phrases

    choose = random.Random(0)
    lines = [tree([f"w{n}_{word}" for word in range(choose.randint(1, 9))], choose) for n in range(40)]
    path = tmp_path / "train.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    monkeypatch.setattr(phrases, "_path", lambda part: str(path))
    return lines


def sentences(lines):
    return [Example(" ".join(constituency_heads(line)[0]), line[1], n) for n, line in enumerate(lines)]


def test_phrases_are_the_nodes_with_their_labels_and_trees(trees):
    from benchmarks.papers.phrases import with_phrases

    expected = {text: subtree for line in trees for text, subtree in below(line).items()}
    examples = with_phrases(sentences(trees), binary=False, trees=True)
    assert {example.text for example in examples} == set(expected)
    for example in examples[len(trees) :]:
        subtree = expected[example.text]
        assert example.label == subtree[1]
        np.testing.assert_array_equal(example.parse, constituency_heads(subtree)[1])
    assert all(
        example.parse is None for example in with_phrases(sentences(trees), binary=False, trees=False)
    )


def test_two_labels_leave_the_neutral_phrases_out(trees):
    from benchmarks.papers.phrases import with_phrases

    expected = {text for line in trees for text, subtree in below(line).items() if subtree[1] != "2"}
    examples = with_phrases([], binary=True, trees=False)
    assert {example.text for example in examples} == expected
    assert {example.label for example in examples} == {"0", "1"}


def test_data_without_trees_have_no_phrases():
    from benchmarks.papers.accuracy import Accuracy

    with pytest.raises(ConfigError, match="mtl16/MR has no trees"):
        Accuracy().layers("mtl16/MR", "bilstm + phrases")
