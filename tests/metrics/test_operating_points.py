"""Thresholds that keep a promise, beside a count at every threshold, and kept on texts of another draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.metrics.operating_points import (
    MIN_ITEMS,
    PSEUDO_ITEMS,
    OperatingPoint,
    choose_threshold,
    label_thresholds,
    log_ratio,
    parse_operating_points,
)
from headwise.metrics.thresholds import predict_labels

TEXTS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.6, 0.8, 0.95]), st.booleans(), st.sampled_from([0, 1, 2])),
    max_size=40,
)
RATES = st.sampled_from(["recall", "precision", "fpr"])


def rate_at(rate, threshold, scores, targets, counts):
    """What is expected of new texts where the label is given above a threshold."""
    predicted = scores > threshold
    if rate == "recall":
        return 1 - ((counts * (targets & ~predicted)).sum() + 1) / ((counts * targets).sum() + 1)
    if rate == "fpr":
        return ((counts * (~targets & predicted)).sum() + 1) / ((counts * ~targets).sum() + 1)
    taken, hits = (counts * predicted).sum(), (counts * (predicted & targets)).sum()
    if taken < MIN_ITEMS:
        return 0.0
    probability = (counts * predicted * scores).sum() / taken
    return min(hits / taken, (hits + PSEUDO_ITEMS * probability) / (taken + PSEUDO_ITEMS))


@given(TEXTS, RATES, st.sampled_from([0.02, 0.1, 0.3, 0.5, 0.8, 0.95]))
def test_the_threshold_is_that_of_a_count(texts, rate, target):
    """Of all thresholds between scores, and beyond them, it is the best of those with the rate."""
    scores, targets, counts = (np.array([text[n] for text in texts]) for n in range(3))
    targets = targets.astype(bool)
    weights = counts.astype(float)
    choice = choose_threshold(OperatingPoint("a", rate, target), scores, targets, scores, weights)
    assert choice.expected == pytest.approx(rate_at(rate, choice.threshold, scores, targets, weights))
    distinct = np.unique(scores[weights > 0])
    places = np.concatenate([distinct - 1e-3, distinct + 1e-3]) if len(distinct) else np.zeros(1)
    rates = np.array([rate_at(rate, place, scores, targets, weights) for place in places])
    good = places[rates <= target + 1e-9] if rate == "fpr" else places[rates >= target - 1e-9]
    assert choice.met == (len(good) > 0)
    if choice.met:
        best = good.max() if rate == "recall" else good.min()
        assert ((scores > best) == (scores > choice.threshold))[weights > 0].all()
    else:
        assert choice.expected == pytest.approx(rates.min() if rate == "fpr" else rates.max())


@pytest.mark.parametrize("rate", ["recall", "precision", "fpr"])
def test_equal_texts_stay_together_though_their_scores_are_computed_apart(rate):
    """A sum's last digits go by what else is in the batch."""
    chance = np.random.default_rng(0)
    exact = np.repeat(chance.normal(size=20), 10)
    scores, targets = exact + 1e-8 * chance.normal(size=200), chance.random(200) < 0.5
    choices = [
        choose_threshold(OperatingPoint("a", rate, 0.5), values, targets, np.full(200, 0.5))
        for values in (exact, scores)
    ]
    assert choices[0].expected == choices[1].expected
    for again in range(5):
        noisy = exact + 1e-8 * np.random.default_rng(again).normal(size=200)
        assert ((noisy > choices[1].threshold) == (exact > choices[0].threshold)).all()


@pytest.mark.parametrize(("rate", "target"), [("recall", 0.95), ("fpr", 0.02), ("precision", 0.9)])
def test_what_is_promised_is_kept_by_other_texts(rate, target):
    """In the mean of many draws of held-out texts."""
    chance, came = np.random.default_rng(0), []

    def draw(count):
        chances = chance.beta(0.5, 1, count)
        return chances, chance.random(count) < chances

    new, true = draw(200_000)
    for _ in range(400):
        held, targets = draw(150)
        choice = choose_threshold(OperatingPoint("a", rate, target), held, targets, held)
        predicted = new > choice.threshold
        of, got = {"recall": (true, predicted), "fpr": (~true, predicted), "precision": (predicted, true)}[
            rate
        ]
        if choice.met:
            came.append(got[of].mean())
    assert len(came) > 300
    if rate == "fpr":
        assert target / 2 < np.mean(came) <= target + 0.001
    else:
        assert target - (0.02 if rate == "precision" else 0.001) <= np.mean(came) < target + 0.02


def test_too_few_texts_promise_what_they_can():
    scores, targets = np.array([0.9, 0.8, 0.4, 0.2]), np.array([True, False, True, False])
    choice = choose_threshold(OperatingPoint("a", "fpr", 0.01), scores, targets, scores)
    assert (choice.met, choice.texts, choice.expected) == (False, 2, pytest.approx(1 / 3))
    assert 0.8 < choice.threshold < 0.9
    choice = choose_threshold(OperatingPoint("a", "recall", 0.95), scores, targets, scores)
    assert (choice.met, choice.texts, choice.expected) == (False, 2, pytest.approx(2 / 3))
    assert 0.2 < choice.threshold < 0.4
    choice = choose_threshold(OperatingPoint("a", "precision", 0.95), scores, targets, scores)
    assert (choice.met, choice.texts) == (False, 0)
    assert choice.threshold > 0.9


@given(
    st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=1, max_size=20),
    st.floats(-3, 3),
    st.integers(0, 2),
)
def test_decided_by_a_threshold_a_label_is_given_where_it_is_so_far_ahead(rows, threshold, label):
    shares = np.array(rows, dtype=float)
    shares /= shares.sum(axis=1, keepdims=True)
    how_far = log_ratio(shares, label)
    clear = np.abs(how_far - threshold) > 1e-9
    predicted = predict_labels(shares, label_thresholds(threshold, label, 3))
    assert ((predicted == label) == (how_far > threshold))[clear].all()
    without_label = shares.copy()
    without_label[:, label] = 0
    rest = clear & (predicted != label)
    assert (predicted[rest] == without_label.argmax(axis=1)[rest]).all()


def test_what_is_asked():
    assert parse_operating_points("none") == parse_operating_points("f1") == []
    assert parse_operating_points("a, b:recall=0.9,c:d:fpr=1e-3") == [
        OperatingPoint("a, b", "recall", 0.9),
        OperatingPoint("c:d", "fpr", 0.001),
    ]


@pytest.mark.parametrize(
    "text", ["", "f2", "a:recall", "a:recal=0.9", "a:recall=1", "a:fpr=0", "a:fpr=1.2.3", ":fpr=.1"]
)
def test_what_cannot_be_read(text):
    with pytest.raises(ConfigError, match=r"cannot read .*expected a label, one of recall"):
        parse_operating_points(text)


def test_labels_that_are_not_there_or_stand_twice():
    with pytest.raises(ConfigError, match=r"unknown label 'b'; labels are a, c"):
        parse_operating_points("a:recall=0.9,b:fpr=0.1", ["a", "c"])
    with pytest.raises(ConfigError, match="two rates of one label"):
        parse_operating_points("a:recall=0.9,a:fpr=0.1")
