"""Similarity search: how often the nearest text has the same label, by what the vectors come from.

    python -m benchmarks.defaults.near_texts banking77 clinc150
    python -m benchmarks.defaults.near_texts banking77 clinc150 --texts 490   # few: the encoder of the base

Each test text looks for its nearest neighbour, by cosine, among the other test texts. The vectors:

- `base`: the weighted mean of the word vectors of `english`, which has seen no labels
- `scores`: `TextClassifier.decision_function`, a number for each label of training
- `encode`: `TextClassifier.encode`, of the same classifier, trained with the defaults
- `TF-IDF`: of words and word pairs, weighted by the training texts

The second table asks for labels that the classifier does not know: it is trained on every second label, and
the test texts are those of the others. Needs the data folder (HEADWISE_DATA, default ../shared/data).
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.defaults.default_sets import Part, load, subset
from headwise import TextClassifier
from headwise.text.static_embeddings.base_choice import vectors_of_texts

SYSTEMS = ("base", "scores", "encode", "TF-IDF")


def precision_at_one(vectors: Any, labels: Sequence[str]) -> float:
    """The share of texts whose nearest other text, by cosine, has the same label.

    Args:
        vectors: A row for each text, dense or sparse.
        labels: Of the texts.
    """
    rows = normalize(vectors)
    similarities = (rows @ rows.T).toarray() if issparse(rows) else rows @ rows.T
    np.fill_diagonal(similarities, -np.inf)
    names = np.array(labels)
    return float((names[similarities.argmax(axis=1)] == names).mean())


def with_labels(part: Part, labels: set[str]) -> Part:
    """The texts of a part that have one of the labels."""
    return part.take([row for row, label in enumerate(part.labels) if label in labels])


def scores(train: Part, test: Part) -> dict[str, float]:
    """The precision of each of `SYSTEMS`."""
    tfidf = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit(train.items)
    classifier = TextClassifier().fit(list(train.items), list(train.labels))
    base, _ = vectors_of_texts(test.items, "english")
    vectors = {
        "base": base,
        "scores": classifier.decision_function(list(test.items)),
        "encode": classifier.encode(list(test.items)),
        "TF-IDF": tfidf.transform(test.items),
    }
    return {name: precision_at_one(vectors[name], test.labels) for name in SYSTEMS}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--texts", type=int, help="training texts [all]")
    arguments = parser.parse_args()
    for title, step in (("labels of training", 1), ("labels that were not in training", 2)):
        print_header([f"same label, {title}", *SYSTEMS])
        for name in arguments.sets:
            data = load(name)
            labels = sorted(set(data.train.labels))
            train = with_labels(data.train, set(labels[::step]))
            if arguments.texts is not None:
                train = train.take(subset(train.labels, arguments.texts, 0))
            row = scores(train, with_labels(data.test, set(labels[step - 1 :: step])))
            print_row([name, *(f"{100 * row[system]:.1f} %" for system in SYSTEMS)])


if __name__ == "__main__":
    main()
