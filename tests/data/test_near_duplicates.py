"""The search for near-duplicates finds the pairs that a comparison of all texts finds."""

import random
from unicodedata import normalize

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from headwise.data.splits.duplicates import _connected, find_near_duplicates
from headwise.data.splits.text_signatures import MIN_SIMILARITY, TrigramReader, words_for_comparison


def test_as_a_comparison_of_all():
    chance = random.Random(0)
    words = [f"w{n}" for n in range(400)]
    texts = [" ".join(chance.choices(words, k=30)) for _ in range(60)]
    for number in range(40):  # one or two words of a copy are others
        copy = texts[number].split()
        for _ in range(chance.randint(0, 2)):
            copy[chance.randrange(len(copy))] = chance.choice(words)
        texts.append(" ".join(copy))
    texts += ["short text", "Short  text!", "", ""]
    plain = [words_for_comparison(text) for text in texts]
    duplicates = find_near_duplicates(plain)
    for first, first_words in enumerate(plain):
        expected = [
            second
            for second, second_words in enumerate(plain)
            if second != first
            and first_words
            and (second_words == first_words or _are_similar(first_words, second_words))
        ]
        assert sorted(duplicates.get(first, [])) == expected


def test_chinese_is_read_by_characters():
    chance = random.Random(1)
    texts = ["，".join("".join(chr(0x4E00 + chance.randrange(800)) for _ in range(12)) for _ in range(5))]
    texts.append(texts[0][:30] + "的" + texts[0][31:])  # one of 64 characters
    texts.append(
        "，".join("".join(chr(0x4E00 + chance.randrange(800)) for _ in range(12)) for _ in range(5))
    )
    texts.append("これは今年見た中で一番いい映画です")
    texts.append("これは今年見た中で一番いい映画だ")
    assert find_near_duplicates([words_for_comparison(text) for text in texts]) == {
        0: [1],
        1: [0],
        3: [4],
        4: [3],
    }


def test_accents_may_be_written_apart():
    assert (
        words_for_comparison(normalize("NFD", "Größe, über!"))
        == words_for_comparison("größe über")
        == "grösse über"
    )


def _are_similar(first_text: str, second_text: str) -> bool:
    first, second = (set(TrigramReader()([text])[0].tolist()) for text in (first_text, second_text))
    return len(first & second) >= MIN_SIMILARITY * max(len(first | second), 1)


@pytest.mark.parametrize(("texts", "count"), [(0, 0), (1, 0), (5, 2), (300, 200), (300, 900)])
def test_connected_texts_are_the_components_of_the_graph(texts, count):
    pairs = np.random.default_rng(texts).integers(0, max(texts, 1), (count, 2))
    graph = csr_array((np.ones(count), (pairs[:, 0], pairs[:, 1])), shape=(texts, texts))
    expected = connected_components(graph, directed=False)[1]
    np.testing.assert_array_equal(_connected(pairs, texts), expected)
    chain = np.stack([np.arange(max(texts - 1, 0)), np.arange(1, max(texts, 1))], axis=1)
    assert not _connected(np.random.default_rng(0).permutation(chain), texts).any()
