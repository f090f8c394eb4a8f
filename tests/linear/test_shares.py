"""Shares of words add up to the scores that they explain."""

import numpy as np
import pytest

from headwise.features.ngrams import NgramVocabulary
from headwise.features.tokenize import get_tokenizer
from headwise.linear.expert import LinearExpert
from headwise.linear.pair_expert import PairExpert
from headwise.linear.shares import column_of, number_shares, pair_shares, text_shares, vector_shares
from headwise.linear.text_fit import LinearSettings, fit_linear

TEXTS = [
    f"I don't like {word} well-made things {n}!! <br /> Naïve"
    for n in range(20)
    for word in ("red", "blue", "green")
]
VECTORS = np.random.default_rng(0).normal(size=(len(TEXTS), 5)).astype(np.float32)
ODD = [
    "don't don't DON'T",
    "İstanbul İS\u2003naïve",
    " \x1c\x85x ",
    "",
    "red",
    "nothing known: zzz",
    "a" * 70,
]


@pytest.mark.parametrize(("classes", "sets"), [(2, False), (3, False), (2, True)])
@pytest.mark.parametrize("blocks", [("words",), ("characters",), ("words", "characters")])
def test_the_words_of_any_text_have_what_its_features_say(classes, sets, blocks):
    targets = np.arange(len(TEXTS)) % 3 % classes
    if sets:
        targets = np.eye(classes, dtype=np.bool_)[targets]
    model = fit_linear(TEXTS, targets, classes, settings=LinearSettings(blocks=blocks)).model
    toward = np.linspace(-1, 2, classes)
    for text in (*TEXTS[:3], *ODD):
        expected = (model.scores([text]) - model.scores([""]))[0] @ toward
        shares = text_shares(model, text, toward)
        assert len(shares) == len(get_tokenizer("penn").spans(text))
        assert shares.sum() == pytest.approx(expected, abs=1e-4)


def test_a_share_stands_where_its_feature_does():
    model = fit_linear(TEXTS, np.arange(len(TEXTS)) % 3, 3).model
    text = "things red red"
    shares = text_shares(model, text, np.eye(3)[0])
    assert shares[1] > 0
    assert shares[2] > 0
    assert abs(shares[0]) < shares[1]


def test_vectors():
    settings = LinearSettings(blocks=("words",), dense=2.0)
    model = fit_linear(TEXTS, np.arange(len(TEXTS)) % 3, 3, dense=VECTORS, settings=settings).model
    toward, addends = np.array([1.0, -0.5, -0.5]), np.random.default_rng(1).normal(size=(4, 5))
    shares, mean = vector_shares(model, addends, toward)
    text = "red things"
    expected = model.scores([text], addends.sum(0, keepdims=True))[0] @ toward
    words = text_shares(model, text, toward).sum()
    assert shares.sum() + mean + words + model.machine.bias @ column_of(toward, model) == pytest.approx(
        expected, abs=1e-4
    )


@pytest.fixture
def vocabulary() -> NgramVocabulary:
    chance = np.random.default_rng(0)
    return NgramVocabulary.build([chance.integers(0, 9, 12) for _ in range(30)])


def test_word_numbers(vocabulary):
    chance = np.random.default_rng(1)
    size = len(vocabulary.keys)
    expert = LinearExpert.of(vocabulary, chance.normal(size=(size, 3)), np.ones(3))
    for words in (np.array([1, 0, 2, 2, 1, 2]), np.zeros(0, np.int64), np.array([0])):
        toward = chance.normal(size=3)
        shares = number_shares(expert, words, toward)
        assert shares.shape == words.shape
        assert shares.sum() == pytest.approx((expert([words])[0] - 1) @ toward, abs=1e-4)


def test_pairs(vocabulary):
    chance = np.random.default_rng(2)
    weights = chance.normal(size=(PairExpert.columns(len(vocabulary.keys)), 3))
    weights[-8:] = 0  # the overlap of both texts belongs to no word
    expert = PairExpert.of(vocabulary, weights, np.zeros(3))
    first, second, toward = np.array([1, 2, 2, 0, 3]), np.array([2, 3, 3]), chance.normal(size=3)
    shares = pair_shares(expert, first, second, toward)
    assert [len(own) for own in shares] == [5, 3]
    assert sum(own.sum() for own in shares) == pytest.approx(
        expert([(first, second)])[0] @ toward, abs=1e-4
    )
