"""How often the sure are right: `headwise predict --unsure precision=...` on texts that nobody has seen.

    python -m benchmarks.defaults.unsure helpdesk/0 emotion sst2 banking77

The threshold is found on what was held out of the training texts (the linear model out of fold, at most
3,000 texts), as a model folder keeps it, and used on the test texts: the share that is answered, and the
share of it that is right. Needs the data folder (HEADWISE_DATA, default ../shared/data).
"""

import json
import sys

import numpy as np
from scipy.special import softmax

from benchmarks.defaults.default_sets import load
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.labels import label_names
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.metrics.operating_points import RiskCoverageCurve, confidence_threshold
from headwise.text.static_embeddings.base_choice import AUTO, choose_base

MOST = 3_000
WANTED = (0.9, 0.95, 0.98)


def held_and_new(name: str) -> tuple[list[str], list[np.ndarray], list[np.ndarray]]:
    """The labels of a set, and of texts that were held out of training and of test texts the probabilities
    by the linear model, `[texts, labels]`, and the label numbers, `[texts]`."""
    read = get_tokenizer("penn").words
    data = load(name)
    names = label_names(data.train.labels)
    rows = np.random.default_rng(0).permutation(len(data.train))[:MOST].tolist()
    parts = data.train.take(rows), data.test
    targets = [np.array([names.index(label) for label in part.labels]) for part in parts]
    words = [[read(text) for text in part.items] for part in parts]
    base, _ = choose_base(AUTO, words[0])
    dense = [None if base is None else base.texts(tokens) for tokens in words]
    fitted = fit_linear(LinearExamples(list(parts[0].items), targets[0], len(names), dense=dense[0]))
    scores = fitted.oof_scores, fitted.model.scores(list(data.test.items), dense[1])
    return names, [softmax(logits.astype(np.float64), axis=1) for logits in scores], targets


def main() -> None:
    for name in sys.argv[1:]:
        _, chances, targets = held_and_new(name)
        sure = [part.max(axis=1) for part in chances]
        right = [part.argmax(axis=1) == true for part, true in zip(chances, targets, strict=True)]
        curve = RiskCoverageCurve.of(sure[0], right[0]).to_json()
        print(json.dumps({"set": name, "held": len(sure[0]), "right": float(right[1].mean())}))
        for target in WANTED:
            try:
                least = confidence_threshold(f"precision={target}", curve)
            except ConfigError as error:
                print(json.dumps({"set": name, "wanted": target, "error": str(error)}))
                continue
            answered = sure[1] >= least
            result = {"answered": float(answered.mean()), "right": float(right[1][answered].mean())}
            print(json.dumps({"set": name, "wanted": target, "from": least, **result}), flush=True)


if __name__ == "__main__":
    main()
