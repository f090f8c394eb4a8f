"""A power law through errors: what is known is found, what is not stays open."""

import numpy as np
import pytest

from headwise.metrics.power_law import fit_power_law

SIZES = np.array([100, 141, 200, 283, 400, 566, 800])


def errors(level: float, share: float, speed: float, seeds: int = 5, noise: float = 0.0, seed: int = 0):
    """Of a law with 1,000 texts now; noise is larger for fewer texts, and each seed has its offset."""
    chance = np.random.default_rng(seed)
    law = level * (1 - share + share * (SIZES / 1000) ** -speed)
    seed_noise = noise * np.sqrt(800 / SIZES) * chance.standard_normal((seeds, len(SIZES)))
    return law + seed_noise + noise * chance.standard_normal((seeds, 1))


def gain(level: float, share: float, speed: float, more: int) -> float:
    return level * share * (1 - (1 + more / 1000) ** -speed)


def test_without_noise_the_gain_is_found():
    law = fit_power_law(SIZES, errors(0.2, 0.8, 0.5), 1000)
    middle, low, high = law.gain(1000)
    assert low < gain(0.2, 0.8, 0.5, 1000) < high
    assert middle == pytest.approx(gain(0.2, 0.8, 0.5, 1000), abs=0.004)
    assert law.error(1000)[0] == pytest.approx(0.2, abs=0.004)


def test_the_interval_holds_the_truth():
    chance, held, cases = np.random.default_rng(1), 0, 200
    for case in range(cases):
        level, share, speed = chance.uniform(0.05, 0.5), chance.uniform(0.2, 1), chance.uniform(0.15, 0.9)
        law = fit_power_law(SIZES, errors(level, share, speed, noise=0.01, seed=case), 1000)
        _, low, high = law.gain(1000)
        held += low <= gain(level, share, speed, 1000) <= high
    assert held >= 0.9 * cases


def test_more_texts_never_harm_and_more_noise_is_less_sure():
    clear, dim = (fit_power_law(SIZES, errors(0.3, 0.7, 0.4, noise=noise), 1000) for noise in (0.001, 0.06))
    width = [law.error(1000)[2] - law.error(1000)[1] for law in (clear, dim)]
    assert width[1] > 1.5 * width[0]
    gains = [clear.gain(more)[0] for more in (0, 10, 100, 1000, 10_000)]
    assert gains == sorted(gains)
    assert gains[0] == 0
    again = fit_power_law(SIZES, errors(0.3, 0.7, 0.4, noise=0.001), 1000)
    assert np.array_equal(again.level, clear.level)


def test_where_nothing_is_learnt_no_gain_is_promised():
    for seed in range(5):
        law = fit_power_law(SIZES, errors(0.5, 0.0, 0.5, noise=0.02, seed=seed), 1000)
        assert law.gain(1000)[1] == 0


def test_errors_that_fall_faster_than_any_power_are_told():
    """Texts of words that each decide by themselves: what is not known yet falls exponentially."""
    noise = 0.01 * np.random.default_rng(0).standard_normal((5, len(SIZES)))
    law = fit_power_law(SIZES, 0.5 * np.exp(-SIZES / 400) + noise, 1000)
    assert law.off < -0.06
    assert law.error(1000)[0] < 0.5 * np.exp(-800 / 400)  # no more than what was measured with fewer
    _, low, high = law.gain(1000)
    assert low < 0.5 * (np.exp(-1000 / 400) - np.exp(-2000 / 400)) < high


def test_of_errors_by_a_power_law_that_is_hardly_ever_said():
    chance, count = np.random.default_rng(2), 0
    for case in range(200):
        level, share, speed = chance.uniform(0.05, 0.5), chance.uniform(0.2, 1), chance.uniform(0.15, 0.9)
        law = fit_power_law(SIZES, errors(level, share, speed, noise=0.01, seed=case), 1000)
        count += law.off != 0
    assert count <= 6
