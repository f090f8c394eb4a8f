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
    opened, found = [], {}
    for place, letter in enumerate(text):
        if letter == "(":
            opened.append(place)
        elif letter == ")":
            own = text[opened.pop() : place + 1]
            found[" ".join(constituency_heads(own)[0])] = own
    return found


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

    expected = {text: own for line in trees for text, own in below(line).items()}
    found = with_phrases(sentences(trees), binary=False, trees=True)
    assert {example.text for example in found} == set(expected)
    for example in found[len(trees) :]:
        own = expected[example.text]
        assert example.label == own[1]
        np.testing.assert_array_equal(example.parse, constituency_heads(own)[1])
    assert all(own.parse is None for own in with_phrases(sentences(trees), binary=False, trees=False))


def test_two_labels_leave_the_neutral_phrases_out(trees):
    from benchmarks.papers.phrases import with_phrases

    expected = {text for line in trees for text, own in below(line).items() if own[1] != "2"}
    found = with_phrases([], binary=True, trees=False)
    assert {example.text for example in found} == expected
    assert {example.label for example in found} == {"0", "1"}


def test_data_without_trees_have_no_phrases():
    from benchmarks.papers.accuracy import Accuracy

    with pytest.raises(ConfigError, match="mtl16/MR has no trees"):
        Accuracy().layers("mtl16/MR", "bilstm + phrases")
