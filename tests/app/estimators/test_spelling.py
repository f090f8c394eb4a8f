"""The same answer for spellings that look alike, by every member of a model, and offsets as written."""

import json
import random
from unicodedata import normalize

import numpy as np
import pytest

from headwise import PairClassifier, PairRegressor, TextClassifier, TextRegressor, TextTagger

FOOD = ["bánh", "mì", "phở", "bún", "sữa", "đá", "don't"]
CITY = ["đường", "phố", "xe", "ngõ", "cầu", "sông", "café"]
WIDE = {ord(letter): ord(letter) + 0xFEE0 for letter in "abcdefghijklmnopqrstuvwxyz"}
SPELLINGS = {
    "accents written apart": lambda text: normalize("NFD", text),
    "curly quotes": lambda text: text.replace("'", "\u2019"),
    "soft hyphens": lambda text: text.replace("a", "\u00ada").replace("n", "n\u00ad"),
    "zero-width signs": lambda text: text.replace("o", "\u200bo\u2060").replace("c", "\ufeffc"),
    "full-width letters": lambda text: text.translate(WIDE),
}


def texts(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    chance = random.Random(seed)
    words = [(FOOD, CITY)[number % 2] for number in range(count)]
    return [" ".join(chance.choices(own, k=5)) for own in words], ["food", "city"] * (count // 2)


def check(answer, items: list, spelled=lambda item, change: change(item)) -> None:
    expected = answer(items)
    for name, change in SPELLINGS.items():
        changed = [spelled(item, change) for item in items]
        assert changed != items, name
        np.testing.assert_array_equal(answer(changed), expected, name)


@pytest.mark.parametrize("kind", ["linear", "none"])
def test_classifier(kind, tiny, tmp_path):
    X, y = texts(120)
    fitted = TextClassifier(recipe={**tiny, "linear_model": {"kind": kind}}, epochs=4).fit(X, y)
    check(fitted.predict_proba, texts(20, seed=1)[0])
    fitted.save(tmp_path / "model")
    check(TextClassifier.load(tmp_path / "model").predict_proba, texts(20, seed=1)[0])


def test_classifier_learns_from_any_spelling(tiny):
    X, y = texts(120)
    first, second = (
        TextClassifier(recipe=tiny, epochs=2).fit([change(text) for text in X], y)
        for change in (str, SPELLINGS["accents written apart"])
    )
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_regressor(tiny):
    X, y = texts(120)
    fitted = TextRegressor(recipe=tiny, epochs=4).fit(X, [float(label == "food") for label in y])
    check(fitted.predict, texts(20, seed=1)[0])


@pytest.mark.parametrize("estimator", [PairClassifier, PairRegressor])
def test_pairs(estimator, tiny):
    X, y = texts(120)
    pairs = list(zip(X, X[1:] + X[:1], strict=True))
    targets = y if estimator is PairClassifier else [float(label == "food") for label in y]
    fitted = estimator(recipe=tiny, epochs=4).fit(pairs, targets)
    answer = fitted.predict_proba if estimator is PairClassifier else fitted.predict
    check(answer, pairs[:20], lambda pair, change: (change(pair[0]), change(pair[1])))


def test_tagger(tiny):
    X, _ = texts(120)
    sentences = [text.split() for text in X]
    tags = [["B-FOOD" if word in FOOD else "O" for word in words] for words in sentences]
    fitted = TextTagger(recipe=tiny, epochs=4).fit(sentences, tags)
    new = [text.split() for text in texts(20, seed=1)[0]]
    check(fitted.predict, new, lambda words, change: [change(word) for word in words])
    text = "xe pho\u031b\u0309 l\u00adà bún"
    (tagged,) = fitted.model_.predict([text])
    assert [text[start:end] for start, end in tagged.places] == text.split() == list(tagged.words)


def test_explanations_index_the_text_as_written(tiny):
    X, y = texts(120)
    fitted = TextClassifier(recipe=tiny, epochs=2).fit(X, y)
    text = "ba\u0301nh\u200b mì\u00ad, don\u2019t"
    (plain,), (explanation,) = fitted.explain([normalize("NFC", "bánh mì, don't")]), fitted.explain([text])
    assert explanation.texts == (text,)
    words = [(word.word, text[word.start : word.end]) for word in explanation.words]
    assert words == [(word, word) for word in ("ba\u0301nh", "mì", ",", "do", "n\u2019t")]
    first, second = ([word.attribution for word in one.words] for one in (plain, explanation))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_folders_without_the_mark_read_texts_as_written(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("headwise.artifacts.save.NORMALIZED_TEXTS", {})
    X, y = texts(120)
    recipe = {**tiny, "words": {**tiny["words"], "tokenizer": "penn-unnormalized"}}
    fitted = TextClassifier(recipe=recipe, epochs=2).fit(X, y)
    fitted.save(tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert "texts" not in config
    loaded = TextClassifier.load(tmp_path / "model")
    spelled = [SPELLINGS["accents written apart"](text) for text in X]
    np.testing.assert_array_equal(loaded.predict_proba(spelled), fitted.predict_proba(spelled))
    assert (loaded.predict_proba(spelled) != loaded.predict_proba(X)).any()
