"""Texts that are encoded each time that they are needed are those that are encoded once."""

import numpy as np
import pytest

from headwise.data.items.dataset import items_at, joined_items, lengths_of, subset_of
from headwise.data.items.examples import Example
from headwise.text import on_demand_texts
from headwise.text.on_demand_texts import OnDemandTexts, encode_texts
from headwise.text.text_features import LongTextError, TextFeatures
from headwise.text.vocabulary import Vocabulary

WORDS = ["the", "harbour", "has", "many", "small", "boats"]
TEXTS = [Example(" ".join(WORDS[: number % 7]), line=number + 1) for number in range(40)]


def features(most: int = 0, *, cut: bool = False) -> TextFeatures:
    return TextFeatures("whitespace", Vocabulary.build([WORDS[:4]]), most=lambda: most, cut=cut)


def same(first, second) -> bool:
    return len(first) == len(second) and all(
        one.words.tolist() == copy.words.tolist() and (one.text, one.cut) == (copy.text, copy.cut)
        for one, copy in zip(first, second, strict=True)
    )


@pytest.fixture
def on_demand(monkeypatch) -> OnDemandTexts:
    monkeypatch.setattr(on_demand_texts, "_CHUNK", 7)
    return OnDemandTexts(features(5, cut=True).encode, TEXTS)


def test_they_are_the_texts_that_are_encoded_at_once(on_demand):
    encoded = features(5, cut=True).encode(TEXTS)
    assert same(on_demand, encoded)
    assert same([on_demand[-1]], encoded[-1:])
    assert same(on_demand[3:30:4], encoded[3:30:4])
    numbers = np.array([6, 0, 13, 6])
    assert same(items_at(on_demand, numbers), items_at(encoded, numbers))
    np.testing.assert_array_equal(lengths_of(on_demand), lengths_of(encoded))
    assert on_demand.texts == [text.text for text in encoded]
    assert "boats" not in "".join(on_demand.texts)  # the last word of a text of six is cut off


def test_parts_of_them_and_further_ones(on_demand):
    encoded, further = features(5, cut=True).encode(TEXTS), features().encode(["boats", "a boat"])
    many, listed = joined_items(on_demand, further), joined_items(encoded, further)
    assert isinstance(many, OnDemandTexts)
    numbers = np.array([13, 2, 6, 41, 40])
    part, expected = subset_of(many, numbers), subset_of(listed, numbers)
    for one, second in (
        (many, listed),
        (part, expected),
        (items_at(many, [41, 0]), items_at(listed, [41, 0])),
    ):
        assert same(one, second)
    assert isinstance(part, OnDemandTexts)
    assert part.texts == [text.text for text in expected]
    np.testing.assert_array_equal(lengths_of(part), lengths_of(expected))
    assert len(on_demand) == len(TEXTS)


def test_a_text_that_is_too_long_is_an_error_at_once():
    with pytest.raises(LongTextError, match="line 6: 5 words"):
        OnDemandTexts(features(4).encode, TEXTS)


def test_their_number_of_characters_decides(monkeypatch):
    characters = sum(len(example.text) for example in TEXTS)
    for most, expected in ((characters, list), (characters - 1, OnDemandTexts)):
        monkeypatch.setattr(on_demand_texts, "MOST_ENCODED", most)
        assert type(encode_texts(features().encode, TEXTS)) is expected
