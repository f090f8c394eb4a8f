"""A weight is nearly as many texts or pairs, but for how rare words are, which is counted in texts."""

import numpy as np
import pytest

from headwise.linear.text_data import LinearSettings
from headwise.linear.text_fit import fit_linear

RANDOM = np.random.default_rng(0)
WORDS = [f"w{n}" for n in range(60)]
TEXTS = [" ".join(RANDOM.choice(WORDS, 12)) for _ in range(200)]
SETS = np.array([[f"{word} " in text for word in ("w1", "w2")] for text in TEXTS])
SETS ^= RANDOM.random(SETS.shape) < 0.1
ALIKE = RANDOM.random(200) < 0.5
PAIRS = [
    (text, " ".join(RANDOM.choice(text.split() if alike else WORDS, 6)))
    for text, alike in zip(TEXTS, ALIKE, strict=True)
]
SCORES = (2 * ALIKE - 1 + RANDOM.normal(0, 0.3, 200)).astype(np.float32)
TIMES = RANDOM.integers(0, 4, 200)


@pytest.mark.parametrize(
    ("items", "targets", "classes"),
    [(TEXTS, SETS, 2), (PAIRS, ALIKE.astype(np.int64), 2), (PAIRS, SCORES, 1)],
)
def test_a_weight_is_nearly_as_many(items, targets, classes):
    def said(numbers, strength, weights=None):
        settings = LinearSettings(ratios=targets is not SCORES, strength=strength)
        some, how = (
            [items[number] for number in numbers],
            {"sample_weight": weights, "pairs": items is PAIRS},
        )
        own = fit_linear(some, targets[numbers], classes, settings=settings, folds=1, **how)
        return own.model.scores(items, None, None)

    every = np.arange(200)
    wanted = said(np.repeat(every, TIMES), 0.2)
    # The weights are relative: their mean goes into the strength.
    weighed, plain = said(every, 0.2 * TIMES.mean(), TIMES), said(every, 0.2)
    assert np.abs(weighed - wanted).mean() < 0.3 * np.abs(plain - wanted).mean()
