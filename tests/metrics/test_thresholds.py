"""Thresholds: the best F1 by brute force, ties, and labels that share one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from headwise.core.errors import ConfigError
from headwise.metrics.thresholds import best_threshold, fit_label_thresholds, fit_thresholds, predict_labels
from headwise.nn.task_layers.layer_configs import ThresholdConfig

scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=80, deadline=None)
@given(scored)
def test_no_threshold_is_better(rows):
    scores, targets = (np.array(part) for part in zip(*rows, strict=True))
    threshold, f1 = best_threshold(scores, targets)
    score = f1_score(targets, scores >= threshold, zero_division=0)
    guesses = scores >= np.array([*scores, 2.0])[:, None]
    every = 2 * (guesses & targets).sum(1) / np.maximum(guesses.sum(1) + targets.sum(), 1)
    assert score == pytest.approx(f1)
    assert f1 == pytest.approx(max(every))


def test_halfway_between_scores():
    assert best_threshold(np.array([0.9, 0.7, 0.1]), np.array([True, True, False])) == (
        pytest.approx(0.4),
        1.0,
    )
    threshold, f1 = best_threshold(np.array([0.2, 0.6]), np.array([False, False]))
    assert (threshold > 0.6, f1) == (True, 0.0)


def test_a_label_that_all_texts_have_is_given_to_others_too():
    logits = np.array([[4.6, -1.4], [3.5, 1.4], [3.9, -2.2]])
    targets = np.array([[True, False], [True, True], [True, False]])
    thresholds = fit_thresholds(logits, targets)
    assert thresholds[0] < 3
    assert -1.4 < thresholds[1] < 1.4
    # One text without the label changes nothing.
    margins = np.array([0.3, -0.2, 1.5, 0.1])
    assert best_threshold(margins, np.array([True, True, True, False])) == (pytest.approx(-1.2), 6 / 7)


def test_without_a_label_on_any_text_the_thresholds_are_at_one_half():
    """By the probabilities alone, which are low and alike, all texts would get all labels."""
    targets = np.zeros((4, 2), dtype=bool)
    assert fit_thresholds(np.full((4, 2), -2.5), targets).tolist() == [0.0, 0.0]
    targets[0] = True
    weights = np.array([0.0, 1.0, 1.0, 1.0])  # a weight of 0 is no text
    assert fit_thresholds(np.full((4, 2), -2.5), targets, weights=weights).tolist() == [0.0, 0.0]


def drawn_sets(texts: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits and labels: what is said of the first is right, that of the second is 2 too low and that of
    the third, which few texts have, 2 too high."""
    random = np.random.default_rng(seed)
    true = random.normal([-0.5, -0.5, -5.0], 2, (texts, 3))
    targets = random.random((texts, 3)) < 1 / (1 + np.exp(-true))
    return true + np.array([0, -2, 2]), targets


def test_thresholds_follow_what_is_too_low_or_high_where_there_are_texts_enough():
    logits, targets = drawn_sets(20_000, 0)
    thresholds = fit_thresholds(logits, targets)
    best = [best_threshold(logits[:, n], targets[:, n])[0] for n in range(3)]
    np.testing.assert_allclose(thresholds[:2], best[:2], atol=0.4)
    assert thresholds[0] - thresholds[1] == pytest.approx(2, abs=0.4)
    assert thresholds[2] > 0


def test_few_texts_hold_thresholds_back_towards_the_shared_one():
    logits, targets = drawn_sets(20_000, 0)
    (shared,) = set(fit_thresholds(logits, targets, min_texts=20_001))
    away = [np.abs(fit_thresholds(*drawn_sets(60, seed)) - shared).mean() for seed in range(20)]
    assert np.mean(away) < np.abs(fit_thresholds(logits, targets) - shared).mean() / 2
    # A label that no text has, or too few by the setting, has the shared one itself.
    targets[:, 0] = False
    thresholds = fit_thresholds(logits, targets, min_texts=int(targets[:, 2].sum()) + 1)
    assert thresholds[0] == thresholds[2] != thresholds[1]


def test_of_right_probabilities_the_shared_threshold_is_half_of_their_f1():
    random = np.random.default_rng(0)
    logits = random.normal(-1, 2, (4_000, 5))
    targets = random.random(logits.shape) < 1 / (1 + np.exp(-logits))
    (shared,) = set(fit_thresholds(logits, targets, min_texts=4_001))
    _, f1 = best_threshold(logits.ravel(), targets.ravel())
    assert 1 / (1 + np.exp(-shared)) == pytest.approx(f1 / 2, abs=0.02)
    # With few texts it moves little from there, where the best one on them is anywhere.
    few = [
        fit_thresholds(logits[n : n + 12], targets[n : n + 12], min_texts=13)[0] for n in range(0, 480, 12)
    ]
    raw = [
        best_threshold(logits[n : n + 12].ravel(), targets[n : n + 12].ravel())[0]
        for n in range(0, 480, 12)
    ]
    assert np.std(few) < 0.7 * np.std(raw)


