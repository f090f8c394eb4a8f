"""What every task promises of its explanations: words with their characters that add up."""

import csv
import json

import numpy as np
import pytest

from headwise.artifacts import load_model
from headwise.core.errors import HeadwiseError
from headwise.data.items.examples import TaggedSentence
from headwise.models.tag_explanation import explain_tags
from headwise.models.text_explanation import explain_labels, remove_words

DRIFT: dict[str, dict[str, str]] = {}
SILENT = ("bags", "language-model", "masked-words")
LEFT_OUT = {
    "test_the_words_add_up": SILENT,
    "test_a_page": SILENT,
    "test_suggestions": ("tag", "regress", "pair-score", *SILENT),
}


def test_the_words_add_up(call, own, sizes, tmp_path):
    code, out, err = call("explain", own.model, own.test, "--json")
    assert code == 0, err
    found = [json.loads(line) for line in out.splitlines()]
    # A tagger explains what it finds, which need not be something in each sentence.
    assert len({record["line"] for record in found}) == sizes[1] or own.task == "tag"
    assert found
    for record in found:
        texts = record.get("texts") or [record["text"]]
        for word in record["words"]:
            assert texts[word.get("text", 1) - 1][word["start"] : word["end"]] == word["word"]
            parts = [word[part] for part in ("encoder", "base", "linear_model") if part in word]
            assert not parts or word["attribution"] == pytest.approx(sum(parts))
        total = record["rest"] + record.get("surface_features", {}).get("attribution", 0.0)
        total += sum(word["attribution"] for word in record["words"])
        assert total == pytest.approx(record["margin"], abs=1e-6)
    path = tmp_path / "why.jsonl"
    assert call("explain", own.model, own.test, "--output", path)[0] == 0
    assert path.read_text() == out
    code, _, err = call("explain", own.model, own.test, "--output", path)
    assert (code, "exists; add --overwrite" in " ".join(err.split())) == (2, True)  # not lost by mistake


def test_a_page(call, own, sizes, tmp_path):
    path = tmp_path / "why.html"
    assert call("explain", own.model, own.test, "--output", path)[0] == 0
    assert path.read_text().count("<article") >= sizes[1]
    assert "<mark" in path.read_text()
    code, out, _ = call("explain", own.model, own.test)
    assert code == 0
    assert "for: " in out
    other = tmp_path / "both.html"
    code, out, err = call("explain", own.model, own.test, "--json", "--output", other)
    assert (code, out, other.exists()) == (2, "", False)
    assert "both.html is a page; leave out --json" in err


def test_numbers_are_explained_as_they_are_predicted(call, trained_of):
    own = trained_of("regress")
    code, out, err = call("predict", own.model, own.test)
    assert code == 0, err
    predicted = [row["prediction"] for row in csv.DictReader(out.splitlines())]
    explained = [
        json.loads(line)["prediction"]
        for line in call("explain", own.model, own.test, "--json")[1].splitlines()
    ]
    assert [float(said) for said in explained] == pytest.approx(list(map(float, predicted)), abs=2e-5)
    assert {len(said.partition(".")[2]) for said in explained} == {len(predicted[0].partition(".")[2])}


@pytest.mark.parametrize("silent", SILENT)
def test_what_is_not_explained_is_told(call, trained_of, silent, tmp_path):
    own, path = trained_of(silent), tmp_path / "why.html"
    code, _, err = call("explain", own.model, own.test, "--output", path)
    assert (code, path.exists()) == (2, False)
    assert any(
        said in err
        for said in ("explanations are not available", "headwise sample", "headwise train FILE --base")
    )
    path.write_text("of before")
    assert call("explain", own.model, own.test, "--output", path, "--overwrite")[0] == 2
    assert path.read_text() == "of before"


def test_what_belongs_to_no_word_is_known(trained_of):
    """The rest is what the model says of a text whose words are all the same, not what is left over."""
    model = load_model(trained_of("classify").model)
    texts = ["the film was great", "a dull story , a poor plot"]
    encoded = model.encoded(texts)
    for text, found in zip(encoded, explain_labels(model, encoded), strict=True):
        probabilities = model.probabilities(model.logits([text]))[0]
        chosen = probabilities.argmax()
        others = np.delete(probabilities, chosen) / (1 - probabilities[chosen])
        logits = model.logits([text])[0] / model.temperature
        assert found.prediction == model.labels[chosen]
        left = model.predict_proba([remove_words(found, found.removed_words)])[0, chosen]
        assert found.value_after_removal == pytest.approx(left, abs=1e-6)
        assert found.margin == pytest.approx(logits[chosen] - others @ np.delete(logits, chosen), abs=1e-5)
        assert found.probability == pytest.approx(1 / (1 + np.exp(-found.margin)), abs=1e-5)  # two labels


def test_a_tag_is_explained_by_its_word(call, trained_of):
    """In these data a word has its tag wherever it stands."""
    own = trained_of("tag")
    code, out, err = call("explain", own.model, own.train, "--json")
    assert code == 0, err
    found = [json.loads(line) for line in out.splitlines()]
    right = 0
    for record in found:
        best = max(record["words"], key=lambda word: word["attribution"])
        right += (best["start"], best["end"]) == (record["start"], record["end"])
        assert record["prediction"] == "X"
        assert record["text"][record["start"] : record["end"]]
    assert right >= 0.8 * len(found)


