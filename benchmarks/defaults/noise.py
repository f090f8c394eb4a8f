"""How many wrong labels `headwise noise` finds: 5, 10 and 20 % of the training labels are flipped.

    python -m benchmarks.defaults.noise helpdesk/0 emotion banking77
    python -m benchmarks.defaults.noise wnut17 conll2003         # spans get another type, or none

Of each set: precision among the first k suspects, k the number that were flipped, and of all suspects, with
their recall; the same of cleanlab on TF-IDF and logistic regression (`pip install cleanlab`), its usual
recipe; and the accuracy on the test texts of our linear model trained on the noisy labels, without the
suspects of either, with ours counting as much as their label is probable (`train --weight`), and on the
true labels. Of tagged sentences precision and recall alone. Needs the data folder (HEADWISE_DATA, default
../shared/data).
"""

import json
import random
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import DATA
from benchmarks.defaults.default_sets import load
from headwise.app.workflows.label_errors import out_of_fold_probabilities
from headwise.app.workflows.tag_errors import find_tag_issues
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.labels import label_names
from headwise.data.readers.tagged_files import read_tagged
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.metrics.label_quality import find_label_issues
from headwise.metrics.tag_schemes import read_spans, write_tags
from headwise.text.static_embeddings.base_choice import AUTO, choose_base

SHARES = (0.05, 0.1, 0.2)
TAGGED = {"wnut17": "wnut17/wnut17train.conll.gz", "conll2003": "conll2003/eng.train.gz"}


def cleanlab_suspects(texts: list[str], targets: np.ndarray) -> np.ndarray:
    """Its label issues, the worst first."""
    from cleanlab.filter import find_label_issues
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=400))
    chances = cross_val_predict(model, texts, targets, cv=5, method="predict_proba")
    ranked = {"return_indices_ranked_by": "normalized_margin", "n_jobs": 1}
    return np.asarray(find_label_issues(targets, chances, **ranked))


def judged(suspects: np.ndarray, flipped: np.ndarray) -> dict[str, float]:
    """How good suspects are."""
    right = flipped[suspects]
    count = int(flipped.sum())
    return {
        "at_k": float(right[:count].sum() / count),
        "precision": float(right.mean()) if len(right) else 0.0,
        "recall": float(right.sum() / count),
    }


def accuracy(
    data: Any, targets: np.ndarray, names: list[str], rows: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Of our linear model on the test texts, in the usual settings."""
    read = get_tokenizer("penn").words
    texts = [data.train.items[number] for number in rows]
    words = [[read(text) for text in part] for part in (texts, data.test.items)]
    base, _ = choose_base(AUTO, words[0])
    dense = [None if base is None else base.texts(tokens) for tokens in words]
    settings = LinearSettings(dense=0.0 if base is None else 2.0)
    examples = LinearExamples(texts, targets[rows], len(names), dense=dense[0], sample_weight=weights)
    model = fit_linear(examples, settings=settings).model
    truth = np.array([names.index(label) for label in data.test.labels])
    return float((model.scores(list(data.test.items), dense[1]).argmax(axis=1) == truth).mean())


def tagged(name: str, share: float) -> dict[str, float]:
    """The same of the spans of a file of tagged sentences, which get another type, or none."""
    data, chance = read_tagged(DATA / TAGGED[name]), random.Random(0)
    types, items = sorted(data.entities), []
    flipped: set[tuple[int, int]] = set()  # of an item and a word, by span
    spans: list[set[tuple[int, int]]] = []
    for number, item in enumerate(data.items):
        changed_spans = []
        for span in read_spans(item.tags):
            kind: str | None = span.type
            if chance.random() < share:
                kind = chance.choice([None, *(entity for entity in types if entity != kind)])
                spans.append({(number, word) for word in range(span.start, span.end)})
                flipped |= spans[-1]
            changed_spans += [span._replace(type=kind)] if kind else []
        items.append(replace(item, tags=tuple(write_tags(changed_spans, len(item.tokens), "iob2"))))
    listed = find_tag_issues(data.with_items(items))
    where = {item.line: number for number, item in enumerate(items)}
    touched = []
    for issue in listed:
        first = int(issue.place.rpartition(":")[2]) - issue.line
        words = range(first, first + len(issue.words.split()))
        touched.append({(where[issue.line], word) for word in words} & flipped)
    reached = set().union(*touched)
    return {
        "at_k": sum(map(bool, touched[: len(spans)])) / len(spans),
        "precision": sum(map(bool, touched)) / max(len(touched), 1),
        "recall": sum(not span.isdisjoint(reached) for span in spans) / len(spans),
        "suspects": len(listed),
        "flipped": len(spans),
    }


def main() -> None:
    for name in sys.argv[1:]:
        if name in TAGGED:
            for share in SHARES:
                print(json.dumps({"set": name, "share": share, **tagged(name, share)}), flush=True)
            continue
        data = load(name)
        names = label_names(data.train.labels)
        true = np.array([names.index(label) for label in data.train.labels])
        texts, every = list(data.train.items), np.arange(len(true))
        for share in SHARES:
            chance = np.random.default_rng(0)
            flipped = np.zeros(len(true), dtype=bool)
            flipped[chance.permutation(len(true))[: round(share * len(true))]] = True
            away = chance.integers(1, len(names), len(true))
            noisy = np.where(flipped, (true + away) % len(names), true)
            chances = out_of_fold_probabilities(texts, noisy, len(names))[0]
            issues = {
                "headwise": find_label_issues(chances, noisy)[0],
                "cleanlab": cleanlab_suspects(texts, noisy),
            }
            result = {system: judged(numbers, flipped) for system, numbers in issues.items()}
            for system, numbers in issues.items():
                result[system]["cleaned"] = accuracy(data, noisy, names, np.setdiff1d(every, numbers))
            ours, weights = issues["headwise"], np.ones(len(true))
            weights[ours] = chances[ours, noisy[ours]]
            result["headwise"]["weighed"] = accuracy(data, noisy, names, every, weights / weights.mean())
            result["noisy"] = accuracy(data, noisy, names, every)
            result["true"] = accuracy(data, true, names, every)
            print(json.dumps({"set": name, "share": share, **result}), flush=True)


if __name__ == "__main__":
    main()
