"""Training runs that start from a previous model."""

from typing import Any

import pytest
import torch

from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.workflows.evaluate import evaluate_file
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.core.errors import ConfigError
from headwise.training.warm_start import PreviousModel, copy_weights

SMALL = {
    "model": {"task": "classify"},
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "train": {"epochs": 1, "batch-texts": 8, "refit": False},
    "linear_model": {"kind": "none"},
}
PLAIN = {"base": {"name": "none"}, "words": {"vector_size": 8}}


def write(path, labels=("good", "bad"), word="film", count=40) -> str:
    rows = [
        f"this {word} is {labels[n % len(labels)]}ly made {n},{labels[n % len(labels)]}"
        for n in range(count)
    ]
    path.write_text("\n".join(["text,label", *rows, ""]))
    return str(path)


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> str:
    """The folder of a model of films."""
    folder = tmp_path_factory.mktemp("first")
    settings = [SMALL, PLAIN, {"train": {"epochs": 4}}]
    train_files(write(folder / "f.csv"), folder / "model", settings=settings, baseline=False)
    return str(folder / "model")


def go_on(tmp_path, first, *layers, labels=("good", "bad")):
    file = write(tmp_path / "g.csv", labels, word="book")
    rest = {name: own for name, own in SMALL.items() if name in ("model", "train", "linear_model")}
    settings = [rest, {"base": {"name": first}}, *layers]
    return train_files(file, tmp_path / "model", settings=settings, baseline=False)


def test_it_keeps_its_words_and_settings_and_learns_new_ones(tmp_path, first):
    outcome = go_on(tmp_path, first)
    model, former = outcome.fitted.model, load_model(first)
    assert model.config.encoder == former.config.encoder
    words = model.features.vocabulary.words
    assert {"film", "book"} <= set(words)
    assert set(former.features.vocabulary.words) <= set(words)
    assert load_model(tmp_path / "model").labels == ("bad", "good")


def test_weights_are_those_of_the_former_and_rows_those_of_the_same_label(tmp_path, first):
    former = load_model(first)
    fresh = go_on(tmp_path, first, {"train": {"learning_rate": 0.0, "vectors_learning_rate": 0.0}},
                  labels=("good", "odd", "bad")).fitted.model  # fmt: skip
    assert fresh.labels == ("bad", "good", "odd")
    old = former.state_dict()
    for name, values in fresh.state_dict().items():
        if name.startswith(("encoder.", "readout.", "head.layers.1.")):
            torch.testing.assert_close(values, old[name])
    row, kept = (m.features.vocabulary.words.index("film") for m in (fresh, former))
    weight = "embedding.vectors.weight"
    torch.testing.assert_close(fresh.state_dict()[weight][row], old[weight][kept])
    last = [name for name in old if name.startswith("head.layers.")][-2]
    torch.testing.assert_close(fresh.state_dict()[last][:2], old[last])
    assert not fresh.state_dict()[last][2].any()


def test_the_same_words_and_labels_give_the_same_model(first):
    former, other = load_model(first), load_model(first)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.normal_()
    copy_weights(other, PreviousModel(first, former))
    texts = ["this film is goodly made 3", "this film is badly made", ""]
    assert (other.predict_proba(texts) == former.predict_proba(texts)).all()


def test_settings_that_its_weights_do_not_fit(tmp_path, first):
    with pytest.raises(ConfigError, match=r"encoder\.width is 8, and 16 is asked for"):
        go_on(tmp_path, first, {"encoder": {"width": 16}})
    with pytest.raises(ConfigError, match="a model of the task classify, but the task is multi-label"):
        go_on(tmp_path, first, {"model": {"task": "multi-label"}})
    numbers = [{"model": {"task": "regress"}}, {"base": {"name": first}}]  # which have no classifier
    with pytest.raises(ConfigError, match="a model of the task classify, but the task is regress"):
        train_files(write(tmp_path / "n.csv", ("1.5", "2.5")), tmp_path / "n", settings=numbers)


class Ear(Reporter):
    """Keeps what it is told."""

    def __init__(self):
        self.heard: list[str] = []

    def note(self, text: str) -> None:
        self.heard.append(text)

    warn = note


def beside(tmp_path, file: str, base: str = "none", ear: Reporter = NULL_REPORTER):
    """A training with a linear model."""
    settings = [
        {"model": {"task": "classify"}, "train": {**SMALL["train"], "folds": 3}, "base": {"name": base}},
        {"split": {"seed": 5}}
        if base != "none"
        else {name: SMALL[name] for name in ("encoder", "classifier")} | PLAIN,
    ]
    outcome = train_files(file, tmp_path, settings=settings, baseline=False, reporter=ear)
    return outcome.fitted.model


def test_the_linear_member_goes_on_too(tmp_path):
    first = beside(tmp_path / "first", write(tmp_path / "f.csv", count=90))
    assert first.linear_model is not None
    ear = Ear()
    new = write(tmp_path / "g.csv", word="book")
    second = beside(tmp_path / "second", new, str(tmp_path / "first"), ear)
    assert not any("fitted from scratch" in text for text in ear.heard)
    known = set(second.linear_model.keys.tolist())
    assert set(first.linear_model.keys.tolist()) <= known
    loaded = load_model(tmp_path / "second")
    texts = ["this film is goodly made 3", "this book is badly made"]
    assert loaded.predict_proba(texts).argmax(1).tolist() == [1, 0]


