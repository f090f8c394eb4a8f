"""Shapes of words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.text.character_features import SHAPES, word_shape


def names(word: str) -> set[str]:
    return {name for name, value in zip(SHAPES, word_shape(word), strict=True) if value}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("the", {"lower"}),
        ("The", {"title"}),
        ("I", {"title"}),
        ("EU", {"upper"}),
        ("iPhone", {"mixed"}),
        ("McDonald", {"mixed"}),
        ("U.S.", {"upper", "punctuation"}),
        ("well-made", {"lower", "punctuation", "hyphen"}),
        ("1996", {"digit", "number"}),
        ("1996-08-22", {"digit", "number", "punctuation", "hyphen"}),
        ("F16", {"title", "digit"}),
        ("2nd", {"lower", "digit"}),
        ("...", {"punctuation"}),
        ("Élan", {"title", "not ascii"}),
        ("中国", {"not ascii"}),
        ("", set()),
    ],
)
def test_shapes(word, expected):
    assert names(word) == expected


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=6))
def test_cases_exclude_one_another(word):
    assert len(names(word) & {"lower", "title", "upper", "mixed"}) <= 1
    assert word_shape(word).shape == (len(SHAPES),)
