"""Novelty scores against their definitions, on numbers that are plain to see."""

import itertools

import numpy as np
import pytest

from headwise.metrics.novelty import (
    NEIGHBOURS,
    FamiliarityFeatures,
    NoveltyDetector,
    auroc,
    fit_novelty,
    histogram,
    keep_threshold,
    logit_weight,
    mean_similarities,
    score_novelty,
    topic_weight,
    unit_vectors,
)

RANDOM = np.random.default_rng(0)


def test_auroc_counts_pairs():
    first, second = RANDOM.integers(0, 9, 30).astype(float), RANDOM.integers(2, 12, 40).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a, b in itertools.product(first, second)]
    assert auroc(first, second) == pytest.approx(np.mean(pairs))
    assert auroc(np.array([2.0]), np.array([1.0])) == 1
    assert np.isnan(auroc(first, np.zeros(0)))


def test_similarities_are_the_mean_cosine_of_the_nearest():
    vectors, references = RANDOM.normal(size=(7, 4)), RANDOM.normal(size=(20, 4))
    cosines = unit_vectors(vectors) @ unit_vectors(references).T
    expected = np.sort(cosines, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
    units = unit_vectors(references)
    np.testing.assert_allclose(mean_similarities(vectors, units), expected, rtol=1e-5)
    excluded = cosines > np.sort(cosines, axis=1)[:, -2][:, None]  # the nearest one of each
    without = np.sort(cosines, axis=1)[:, -NEIGHBOURS - 1 : -1].mean(axis=1)
    np.testing.assert_allclose(mean_similarities(vectors, units, excluded), without, rtol=1e-5)


def test_similarities_without_texts_words_or_references():
    units = unit_vectors(RANDOM.normal(size=(3, 4)))  # fewer than the nearest that are asked for
    assert mean_similarities(np.zeros((0, 4)), units).shape == (0,)
    assert mean_similarities(np.zeros((1, 4)), units).tolist() == [0]
    assert mean_similarities(np.ones((2, 4)), units[:0]).tolist() == [0, 0]


def test_logits_count_where_labels_are_topics():
    similar = RANDOM.normal(0.8, 0.05, 500)
    assert logit_weight(similar, similar - 0.01) == 0  # opinions: the rest of the texts is as similar
    assert logit_weight(similar, similar - 0.2) == 2
    weights = [topic_weight(separation) for separation in np.linspace(0.5, 1, 11)]
    assert weights == sorted(weights)
    assert (min(weights), max(weights)) == (0, 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_held_out_texts_have_median_0_and_deviation_1(weighted):
    logits, similarities = RANDOM.normal(9, 3, 999), RANDOM.normal(0.7, 0.1, 999)
    features = FamiliarityFeatures(logits, similarities if weighted else None)
    fitted = fit_novelty(features, 0.9, similarities - 0.3 if weighted else None)
    scores = features.scores(fitted.detector)
    assert np.median(scores) == pytest.approx(0, abs=1e-9)
    assert scores.std() == pytest.approx(1)
    assert (scores <= fitted.detector.threshold).mean() == pytest.approx(0.9, abs=0.002)
    strange = FamiliarityFeatures(logits - 3, similarities - 0.1 if weighted else None)
    assert (strange.scores(fitted.detector) > scores).all()
    assert fitted.detector.similarity > 0 if weighted else fitted.detector.similarity == 0


def test_texts_that_do_not_differ_have_scores_too():
    same = np.ones(5)
    fitted = fit_novelty(FamiliarityFeatures(same, same), 0.95, same)
    assert np.isfinite(list(fitted.to_json()["edges"])).all()
    assert not fitted.detector.is_unknown(fitted.in_scope).any()


def test_out_of_scope_texts_choose_what_tells_them():
    """Similarities say nothing of these: by themselves they would decide, as labels are opinions."""
    inside = FamiliarityFeatures(RANDOM.normal(5, 1, 400), RANDOM.normal(0.5, 0.1, 400))
    strange = FamiliarityFeatures(RANDOM.normal(1, 1, 50), RANDOM.normal(0.5, 0.1, 50))
    without = fit_novelty(inside, 0.95, inside.similarities)
    taught = fit_novelty(inside, 0.95, inside.similarities, strange)
    caught = [
        fitted.detector.is_unknown(strange.scores(fitted.detector)).mean() for fitted in (without, taught)
    ]
    assert caught[0] < 0.3
    assert caught[1] > 0.9
    assert taught.to_json()["detected"] == pytest.approx(caught[1])
    few = FamiliarityFeatures(strange.logits[:5], np.full(5, 0.5))
    assert fit_novelty(inside, 0.95, inside.similarities, few).weight == without.weight


def test_the_threshold_keeps_the_share_of_new_texts_on_average():
    kept_shares = []
    for _ in range(400):
        draws = RANDOM.normal(size=40)
        kept_shares.append((draws[20:] <= keep_threshold(draws[:20], 0.9)).mean())
    assert np.mean(kept_shares) >= 0.9 - 0.01
    assert keep_threshold(np.array([3.0, 1.0, 2.0]), 0.95) == 3  # too few to promise more
    assert keep_threshold(np.zeros(0), 0.95) == 0


def test_evaluation_counts():
    detector = NoveltyDetector(0.0, 0.0, 1.0, threshold=1.0)
    inside, unknown = np.array([0.0, 0.5, 1.0, 2.0]), np.array([0.9, 1.1, 3.0])
    scores = score_novelty(detector, inside, unknown, np.array([True, False, True, True]))
    assert (scores.retained, scores.detected) == (0.75, pytest.approx(2 / 3))
    assert scores.confusion == {"known": {"known": 3, "unknown": 1}, "unknown": {"known": 1, "unknown": 2}}
    assert scores.accuracy == pytest.approx((2 + 2) / 7)
    assert scores.auroc == pytest.approx(auroc(unknown, inside))
    alone = score_novelty(detector, inside, unknown[:0], np.ones(4, dtype=bool)).to_json()
    assert (alone["auroc"], alone["detected"], alone["unknown"]) == (None, None, [])
    assert sum(alone["known"]) == pytest.approx(1)


def test_histogram_holds_all_scores():
    drawn = histogram(np.array([-100.0, *np.linspace(0, 1, 998), 100.0]), np.array([0.5]))
    assert len(drawn["edges"]) == len(drawn["known"]) + 1 == len(drawn["unknown"]) + 1
    assert sum(drawn["known"]) == pytest.approx(1)
    assert sum(drawn["unknown"]) == 1
    assert histogram(np.zeros(0), np.zeros(0)) == {"edges": [], "known": [], "unknown": []}
