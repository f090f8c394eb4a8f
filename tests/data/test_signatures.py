"""Signatures that stand for texts: the same whether texts are read at once or in portions."""

import random

import numpy as np
import pytest

from headwise.core import native
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits import text_signatures
from headwise.data.splits.contamination import find_overlaps
from headwise.data.splits.duplicates import (
    GroupKeys,
    group_numbers,
    near_duplicate_groups,
)
from headwise.data.splits.text_signatures import (
    MIN_SIMILARITY,
    TextTrigrams,
    TrigramReader,
    first_places,
    repeated_places,
    text_digests,
    words_for_comparison,
)

WORDS = [f"w{number}" for number in range(300)]


def drawn(count: int, seed: int) -> list[str]:
    """Texts, each of them with a copy in which up to four words are others."""
    chance, texts = random.Random(seed), list[str]()
    for _ in range(count):
        words = chance.choices(WORDS, k=chance.randint(3, 30))
        texts.append(" ".join(words))
        for place in chance.choices(range(len(words)), k=chance.randint(0, 4)):
            words[place] = chance.choice(WORDS)
        texts.append(" ".join(words).upper())
    return texts


def is_near(first_text: str, second_text: str) -> bool:
    """Whether two texts have the same words, or most of their trigrams in common."""
    first, second = (set(TrigramReader()([text])[0].tolist()) for text in (first_text, second_text))
    return first_text == second_text or len(first & second) >= MIN_SIMILARITY * max(len(first | second), 1)


def test_in_portions_as_at_once(monkeypatch):
    texts = [words_for_comparison(text) for text in drawn(60, 0)] + [""]
    expected = TextTrigrams.of(texts)
    monkeypatch.setattr(text_signatures, "_PORTION", 200)
    monkeypatch.setattr(text_signatures, "_MOST_WORDS", 20)
    trigrams = TextTrigrams.of(iter(texts))
    np.testing.assert_array_equal(trigrams.values, expected.values)
    np.testing.assert_array_equal(trigrams.ends, expected.ends)
    assert len(trigrams.ends) == len(texts) + 1
    bands = native.minhash_bands(trigrams.values, trigrams.ends, *text_signatures.MINHASHES)
    for first in (0, 4, 16):
        np.testing.assert_array_equal(trigrams.bands(first, 4), bands[:, first : first + 4])
    pairs = native.similar_pairs(trigrams.values, trigrams.ends, bands, text_signatures.MAX_BUCKET, 0.5)
    assert len(pairs) > 5
    np.testing.assert_array_equal(trigrams.similar_pairs(0.5), pairs)


def test_overlaps_are_those_that_a_comparison_of_all_texts_finds():
    texts = drawn(150, 1)
    train, test = texts[::2], [*texts[1::2], *texts[:6:2], ""]
    (overlap,) = find_overlaps(
        ITEM_TYPES_BY_TASK["classify"],
        {"train": [Example(text) for text in train], "test": [Example(text) for text in test]},
    )
    lower = {text.lower() for text in train}
    train_words = [*map(words_for_comparison, train)]
    expected = {
        number
        for number, text in enumerate(test)
        if text and any(is_near(words_for_comparison(text), words) for words in train_words)
    }
    assert 20 < len(expected) < 140
    assert overlap.places == expected
    assert overlap.items == sum(text.lower() in lower for text in test)


@pytest.mark.parametrize("seed", [2, 3])
def test_keys_that_are_made_when_needed(seed):
    texts = drawn(80, seed)
    keys = GroupKeys(texts, near_duplicate_groups(texts))
    listed = [*keys]
    assert keys[:] == listed
    assert len({*listed}) < len(texts) - 10
    assert group_numbers(keys).tolist() == [listed.index(key) for key in listed]
    assert group_numbers(["A  b", "c", "a B"]).tolist() == [0, 1, 0]


def test_digests_stand_for_texts():
    digests = text_digests(["a", "", "b", "a", "\ud800"])
    assert first_places(digests).tolist() == [0, 1, 2, 0, 4]
    assert digests[1] == text_signatures.EMPTY_DIGEST
    assert len(text_digests([])) == 0
    assert repeated_places(text_digests(["a", "", "b", "a", "", "b", "c", "a"])) == [[0, 3, 7], [2, 5]]
    assert repeated_places(text_digests([])) == []