def test_nothing_to_fit_thresholds_on():
    assert np.isfinite(fit_thresholds(np.zeros((0, 2)), np.zeros((0, 2), dtype=bool))).all()


def test_settings():
    with pytest.raises(ConfigError, match="min_texts must be at least 1"):
        ThresholdConfig(min_texts=0)


def rare(labels: int, texts: int = 2_000, seed: int = 0):
    """Calibrated probabilities of labels of which the first is the commonest, and what is true."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 1.0, (texts, labels)) - np.arange(labels) * 2
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return chances, np.array([random.choice(labels, p=row) for row in chances])


def test_of_two_labels_it_is_the_threshold_with_the_best_macro_f1():
    chances, targets = rare(2)
    thresholds = fit_label_thresholds(chances, targets)
    assert sum(thresholds) == pytest.approx(1)
    predicted = predict_labels(chances, thresholds)
    assert np.array_equal(predicted, chances[:, 1] >= thresholds[1])
    macro = lambda predicted: f1_score(targets, predicted, average="macro")
    every = max(macro(chances[:, 1] >= threshold) for threshold in np.linspace(0.01, 0.99, 99))
    assert macro(predicted) > every - 0.005
    assert macro(predicted) > macro(chances.argmax(axis=1)) + 0.02
    new_chances, truth = rare(2, seed=1)
    assert f1_score(truth, predict_labels(new_chances, thresholds), average="macro") > f1_score(
        truth, new_chances.argmax(axis=1), average="macro"
    )


def test_of_many_labels_it_is_never_worse_where_it_was_chosen():
    chances, targets = rare(4)
    before, after = (
        f1_score(
            targets, predict_labels(chances, thresholds), average="macro", labels=range(4), zero_division=0
        )
        for thresholds in (None, fit_label_thresholds(chances, targets))
    )
    assert after > before + 0.02
    assert fit_label_thresholds(chances[:9], targets[:9]) == [0.25] * 4


def drawn(texts: int, rare: int, seed: int):
    """Calibrated probabilities of two labels, the second of so many texts, and what is true."""
    random = np.random.default_rng(seed)
    targets = (np.arange(texts) < rare).astype(int)
    scores = 3 * (random.normal(size=texts) + 3 * targets) - 4.5 + np.log(rare / (texts - rare))
    second = 1 / (1 + np.exp(-scores))
    return np.stack([1 - second, second], axis=1), targets


@pytest.mark.parametrize(
    ("texts", "rare", "least"),
    [(4_000, 20, 0.004), (4_000, 40, 0.006), (1_500, 15, 0.004), (300, 100, -0.002), (1_000, 500, -0.002)],
)
def test_rare_labels_gain_on_new_texts_and_common_ones_do_not_lose(texts, rare, least):
    gains = []
    for seed in range(10):
        thresholds = fit_label_thresholds(*drawn(texts, rare, seed))
        chances, targets = drawn(10 * texts, 10 * rare, 100 + seed)
        scores = (
            f1_score(targets, predict_labels(chances, limits), average="macro")
            for limits in (thresholds, None)
        )
        gains.append(next(scores) - next(scores))
    assert np.mean(gains) > least


def test_few_texts_move_a_threshold_little():
    chances = np.array([[0.8, 0.2]] * 30 + [[0.6, 0.4]] * 10)
    few, many = (
        fit_label_thresholds(chances.repeat(times, axis=0), np.repeat([0] * 30 + [1] * 10, times))[1]
        for times in (1, 20)
    )
    assert 0.2 < many < few < 0.5


def test_without_thresholds_the_most_probable_label_is_given():
    chances, _ = rare(3, 20)
    assert np.array_equal(predict_labels(chances), chances.argmax(axis=1))
    assert np.array_equal(predict_labels(chances, [0.2, 0.2, 0.2]), chances.argmax(axis=1))
    assert predict_labels(chances[0], [1e-9, 1, 1]) == 0


def test_a_text_that_counts_twice_is_like_two():
    chance = np.random.default_rng(0)
    targets = (chance.random(400) < 0.15).astype(int)
    second = np.clip(0.15 + 0.15 * targets + chance.normal(0, 0.08, 400), 0.01, 0.99)
    chances, weights = np.stack([1 - second, second], axis=1), np.where(targets, 4, 1)
    expected = fit_label_thresholds(chances.repeat(weights, axis=0), targets.repeat(weights))
    assert fit_label_thresholds(chances, targets, weights=weights) == pytest.approx(expected)
    assert fit_label_thresholds(chances, targets) != pytest.approx(expected)


def test_a_weight_is_as_many_texts_with_a_set_of_labels():
    logits, targets = drawn_sets(200, 3)
    weights = np.random.default_rng(4).integers(0, 4, 200)
    again = np.repeat(np.arange(200), weights)
    expected = fit_thresholds(logits[again], targets[again])
    assert fit_thresholds(logits, targets, weights=weights) == pytest.approx(expected)
    assert np.abs(fit_thresholds(logits, targets) - expected).max() > 0.1
