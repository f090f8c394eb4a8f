"""Label sets: headwise train as it comes, compared with linear SVMs.

    python -m benchmarks.defaults.label_sets                       # 250 and 1,000 texts, a seed
    python -m benchmarks.defaults.label_sets --sizes 5000 --sets intents sources
    python -m benchmarks.defaults.label_sets --table               # only print stored results

All texts are from training parts, and a quarter of them (at most 3,000) is the test:

- `names`, `new-names`: the types of names in a sentence (CoNLL-2003, WNUT-17)
- `intents`: one message of CLINC150, or two together
- `intent-words`: the words of an intent's name (Banking77)
- `reviews`: domain and sentiment (MTL-16)
- `opinions`: whether parts of a sentence of two to six words are awful, weak, fine, great (SST)
- `relations`: the rarer dependency relations in a sentence (UD EWT)
- `sources`: which of 26 files one or two sentences are from (the open corpus)

The rivals have a linear SVM for each label, whose C and thresholds a part of the training texts chooses:
`words` reads words and word pairs (the baseline of the report), `svm` characters too. A run is a line of
results/label_sets.jsonl: kill it at any time and start it again. Needs the data folder (HEADWISE_DATA,
default ../shared/data).
"""

import argparse
import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks import DATA
from benchmarks.common.runs import Result
from benchmarks.defaults import set_noise
from benchmarks.defaults.default_results import Job, append_result, means, read_results
from benchmarks.defaults.default_sets import load
from benchmarks.defaults.many_texts import sentences
from benchmarks.defaults.set_noise import Sets
from headwise.data.files.text_lines import read_lines
from headwise.data.formats.conllu import read_conllu
from headwise.data.formats.sentiment_trees import parse_tree
from headwise.linear.sklearn_models import fit_one_vs_rest
from headwise.metrics.multi_label_scores import multi_label_scores
from headwise.metrics.thresholds import fit_thresholds

RESULTS = Path(__file__).parent / "results" / "label_sets.jsonl"
MOST_TEST = 3_000
SYSTEMS = ("headwise", "svm", "words")
SHOWN = {"micro_f1": "micro F1", "macro_f1": "macro F1", "mean_average_precision": "mean average precision"}
Rows = list[tuple[str, list[str]]]


def rows_of(sets: Sets) -> Rows:
    """Texts with their labels."""
    return [(text, [*labels]) for text, labels in zip(sets.texts, sets.labels, strict=True)]


def intents() -> Rows:
    """Messages of CLINC150, every third alone, the others in twos."""
    part = load("clinc150").train
    pairs = list(zip(part.items, part.labels, strict=True))
    random.Random(0).shuffle(pairs)
    messages, rows = iter(pairs), []
    for first in messages:
        both = [first, *([second] if len(rows) % 3 and (second := next(messages, None)) else [])]
        rows.append((" . ".join(text for text, _ in both), [label for _, label in both]))
    return rows


def reviews() -> Rows:
    """Reviews with their domain, and `good`. MR has sentences."""
    return [row for row in rows_of(set_noise.reviews()) if "MR" not in row[1]]


OPINIONS = {"0": "awful", "1": "weak", "3": "fine", "4": "great"}


def opinions() -> Rows:
    """Sentences of SST with the opinions of their parts of two to six words."""
    rows = []
    for _, line in read_lines(str(DATA / "sst/trees/train.txt.gz")):
        words, nodes = parse_tree(line)
        parts = [node for node in nodes if node.label in OPINIONS and 2 <= node.end - node.start <= 6]
        rows.append((" ".join(words), sorted({OPINIONS[node.label] for node in parts})))
    return rows


def relations() -> Rows:
    """Sentences of EWT with those dependency relations that 1 to 20 % of the sentences have."""
    treebank = read_conllu(DATA / "ud_english_ewt/en_ewt-ud-train.conllu.gz")
    rows = [(" ".join(sentence.words), [*sentence.deprels]) for sentence in treebank]
    counts = Counter(label for _, labels in rows for label in set(labels))
    frequent = {label for label, count in counts.items() if 0.01 < count / len(rows) < 0.2}
    return [(text, [label for label in labels if label in frequent]) for text, labels in rows]


def sources() -> Rows:
    """Sentences of the corpus, alone or in twos, with the names of their files."""
    read = iter(sentences(DATA / "corpus")[:24_000])
    rows = []
    for first in read:
        both = [first, *([second] if len(rows) % 2 and (second := next(read, None)) else [])]
        rows.append((" ".join(text for text, _ in both), [label for _, label in both]))
    return rows