def test_texts_that_it_has_learnt_from(tmp_path):
    """They would make the linear model, and what is said of dev and test texts, too good."""
    file = write(tmp_path / "f.csv", count=90)
    beside(tmp_path / "first", file)
    ear = Ear()
    base = str(tmp_path / "first")
    second = beside(tmp_path / "second", write(tmp_path / "g.csv", count=120), base, ear)
    assert second.previous_linear_model is None
    [note] = [text for text in ear.heard if text.startswith("starts from the model")]
    assert note.endswith("has learnt from these texts: the linear model is fitted from scratch")
    [test] = [text for text in ear.heard if f"test texts are {base}'s training texts too" in text]
    assert test.endswith("test scores are optimistic")


def test_the_linear_member_of_numbers_goes_on_too(tmp_path):
    def file(name: str, word: str, count: int) -> str:
        rows = [f"{'good ' * (n % 4)}{word} number {n},{2 + n % 4 + n / 1000}" for n in range(count)]
        (tmp_path / name).write_text("\n".join(["text,score", *rows, ""]))
        return str(tmp_path / name)

    def train(where: str, name: str, base: str) -> tuple[Any, list[str]]:
        own = {name: SMALL[name] for name in ("encoder",)} | PLAIN
        settings = [
            {"model": {"task": "regress"}, "train": {"epochs": 1, "folds": 3}, "base": {"name": base}},
            own if base == "none" else {},
        ]
        ear = Ear()
        done = train_files(name, tmp_path / where, settings=settings, baseline=False, reporter=ear)
        return done.fitted.model, ear.heard

    first, _ = train("first", file("f.csv", "film", 90), "none")
    second, heard = train("second", file("g.csv", "book", 60), str(tmp_path / "first"))
    assert not any("fitted from scratch" in text for text in heard)
    assert set(first.linear_model.keys.tolist()) <= set(second.linear_model.keys.tolist())
    low, high = load_model(tmp_path / "second").predict(["film", "good good good film"])
    assert high > low + 1


def test_what_the_former_has_learnt_from_stays_known(tmp_path, first):
    go_on(tmp_path, first)
    films = write(tmp_path / "f.csv")
    said = [own.text for own in evaluate_file(tmp_path / "model", films).messages if own.warning]
    assert any("of 40 texts also occur in the training or dev data" in text for text in said)
    books = write(tmp_path / "new.csv", word="play")
    said = [own.text for own in evaluate_file(tmp_path / "model", books).messages if own.warning]
    assert not any("also occur in the training" in text for text in said)


def test_numbers_that_it_spells_otherwise_are_told(tmp_path):
    told, listener = list[str](), Reporter()
    listener.warn = told.append  # type: ignore[method-assign]
    how = {"settings": [SMALL, PLAIN], "baseline": False}
    train_files(write(tmp_path / "f.csv", ("1", "0")), tmp_path / "ints", reporter=listener, **how)
    assert not any("spells otherwise" in own for own in told)
    rest = {name: own for name, own in SMALL.items() if name in ("model", "train", "linear_model")}
    how["settings"] = [rest, {"base": {"name": str(tmp_path / "ints")}}]
    file = write(tmp_path / "g.csv", ("1.0", "0.0"), word="book")
    train_files(file, tmp_path / "floats", reporter=listener, **how)
    assert any("new labels to it: '0.0' ('0' there), '1.0' ('1' there)" in own for own in told)


SMALL_TAGGER = {
    "model": {"task": "tag"},
    "encoder": SMALL["encoder"],
    "characters": {"features": 4, "vector_size": 4},
    "tagger": {"hidden": 6},
    "train": {"epochs": 2, "batch_texts": 8, "refit": False},
}


