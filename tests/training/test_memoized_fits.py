"""Memoized fits are computed once within a context, and each caller gets a copy."""

import numpy as np

from headwise.training.memoized_fits import memoized, memoizing


def test_once_for_the_same_arguments():
    calls = []

    def fit(texts, weights, *, classes=2):
        calls.append(classes)
        return {"weights": weights * classes}

    def ask(scale=1.0, **named):
        return memoized(fit, ["a", "b"], scale * np.arange(3.0), **named)["weights"].tolist()

    assert [ask(), ask()] == [[0, 2, 4]] * 2
    assert len(calls) == 2
    cache = {}
    with memoizing(cache):
        assert [ask(), ask(), ask(2.0), ask(classes=3), ask()] == [
            *[[0, 2, 4]] * 2,
            [0, 4, 8],
            [0, 3, 6],
            [0, 2, 4],
        ]
        assert len(calls) == 5
        memoized(fit, ["a", "b"], np.arange(3.0))["weights"][:] = 9
        assert ask() == [0, 2, 4]
    assert len(cache) == 3
    ask()
    assert len(calls) == 6
