"""TF-IDF of words and pairs against scikit-learn, on the same tokens."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from headwise.data.chunks import portions
from headwise.features import ngrams
from headwise.features.ngrams import NgramVocabulary, ngram_keys

texts = st.lists(st.lists(st.integers(1, 6), max_size=12), min_size=1, max_size=8)


@settings(max_examples=50, deadline=None)
@given(texts, texts)
def test_equals_scikit_learn(train, other):
    arrays = [[np.array(text, dtype=np.int64) for text in part] for part in (train, other)]
    vocabulary = NgramVocabulary.build(arrays[0])
    if len(vocabulary.keys) == 0:
        assert not any(train)
        return
    peer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, ngram_range=(1, 2), sublinear_tf=True)
    names = [[" ".join(map(str, text)) for text in part] for part in (train, other)]
    peer.fit(names[0])
    ours, theirs = vocabulary.transform(arrays[1]).toarray(), peer.transform(names[1]).toarray()
    # The features stand in another order: compare what does not depend on it.
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-5)
    np.testing.assert_allclose(np.sort(ours, axis=1), np.sort(theirs, axis=1), atol=1e-5)


def test_unknown_words_break_pairs():
    assert ngram_keys(np.array([3, 0, 4])).tolist() == [3, 4]
    assert len(ngram_keys(np.array([3, 4]))) == 3
    assert len(ngram_keys(np.zeros(0, dtype=np.int64))) == 0


def test_keeps_the_most_widespread():
    found = [np.array(text) for text in ([1, 2], [1, 3], [1, 2])]
    vocabulary = NgramVocabulary.build(found, max_features=2)
    assert vocabulary.keys[0] == 1
    assert vocabulary.keys[1] == 2
    assert vocabulary.idf[0] == pytest.approx(1.0)


def test_no_texts():
    assert NgramVocabulary.build([]).transform([np.array([1, 2])]).shape == (1, 0)


def test_blocks_are_bounded_and_change_nothing(monkeypatch):
    random = np.random.default_rng(0)
    found = [random.integers(0, 5, size=size) for size in (4, 0, 9, 1, 0, 0, 30, 2, 0)]
    vocabulary = NgramVocabulary.build(found[:5])
    whole = vocabulary.transform(found)
    monkeypatch.setattr(ngrams, "_BLOCK", 7)
    assert [len(block) for block in portions(found, 7)] == [3, 4, 2]
    parts = vocabulary.transform(found)
    assert (whole != parts).nnz == 0
    assert whole.shape == parts.shape == (9, len(vocabulary.keys))
    assert whole[1].nnz == 0
