"""What more texts are worth, and which: the forecasts of `headwise curve` compared with the gains, and the
texts that `headwise suggest` chooses compared with texts in random order.

    python -m benchmarks.defaults.more_texts curve mtl16/baby clinc150 --cases 3
    python -m benchmarks.defaults.more_texts suggest emotion banking77 sst2

curve: of at most 4,000 texts of a set (`--most`) a quarter is for judging; of the others one half is
the user's file, of which the forecast is made (5 seeds), and the truth is what training on both halves
brings, in the mean over the cases. suggest: 100 texts at random, then four times 100 that are chosen,
by doubt alone, or at random; accuracy on the test texts. The models are the linear model in its usual
settings; of tagged sentences (conll2003, wnut17, ewt-xpos) the linear CRF, and how many words were to be
tagged is reported too. Needs the data folder (HEADWISE_DATA, default ../shared/data).
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

    def logits(self, train: NDArray[np.int64], scored: NDArray[np.int64], folds: int = 1) -> NDArray:
        """The outputs of a model of some texts for others."""
        dense = [None if self.vectors is None else self.vectors[rows] for rows in (train, scored)]
        texts = [self.items[row] for row in train]
        fitted = fit_linear(
            LinearExamples(texts, self.targets[train], len(self.names), dense=dense[0]), folds=folds
        )
        return fitted.model.scores([self.items[row] for row in scored], dense[1])

    def accuracy(self, train: NDArray[np.int64], test: NDArray[np.int64]) -> float:
        """Of such a model."""
        return float((self.logits(train, test).argmax(axis=1) == self.targets[test]).mean())


def forecasts(name: str, cases: int, most: int) -> None:
    """Print each forecast and what came; and how many intervals held it."""
    data = load(name)
    items, labels = [*data.train.items, *data.test.items], [*data.train.labels, *data.test.labels]
    sample = np.random.default_rng(99).permutation(len(items))[:most].tolist()
    every = Texts([items[row] for row in sample], [labels[row] for row in sample])
    came, gains = [], []
    for case in range(cases):
        order = np.random.default_rng(case).permutation(len(sample))
        test, pool = order[: len(sample) // 4], order[len(sample) // 4 :]
        half = pool[: len(pool) // 2]
        came.append(every.accuracy(pool, test) - every.accuracy(half, test))
        held = max(len(half) // 5, 1)
        sizes = np.round((len(half) - held) * SIZES).astype(np.int64)
        errors = np.zeros((SEEDS, len(sizes)))
        for seed in range(SEEDS):
            mixed = np.random.default_rng(1000 * case + seed).permutation(half)
            for place, size in enumerate(sizes):
                errors[seed, place] = 1 - every.accuracy(mixed[held : held + size], mixed[:held])
        gains.append(fit_power_law(sizes, errors, len(half)).gain(len(pool) - len(half)))
    truth = float(np.mean(came))
    holds = sum(low <= truth <= high for _, low, high in gains)
    shown = [[round(100 * value, 2) for value in gain] for gain in gains]
    print(json.dumps({"set": name, "texts": len(half), "came": 100 * truth, "said": shown, "holds": holds}))


def choices(name: str, seeds: int) -> None:
    """Print the accuracies after each 100 texts, of each way to choose them, in the mean over the seeds."""
    data = load(name)
    every = Texts([*data.train.items, *data.test.items], [*data.train.labels, *data.test.labels])
    chance = np.random.default_rng(5)
    pool = chance.permutation(len(data.train))[: 2 * MOST]
    test = len(data.train) + chance.permutation(len(data.test))[:MOST]
    curves: dict[str, list[list[float]]] = {"random": [], "doubt": [], "suggest": []}
    for seed in range(seeds):
        for way, rows in curves.items():
            order = np.random.default_rng(seed).permutation(pool)
            chosen, rest = order[:STEP], order[STEP:]
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
    means = {way: [round(100 * mean, 1) for mean in np.mean(rows, axis=0)] for way, rows in curves.items()}
    print(json.dumps({"set": name, "seeds": seeds, **means}), flush=True)


def tag_choices(name: str, seeds: int) -> None:
    """The same for tagged sentences, and the words of those that were chosen."""
    data = load(name)
    train, test = (
        [
            TaggedSentence(tuple(words), tuple(tags))
            for words, tags in zip(part.items, part.labels, strict=True)
        ]
        for part in (data.train, data.test)
    )
    sample = np.random.default_rng(5).permutation(len(train))[:MOST]
    pool = [train[row] for row in sample if train[row].tokens]
    reader = BlockReader("words")
    vectors = reader.fit([" ".join(sentence.tokens) for sentence in pool], max_features=50_000)[1]
    curves: dict[str, list[list[tuple[float, int]]]] = {"random": [], "doubt": [], "suggest": []}
    for seed in range(seeds):
        for way, rows in curves.items():
            order = np.random.default_rng(seed).permutation(len(pool))
            chosen, rest = order[:STEP], order[STEP:]
            rows.append([])
            for step in range(ROUNDS + 1):
                crf = fit_crf([pool[row] for row in chosen], data.scheme)
                right, every = tag_counts(crf.predict(test), test, data.scheme).sum(axis=0)
                rows[-1].append((100 * right / every, sum(len(pool[row].tokens) for row in chosen)))
                if step == ROUNDS:
                    break
                taken = np.arange(STEP)
                if way != "random":
                    marginals, ends = crf.marginals([pool[row].tokens for row in rest])
                    doubt = tag_uncertainty(np.split(marginals.max(axis=1), ends[1:-1]))
                    best = select_items(doubt, vectors[rest], STEP)
                    taken = np.array(best) if way == "suggest" else np.argsort(-doubt)[:STEP]
                chosen, rest = np.concatenate([chosen, rest[taken]]), np.delete(rest, taken)
    means = {way: np.round(np.mean(curve, axis=0), 1).tolist() for way, curve in curves.items()}
    print(json.dumps({"set": name, "seeds": seeds, **means}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("curve", "suggest"))
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--cases", type=int, default=3, help="halves, or seeds")
    parser.add_argument("--most", type=int, default=MOST, help="texts of a set, for curve")
    options = parser.parse_args()
    for name in options.sets:
        if options.what == "curve":
            forecasts(name, options.cases, options.most)
        elif name in GROUPS["tags"]:
            tag_choices(name, options.cases)
        else:
            choices(name, options.cases)


if __name__ == "__main__":
    main()
