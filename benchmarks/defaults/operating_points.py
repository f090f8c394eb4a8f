"""Whether `--classifier.thresholds LABEL:recall=...` keeps its promise on unseen texts.

    python -m benchmarks.defaults.operating_points emotion irony offensive sst2 helpdesk/0

For each label of a set the thresholds are found on what was held out of the training texts (the linear
model out of fold, at most 3,000 texts), and used on the test texts: the rate that came, in the mean over
labels, beside the one that was asked for, and the other half of it (how many other texts get the label, or
how many of the label's are found). Labels are left out of which so few texts cannot promise that. Needs the
data folder (HEADWISE_DATA, default ../shared/data).
"""

import json
import sys
from typing import get_args

import numpy as np

from benchmarks.defaults.unsure import held_and_new
from headwise.metrics.operating_points import OperatingPoint, Rate, choose_threshold, log_ratio

WANTED = {"recall": (0.9, 0.95), "precision": (0.8, 0.9), "fpr": (0.05, 0.01)}


def main() -> None:
    for name in sys.argv[1:]:
        names, chances, targets = held_and_new(name)
        print(json.dumps({"set": name, "held": len(targets[0]), "labels": len(names)}))
        for rate in get_args(Rate):
            for target in WANTED[rate]:
                came, besides = list[float](), list[float]()
                for number, label in enumerate(names):
                    scores = [log_ratio(probabilities, number) for probabilities in chances]
                    true = [numbers == number for numbers in targets]
                    point = OperatingPoint(label, rate, target)
                    choice = choose_threshold(point, scores[0], true[0], chances[0][:, number])
                    predicted = scores[1] > choice.threshold
                    if choice.met:
                        recall, fpr = predicted[true[1]].mean(), predicted[~true[1]].mean()
                        precision = true[1][predicted].mean() if predicted.any() else np.nan
                        came.append({"recall": recall, "precision": precision, "fpr": fpr}[rate])
                        besides.append(fpr if rate == "recall" else recall)
                mean = {"labels": len(came), "came": float(np.nanmean(came)) if came else None}
                rest = {"fpr" if rate == "recall" else "recall": float(np.mean(besides)) if came else None}
                print(json.dumps({"set": name, "rate": rate, "wanted": target} | mean | rest), flush=True)


if __name__ == "__main__":
    main()
