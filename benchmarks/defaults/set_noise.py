"""How many wrong sets of labels `headwise noise` finds, where 5, 10 and 20 % have one more or one less.

    python -m benchmarks.defaults.set_noise reviews names intents

There are 3,000 texts each: domain and sentiment of MTL-16's reviews (17 labels), the kinds of names in
CoNLL-2003's sentences (4; some have none), the words of the intents of banking77 (111). Of a set a label is
taken away, or, every second time and where there is none, one is added. Precision among the first k
suspects, k the number of changed sets, and of all suspects, with their recall, and how many of the changed
sets that are found are suggested as they were; the same but for the last of cleanlab on TF-IDF and logistic
regressions (`pip install cleanlab`), its usual recipe. Needs the data folder (HEADWISE_DATA, default
../shared/data).
"""

import json
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks import DATA
from benchmarks.defaults.default_sets import GROUPS, load, named
from benchmarks.defaults.noise import SHARES, TAGGED, judged
from headwise.app.workflows.label_set_errors import find_label_set_issues
from headwise.data.items.examples import MultiLabelExample
from headwise.data.items.labels import multi_hot_targets
from headwise.data.readers.tagged_files import read_tagged
from headwise.metrics.tag_schemes import read_spans

MOST = 3_000


@dataclass(frozen=True)
class Sets:
    """Texts, and the labels of each."""

    texts: list[str]
    labels: list[tuple[str, ...]]


def reviews() -> Sets:
    """A domain and a sentiment each."""
    read = [(name.partition("/")[2], load(name).train) for name in GROUPS["mtl16"]]
    labels = [(domain, *["good"] * (label == "1")) for domain, part in read for label in part.labels]
    return Sets([text for _, part in read for text in part.items], labels)


def names(name: str = "conll2003") -> Sets:
    """The kinds of names in a sentence of a set of `TAGGED`."""
    items = read_tagged(DATA / TAGGED[name]).items
    kinds = [tuple(sorted({str(span.type) for span in read_spans(item.tags)})) for item in items]
    return Sets([" ".join(item.tokens) for item in items], kinds)


def intents() -> Sets:
    """The words of an intent's name."""
    part = load("banking77").train
    return Sets(list(part.items), [tuple(dict.fromkeys(label.lower().split("_"))) for label in part.labels])


SETS = {"reviews": reviews, "names": names, "intents": intents}


def cleanlab_suspects(texts: list[str], has: np.ndarray) -> np.ndarray:
    """Its label issues, the worst first."""
    from cleanlab.multilabel_classification.filter import find_label_issues
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression(max_iter=400)))
    folds = KFold(5, shuffle=True, random_state=0)
    chances = cross_val_predict(model, texts, has.astype(int), cv=folds, method="predict_proba")
    sets = [np.flatnonzero(row).tolist() for row in has]
    ranked = {"return_indices_ranked_by": "self_confidence", "n_jobs": 1}
    return np.asarray(find_label_issues(sets, chances, **ranked))


def main() -> None:
    for name in sys.argv[1:]:
        data = named(SETS, name)()
        rows = np.random.default_rng(0).permutation(len(data.texts))[:MOST].tolist()
        texts, labels = [data.texts[n] for n in rows], [data.labels[n] for n in rows]
        names = sorted({label for label_set in labels for label in label_set})
        for share in SHARES:
            print(
                json.dumps({"set": name, "share": share, **changed(texts, labels, names, share)}),
                flush=True,
            )


def changed(
    texts: list[str], labels: list[tuple[str, ...]], names: list[str], share: float
) -> dict[str, Any]:
    """What is found where a share of the sets is changed."""
    chance = np.random.default_rng(0)
    places = chance.permutation(len(texts))[: round(share * len(texts))]
    noisy, flipped = list(labels), np.zeros(len(texts), dtype=bool)
    flipped[places] = True
    for turn, place in enumerate(places.tolist()):
        label_set = labels[place]
        if len(label_set) == len(names) or (label_set and turn % 2):
            gone = chance.integers(len(label_set))
            noisy[place] = label_set[:gone] + label_set[gone + 1 :]
        else:
            noisy[place] = (
                *label_set,
                chance.choice([name for name in names if name not in label_set]).item(),
            )
    items = [
        MultiLabelExample(text, line=line, labels=label_set)
        for line, (text, label_set) in enumerate(zip(texts, noisy, strict=True))
    ]
    issues = find_label_set_issues(SimpleNamespace(items=items, columns=SimpleNamespace(separator="|")))
    lines = np.array([issue.line for issue in issues], dtype=int)
    true = [set(filter(None, issue.suggested.split("|"))) == {*labels[issue.line]} for issue in issues]
    hit = flipped[lines]
    ours = {**judged(lines, flipped), "suggested": float(np.array(true)[hit].mean()) if hit.any() else 0.0}
    cleanlab = judged(cleanlab_suspects(texts, multi_hot_targets(items, names)), flipped)
    return {"headwise": ours, "cleanlab": cleanlab, "suspects": len(issues)}


if __name__ == "__main__":
    main()
