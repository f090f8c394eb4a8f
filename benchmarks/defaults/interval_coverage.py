"""Do the intervals of the report cover the truth, and does McNemar's test err at its nominal rate?

    python -m benchmarks.defaults.interval_coverage

Two classifiers whose true accuracies are known judge test sets that are drawn again and again: how often
the 95 % interval of an accuracy (Wilson) and of their difference (bootstrap) hold the true value, and how
often McNemar's exact test finds a difference (p < 0.05), where there is one (its power) and where not.
"""

import numpy as np

from headwise.metrics.classification_scores import compare_labels, wilson_interval

DRAWS = 2_000
# Test texts, and of these the shares that both get right, the first alone, the second alone.
CASES = [
    *((texts, 0.78, 0.08, 0.04) for texts in (150, 400, 1000)),
    *((texts, 0.78, 0.06, 0.06) for texts in (150, 400, 1000)),
    *((texts, 0.50, 0.25, 0.10) for texts in (150, 400)),
    *((texts, 0.94, 0.03, 0.01) for texts in (150, 400)),
]


def simulate(texts: int, both: float, first: float, second: float) -> tuple[float, float, float]:
    """Coverage of the accuracy's interval and of the difference's, and how often p < 0.05."""
    chance = np.random.default_rng(0)
    shares = [both, first, second, 1 - both - first - second]
    held, between, significant = 0, 0, 0
    targets = np.ones(texts, dtype=np.int64)
    for draw in range(DRAWS):
        kinds = chance.choice(4, size=texts, p=shares)
        right_first, right_second = (
            np.isin(kinds, correct_kinds).astype(np.int64) for correct_kinds in ((0, 1), (0, 2))
        )
        low, high = wilson_interval(int(right_first.sum()), texts)
        held += low <= both + first <= high
        judged = compare_labels(right_first, right_second, targets, seed=draw)
        low, high = judged.interval
        between += low <= first - second <= high
        significant += judged.p_value < 0.05
    return held / DRAWS, between / DRAWS, significant / DRAWS


def main() -> None:
    print("| test texts | accuracies | interval of accuracy | of the difference | p < 0.05 |")
    print("|---|---|---|---|---|")
    for texts, both, first, second in CASES:
        shown = (f"{100 * share:.1f} %" for share in simulate(texts, both, first, second))
        accuracies = f"{100 * (both + first):.0f} and {100 * (both + second):.0f} %"
        print(f"| {texts:,} | {accuracies} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
