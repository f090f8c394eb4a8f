import pickle

import numpy as np
import pytest

from headwise.core.errors import ConfigError
from headwise.text.static_embeddings.word_groups import LEVELS, UNKNOWN, WordClusters, word_hash

WORDS = ("paris", "so", "made", "u.s", "don't")


@pytest.fixture
def groups() -> WordClusters:
    keys = np.array([word_hash(word) for word in WORDS], dtype=np.uint32)
    numbers = np.arange(len(WORDS) * len(LEVELS), dtype=np.int16).reshape(len(WORDS), -1)
    return WordClusters(keys, numbers)


@pytest.mark.parametrize(
    ("word", "listed"),
    [
        ("Paris", "paris"),
        ("PARIS", "paris"),
        ("soooo", "so"),
        ("#made", "made"),
        ("U.S.", "u.s"),
        ("don’t", "don't"),
        ("made-so", "so"),
        ("so/made", "made"),
    ],
)
def test_a_word_has_the_groups_of_its_listed_spelling_and_a_compound_of_its_last_part(groups, word, listed):
    assert groups.of([word])[0].tolist() == groups.numbers[WORDS.index(listed)].tolist()


def test_other_words_have_none(groups):
    assert (groups.of(["zebra", "", "\ud800", "x" * 10**6]) == UNKNOWN).all()
    assert groups.of([]).shape == (0, len(LEVELS))


def test_copies_say_the_same(groups):
    again = pickle.loads(pickle.dumps(groups))
    assert (again.of(["Paris", "zebra"]) == groups.of(["Paris", "zebra"])).all()
    assert len(again) == len(WORDS)


def test_tables_that_do_not_fit_are_told(groups):
    with pytest.raises(ConfigError, match="5 words at 5 levels"):
        WordClusters(groups.keys, groups.numbers[:, :2])
    with pytest.raises(ConfigError, match="twice"):
        WordClusters(groups.keys[[0, 1, 1, 2, 3]], groups.numbers)
