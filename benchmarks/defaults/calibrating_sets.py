"""What `headwise calibrate` is worth for label sets (see calibrating.py for labels).

    python -m benchmarks.defaults.calibrating_sets reviews names intents

The sets are those of set_noise.py: a linear model learns of 1,500 texts, and has thresholds by what it
says of them out of fold; of 1,500 others a part calibrates it, the rest judges it before and after: micro
F1, macro F1, loss, in the mean of ten draws. "other": texts are kept with which each label is more common,
or rarer, by a factor that is drawn anew each time (its logarithm is normal). Needs the data folder
(HEADWISE_DATA, default ../shared/data).
"""

import random
import sys
from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from benchmarks.defaults.calibrating import DRAWS, show
from benchmarks.defaults.default_sets import named
from benchmarks.defaults.set_noise import SETS
from headwise.data.items.examples import MultiLabelExample
from headwise.data.items.label_types import LABEL_SET_TYPE
from headwise.data.items.labels import multi_hot_targets
from headwise.linear.ensemble_weights import fit_binary_temperature
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.metrics.calibration import fit_recalibration, label_set_loss
from headwise.metrics.multi_label_scores import mean_binary_loss, set_rates
from headwise.metrics.thresholds import fit_thresholds

TEXTS = (100, 300)
LEARNT = 1_500


def draws(has: np.ndarray, shifted: bool, texts: int) -> Iterator[list[np.ndarray]]:
    """Numbers of calibration texts and of test texts; nothing where there are too few."""
    for seed in range(DRAWS):
        chance, selected = np.random.default_rng(seed), np.ones(len(has), dtype=bool)
        if shifted:
            weight = np.exp(has @ chance.normal(size=has.shape[1]))
            selected = chance.random(len(has)) < weight / np.quantile(weight, 0.9)
        order = chance.permutation(np.flatnonzero(selected))
        if len(order) >= texts + 100:
            yield [order[:texts], order[texts:]]


def judged(logits: np.ndarray, thresholds: np.ndarray, has: np.ndarray) -> list[float]:
    """Micro F1, macro F1, loss."""
    rates = set_rates(expit(logits), expit(thresholds), has)
    return [rates["micro_f1"], rates["macro_f1"], mean_binary_loss(logits, has)]


def main() -> None:
    for name in sys.argv[1:]:
        data = named(SETS, name)()
        rows = random.Random(0).sample(range(len(data.texts)), 2 * LEARNT)
        texts, labels = ([data.texts[n] for n in rows], [data.labels[n] for n in rows])
        names = sorted({label for label_set in labels[:LEARNT] for label in label_set})
        examples = [
            MultiLabelExample("", labels=tuple(n for n in label_set if n in names)) for label_set in labels
        ]
        has = multi_hot_targets(examples, names)
        fitted = fit_linear(
            LinearExamples(texts[:LEARNT], has[:LEARNT], len(names), label_type=LABEL_SET_TYPE)
        )
        temperature = fit_binary_temperature(fitted.oof_scores, has[:LEARNT])
        thresholds = fit_thresholds(fitted.oof_scores / temperature, has[:LEARNT])
        logits, true = fitted.model.scores(texts[LEARNT:], None) / temperature, has[LEARNT:]
        for shares in ("same", "other"):
            for count in TEXTS:
                scores = []
                for held, new in draws(true, shares == "other", count):
                    made = fit_recalibration(logits[held], true[held], label_set_loss)
                    after = made(logits[new]), fit_thresholds(made(logits[held]), true[held])
                    both = (logits[new], thresholds), after
                    scores.append([judged(*setting, true[new]) for setting in both])
                row = {"set": name, "labels": len(names), "shares": shares, "texts": count}
                if scores:
                    show(row | {"draws": len(scores)}, np.mean(scores, axis=0))


if __name__ == "__main__":
    main()
