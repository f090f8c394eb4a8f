"""What more texts are worth, and which: the forecasts of `headwise curve` beside what came, and the texts
that `headwise suggest` chooses beside texts in random order.

    python -m benchmarks.defaults.more_texts curve mtl16/baby clinc150 --cases 3
    python -m benchmarks.defaults.more_texts suggest emotion banking77 sst2

curve: of at most 4,000 texts of a set (`--most`) a quarter is for judging; of the others one half is
the user's file, of which the forecast is made (5 seeds), and the truth is what training on both halves
brings, in the mean over the cases. suggest: 100 texts at random, then four times 100 that are chosen,
by doubt alone, or at random; accuracy on the test texts. The models are the linear model in its usual
settings; of tagged sentences (conll2003, wnut17, ewt-xpos) the linear CRF, and how many words were to be
tagged is told beside. Needs the data folder (HEADWISE_DATA, default ../shared/data).
"""

import argparse
import json

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from benchmarks.defaults.default_sets import GROUPS, load
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.labels import label_names
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.tag_crf import fit_crf
from headwise.linear.tfidf_features import BlockReader
from headwise.metrics.label_quality import select_items, tag_uncertainty
from headwise.metrics.power_law import fit_power_law
from headwise.models.tag_evaluation import tag_counts
from headwise.text.static_embeddings.base_choice import AUTO, choose_base

MOST, SEEDS, STEP, ROUNDS = 4_000, 5, 100, 4
SIZES = 2.0 ** (-np.arange(7)[::-1] / 2)


class Texts:
    """Texts, labels and vectors, and models of some of them."""

    def __init__(self, items: list[str], labels: list[str]):
        self.names = label_names(labels)
        self.items, self.targets = items, np.array([self.names.index(label) for label in labels])
        words = [get_tokenizer("penn").words(text) for text in items]
        base, _ = choose_base(AUTO, words)
        self.vectors = None if base is None else base.texts(words)

    def logits(self, train: NDArray[np.int64], asked: NDArray[np.int64], folds: int = 1) -> NDArray:
        """What a model of some texts says of others."""
        dense = [None if self.vectors is None else self.vectors[rows] for rows in (train, asked)]
        texts = [self.items[row] for row in train]
        fitted = fit_linear(
            LinearExamples(texts, self.targets[train], len(self.names), dense=dense[0]), folds=folds
        )
        return fitted.model.scores([self.items[row] for row in asked], dense[1])

    def accuracy(self, train: NDArray[np.int64], test: NDArray[np.int64]) -> float:
        """Of such a model."""
        return float((self.logits(train, test).argmax(axis=1) == self.targets[test]).mean())


