"""Thresholds: the best F1 by brute force, ties, and labels that share one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from headwise.errors import ConfigError
from headwise.scores.thresholds import ThresholdConfig, best_threshold, fit_thresholds

scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=80, deadline=None)
@given(scored)
def test_no_threshold_is_better(rows):
    scores, targets = (np.array(part) for part in zip(*rows, strict=True))
    threshold, f1 = best_threshold(scores, targets)
    found = f1_score(targets, scores >= threshold, zero_division=0)
    every = [f1_score(targets, scores >= t, zero_division=0) for t in (*scores, 2.0)]
    assert found == pytest.approx(f1)
    assert f1 == pytest.approx(max(every))


def test_halfway_between_scores():
    assert best_threshold(np.array([0.9, 0.7, 0.1]), np.array([True, True, False])) == (
        pytest.approx(0.4),
        1.0,
    )
    threshold, f1 = best_threshold(np.array([0.2, 0.6]), np.array([False, False]))
    assert (threshold > 0.6, f1) == (True, 0.0)


def test_rare_labels_share_the_threshold_of_all():
    random = np.random.default_rng(0)
    targets = random.random((200, 3)) < [0.5, 0.3, 0.01]
    scores = 0.3 * targets + random.random((200, 3)) * [0.5, 0.9, 0.7]
    found = fit_thresholds(scores, targets, min_texts=10)
    assert found[0] == best_threshold(scores[:, 0], targets[:, 0])[0]
    assert found[1] == best_threshold(scores[:, 1], targets[:, 1])[0]
    assert found[2] == best_threshold(scores.ravel(), targets.ravel())[0]
    assert len(set(found)) == 3
    own = fit_thresholds(scores, targets, min_texts=1)[2]
    assert own == best_threshold(scores[:, 2], targets[:, 2])[0] != found[2]


def test_settings():
    with pytest.raises(ConfigError, match="min_texts must be at least 1"):
        ThresholdConfig(min_texts=0)
