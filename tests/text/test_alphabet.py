"""The characters that a model knows."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.tokenizer import normalize_spelling
from headwise.text.character_features import Alphabet, AlphabetError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def test_order_and_numbers():
    alphabet = Alphabet.build(["aab", "ab", "ab", "cB"])
    assert alphabet.characters == ("a", "b", "B", "c")
    assert len(alphabet) == 7
    assert Alphabet.build(["aa", "b", "b", "b"]).characters == ("b", "a")
    assert alphabet.encode("aB?").tolist() == [1, 3, 5, 0, 2]
    assert alphabet.encode("").tolist() == [1, 2]


def test_quotes_and_brackets_have_one_spelling():
    alphabet = Alphabet.build(["``", "-LRB-"])
    assert alphabet.characters == ('"', "(")
    assert alphabet.encode("”").tolist() == [1, 3, 2]


def test_rare_characters_are_unknown():
    alphabet = Alphabet.build(["aab", "b", "c"], min_count=2)
    assert alphabet.characters == ("a", "b")


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT), TEXT)
def test_properties(words, word):
    alphabet = Alphabet.build(words)
    characters = set("".join(map(normalize_spelling, words)))
    assert set(alphabet.characters) == characters
    assert Alphabet.build(reversed(words)) == alphabet
    again = Alphabet.from_json(json.loads(json.dumps(alphabet.to_json())))
    assert again == alphabet
    numbers = again.encode(word).tolist()
    spelled = normalize_spelling(word)
    assert numbers == [1, *(alphabet.characters.index(c) + 3 if c in characters else 0 for c in spelled), 2]


@pytest.mark.parametrize(
    ("data", "code", "match"),
    [
        ([], "HW224", "found: \\[\\]"),
        ({"words": []}, "HW224", "keys \\['words'\\]"),
        ({"characters": "abc"}, "HW224", "a list, not str"),
        ({"characters": ["a", "bc"]}, "HW224", "item 1 .* 'bc'"),
        ({"characters": ["a", 1]}, "HW224", "item 1 .* 1"),
        ({"characters": ["a", ""]}, "HW224", "item 1"),
        ({"characters": ["a", "b", "a"]}, "HW225", "'a' occurs 2 times"),
    ],
)
def test_malformed_data_is_refused(data, code, match):
    with pytest.raises(AlphabetError, match=match) as caught:
        Alphabet.from_json(data)
    assert caught.value.code == code
