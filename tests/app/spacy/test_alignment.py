"""Words and tokens of one text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.app.spacy_component import words_of_tokens


@pytest.mark.parametrize(
    ("tokens", "words", "found"),
    [
        ([], [(0, 3)], []),
        ([(0, 3)], [], [None]),
        ([(0, 3), (4, 6)], [(0, 3), (4, 6)], [0, 1]),
        ([(0, 3), (3, 6)], [(0, 6)], [0, 0]),  # can|not, cannot
        ([(0, 6)], [(0, 2), (2, 6)], [1]),  # most of it
        ([(0, 6)], [(0, 3), (3, 6)], [0]),  # the first of equals
        ([(0, 1), (1, 3), (3, 4)], [(0, 1), (3, 4)], [0, None, 1]),  # white space
        ([(0, 4), (4, 8)], [(2, 6)], [0, 0]),
    ],
)
def test_examples(tokens, words, found):
    assert words_of_tokens(tokens, words) == found


@st.composite
def places(draw):
    cuts = sorted(draw(st.sets(st.integers(0, 30))))
    return [own for own in pairwise(cuts) if draw(st.booleans())]


@given(places(), places())
def test_the_word_that_shares_most(tokens, words):
    for (start, end), word in zip(tokens, words_of_tokens(tokens, words), strict=True):
        shared = [max(0, min(end, stop) - max(start, begin)) for begin, stop in words]
        expected = max(shared, default=0)
        assert (word is None) == (expected == 0)
        assert word is None or word == shared.index(expected)
