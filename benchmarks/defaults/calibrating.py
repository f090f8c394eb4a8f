"""What `headwise calibrate` is worth, where labels are as common as in training, and where they are not.

    python -m benchmarks.defaults.calibrating emotion irony offensive sst2 sst5 banking77 mtl16/MR

A linear model learns of a set's training texts (at most 3,000). Of the test texts a part calibrates it,
the rest judges it before and after: accuracy, log loss, calibration error, in the mean of ten draws.
"other": of the test texts such are kept that labels have other shares, drawn anew each time, any as likely
as any other. In the end the means over the sets. Needs the data folder (HEADWISE_DATA, default
../shared/data).
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import softmax

from benchmarks.defaults.unsure import held_and_new
from headwise.metrics.calibration import expected_calibration_error, fit_recalibration

TEXTS = (30, 100, 300)
DRAWS = 10


def draws(targets: np.ndarray, labels: int, shifted: bool, texts: int) -> Iterator[list[np.ndarray]]:
    """Numbers of `texts` calibration texts and of test texts; nothing where there are too few."""
    for seed in range(DRAWS):
        chance, selected = np.random.default_rng(seed), np.ones(len(targets), dtype=bool)
        if shifted:
            shares = np.bincount(targets, minlength=labels) / len(targets)
            ratio = chance.dirichlet(np.ones(labels)) / shares.clip(1e-9)
            # Of very many labels the largest ratio alone would leave next to no text.
            selected = (
                chance.random(len(targets))
                < (ratio / np.quantile(ratio, 0.9 if labels > 10 else 1))[targets]
            )
        order = chance.permutation(np.flatnonzero(selected))
        if len(order) >= texts + 100:
            yield [order[:texts], order[texts:]]


def judged(logits: np.ndarray, targets: np.ndarray) -> list[float]:
    """Accuracy, log loss, calibration error."""
    chances = softmax(logits, axis=1)
    right = (chances.argmax(axis=1) == targets).mean()
    lost = -np.log(chances[np.arange(len(targets)), targets].clip(1e-30)).mean()
    return [float(right), float(lost), expected_calibration_error(chances, targets)]


def main() -> None:
    every: dict[tuple[str, int], list[np.ndarray]] = {}
    for name in sys.argv[1:]:
        names, chances, targets = held_and_new(name)
        logits, true = np.log(chances[1].clip(1e-12)), targets[1]
        for shares in ("same", "other"):
            for texts in TEXTS:
                scores = [
                    (judged(logits[new], true[new]), judged(recalibration(logits[new]), true[new]))
                    for held, new in draws(true, len(names), shares == "other", texts)
                    for recalibration in [fit_recalibration(logits[held], true[held])]
                ]
                if scores:
                    every.setdefault((shares, texts), []).append(np.mean(scores, axis=0))
                    row = {"set": name, "labels": len(names), "shares": shares, "texts": texts}
                    show(row | {"draws": len(scores)}, every[shares, texts][-1])
    for (shares, texts), means in every.items():
        show({"sets": len(means), "shares": shares, "texts": texts}, np.mean(means, axis=0))


def show(row: dict[str, Any], scores: np.ndarray) -> None:
    """A line of scores before and after."""
    before, after = scores.round(4).tolist()
    print(json.dumps({**row, "before": before, "after": after}), flush=True)


if __name__ == "__main__":
    main()
