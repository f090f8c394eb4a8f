import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headwise.linear.dense_features import covariance_root
from headwise.training import linear_probe
from headwise.training.linear_probe import _LENGTH, STRENGTHS, fit_linear_number_probe, fit_linear_probe


def texts(count: int, classes: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    centres = random.normal(size=(classes, 12))
    targets = random.integers(0, classes, count)
    rows = centres[targets] + noise * random.normal(size=(count, 12))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), targets


@pytest.mark.parametrize("classes", [2, 5])
def test_it_is_logistic_regression_of_one_of_the_strengths(classes):
    rows, targets = texts(300, classes, 2.0)
    weights, bias = fit_linear_probe(rows, targets, classes)
    outputs = rows @ weights.T + bias
    gaps, turned = [], rows @ covariance_root(rows) * _LENGTH
    for strength in STRENGTHS:
        # Of two labels scikit-learn has one column of weights, we have two of half the size.
        model = LogisticRegression(C=strength * (2 if classes == 2 else 1), max_iter=1000, tol=1e-8).fit(
            turned, targets
        )
        logits = model.decision_function(turned)
        expected = np.stack([-logits, logits], axis=1) / 2 if classes == 2 else logits
        centred = outputs - outputs.mean(axis=1, keepdims=True)
        gaps.append(np.abs(centred - (expected - expected.mean(axis=1, keepdims=True))).max())
    assert min(gaps) < 0.05


@pytest.mark.parametrize("noise", [0.3, 2.0, 8.0])
def test_the_strength_is_the_best_of_all(noise, monkeypatch):
    rows, targets = texts(200, 3, noise)
    weights = fit_linear_probe(rows, targets, 3)[0]
    all_of_them = []
    for first in range(len(STRENGTHS)):
        monkeypatch.setattr(linear_probe, "FIRST", first)
        all_of_them.append(np.linalg.norm(fit_linear_probe(rows, targets, 3)[0]))
    np.testing.assert_allclose(all_of_them, np.linalg.norm(weights), rtol=0.02)


def test_noise_asks_for_small_weights():
    rows, targets = texts(200, 2, 1.0)
    random = np.random.default_rng(1).permutation(targets)
    assert np.linalg.norm(fit_linear_probe(rows, random, 2)[0]) < np.linalg.norm(
        fit_linear_probe(rows, targets, 2)[0]
    )


def test_weights_count_texts_as_if_there_were_more_of_them():
    rows, targets = texts(100, 2, 2.0)
    more = np.where(targets == 1, 3.0, 1.0)
    plain, weighted = (
        fit_linear_probe(rows, targets, 2, weights=sample_weights) for sample_weights in (None, more)
    )
    assert weighted[1][1] - weighted[1][0] > plain[1][1] - plain[1][0]


def test_numbers_that_count_nothing_are_as_if_they_were_not_there():
    rows, targets = texts(100, 3, 2.0)
    wrong, weights = targets.astype(float), np.ones(100, dtype=np.float32)
    wrong[60:], weights[60:] = 1e6, 0
    fitted, expected = (
        fit_linear_number_probe(rows, wrong, weights),
        fit_linear_number_probe(rows[:60], targets[:60]),
    )
    for actual, reference in zip(fitted, expected, strict=True):
        np.testing.assert_allclose(actual, reference, atol=1e-4)
    heavy = fit_linear_number_probe(rows, targets, np.where(targets == 2, 20.0, 1.0))
    assert (rows @ heavy[0].T + heavy[1]).mean() > (rows @ expected[0].T + expected[1]).mean()


def test_few_texts():
    rows, targets = texts(3, 2, 0.1)
    weights, bias = fit_linear_probe(rows, targets, 2)
    assert np.isfinite(weights).all()
    assert np.isfinite(bias).all()


def test_certain_probabilities_are_labels():
    rows, targets = texts(100, 3, 2.0)
    hard, soft = (
        fit_linear_probe(rows, targets, 3),
        fit_linear_probe(rows, np.eye(3, dtype=np.float32)[targets], 3),
    )
    assert np.allclose(hard[0], soft[0], atol=1e-3)


def test_label_sets_have_a_regression_for_each_label():
    rows, targets = texts(300, 3, 0.5)
    sets = np.stack([targets == 0, targets != 1], axis=1)
    weights, bias = fit_linear_probe(rows, sets, 2, sets=True)
    assert (((rows @ weights.T + bias) > 0) == sets).mean() > 0.97


def test_numbers_have_a_ridge_regression():
    rows, _ = texts(300, 3, 1.0)
    true = np.random.default_rng(2).normal(size=12)
    weights, bias = fit_linear_number_probe(rows, (rows @ true + 3).astype(np.float32))
    np.testing.assert_allclose(rows @ weights[0] + bias, rows @ true + 3, atol=0.1)


def test_doubles_are_held_out_together():
    """Of labels that a coin gave, doubles would make large weights look right."""
    random = np.random.default_rng(1)
    rows = random.normal(size=(150, 100)).astype(np.float32) / 10
    targets = random.integers(0, 2, 150)
    twice, both = np.vstack([rows, rows]), np.tile(targets, 2)
    same = np.tile(np.arange(150), 2)
    apart, together = (fit_linear_probe(twice, both, 2, same=groups) for groups in (None, same))
    assert np.linalg.norm(together[0]) < np.linalg.norm(apart[0])
    numbers = random.normal(size=150)
    ridges = [fit_linear_number_probe(twice, np.tile(numbers, 2), same=groups) for groups in (None, same)]
    assert np.linalg.norm(ridges[1][0]) < np.linalg.norm(ridges[0][0])
    alone = fit_linear_number_probe(rows, numbers, same=np.arange(150))
    np.testing.assert_array_equal(alone[0], fit_linear_number_probe(rows, numbers)[0])
