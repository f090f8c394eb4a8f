"""SettingSearch: settings compared by cross-validation, and with fewer passes where there is much work."""

import numpy as np
import pytest

from headwise.linear import linear_fit as text_fit
from headwise.linear import setting_search as comparison
from headwise.linear import training_data as text_data
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import STRENGTHS, LinearSettings
from headwise.linear.setting_search import SettingSearch

from .conftest import corpus


@pytest.mark.parametrize("most", [10_000, 0])  # crossed, or held out
def test_threads_change_nothing(most, monkeypatch):
    monkeypatch.setattr(text_fit, "MOST_CROSSED", most)
    monkeypatch.setattr(comparison, "LARGE_WORK", 0)
    texts, targets = corpus(3, seed=2)
    vectors = np.random.default_rng(0).normal(size=(len(texts), 5)).astype(np.float32)
    fits = []
    for threads in (1, 3):
        monkeypatch.setattr(comparison, "usable_threads", lambda threads=threads: threads)
        fits.append(fit_linear(LinearExamples(texts, targets, 3, dense=vectors)))
    one, second = fits
    assert one.settings == second.settings
    assert np.array_equal(one.oof_scores, second.oof_scores)
    assert np.array_equal(one.model.coefficients.weights, second.model.coefficients.weights)


@pytest.mark.parametrize(
    ("losses", "best", "tried"),
    [
        ({0.15: 3, 0.5: 1, 1.5: 2, 4.0: 0}, 0.5, {0.15, 0.5, 1.5}),
        ({0.15: 3, 0.5: 2, 1.5: 1, 4.0: 0}, 4.0, {0.15, 0.5, 1.5, 4.0}),
        ({0.15: 3, 0.5: 2, 1.5: 1, 4.0: 5}, 1.5, {0.15, 0.5, 1.5, 4.0}),
        ({0.15: 1, 0.5: 2, 1.5: 3, 4.0: 0}, 0.15, {0.15, 0.5, 1.5}),
    ],
)
def test_what_lies_beyond_something_worse_is_not_tried(losses, best, tried):
    judged = set()

    def judge(candidates):
        judged.update(settings.strength for settings in candidates)
        return [losses[settings.strength] for settings in candidates]

    compared = SettingSearch.__new__(SettingSearch)
    compared.losses_of, compared._best, compared._fits = judge, None, {}
    assert compared.line_search(LinearSettings(), "strength", STRENGTHS).strength == best
    assert judged == tried


def test_much_work_is_compared_in_a_hurry(monkeypatch):
    texts, targets = corpus(3, noise=0.2)
    tolerances, solve = [], text_data.fit_svm_columns
    monkeypatch.setattr(
        text_data,
        "fit_svm_columns",
        lambda *a, **how: (tolerances.append(how.get("tolerance")), solve(*a, **how))[1],
    )
    fit_linear(LinearExamples(texts, targets, 3))
    assert set(tolerances) == {None}
    searched = tolerances[:-1]  # and the last on all texts
    tolerances.clear()
    monkeypatch.setattr(comparison, "LARGE_WORK", 0)
    fitted = fit_linear(LinearExamples(texts, targets, 3))
    assert len(tolerances[:-6]) <= len(searched)
    assert tolerances[-6:] == [None] * 6  # of what is chosen: five folds, and all texts
    assert set(tolerances[:-6]) == {comparison.FAST_TOLERANCE}
    assert fitted.cv_score > 0.6


def test_machines_side_by_side_have_their_limit(monkeypatch):
    thread_counts = []
    monkeypatch.setattr(comparison, "LARGE_WORK", 0)
    monkeypatch.setattr(comparison, "usable_threads", lambda: 64)
    run = comparison.run_jobs
    monkeypatch.setattr(
        comparison, "run_jobs", lambda work, jobs, n: (thread_counts.append(n), run(work, jobs, 1))
    )
    texts, targets = corpus(3, 60, seed=2)
    model = fit_linear(LinearExamples(texts, targets, 3)).model
    cells = 3 * sum(len(block) for block in model.blocks.values())
    assert set(thread_counts) == {64}
    thread_counts.clear()
    monkeypatch.setattr(comparison, "MOST_SIDE_BY_SIDE", 2 * cells)
    fit_linear(LinearExamples(texts, targets, 3))
    assert max(thread_counts) <= 2
    monkeypatch.setattr(comparison, "MOST_SIDE_BY_SIDE", 1)
    fit_linear(LinearExamples(texts, targets, 3))
    assert thread_counts[-1] == 1
    monkeypatch.setattr(comparison, "MOST_SIDE_BY_SIDE", 10**9)
    fit_linear(LinearExamples(texts, targets, 3))
    assert thread_counts[-1] == 64
    monkeypatch.setattr(comparison, "LARGE_WORK", 1e9)
    fit_linear(LinearExamples(texts, targets, 3))
    assert thread_counts[-1] == 1
