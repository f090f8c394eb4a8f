"""Our linear classifier and our CRF, compared with scikit-learn and python-crfsuite.

    python -m benchmarks.defaults.linear                   # quick sets, 250, 1,000 and 4,000 texts, 3 seeds
    python -m benchmarks.defaults.linear --sets all --sizes 250 1000 4000 all
    python -m benchmarks.defaults.linear --table           # only print stored results

Sets, subsets, rivals and tables are those of default.py; `words` is a linear SVM on the TF-IDF
of words and word pairs alone. `linear` is `headwise.linear.linear_fit.fit_linear`, `tag-crf` is
`headwise.linear.tag_crf`: both choose their settings on the training texts. A run is a line of
results/linear.jsonl, appended when it is done: kill it at any time and start it again. The rival CRF
needs `pip install python-crfsuite`. Needs the data folder (HEADWISE_DATA, default ../shared/data).
"""

import argparse
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from benchmarks import DATA
from benchmarks.common.runs import Result
from benchmarks.defaults.default import commit, sets_of
from benchmarks.defaults.default_linear import (
    STRENGTHS,
    WORD,
    Fitted,
    Items,
    _machine,
    every_text,
    nb_svm,
    sides,
    svm,
)
from benchmarks.defaults.default_results import Job, append_result, only, read_results
from benchmarks.defaults.default_rivals import probability_scores
from benchmarks.defaults.default_sets import DataSet, Part, load, subset
from benchmarks.defaults.default_table import print_tables
from benchmarks.defaults.default_taggers import _score, crf
from headwise.data.items.examples import TaggedSentence
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.classification_scores import score_labels

RESULTS = Path(__file__).parent / "results" / "linear.jsonl"
ALL = 0
OURS = {"classify": "linear", "tag": "tag-crf"}
SYSTEMS = {"classify": ("linear", "words", "svm", "nb-svm"), "tag": ("tag-crf", "crf")}


def words(items: Items, targets: np.ndarray) -> Fitted:
    """TF-IDF of words and word pairs, and a linear SVM."""
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=WORD, dtype=np.float32
    )
    vectorizer.fit(every_text(items))
    return _machine(
        lambda batch: sides(vectorizer.transform, batch),
        items,
        targets,
        STRENGTHS,
        lambda c: LinearSVC(C=c, random_state=0),
    )


def ours(train: Part, test: Part) -> Result:
    """`fit_linear` on a part, tested."""
    names = sorted(set(train.labels))
    number = {name: n for n, name in enumerate(names)}
    began = time.monotonic()
    fitted = fit_linear(
        LinearExamples(train.items, np.array([number[label] for label in train.labels]), len(names))
    )
    seconds, began = time.monotonic() - began, time.monotonic()
    logits = fitted.model.scores(test.items)
    testing = time.monotonic() - began
    truth = np.array([number[label] for label in test.labels])
    scores = score_labels(logits.argmax(axis=1), truth, names)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    settings = fitted.settings
    return {
        "test": round(scores.accuracy, 5),
        "macro_f1": round(scores.macro_f1, 5),
        "dev": round(fitted.cv_score, 5),
        **probability_scores(chances / chances.sum(axis=1, keepdims=True), truth),
        "seconds": round(seconds, 1),
        "texts_per_second": round(len(test) / testing),
        "setting": f"{'+'.join(settings.blocks)} ratios={settings.ratios} C={settings.strength}",
    }


def our_crf(train: Part, test: Part, data: DataSet) -> Result:
    """`fit_crf` on sentences, tested."""
    sentences, test_sentences = (
        [
            TaggedSentence(tuple(tokens), tuple(tags))
            for tokens, tags in zip(part.items, part.labels, strict=True)
        ]
        for part in (train, test)
    )
    began = time.monotonic()
    tagger = fit_crf(sentences, data.scheme)
    seconds, began = time.monotonic() - began, time.monotonic()
    predicted = tagger.predict(test_sentences)
    testing = time.monotonic() - began
    return {
        **_score(predicted, test, data.scheme),
        "seconds": round(seconds, 1),
        "texts_per_second": round(len(test) / testing),
        "setting": f"{len(tagger.keys):,} features",
    }


def rival(fitted: Fitted, test: Part, number: dict[str, int]) -> Result:
    """A rival that is trained, tested."""
    truth = np.array([number[label] for label in test.labels])
    scores = score_labels(fitted.predict(test.items)[0], truth, sorted(number))
    return {
        "test": round(scores.accuracy, 5),
        "macro_f1": round(scores.macro_f1, 5),
        "dev": round(fitted.dev, 5),
        "setting": fitted.setting,
    }


def run(system: str, data: DataSet, train: Part) -> Result:
    """Train and test."""
    if system == "linear":
        return ours(train, data.test)
    if system == "tag-crf":
        return our_crf(train, data.test, data)
    if system == "crf":
        return crf(train, data.test, data.scheme)
    number = {name: n for n, name in enumerate(sorted(set(train.labels)))}
    targets = np.array([number[label] for label in train.labels])
    began = time.monotonic()
    fitted = {"words": words, "svm": svm, "nb-svm": nb_svm}[system](train.items, targets)
    return rival(fitted, data.test, number) | {"seconds": round(time.monotonic() - began, 1)}


def measure(
    sets: Sequence[str], sizes: Sequence[int], seeds: int, systems: Sequence[str], path: Path
) -> None:
    """Do the runs that are not in the results."""
    done, loaded = read_results(path), cache(load)
    for seed in range(seeds):
        for texts in sizes:
            for name in sets:
                data = loaded(name)
                if texts >= len(data.train) or data.kind not in SYSTEMS or (seed and texts == ALL):
                    continue
                if data.kind == "classify" and texts and texts < 2 * len(set(data.train.labels)):
                    continue
                for system in SYSTEMS[data.kind]:
                    job = Job(name, system, texts, seed)
                    if job in done or (systems and system not in systems):
                        continue
                    train = data.train.take(subset(data.train.labels, texts or None, seed))
                    began = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())
                    result = run(system, data, train)
                    append_result(path, job, {**result, "commit": commit(), "at": began})
                    print(f"{job}: {100 * result['test']:.1f} in {result['seconds']} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["quick"], help="names of sets and groups")
    parser.add_argument("--systems", nargs="+", default=[], help="all if none are named")
    parser.add_argument(
        "--sizes", nargs="+", default=["250", "1000", "4000"], help="numbers of texts, or all"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only print stored results")
    arguments = parser.parse_args()
    sets = sets_of(arguments.sets)
    if not arguments.table:
        if not DATA.is_dir():
            print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
            return 2
        sizes = [ALL if size == "all" else int(size) for size in arguments.sizes]
        measure(sets, sizes, arguments.seeds, arguments.systems, arguments.results)
    results = read_results(arguments.results)
    for kind, base in OURS.items():
        print_tables(only(results, lambda job, kind=kind: job.system in SYSTEMS[kind]), base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