def forecasts(name: str, cases: int, most: int) -> None:
    """Print each forecast and what came; and how many intervals held it."""
    data = load(name)
    items, labels = [*data.train.items, *data.test.items], [*data.train.labels, *data.test.labels]
    kept = np.random.default_rng(99).permutation(len(items))[:most].tolist()
    every = Texts([items[row] for row in kept], [labels[row] for row in kept])
    came, said = [], []
    for case in range(cases):
        order = np.random.default_rng(case).permutation(len(kept))
        test, pool = order[: len(kept) // 4], order[len(kept) // 4 :]
        own = pool[: len(pool) // 2]
        came.append(every.accuracy(pool, test) - every.accuracy(own, test))
        held = max(len(own) // 5, 1)
        sizes = np.round((len(own) - held) * SIZES).astype(np.int64)
        errors = np.zeros((SEEDS, len(sizes)))
        for seed in range(SEEDS):
            mixed = np.random.default_rng(1000 * case + seed).permutation(own)
            for place, size in enumerate(sizes):
                errors[seed, place] = 1 - every.accuracy(mixed[held : held + size], mixed[:held])
        said.append(fit_power_law(sizes, errors, len(own)).gain(len(pool) - len(own)))
    truth = float(np.mean(came))
    holds = sum(low <= truth <= high for _, low, high in said)
    shown = [[round(100 * value, 2) for value in own] for own in said]
    print(json.dumps({"set": name, "texts": len(own), "came": 100 * truth, "said": shown, "holds": holds}))


def choices(name: str, seeds: int) -> None:
    """Print the accuracies after each 100 texts, of each way to choose them, in the mean over the seeds."""
    data = load(name)
    every = Texts([*data.train.items, *data.test.items], [*data.train.labels, *data.test.labels])
    chance = np.random.default_rng(5)
    pool = chance.permutation(len(data.train))[: 2 * MOST]
    test = len(data.train) + chance.permutation(len(data.test))[:MOST]
    found: dict[str, list[list[float]]] = {"random": [], "doubt": [], "suggest": []}
    for seed in range(seeds):
        for way, rows in found.items():
            own = np.random.default_rng(seed).permutation(pool)
            chosen, rest = own[:STEP], own[STEP:]
            rows.append([every.accuracy(chosen, test)])
            for _ in range(ROUNDS):
                if way != "random":
                    ranked = np.sort(softmax(every.logits(chosen, rest, folds=3), axis=1), axis=1)
                    doubt = 1 - (ranked[:, -1] - ranked[:, -2])
                    best = select_items(doubt, every.vectors[rest], STEP)
                    taken = np.array(best) if way == "suggest" else np.argsort(-doubt)[:STEP]
                else:
                    taken = np.arange(STEP)
                chosen = np.concatenate([chosen, rest[taken]])
                rest = np.delete(rest, taken)
                rows[-1].append(every.accuracy(chosen, test))
    means = {way: [round(100 * own, 1) for own in np.mean(rows, axis=0)] for way, rows in found.items()}
    print(json.dumps({"set": name, "seeds": seeds, **means}), flush=True)


def tag_choices(name: str, seeds: int) -> None:
    """The same for tagged sentences, and the words of those that were chosen."""
    data = load(name)
    train, test = (
        [
            TaggedSentence(tuple(words), tuple(tags))
            for words, tags in zip(own.items, own.labels, strict=True)
        ]
        for own in (data.train, data.test)
    )
    kept = np.random.default_rng(5).permutation(len(train))[:MOST]
    pool = [train[row] for row in kept if train[row].tokens]
    reader = BlockReader("words")
    vectors = reader.fit([" ".join(own.tokens) for own in pool], max_features=50_000)[1]
    found: dict[str, list[list[tuple[float, int]]]] = {"random": [], "doubt": [], "suggest": []}
    for seed in range(seeds):
        for way, rows in found.items():
            own = np.random.default_rng(seed).permutation(len(pool))
            chosen, rest = own[:STEP], own[STEP:]
            rows.append([])
            for step in range(ROUNDS + 1):
                crf = fit_crf([pool[row] for row in chosen], data.scheme)
                right, every = tag_counts(crf.predict(test), test, data.scheme).sum(axis=0)
                rows[-1].append((100 * right / every, sum(len(pool[row].tokens) for row in chosen)))
                if step == ROUNDS:
                    break
                taken = np.arange(STEP)
                if way != "random":
                    said, ends = crf.marginals([pool[row].tokens for row in rest])
                    doubt = tag_uncertainty(np.split(said.max(axis=1), ends[1:-1]))
                    best = select_items(doubt, vectors[rest], STEP)
                    taken = np.array(best) if way == "suggest" else np.argsort(-doubt)[:STEP]
                chosen, rest = np.concatenate([chosen, rest[taken]]), np.delete(rest, taken)
    means = {way: np.round(np.mean(own, axis=0), 1).tolist() for way, own in found.items()}
    print(json.dumps({"set": name, "seeds": seeds, **means}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("curve", "suggest"))
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--cases", type=int, default=3, help="halves, or seeds")
    parser.add_argument("--most", type=int, default=MOST, help="texts of a set, for curve")
    asked = parser.parse_args()
    for name in asked.sets:
        if asked.what == "curve":
            forecasts(name, asked.cases, asked.most)
        elif name in GROUPS["tags"]:
            tag_choices(name, asked.cases)
        else:
            choices(name, asked.cases)


if __name__ == "__main__":
    main()
