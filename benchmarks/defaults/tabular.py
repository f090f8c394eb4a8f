"""Text and other columns: headwise with `feature_columns`, compared with scikit-learn's ColumnTransformer.

    python -m benchmarks.defaults.tabular                # both rules, one domain, three seeds
    python -m benchmarks.defaults.tabular --domains books MR --seeds 5
    python -m benchmarks.defaults.tabular --table        # only print stored results

The texts are reviews of MTL-16 (HEADWISE_DATA) with their sentiment. Three columns are drawn with a seed: a
price (log-normal, 5 % missing), a country (one of eight) and a date with a time. They give each row a
score: the logarithm of the price, an effect of the country and one of the month, of equal variance. By the
rule `pair`, the label is the sentiment together with the sign of that score (four labels): half of it is in
the columns. By the rule `sum`, it is the sign of sentiment plus score (two labels). Both have noise.

Systems: `headwise` and `headwise-text` are `TextClassifier` with and without the columns; `linear` and
`linear-text` are its linear model alone; `svm` and `logistic` are ColumnTransformer (TF-IDF of words and
word pairs, StandardScaler with missing indicators, OneHotEncoder of country, year, month, weekday and hour)
with LinearSVC and LogisticRegression, C by cross-validation. A run is a line of results/tabular.jsonl; what
is there is not run again.
"""

import argparse
import datetime
import gzip
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from benchmarks import DATA
from benchmarks.common.accuracy_tables import print_header, print_row, spread
from benchmarks.defaults.default import commit
from headwise import TextClassifier
from headwise.data.columns.tabular_columns import TabularColumn
from headwise.data.readers.tabular_cells import row_of
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.tabular_features import encode_rows, fit_encodings
from headwise.metrics.classification_scores import score_labels

RESULTS = Path(__file__).parent / "results" / "tabular.jsonl"
RULES = ("pair", "sum")
COUNTRIES = ("DE", "FR", "UK", "US", "IT", "ES", "PL", "SE")
COLUMNS = (
    TabularColumn("price", "number"),
    TabularColumn("country", "category"),
    TabularColumn("created_at", "date"),
)
NOISE = 0.3
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
Rows = list[dict[str, str]]


def reviews(domain: str, part: str) -> list[tuple[str, int]]:
    """The texts of a domain and their sentiment, 0 or 1."""
    with gzip.open(DATA / f"mtl16/{domain}.task.{part}.gz", "rt", encoding="latin-1") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [(row[1], int(row[0])) for row in rows if len(row) == 2]


def draw(texts: list[tuple[str, int]], rule: str, seed: int) -> Rows:
    """Rows with texts and other columns, and their labels by a rule."""
    effects, random = np.random.default_rng(seed), np.random.default_rng([seed, len(texts)])
    of_country, of_month = (standardized(effects.normal(size=size)) for size in (len(COUNTRIES), 12))
    count = len(texts)
    size, country = random.normal(size=count), random.integers(0, len(COUNTRIES), count)
    hours = random.integers(0, 3 * 365 * 24, count).tolist()
    dates = [datetime.datetime(2021, 1, 1) + datetime.timedelta(hours=hour) for hour in hours]
    month = np.array([date.month - 1 for date in dates])
    score = (size + of_country[country] + of_month[month]) / np.sqrt(3)
    noise, sentiment = NOISE * random.normal(size=count), np.array([label for _, label in texts])
    if rule == "pair":
        labels = 2 * sentiment + (score + noise > 0)
    else:
        labels = (2 * sentiment - 1 + score + noise > 0).astype(int)
    prices = [f"{price:.2f}" for price in np.exp(3 + size)]
    missing = random.random(count) < 0.05
    return [
        {
            "text": text,
            "label": str(label),
            "price": "" if empty else price,
            "country": COUNTRIES[place],
            "created_at": date.isoformat(" "),
        }
        for (text, _), label, price, empty, place, date in zip(
            texts, labels, prices, missing, country, dates, strict=True
        )
    ]


def standardized(values: np.ndarray) -> np.ndarray:
    """Values with mean 0 and deviation 1."""
    return (values - values.mean()) / values.std()


def with_headwise(train: Rows, test: Rows, seed: int, *, columns: bool) -> float:
    """The accuracy of `TextClassifier`."""
    features = ",".join(column.name for column in COLUMNS) if columns else None
    model = TextClassifier(text_column="text", feature_columns=features, random_state=seed)
    model.fit(train, [row["label"] for row in train])
    return float(model.score(test, [row["label"] for row in test]))


