"""Words and runs of characters against scikit-learn's TF-IDF."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from headwise.core.hashing import character_hashes, joined_code_points, word_hashes
from headwise.core.tokenizer import get_tokenizer
from headwise.linear import tfidf_features as text_features
from headwise.linear.tfidf_features import BlockReader

ALL = 10**9
texts = st.lists(st.text(alphabet="abcÄß. \t\u00a0\u2003\U0001f600!", max_size=30), min_size=1, max_size=8)


def compare(ours, theirs):
    """The features stand in another order: compare what does not depend on it."""
    ours, theirs = ours.toarray(), theirs.toarray()
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-5)
    np.testing.assert_allclose(np.sort(ours, axis=1), np.sort(theirs, axis=1), atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(texts, texts)
def test_characters_are_those_of_scikit_learn(train, new_texts):
    reader = BlockReader("characters")
    vocabulary, fitted = reader.fit(train, max_features=ALL)
    if not len(vocabulary):
        assert not any(text.strip() for text in train)
        return
    peer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
    compare(fitted, peer.fit_transform(train))
    compare(reader.transform(new_texts, vocabulary), peer.transform(new_texts))


@settings(max_examples=60, deadline=None)
@given(texts, texts)
def test_words_are_those_of_scikit_learn(train, new_texts):
    reader = BlockReader("words")
    vocabulary, fitted = reader.fit(train, max_features=ALL)
    if not len(vocabulary):
        assert not any(text.strip() for text in train)
        return
    words = get_tokenizer("penn").words
    peer = TfidfVectorizer(
        tokenizer=lambda text: [word.lower() for word in words(text)],
        lowercase=False,
        token_pattern=None,
        ngram_range=(1, 2),
        sublinear_tf=True,
    )
    compare(fitted, peer.fit_transform(train))
    compare(reader.transform(new_texts, vocabulary), peer.transform(new_texts))


def test_case_does_not_matter_and_order_does():
    reader = BlockReader("words")
    vocabulary, _ = reader.fit(["not good, bad", "bad, not good"], max_features=ALL)
    same = reader.transform(["NOT Good, bad", "not good, bad"], vocabulary)
    assert (same[0] != same[1]).nnz == 0
    assert (reader.transform(["good not bad"], vocabulary) != same[0]).nnz > 0


@pytest.mark.parametrize("block", ["words", "characters"])
def test_portions_are_bounded_and_change_nothing(block, monkeypatch):
    reader = BlockReader(block)
    texts = ["a few words", "", "and many more of them", "x", "", "the end, the end"]
    vocabulary, matrix = reader.fit(texts, max_features=ALL)
    monkeypatch.setattr(text_features, "_PORTION", 15)
    portioned, parts = reader.fit(texts, max_features=ALL)
    np.testing.assert_array_equal(vocabulary.keys, portioned.keys)
    assert (matrix != parts).nnz == 0
    assert matrix.shape[0] == len(texts)
    assert matrix[1].nnz == 0


def test_keeps_the_most_widespread_and_grows_beyond_the_first_table():
    random = np.random.default_rng(0)
    texts = ["every text " + " ".join(map(str, random.integers(0, 10**7, 300))) for _ in range(300)]
    reader = BlockReader("words")
    vocabulary, matrix = reader.fit(texts, max_features=ALL)
    assert len(vocabulary) > 100_000
    assert matrix.nnz == len(reader.transform(texts, vocabulary).data)
    few, matrix = reader.fit(texts, max_features=3)
    assert matrix.getnnz(axis=1).tolist() == [3] * 300
    np.testing.assert_allclose(few.idf, 1.0)
    assert len(reader.fit(texts, max_features=ALL, least_texts=2)[0]) < len(vocabulary)


def test_beyond_a_number_only_features_of_several_texts_are_kept():
    texts = ["a b", "a b", "a b", "a c", "a c", "d"]  # a: 5 texts, b and a b: 3, c and a c: 2, d: 1

    def feature_count(**how):
        vocabulary, _ = BlockReader("words").fit(texts, max_features=how.pop("most", ALL), **how)
        return len(vocabulary)

    assert feature_count() == feature_count(rare=6) == 6  # so many may be rare
    assert feature_count(rare=5) == 5  # of the rare ones the most widespread
    assert [feature_count(rare=n) for n in (4, 3, 2, 0)] == [4, 3, 3, 3]  # those of three texts in any case
    assert feature_count(rare=5, most=4) == 4
    assert feature_count(rare=1, most=2) == 2


def test_no_texts_and_texts_without_words():
    reader = BlockReader("characters")
    vocabulary, matrix = reader.fit([], max_features=ALL)
    assert matrix.shape == (0, 0)
    assert reader.transform(["text", " "], vocabulary).shape == (2, 0)


def test_hashes_do_not_change():
    """They stand in saved models."""
    words, _ = word_hashes(*joined_code_points(["not\x1fgood"]))
    characters, bounds = character_hashes(*joined_code_points(["good", "", "é"]), 2, 5)
    assert words.tolist() == WORDS
    assert characters[:3].tolist() == CHARACTERS
    assert bounds.tolist() == [0, 14, 14, 17]
    far, _ = word_hashes(*joined_code_points(["not\x1fso\x1fgood"]), 2)
    assert far.tolist()[-1] == FAR


@pytest.mark.parametrize("reach", [1, 2, 3, 7])
def test_pairs_of_words_are_as_far_apart_as_they_may_be(reach):
    texts = [[], ["a"], ["b", "a", "c", "a", "b", "d", "a", "b"], ["a", "b"]]
    hashes, bounds = word_hashes(*joined_code_points(["\x1f".join(words) for words in texts]), reach)
    per_text = [hashes[bounds[n] : bounds[n + 1]].tolist() for n in range(len(texts))]
    expected = [
        [
            (words[n],) if gap == 0 else (words[n - gap], words[n], gap > 1)
            for n in range(len(words))
            for gap in range(min(n, reach) + 1)
        ]
        for words in texts
    ]
    assert list(map(len, per_text)) == list(map(len, expected))
    features: dict[tuple, int] = {}
    for key, feature in zip(chain.from_iterable(expected), hashes.tolist(), strict=True):
        assert features.setdefault(key, feature) == feature
    assert len(set(features.values())) == len(features)


def with_edges(words: list[str], reach: int) -> list[tuple]:
    """What stands for each number of `word_hashes`."""
    pairs: list[tuple] = []
    for place, word in enumerate(words):
        gaps = range(1, min(reach, place + 1) + 1)
        pairs += [
            (word,),
            *((words[place - gap] if gap <= place else "<begin>", word, gap == 1) for gap in gaps),
        ]
    return pairs + [(words[-gap], "<end>", gap == 1) for gap in range(1, min(reach, len(words)) + 1)]


@pytest.mark.parametrize("reach", [1, 3])
def test_edges_of_a_text_make_pairs_as_words_do(reach):
    texts = [["a"], [], ["a", "b", "a"], ["b", "a"], list("abcabcabc")]
    hashes, ends = word_hashes(*joined_code_points(["\x1f".join(words) for words in texts]), reach, True)
    expected = [with_edges(words, reach) for words in texts]
    assert np.diff(ends).tolist() == [len(pairs) for pairs in expected]
    names = [name for pairs in expected for name in pairs]
    assert (
        len(set(zip(hashes.tolist(), names, strict=True))) == len(set(names)) == len(set(hashes.tolist()))
    )
    plain, _ = word_hashes(*joined_code_points(["\x1f".join(words) for words in texts]), reach)
    inside = [
        number for number, name in zip(hashes, names, strict=True) if not {"<begin>", "<end>"} & {*name}
    ]
    np.testing.assert_array_equal(inside, plain)


def test_lone_surrogates_are_characters_too():
    assert BlockReader("characters").fit(["\ud800"], max_features=ALL)[1].nnz > 0


WORDS = [2705907211, 3024724216, 2838804907]
FAR = 2375807874
CHARACTERS = [3388422596, 232724507, 3795130090]