SETS = {
    "names": lambda: rows_of(set_noise.names()),
    "new-names": lambda: rows_of(set_noise.names("wnut17")),
    "intents": intents,
    "intent-words": lambda: rows_of(set_noise.intents()),
    "reviews": reviews,
    "opinions": opinions,
    "relations": relations,
    "sources": sources,
}


def split(rows: Rows, seed: int) -> tuple[Rows, Rows]:
    """Training rows and test rows of different texts, in random order."""
    different = [(text, sorted(set(labels))) for text, labels in dict(rows).items() if text.strip()]
    random.Random(seed).shuffle(different)
    test = min(MOST_TEST, len(different) // 4)
    return different[test:], different[:test]


def without_new_labels(test: Rows, train: Rows) -> Rows:
    """The test rows without labels that no training row has: no system can know them."""
    train_labels = {label for _, labels in train for label in labels}
    return [(text, [label for label in labels if label in train_labels]) for text, labels in test]


def write(rows: Rows, path: Path) -> str:
    """A csv file of the rows; its name."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("text", "labels"))
        writer.writerows((text, "|".join(labels)) for text, labels in rows)
    return str(path)


def headwise(train: Rows, test: Rows, options: Sequence[str] = ()) -> Result:
    """The command `headwise train`, and the scores of its report."""
    with tempfile.TemporaryDirectory() as folder:
        files = [write(rows, Path(folder, name)) for rows, name in ((train, "a.csv"), (test, "b.csv"))]
        command = [sys.executable, "-m", "headwise", "train", files[0], "--test", files[1], "--task"]
        command += ["multi-label", "--label-separator", "|", "--output", f"{folder}/m", "--no-baseline"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([*command, *options], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        scores = json.loads(Path(folder, "m", "metrics.json").read_text())["test"]
    return {**{name: round(scores[name], 5) for name in SHOWN}, "seconds": round(seconds, 1)}


def svm(train: Rows, test: Rows, *, characters: bool) -> Result:
    """TF-IDF and a linear SVM for each label; a part of 15 % chooses C and the thresholds."""
    labels = sorted({label for _, names in train for label in names})
    sets = [np.array([[label in names for label in labels] for _, names in rows]) for rows in (train, test)]
    vectorizers = [TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+|[^\w\s]")]
    if characters:
        vectorizers.append(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True))

    def features(fit: Sequence[str], *parts: Sequence[str]) -> Iterator[csr_matrix]:
        for vectorizer in vectorizers:
            vectorizer.fit(fit)
        yield from (csr_matrix(hstack([v.transform(part) for v in vectorizers])) for part in parts)

    texts, cut = [text for text, _ in train], round(0.85 * len(train))
    fit_features, held = features(texts[:cut], texts[:cut], texts[cut:])
    fitted, _ = fit_one_vs_rest((fit_features, sets[0][:cut]), (held, sets[0][cut:]))
    thresholds = fit_thresholds(fitted.scores(held), sets[0][cut:])
    test_features = next(features(texts[:cut], [text for text, _ in test]))
    scores = multi_label_scores(fitted.scores(test_features), thresholds, sets[1], labels)
    return {name: round(getattr(scores, name), 5) for name in SHOWN}


def scores_table(score: str, texts: int, seeds: int = 1) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table: a score by system and set, and its mean, for the sets that all
    systems have."""
    scores = means(read_results(RESULTS), texts, score, seeds)
    done = [name for name in SETS if all(name in scores.get(system, {}) for system in SYSTEMS)]
    rows = []
    for system in SYSTEMS:
        values = [100 * scores[system][name] for name in done]
        rows.append([system, *(f"{value:.1f}" for value in [*values, float(np.mean(values or [np.nan]))])])
    return [f"{SHOWN[score]}, {texts:,} texts", *done, "mean"], rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[250, 1_000])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--table", action="store_true", help="only print stored results")
    arguments = parser.parse_args()
    for name in () if arguments.table else arguments.sets:
        rows = SETS[name]()
        for seed in range(arguments.seeds):
            train, test = split(rows, seed)
            for size in arguments.sizes:
                for system in arguments.systems:
                    job = Job(name, system, size, seed)
                    if len(train) < size or job in read_results(RESULTS):
                        continue
                    part = train[:size]
                    test_rows = without_new_labels(test, part)
                    result = (
                        headwise(part, test_rows)
                        if system == "headwise"
                        else svm(part, test_rows, characters=system == "svm")
                    )
                    append_result(RESULTS, job, result)
                    print(json.dumps({"set": name, "texts": size, "system": system, **result}), flush=True)
    for size in arguments.sizes:
        for score in SHOWN:
            head, rows = scores_table(score, size, arguments.seeds)
            print()
            for cells in (head, ["---"] * len(head), *rows):
                print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