def write_tagged(path, places=("Ulm", "Bad Tölz"), verb="visited", count=60) -> str:
    """Sentences with the name of a person and of a place."""
    lines = []
    for number in range(count):
        place = places[number % len(places)].split()
        tagged = [(word, f"{'I' if n else 'B'}-LOC") for n, word in enumerate(place)]
        words = [("Ada", "B-PER"), (f"Lace{number}", "I-PER"), (verb, "O"), *tagged, (".", "O")]
        lines += [*(f"{word} {tag}" for word, tag in words), ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def train_tagger(file: str, folder, *layers, reporter: Reporter = NULL_REPORTER):
    train_files(file, folder, settings=layers, baseline=False, reporter=reporter)
    return load_model(folder)


@pytest.fixture(scope="module")
def first_tagger(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("tagger")
    train_tagger(write_tagged(folder / "f.conll"), folder / "model", SMALL_TAGGER, PLAIN)
    return str(folder / "model")


FROZEN = {"learning_rate": 0.0, "vectors_learning_rate": 0.0}


def test_a_tagger_keeps_weights_tags_and_characters(tmp_path, first_tagger):
    """The new sentences have no place of two words, and other characters."""
    former, file = load_model(first_tagger), write_tagged(tmp_path / "g.conll", ("Łódź", "Xanten"), "saw")
    rest = {"model": {"task": "tag"}, "train": {**SMALL_TAGGER["train"], **FROZEN}}
    model = train_tagger(file, tmp_path / "model", rest, {"base": {"name": first_tagger}})
    assert model.tags == former.tags
    assert "E-LOC" in model.tags
    assert set(former.alphabet.characters) | set("Łódź") <= set(model.alphabet.characters)
    assert {"visited", "saw"} <= set(model.features.vocabulary.words)
    old, new = former.state_dict(), model.state_dict()
    for name in old:
        if name.startswith(("encoder.", "tagger.", "spelling.project")):
            torch.testing.assert_close(new[name], old[name])
    letters = "spelling.characters.vectors.weight"
    row, kept = (own.alphabet.encode("U")[1] for own in (model, former))
    torch.testing.assert_close(new[letters][row], old[letters][kept])


def test_new_tags_start_at_zero_beside_the_former(tmp_path, first_tagger):
    former = load_model(first_tagger)
    file = write_tagged(tmp_path / "g.conll")
    text = (tmp_path / "g.conll").read_text(encoding="utf-8").replace("-LOC", "-ART")
    (tmp_path / "g.conll").write_text(text, encoding="utf-8")
    rest = {"model": {"task": "tag"}, "train": {**SMALL_TAGGER["train"], **FROZEN}}
    model = train_tagger(file, tmp_path / "model", rest, {"base": {"name": first_tagger}})
    assert {"S-ART", "S-LOC"} <= set(model.tags)
    places = [model.tags.index(tag) for tag in former.tags]
    others = [number for number in range(len(model.tags)) if number not in places]
    old, new = (own.tagger.crf.transitions for own in (former, model))
    torch.testing.assert_close(new[places][:, places], old)
    assert not new[others].any()
    assert not new[:, others].any()
    torch.testing.assert_close(model.tagger.layers[-1].weight[places], former.tagger.layers[-1].weight)
    assert not model.tagger.layers[-1].weight[others].any()


def test_the_linear_crf_of_a_tagger_goes_on_too(tmp_path, first_tagger):
    former, ear = load_model(first_tagger), Ear()
    assert former.linear_model is not None
    file = write_tagged(tmp_path / "g.conll", ("Xanten", "Bonn"), "saw", count=40)
    base = {"base": {"name": first_tagger}}
    model = train_tagger(file, tmp_path / "model", {"model": {"task": "tag"}}, base, reporter=ear)
    assert not any("fitted from scratch" in text for text in ear.heard)
    assert model.linear_model is not None
    shares = [own.linear_weight / (own.encoder_weight + own.linear_weight) for own in (former, model)]
    assert shares[1] == pytest.approx(shares[0], abs=0.16)  # the nearest of the shares that are tried
    assert set(former.linear_model.keys.tolist()) <= set(model.linear_model.keys.tolist())
    [tagged] = model.predict(["Ada Lace9 visited Bad Tölz ."])
    assert [(own.text, own.type) for own in tagged.entities] == [("Ada Lace9", "PER"), ("Bad Tölz", "LOC")]


def test_a_tagger_that_has_learnt_from_these_sentences(tmp_path, first_tagger):
    ear, file = Ear(), write_tagged(tmp_path / "f.conll", count=70)
    model = train_tagger(
        file, tmp_path / "model", {"model": {"task": "tag"}}, {"base": {"name": first_tagger}}, reporter=ear
    )
    [note] = [text for text in ear.heard if text.startswith("starts from the model")]
    assert note.endswith("has learnt from these texts: the linear model is fitted from scratch")
    assert "S-LOC" in model.tags


def test_plain_tags_do_not_go_on_from_spans(tmp_path, first_tagger):
    sentences = (f"a DT\nfilm{number} NN\n" for number in range(30))
    (tmp_path / "g.conll").write_text("\n".join(sentences))
    with pytest.raises(
        ConfigError, match="it has tags that mark spans, such as B-PER, but the training file pl"
    ):
        train_tagger(
            str(tmp_path / "g.conll"),
            tmp_path / "m",
            {"model": {"task": "tag"}},
            {"base": {"name": first_tagger}},
        )
    assert not (tmp_path / "m").exists()


def test_models_of_pairs_do_not_go_on(tmp_path):
    rows = [f"a{n},b{n % 7},{'yes' if n % 2 else 'no'}" for n in range(40)]
    (tmp_path / "p.csv").write_text("\n".join(["premise,hypothesis,label", *rows, ""]))
    settings = [{name: SMALL[name] for name in ("encoder", "train", "linear_model")}, PLAIN]
    pairs = {"model": {"task": "pair"}}
    train_files(str(tmp_path / "p.csv"), tmp_path / "m", settings=[*settings, pairs], baseline=False)
    with pytest.raises(ConfigError, match="a model of the task pair; only models of single texts"):
        train_files(
            str(tmp_path / "p.csv"),
            tmp_path / "n",
            settings=[pairs, {"base": {"name": str(tmp_path / "m")}}],
        )
