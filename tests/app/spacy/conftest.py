"""Small models of texts in folders, trained once for each process of the tests."""

import pytest

from headwise import MultiLabelClassifier, PairClassifier, TextClassifier, TextRegressor, TextTagger

TINY = {
    "encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8},
    "words": {"vector_size": 8},
    "base": {"name": "none"},
}
TEXTS = [f"{word} {n}" for n in range(10) for word in ("poor plot", "great film", "awful", "lovely actor")]
CITIES = ("Berlin", "Paris", "New York", "Oslo")
SENTENCES = [f"{who} flew to {city}".split() for who in ("Anna", "Ben", "She") for city in CITIES * 4]
TAGS = {
    "spans": lambda word: "B-CITY" if word in {"Berlin", "Paris", "Oslo", "New"} else "O",
    "plain": lambda word: "PROPN" if word[0].isupper() else "VERB" if word == "flew" else "ADP",
}


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory):
    """`folder_of(name)`: the folder of a model, trained when it is first asked for."""
    place, made = tmp_path_factory.mktemp("adapted"), {}

    def tagger(kind):
        tags = [[TAGS[kind](word) for word in words] for words in SENTENCES]
        for words, own in zip(SENTENCES, tags, strict=True):
            if kind == "spans" and "York" in words:
                own[words.index("York")] = "I-CITY"
        return TextTagger(epochs=8, recipe=TINY).fit(SENTENCES, tags)

    makers = {
        "classifier": lambda: TextClassifier(epochs=1, recipe=TINY).fit(TEXTS, ["bad", "good"] * 20),
        "label-sets": lambda: MultiLabelClassifier(epochs=1, recipe=TINY).fit(
            TEXTS, [["film", "bad"], ["film", "good"], ["bad"], ["good"]] * 10
        ),
        "regressor": lambda: TextRegressor(epochs=1, recipe=TINY).fit(TEXTS, [0.5, 3.5, 0.0, 4.0] * 10),
        "pairs": lambda: PairClassifier(epochs=1, recipe=TINY).fit(
            list(zip(TEXTS, reversed(TEXTS), strict=True)), ["bad", "good"] * 20
        ),
        "spans": lambda: tagger("spans"),
        "plain": lambda: tagger("plain"),
    }

    def folder_of(name):
        if name not in made:
            made[name] = place / name
            makers[name]().save(made[name])
        return made[name]

    return folder_of
