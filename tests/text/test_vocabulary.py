import copy
import json
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.text import vocabulary as module
from headwise.text.vocabulary import Coverage, Vocabulary, VocabularyError, WordVectors

TEXTS = [["The", "film", "``", "the", "Film", "''"], ["the", "a", "b", "-LRB-", "isn’t"], []]


def test_build_orders_by_count_then_alphabet():
    vocabulary = Vocabulary.build(TEXTS)
    assert vocabulary.words == ("<unk>", "the", '"', "film", "(", "a", "b", "isn't")
    assert vocabulary.counts == (0, 3, 2, 2, 1, 1, 1, 1)
    assert len(vocabulary) == 8
    assert vocabulary == Vocabulary.build(reversed([text[::-1] for text in TEXTS]))


def test_build_keeps_case_on_request():
    vocabulary = Vocabulary.build(TEXTS, case="keep")
    assert vocabulary.words[:3] == ("<unk>", '"', "the")
    assert {"The", "Film", "film"} < set(vocabulary.words)


def test_limits_leave_words_out_and_count_them_as_unknown():
    vocabulary = Vocabulary.build(TEXTS, min_count=2)
    assert (vocabulary.words, vocabulary.counts) == (("<unk>", "the", '"', "film"), (4, 3, 2, 2))
    vocabulary = Vocabulary.build(TEXTS, max_size=2)
    assert (vocabulary.words, vocabulary.counts) == (("<unk>", "the", '"'), (6, 3, 2))
    assert Vocabulary.build(TEXTS, max_size=0).words == ("<unk>",)


def test_extra_words_come_last_with_count_zero():
    vocabulary = Vocabulary.build(
        [["b", "a", "<unk>"]], extra_words=["Zebra", "a", "zebra", "<unk>", "yak"]
    )
    assert vocabulary.words == ("<unk>", "a", "b", "zebra", "yak")
    assert vocabulary.counts == (1, 1, 1, 0, 0)


def test_a_word_left_out_can_come_back_as_an_extra_word():
    vocabulary = Vocabulary.build([["a", "a", "b"]], min_count=2, extra_words=["b"])
    assert (vocabulary.words, vocabulary.counts) == (("<unk>", "a", "b"), (1, 2, 0))


def test_encode_normalises_as_build_does():
    vocabulary = Vocabulary.build(TEXTS)
    ids = vocabulary.encode(["THE", "“", "-lrb-", "isn't", "unseen", "<unk>", "the"])
    assert ids.dtype == np.int64
    assert ids.tolist() == [1, 2, 4, 7, 0, 0, 1]
    assert "FILM" in vocabulary
    assert "unseen" not in vocabulary
    assert vocabulary.encode([]).shape == (0,)


def test_coverage_is_of_the_training_words():
    vocabulary = Vocabulary.build([["a", "a", "b"]], extra_words=["c"])
    vectors = WordVectors(["a", "c"], np.zeros((2, 1), dtype=np.float32))
    assert vocabulary.coverage(vectors) == Coverage(1, 2, 2, 3)


_LISTS = st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)))


@settings(max_examples=80, deadline=None)
@given(texts=_LISTS, case=st.sampled_from(["lower", "keep"]), min_count=st.integers(1, 3))
def test_properties(texts: list[list[str]], case, min_count: int):
    vocabulary = Vocabulary.build(texts, case=case, min_count=min_count)
    counts = Counter(vocabulary.normalize(word) for text in texts for word in text)
    expected = {word: n for word, n in counts.items() if n >= min_count and word != "<unk>"}
    assert dict(zip(vocabulary.words[1:], vocabulary.counts[1:], strict=True)) == expected
    assert sum(vocabulary.counts) == counts.total()
    for text in texts:
        numbers = vocabulary.encode(text)
        assert [vocabulary.words[n] for n in numbers] == [
            word if (word := vocabulary.normalize(raw)) in expected else "<unk>" for raw in text
        ]
    assert vocabulary.encode(vocabulary.words).tolist() == list(range(len(vocabulary)))
    assert Vocabulary.from_json(json.loads(json.dumps(vocabulary.to_json()))) == vocabulary


def test_numbers_do_not_depend_on_the_cache(monkeypatch):
    monkeypatch.setattr(module, "_CACHED", 2)
    vocabulary = Vocabulary.build([["a", "b", "c", "d"]])
    for _ in range(2):
        assert vocabulary.encode(["d", "D", "x", "c", "b", "a"]).tolist() == [4, 4, 0, 3, 2, 1]
    assert len(vocabulary._ids) == 2


def test_copies_and_pickles_encode_alike():
    vocabulary = Vocabulary.build(TEXTS)
    for second in (copy.deepcopy(vocabulary), pickle.loads(pickle.dumps(vocabulary))):
        assert second == vocabulary
        assert second.encode(["FILM", "?"]).tolist() == [3, 0]


GOOD = {"case": "lower", "words": ["<unk>", "a"], "counts": [0, 1]}


@pytest.mark.parametrize(
    ("data", "code", "match"),
    [
        ([], "HW220", "keys 'case', 'words' and 'counts'"),
        ({"words": []}, "HW220", "found: keys"),
        (GOOD | {"words": "abc"}, "HW220", "must be a list, not str"),
        (GOOD | {"words": ["<unk>", 1]}, "HW220", "item 1: 1 is not a text"),
        (GOOD | {"counts": [0, -1]}, "HW220", "item 1: -1 is not a whole number"),
        (GOOD | {"counts": [0, True]}, "HW220", "item 1: True"),
        (GOOD | {"words": ["a", "<unk>"]}, "HW221", "but is 'a'"),
        (GOOD | {"words": [], "counts": []}, "HW221", "nothing"),
        (GOOD | {"counts": [0]}, "HW222", "2 words have 1 counts"),
        ({"case": "lower", "words": ["<unk>", "a", "a"], "counts": [0, 1, 1]}, "HW223", "'a' occurs 2"),
    ],
)
def test_malformed_data_is_refused(data, code: str, match: str):
    with pytest.raises(VocabularyError, match=match) as caught:
        Vocabulary.from_json(data)
    assert caught.value.code == code


def test_unknown_options_are_refused():
    with pytest.raises(ConfigError, match="'lower' or 'keep'"):
        Vocabulary.from_json(GOOD | {"case": ["upper"]})
    with pytest.raises(ConfigError, match="'lower' or 'keep'"):
        Vocabulary.build([], case="upper")


def test_extra_counts_the_words_at_the_end_that_no_text_has():
    assert Vocabulary.build([["a", "b"]]).extra == 0
    assert Vocabulary.build([["a", "b"]], extra_words=["b", "c", "d"]).extra == 2
    assert Vocabulary.build([["a", "a", "b"]], min_count=2, extra_words=["z"]).extra == 1
    assert Vocabulary.build([], extra_words=["c"]).extra == 1
