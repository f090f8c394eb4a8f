"""The tagging rival of default.py: a linear-chain CRF on words, shapes and neighbours."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.runs import Result
from benchmarks.defaults.default_sets import Part, subset
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.tag_schemes import Scheme
from headwise.models.tag_evaluation import score_tagging

# Weights of the L1 and the L2 penalty; chosen on a fifth of the sentences.
PENALTIES = ((0.0, 0.01), (0.0, 0.1), (0.0, 1.0), (0.1, 0.01), (1.0, 0.01))
_ITERATIONS, _CHOOSING_ITERATIONS, _CHOOSING_SENTENCES = 150, 50, 3_000


def shape(word: str) -> str:
    """`McDonald's-2` -> `XxXx'x-d`: classes of characters, each run once."""
    pattern = ""
    for character in word:
        symbol = (
            "d"
            if character.isdigit()
            else "X"
            if character.isupper()
            else "x"
            if character.isalpha()
            else character
        )
        if not pattern.endswith(symbol):
            pattern += symbol
    return pattern


def features_of(words: Sequence[str]) -> list[list[str]]:
    """The CRF's features of each word: itself, its shape, its ends, and two words on each side."""
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    lower = [word.lower() for word in padded]
    shapes = [shape(word) for word in padded]
    features = []
    for place in range(2, len(padded) - 2):
        word, small = padded[place], lower[place]
        word_features = ["bias", f"w={word}", f"l={small}", f"s={shapes[place]}", f"n={min(len(word), 10)}"]
        word_features += [f"p{size}={small[:size]}" for size in range(1, 5) if size <= len(small)]
        word_features += [f"e{size}={small[-size:]}" for size in range(1, 5) if size <= len(small)]
        for step in (-2, -1, 1, 2):
            word_features += [f"{step}l={lower[place + step]}", f"{step}s={shapes[place + step]}"]
        word_features += [
            f"-1e3={lower[place - 1][-3:]}",
            f"+1e3={lower[place + 1][-3:]}",
            f"-1,0={lower[place - 1]}|{small}",
            f"0,1={small}|{lower[place + 1]}",
            f"-1,1={lower[place - 1]}|{lower[place + 1]}",
            f"s-1,0,1={shapes[place - 1]}|{shapes[place]}|{shapes[place + 1]}",
        ]
        if word[:1].isupper():
            word_features.append("capital, first" if place == 2 else "capital, inside")
        features.append(word_features)
    return features


def crf(train: Part, test: Part, scheme: Scheme) -> Result:
    """Train, its penalty chosen on held-out sentences, and test.

    Its library is no dependency of headwise: `pip install python-crfsuite`.
    """
    began = time.monotonic()
    features = [features_of(words) for words in train.items]
    rows = subset(train.labels, None, 0)[:_CHOOSING_SENTENCES]
    held, fit_rows = rows[: len(rows) // 5], rows[len(rows) // 5 :]
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        for number, penalty in enumerate(PENALTIES):
            file = str(Path(folder) / str(number))
            examples = ([features[row] for row in fit_rows], [train.labels[row] for row in fit_rows])
            tagger = _fit(*examples, penalty, _CHOOSING_ITERATIONS, file)
            predicted = [tagger.tag(features[row]) for row in held]
            scores.append(_score(predicted, train.take(held), scheme)["test"])
        best = PENALTIES[max(range(len(scores)), key=scores.__getitem__)]
        file = Path(folder) / "best"
        tagger = _fit(features, train.labels, best, _ITERATIONS, str(file))
        seconds, size = time.monotonic() - began, file.stat().st_size
        began = time.monotonic()
        predicted = [tagger.tag(features_of(words)) for words in test.items]
        speed = len(test) / (time.monotonic() - began)
    return {
        **_score(predicted, test, scheme),
        "seconds": round(seconds, 1),
        "size_mib": round(size / 2**20, 2),
        "texts_per_second": round(speed),
        "setting": f"L1={best[0]} L2={best[1]}",
    }


def _fit(features: Sequence[Any], tags: Sequence[Any], penalty: tuple, iterations: int, file: str) -> Any:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, labels in zip(features, tags, strict=True):
        trainer.append(sentence, labels)
    trainer.set_params({"c1": penalty[0], "c2": penalty[1], "max_iterations": iterations})
    trainer.train(file)
    tagger = pycrfsuite.Tagger()
    tagger.open(file)
    return tagger


def _score(predicted: Sequence[Sequence[str]], part: Part, scheme: Scheme) -> Result:
    """F1 of names, or accuracy of tags that mark no names, as `headwise train` reports it; and mean F1 of
    tags."""
    sentences = [
        TaggedSentence(tuple(words), tuple(tags))
        for words, tags in zip(part.items, part.labels, strict=True)
    ]
    tokens, entities = score_tagging(predicted, sentences, scheme)
    score = tokens.accuracy if entities is None else entities.f1
    return {"test": round(score, 5), "macro_f1": round(tokens.macro_f1, 5)}
