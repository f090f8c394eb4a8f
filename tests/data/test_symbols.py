import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.data.items.symbols import END_OF_LINE, UNKNOWN, SymbolVocabulary, choose_symbols


def test_a_vocabulary_of_the_symbol_for_all_others_alone_is_refused_as_that():
    with pytest.raises(ConfigError, match=r"of 1 words .*expected 2 or more, one of which is for"):
        choose_symbols("words", Counter("ab"), size=1)


def test_the_most_frequent_come_first():
    symbols = choose_symbols("characters", Counter("banana c"))
    assert symbols.names == ("a", "n", " ", "b", "c", UNKNOWN)
    assert symbols.counts == (3, 2, 1, 1, 1, 0)
    assert (len(symbols), symbols.unknown, symbols.dtype) == (6, 5, np.uint8)


@pytest.mark.parametrize(
    ("options", "names", "counts", "unknown"),
    [
        ({"size": 3}, ("a", "b", UNKNOWN), (3, 2, 2), 2),
        ({"size": 2}, ("a", UNKNOWN), (3, 4), 1),
        ({"min_count": 2}, ("a", "b", UNKNOWN), (3, 2, 2), 2),
        ({"unknown": False}, ("a", "b", "c", "d"), (3, 2, 1, 1), None),
    ],
)
def test_what_is_left_out_counts_as_unknown(options, names, counts, unknown):
    symbols = choose_symbols("words", Counter(["a", "a", "a", "b", "b", "c", "d"]), **options)
    assert (symbols.names, symbols.counts, symbols.unknown) == (names, counts, unknown)


def test_an_unknown_word_that_the_text_uses_itself():
    words = Counter(f"a a {UNKNOWN} b b b".split())
    symbols = choose_symbols("words", words)
    assert (symbols.names, symbols.counts, symbols.unknown) == (("b", "a", UNKNOWN), (3, 2, 1), 2)
    cut = choose_symbols("words", words, size=2, min_count=3)
    assert (cut.names, cut.counts) == (("b", UNKNOWN), (3, 3))


def test_impossible_vocabularies():
    for options in ({"size": 0}, {"min_count": 0}, {"size": 1, "unknown": False}):
        with pytest.raises(ConfigError):
            choose_symbols("words", Counter("ab"), **options)


def test_words_to_numbers_and_back():
    symbols = choose_symbols("words", Counter(["the", "the", END_OF_LINE, "dog"]))
    ids = symbols.encode(["the", "cat", END_OF_LINE, "dog", END_OF_LINE])
    assert ids.tolist() == [0, 3, 1, 2, 1]
    assert symbols.decode(ids) == f"the {UNKNOWN}\ndog\n"


def test_bytes_to_numbers_and_back():
    text = "né\n"
    counts = Counter(map(chr, text.encode()))
    symbols = choose_symbols("bytes", counts)
    assert (len(symbols), symbols.unknown) == (4, None)
    assert symbols.decode(symbols.encode(text.encode())) == text
    assert symbols.decode(symbols.encode(text.encode())[:2]) == "n\ufffd"


def test_symbols_without_a_number(fails):
    for unit, text in (("characters", "xyz"), ("words", ["x", "z"]), ("bytes", b"xyz")):
        symbols = choose_symbols(unit, Counter("xy"), unknown=False)
        assert fails(symbols.encode, text)[0] == "HW280"
        with pytest.raises(Exception, match="'z' is not in the vocabulary of 2"):
            symbols.encode(text)


def test_the_numbers_grow_with_the_vocabulary():
    for size, dtype in ((256, np.uint8), (257, np.uint16), (1 << 16, np.uint16), ((1 << 16) + 1, np.int32)):
        names = tuple(map(str, range(size)))
        symbols = SymbolVocabulary("words", names, (1,) * size)
        assert symbols.dtype == dtype
        assert symbols.encode([names[-1]]).tolist() == [size - 1]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=60, deadline=None)
def test_any_text_to_numbers_and_back(text, new_text):
    symbols = choose_symbols("characters", Counter(text))
    assert symbols.decode(symbols.encode(text)) == text
    assert symbols.decode(symbols.encode(new_text)) == "".join(
        c if c in text else "\ufffd" for c in new_text
    )
    assert SymbolVocabulary.from_json(json.loads(json.dumps(symbols.to_json()))) == symbols


@pytest.mark.parametrize(
    "change",
    [
        {"unit": "letters"},
        {"names": ["a", "a"]},
        {"names": ["a", 1]},
        {"counts": [1]},
        {"counts": [1, -1]},
        {"unknown": 2},
        {"unknown": True},
        {"names": None},
    ],
)
def test_damaged_vocabularies(fails, change):
    good = {"unit": "words", "names": ["a", "b"], "counts": [2, 1], "unknown": None}
    assert len(SymbolVocabulary.from_json(good)) == 2
    assert fails(SymbolVocabulary.from_json, {**good, **change})[0] == "HW281"
    assert fails(SymbolVocabulary.from_json, {"unit": "words"})[0] == "HW281"