def with_linear(train: Rows, test: Rows, seed: int, *, columns: bool) -> float:
    """The accuracy of the linear model alone."""
    train_values, test_values = (
        [row_of([r[c.name] for c in COLUMNS], COLUMNS) for r in rows] for rows in (train, test)
    )
    encodings = fit_encodings(train_values)
    labels = sorted({row["label"] for row in train})
    targets, truth = (np.array([labels.index(row["label"]) for row in rows]) for rows in (train, test))
    texts, new = ([row["text"] for row in rows] for rows in (train, test))
    numbers, test_numbers = (
        encode_rows(encodings, rows) if columns else None for rows in (train_values, test_values)
    )
    fitted = fit_linear(LinearExamples(texts, targets, len(labels), numbers=numbers), seed=seed)
    scores = fitted.model.scores(new, None, test_numbers)
    return score_labels(scores.argmax(axis=1), truth, labels).accuracy


def with_sklearn(train: Rows, test: Rows, seed: int, *, svm: bool) -> float:
    """The accuracy of a ColumnTransformer before a linear classifier."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    columns = ColumnTransformer(
        [
            ("text", TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), 0),
            ("numbers", numbers, [1, 2]),
            ("categories", OneHotEncoder(handle_unknown="ignore"), [3, 4, 5, 6, 7]),
        ]
    )
    classifier = LinearSVC(random_state=seed) if svm else LogisticRegression(solver="liblinear")
    pipeline = make_pipeline(columns, OneVsRestClassifier(classifier))
    grid = {"onevsrestclassifier__estimator__C": STRENGTHS}
    search = GridSearchCV(pipeline, grid, cv=3).fit(table(train), [row["label"] for row in train])
    return float(np.mean(search.predict(table(test)) == np.array([row["label"] for row in test])))


def table(rows: Rows) -> np.ndarray:
    """The rows as a table of text, price, time, country, year, month, weekday and hour."""
    cells = np.empty((len(rows), 8), dtype=object)
    for place, row in enumerate(rows):
        date = datetime.datetime.fromisoformat(row["created_at"])
        price = float(row["price"] or "nan")
        parts = date.year, date.month, date.weekday(), date.hour
        cells[place] = [row["text"], price, date.timestamp(), row["country"], *parts]
    return cells


SYSTEMS: dict[str, Callable[[Rows, Rows, int], float]] = {
    "headwise": lambda *data: with_headwise(*data, columns=True),
    "headwise-text": lambda *data: with_headwise(*data, columns=False),
    "linear": lambda *data: with_linear(*data, columns=True),
    "linear-text": lambda *data: with_linear(*data, columns=False),
    "svm": lambda *data: with_sklearn(*data, svm=True),
    "logistic": lambda *data: with_sklearn(*data, svm=False),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--domains", nargs="+", default=["books"])
    parser.add_argument("--rules", nargs="+", choices=RULES, default=RULES)
    parser.add_argument("--systems", nargs="+", choices=[*SYSTEMS], default=[*SYSTEMS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="only print stored results")
    arguments = parser.parse_args()
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    runs = [json.loads(line) for line in lines]
    done = {(run["domain"], run["rule"], run["seed"], run["system"]) for run in runs}
    for seed in range(0 if arguments.table else arguments.seeds):
        for rule in arguments.rules:
            for domain in arguments.domains:
                train, test = (draw(reviews(domain, part), rule, seed) for part in ("train", "test"))
                for system in arguments.systems:
                    if (domain, rule, seed, system) in done:
                        continue
                    began = time.process_time()
                    accuracy = SYSTEMS[system](train, test, seed)
                    run = {"domain": domain, "rule": rule, "seed": seed, "system": system}
                    run |= {"accuracy": round(accuracy, 4), "texts": len(train), "test_texts": len(test)}
                    run |= {"cpu_seconds": round(time.process_time() - began, 1), "commit": commit()}
                    with open(RESULTS, "a") as file:
                        file.write(json.dumps(run) + "\n")
                    runs.append(run)
                    print(run, flush=True)
    print_header(["accuracy (runs)", *SYSTEMS, "median CPU seconds of headwise"])
    for rule in RULES:
        for domain in sorted({run["domain"] for run in runs if run["rule"] == rule}):
            of = [run for run in runs if run["rule"] == rule and run["domain"] == domain]
            cells = [[run["accuracy"] for run in of if run["system"] == system] for system in SYSTEMS]
            seconds = [run["cpu_seconds"] for run in of if run["system"] == "headwise"]
            shown = (f"{spread(cell)} ({len(cell)})" if cell else "-" for cell in cells)
            print_row(
                [f"{rule}, {domain}", *shown, f"{statistics.median(seconds):.0f}" if seconds else "-"]
            )


if __name__ == "__main__":
    main()
