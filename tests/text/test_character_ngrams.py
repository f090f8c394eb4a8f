"""Hashed n-grams."""

from zlib import crc32

from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.text.character_features import ngram_buckets


def hashed(*grams: str) -> list[int]:
    return [crc32(gram.encode()) % 1000 for gram in grams]


def test_by_hand():
    assert ngram_buckets("aba", 1, 1000).tolist() == hashed("a", "b")
    bigrams = ["\x02a", "ab", "ba", "a\x03"]
    assert ngram_buckets("aba", 2, 1000).tolist() == hashed("a", "b", *bigrams)
    trigrams = ["\x02ab", "aba", "ba\x03"]
    assert ngram_buckets("aba", 3, 1000).tolist() == hashed("a", "b", *bigrams, *trigrams)


def test_the_hash_is_the_same_everywhere():
    assert ngram_buckets("né", 2, 1 << 15).tolist() == [9170, 3390, 15394, 8441, 10001]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=8), st.integers(1, 5))
def test_ends_belong_to_longer_ngrams_only(word, longest):
    actual = ngram_buckets(word, longest, 1 << 30)
    assert len(actual) <= len(word) + sum(max(len(word) + 3 - n, 0) for n in range(2, longest + 1))
    assert ((actual >= 0) & (actual < 1 << 30)).all()
    assert len(set(actual.tolist()) - set(ngram_buckets(word + "x", longest, 1 << 30).tolist())) <= longest
