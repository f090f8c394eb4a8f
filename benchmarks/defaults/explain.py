"""How faithful explanations are: what the removal of the three words named first does to a prediction.

Ours are those that `without` names. The others are LIME's (package `lime`,
1,000 samples; `pip install lime`), those of ours with the largest shares, and three words at random. Times
are of the processor.

    python -m benchmarks.defaults.explain emotion books          # trains a model of each, with the defaults
    python -m benchmarks.defaults.explain helpdesk --alone     # the encoder alone: no base, no linear
    python -m benchmarks.defaults.explain emotion --model FOLDER # with a model that there is

A word is removed at all places where it stands, and both cut texts into the same words. Needs the data
folder (HEADWISE_DATA, default ../shared/data), but for the help desk.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.defaults.default_sets import load
from headwise import TextClassifier
from headwise.models.text_explanation import explain_labels

NAMES = {"books": "mtl16/books", "helpdesk": "helpdesk/0"}
ALONE = {"base": {"name": "none"}, "linear_model": {"kind": "none"}, "train": {"epochs": 12}}
TEXTS, SAMPLES, WORDS = 200, 1_000, 3


def headwise_words(model: Any, texts: Sequence[str]) -> list[list[str]]:
    """The words that our explanations name first."""
    return [list(explanation.removed_words) for explanation in explain_labels(model, model.encoded(texts))]


def share_words(model: Any, texts: Sequence[str]) -> list[list[str]]:
    """Those with the largest shares."""
    explanations = explain_labels(model, model.encoded(texts))
    return [[word for word, _ in explanation.first(WORDS)] for explanation in explanations]


def lime_words(model: Any, texts: Sequence[str]) -> list[list[str]]:
    """Those that LIME names first, for the label that the model gives."""
    from lime.lime_text import LimeTextExplainer

    cut = model.features.tokenizer.words
    explainer = LimeTextExplainer(split_expression=cut, random_state=0, class_names=model.labels)
    chosen, words = model.predict_proba(texts).argmax(axis=1).tolist(), []
    for text, label in zip(texts, chosen, strict=True):
        explanation = explainer.explain_instance(
            text, model.predict_proba, labels=(label,), num_samples=SAMPLES
        )
        words.append([word for word, weight in explanation.as_list(label) if weight > 0][:WORDS])
    return words


def random_words(model: Any, texts: Sequence[str]) -> list[list[str]]:
    """Any."""
    chance, cut = np.random.default_rng(0), model.features.tokenizer.words
    return [chance.permutation(sorted(set(cut(text))))[:WORDS].tolist() for text in texts]


def without(model: Any, text: str, words: Sequence[str]) -> str:
    """A text without all occurrences of some words."""
    pieces, last = [], 0
    for start, end in model.features.tokenizer.spans(text):
        if text[start:end] in words:
            pieces.append(text[last:start])
            last = end
    return "".join([*pieces, text[last:]])


def compare(model: Any, texts: Sequence[str]) -> dict[str, Any]:
    """The mean drop of the probability by each way to name words, and its time a text."""
    before = model.predict_proba(texts)
    rows, chosen = np.arange(len(texts)), before.argmax(axis=1)
    drops, seconds = {}, {}
    ways: dict[str, Callable[[Any, Sequence[str]], list[list[str]]]]
    ways = {"headwise": headwise_words, "shares": share_words, "lime": lime_words, "random": random_words}
    headwise_words(model, texts[:2])  # what is compiled is compiled before the clock runs
    for name, way in ways.items():
        began = time.process_time()
        words = way(model, texts)
        seconds[name] = (time.process_time() - began) / len(texts)
        left = [without(model, text, removed) for text, removed in zip(texts, words, strict=True)]
        drops[name] = before[rows, chosen] - model.predict_proba(left)[rows, chosen]
    ahead = drops["headwise"] - drops["lime"]
    return {
        "texts": len(texts),
        "words": float(np.mean([len(text.split()) for text in texts])),
        "drop": {name: float(drop.mean()) for name, drop in drops.items()},
        "ahead": float(ahead.mean()),
        "interval": [float(bound) for bound in bootstrap(ahead)],
        "milliseconds": {name: 1000 * duration for name, duration in seconds.items()},
        "times_faster": seconds["lime"] / seconds["headwise"],
    }


def bootstrap(values: np.ndarray) -> np.ndarray:
    """The 95 % interval of a mean."""
    chance = np.random.default_rng(0)
    means = values[chance.integers(0, len(values), (2_000, len(values)))].mean(axis=1)
    return np.percentile(means, [2.5, 97.5])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--alone", action="store_true", help="the encoder without base and linear_model")
    parser.add_argument("--model", help="the folder of a model of the set")
    options = parser.parse_args()
    for name in options.sets:
        data = load(NAMES.get(name, name))
        if options.model:
            classifier = TextClassifier.load(options.model)
        else:
            classifier = TextClassifier(recipe=ALONE if options.alone else None)
            classifier.fit(list(data.train.items), list(data.train.labels))
        chosen = np.random.default_rng(0).permutation(len(data.test))[:TEXTS]
        texts = [data.test.items[number] for number in chosen]
        print(
            json.dumps({"set": name, "alone": options.alone, **compare(classifier.model_, texts)}),
            flush=True,
        )


if __name__ == "__main__":
    main()