def test_without_a_word_is_with_another_in_its_place(trained_of):
    model = load_model(trained_of("tag").model)
    sentence = TaggedSentence(("the", "film", "was", "great"), ())
    for found in explain_tags(model, [TaggedSentence(("a",), ()), sentence]):
        assert found.item == 1 or len(found.words) == 1
        for place, word in enumerate(found.words):
            words = [own.word for own in found.words]
            words[place] = "_"
            chances = model.marginals(model.encode_sentences([TaggedSentence(tuple(words), ())]))[0]
            decided = next(n for n, own in enumerate(found.words) if own.start == found.explained_span[0])
            p = chances[decided, model.tags.index("S-X")]
            assert found.margin - word.attribution == pytest.approx(np.log(p / (1 - p)), abs=1e-6)


def test_suggestions(call, own, tmp_path):
    """What to label next is read again as a training file once it is labelled."""
    plain, path = tmp_path / f"plain{own.row.suffix}", tmp_path / "todo.csv"
    plain.write_text(own.row.make(40, 5).replace(",label", ",other").replace(",labels", ",other"))
    code, _, err = call("suggest", own.model, plain, "--count", "7", "--output", path)
    assert code == 0, err
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == 7
    column = "labels" if own.task == "multi-label" else "label"  # as the training file calls it
    assert all(row[column] == "" and row["guess"] for row in found)
    assert call("suggest", own.model, plain, "--output", path)[0] == 2  # it is not lost by mistake
    code, out, _ = call("suggest", own.model, own.train, "--count", "7")
    with open(own.train, newline="") as file:
        columns = next(csv.reader(file))
    assert (code, out.splitlines()) == (0, [",".join([*columns, "guess"])])  # all are known
    none = tmp_path / "none.csv"
    _, _, err = call("suggest", own.model, own.train, "--output", none)
    assert f"there is nothing to label in {own.train}" in err


def test_labels_are_looked_for_where_they_usually_stand(call, trained_of, tmp_path):
    """A part of the texts has a label, in a column that is called as such columns are."""
    path = tmp_path / "some.csv"
    path.write_text("intent,message\n,sunny and warm\n" + "".join(f"yes,rain {n} w\n" for n in range(9)))
    code, out, err = call("suggest", trained_of("classify").model, path)
    assert (code, out.splitlines()[0], len(out.splitlines())) == (0, "intent,message,guess", 2), err
    assert "labels are in the column 'intent' - override with --label-column" in err
    assert "9 of 10 texts have a label" in err
    code, out, _ = call("suggest", trained_of("classify").model, path, "--label-column", "label")
    assert (code, out.splitlines()[0], len(out.splitlines())) == (0, "intent,message,label,guess", 11)


def test_what_is_no_label_is_not_called_one(call, trained_of, tmp_path):
    """A column that looks like labels, but is not called so, is none: it stays as it is."""
    path = tmp_path / "notes.csv"
    path.write_text(
        "id,text,note\n" + "".join(f"{n},sunny and warm w{n},{'xy'[n % 2]}\n" for n in range(9))
    )
    code, out, err = call("suggest", trained_of("classify").model, path)
    assert (code, out.splitlines()[0], len(out.splitlines())) == (0, "id,text,note,label,guess", 10), err
    assert "note" not in err


@pytest.mark.parametrize(("silent", "title"), [("regress", "a regressor of texts")])
def test_who_gives_no_labels_to_texts_suggests_none(call, trained_of, tmp_path, silent, title):
    path = tmp_path / "texts.csv"
    path.write_text("text,label\none two,a\n")
    code, _, err = call("suggest", trained_of(silent).model, path)
    assert code == 2
    assert f"not for {title}" in " ".join(err.split())


@pytest.mark.parametrize("kind", ["classify", "multi-label", "regress"])
def test_a_loaded_model_explains_texts(trained_of, kind):
    model = load_model(trained_of(kind).model)
    found = model.explain(["one two"])
    assert {explanation.texts for explanation in found} == {("one two",)}  # one for each of its labels
    [prediction] = model.predict(["one two"])
    if kind == "classify":
        assert found[0].prediction == prediction.label
    with pytest.raises(HeadwiseError, match="expected a list of texts"):
        model.explain("one two")


def test_a_loaded_tagger_and_a_model_of_pairs_explain_theirs(trained_of):
    found = load_model(trained_of("tag").model).explain(["one two"])
    assert all(explanation.texts == ("one two",) for explanation in found)
    [pair] = load_model(trained_of("pair").model).explain([("one", "two")])
    assert pair.texts == ("one", "two")


def test_models_that_were_not_loaded_refer_to_what_explains(trained_of):
    model = load_model(trained_of("classify").model)
    model.explainer = None
    with pytest.raises(HeadwiseError, match="explanations need a model of load_model"):
        model.explain(["one"])
    with pytest.raises(HeadwiseError, match="explanations are not available"):
        load_model(trained_of("language-model").model).explain(["one"])
