"""TextTagger on sentences in which capitals are names."""

import pickle
import random
from html import escape
from itertools import chain

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from headwise import HeadwiseError, TextClassifier, TextTagger, load_model
from headwise.app.cli import main
from headwise.core.errors import ConfigError
from headwise.metrics.tag_schemes import read_spans
from headwise.metrics.tagging_scores import score_entities

PLACES, VERBS = ["Rome", "Paris", "Oslo", "Lima", "Bern"], ["see", "like", "leave", "know"]


def sentences(count: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    chance, X, y = random.Random(seed), [], []
    for _ in range(count):
        place = [chance.choice(PLACES)] + ["City"] * chance.randrange(2)
        X.append(["we", chance.choice(VERBS), *place, *["today"] * chance.randrange(3)])
        y.append(["O", "O", "B-LOC", *["I-LOC"] * (len(place) - 1), *["O"] * (len(X[-1]) - 2 - len(place))])
    return X, y


@pytest.fixture(scope="module")
def fitted(tiny) -> TextTagger:
    return TextTagger(recipe=tiny, epochs=10).fit(*sentences(120))


def test_learns_and_scores_as_its_parts_do(fitted):
    X, y = sentences(40, seed=1)
    found = fitted.predict(X)
    assert [len(tags) for tags in found] == [len(words) for words in X]
    assert fitted.score(X, y) > 0.9
    spans = [[read_spans(tags) for tags in part] for part in (found, y)]
    assert fitted.score(X, y) == pytest.approx(score_entities(*spans).f1)
    assert fitted.classes_ == ["B-LOC", "I-LOC", "O"]
    assert 1 <= len(fitted.history_) <= 10


def test_sentences_without_words_have_no_tags(fitted):
    X, y = sentences(3, seed=7)
    tags = fitted.predict(X)
    assert fitted.predict([[], *X, []]) == [[], *tags, []]
    assert fitted.predict([[]]) == [[]]
    assert fitted.score([[], *X], [[], *y]) == fitted.score(X, y)


def test_lists_of_words_in_arrow(fitted):
    arrow = pytest.importorskip("pyarrow")
    X, _ = sentences(3, seed=7)
    assert fitted.predict(arrow.array([[], *X])) == [[], *fitted.predict(X)]


def test_running_text_with_its_characters(fitted):
    (found,) = fitted.tag(["we see Rome City."])
    (span,) = [span for span in found.spans if span.type == "LOC"]
    first, last = found.places[span.start], found.places[span.end - 1]
    assert found.text[first[0] : last[1]] == "Rome City"


def test_entities_have_their_texts_and_characters(fitted):
    (tagged,) = fitted.tag(["we see <Rome> City."])
    (entity,) = tagged.entities
    assert (entity.type, entity.text) == ("LOC", tagged.text[entity.start : entity.end])
    first, last = entity.words
    assert entity.probability == min(tagged.probabilities[first:last])
    assert repr(tagged).startswith(f"<TaggedText 'we see <Rome> City.': LOC {entity.text!r} ")
    shown = tagged._repr_html_()
    assert f"{escape(entity.text)}<small> LOC</small></mark>" in shown
    assert "<Rome>" not in shown
    (tagged,) = fitted.model_.tag([["we", "see", "Rome", "City"]])  # words, of no text
    (entity,) = tagged.entities
    assert (entity.text, entity.start, entity.end, entity.words) == ("Rome City", None, None, (2, 4))
    assert "we see <mark" in tagged._repr_html_()
    (tagged,) = fitted.tag(["we know"])
    assert repr(tagged) == "<TaggedText 'we know': no span>"
    assert "we know" in tagged._repr_html_()


def test_a_notebook_shows_explanations_below_each_other(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    texts = [["we", "see", "Rome"], ["we", "see", "Oslo"]]
    for explanations in (fitted.explain(texts), load_model(tmp_path / "model").explain(texts)):
        shown = explanations._repr_html_()
        assert shown.count('class="hw-why"') == len(explanations) == 2
        assert shown.count("<style>") == 1


def test_plain_tags_score_by_words(tiny):
    X, y = sentences(60)
    names = {"O": "X", "B-LOC": "PROPN", "I-LOC": "NOUN"}
    tagger = TextTagger(recipe=tiny, epochs=4).fit(X, [[names[tag] for tag in own] for own in y])
    X, y = sentences(20, seed=1)
    truth = [[names[tag] for tag in own] for own in y]
    found, true = (list(chain(*part)) for part in (tagger.predict(X), truth))
    right = sum(a == b for a, b in zip(found, true, strict=True))
    (tagged,) = tagger.model_.tag([["we", "know"]])
    assert repr(tagged) == f"<TaggedText we/{tagged.tags[0]} know/{tagged.tags[1]}>"
    assert tagged._repr_html_() is None
    assert tagger.score(X, truth) == pytest.approx(right / len(true))


def test_folder(fitted, tmp_path, capsys):
    X, _ = sentences(10, seed=1)
    fitted.save(tmp_path / "model")
    loaded = TextTagger.load(tmp_path / "model")
    assert loaded.predict(X) == fitted.predict(X)
    assert loaded.classes_ == fitted.classes_
    (tmp_path / "new.txt").write_text("we see Rome\n")
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "new.txt")]) == 0
    assert "Rome" in capsys.readouterr().out
    with pytest.raises(
        HeadwiseError, match="a model of the task 'tag'; TextClassifier loads those of the task"
    ):
        TextClassifier.load(tmp_path / "model")


def test_travels_between_processes(fitted):
    X, _ = sentences(10, seed=1)
    assert pickle.loads(pickle.dumps(fitted)).predict(X) == fitted.predict(
        X
    )  # cross_validate(n_jobs=2) does
    with pytest.raises(ConfigError, match="expected a text"):
        list(fitted.tag([["a", "word"]]))


@pytest.mark.fits_anew
def test_repeats_itself_and_can_be_cloned(fitted):
    again = clone(fitted)
    assert not hasattr(again, "model_")
    X, y = sentences(120)
    again.fit(X, y)
    assert again.predict(X) == fitted.predict(X)


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ("we see", [["O"]], TypeError, "X is one text"),
        (["we see"], [["O", "O"]], TypeError, r"X\[0\] is 'we see'; expected a list of words; `tag`"),
        (
            [["we", "see"]],
            [[0, 1]],
            TypeError,
            r"y\[0\] is \[0, 1\]; .* the names that the numbers stand for",
        ),
        ([["we"]], [["O", "O"]], ValueError, r"X\[0\] has 1 words and y\[0\] 2 tags"),
        ([["we"], []], [["O"], []], ValueError, r"X\[1\] is empty"),
        ([["we"]], [["O"], ["O"]], ValueError, "inconsistent numbers of samples"),
        ([["we", "see"]], [["O", "O"]], ValueError, "only one tag"),
        ([["we", "see"]], [["O", "X"]], HeadwiseError, r"HW141.*, or give dev=\(X, y\)"),
    ],
)
def test_what_cannot_be_fitted(X, y, error, message, tiny):
    with pytest.raises(error, match=message):
        TextTagger(recipe=tiny).fit(X, y)


def test_given_dev_and_not_fitted(tiny):
    X, y = sentences(20)
    tagger = TextTagger(recipe=tiny, epochs=1).fit(X, y, dev=sentences(7, seed=2))
    assert tagger._info["data"]["dev"]["texts"] == 7
    with pytest.raises(NotFittedError):
        TextTagger().predict(X)
