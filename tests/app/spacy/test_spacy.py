"""Models as components of spaCy pipelines."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from headwise import HeadwiseError, load_model
from headwise.app.cli import main
from headwise.app.spacy_files import AdapterError

spacy = pytest.importorskip("spacy", reason="the extra 'spacy' is not installed")

import srsly  # noqa: E402
from spacy.tokens import Doc, Span  # noqa: E402
from spacy.training import Example  # noqa: E402
from spacy.ty import ListenedToComponent  # noqa: E402

# An older installation has no entry point.
from headwise.app.spacy_component import HeadwiseComponent  # noqa: E402

ROOT = Path(__file__).parents[3]


@pytest.fixture
def pipeline(folder_of):
    """`pipeline(name, **config)`: a blank pipeline with a model."""

    def pipeline(name, **config):
        nlp = spacy.blank("en")
        nlp.add_pipe("headwise", config={"model": str(folder_of(name)), **config})
        return nlp

    return pipeline


def test_a_classifier_gives_all_labels_with_their_probabilities(pipeline, folder_of):
    doc = pipeline("classifier")("a great film")
    [own] = load_model(folder_of("classifier")).predict(["a great film"])
    assert doc.cats == pytest.approx(dict(zip(["bad", "good"], own.probabilities, strict=True)))
    assert doc._.headwise == own.label


def test_label_sets(pipeline, folder_of):
    doc = pipeline("label-sets")("a great film")
    [own] = load_model(folder_of("label-sets")).predict(["a great film"])
    assert doc.cats == pytest.approx(dict(zip(["bad", "film", "good"], own.probabilities, strict=True)))
    assert doc._.headwise == list(own.labels)


def test_a_number_under_a_name_of_ones_own(pipeline, folder_of):
    doc = pipeline("regressor", extension="stars")("a great film")
    [own] = load_model(folder_of("regressor")).predict(["a great film"])
    assert doc._.stars == pytest.approx(own)
    assert doc.cats == {}


def test_categories_of_other_components_stay(pipeline):
    nlp = pipeline("classifier")
    doc = nlp.make_doc("a great film")
    doc.cats = {"other": 0.5, "bad": 2.0}
    doc = nlp(doc)
    assert doc.cats["other"] == 0.5
    assert doc.cats["bad"] <= 1.0


def cities(doc):
    return [(own.text, own.label_) for own in doc.ents]


def test_spans_are_entities(pipeline):
    nlp = pipeline("spans")
    assert cities(nlp("Anna flew to Berlin")) == [("Berlin", "CITY")]
    assert cities(nlp("Ben flew to New York")) == [("New York", "CITY")]
    assert nlp.get_pipe("headwise").labels == ("CITY",)


def test_entities_that_are_there_stay_unless_they_are_overwritten(pipeline):
    def read(**config):
        nlp = pipeline("spans", **config)
        doc = nlp.make_doc("Anna flew to New York")
        doc.ents = [Span(doc, 0, 1, label="PERSON"), Span(doc, 4, 5, label="OTHER")]
        return cities(nlp(doc))

    assert read() == [("Anna", "PERSON"), ("York", "OTHER")]
    assert read(overwrite=True) == [("Anna", "PERSON"), ("New York", "CITY")]


@pytest.mark.parametrize(
    ("mode", "found"), [("expand", [("to Berlin", "CITY")]), ("contract", []), ("strict", [])]
)
def test_spans_within_a_token(pipeline, mode, found):
    nlp = pipeline("spans", alignment_mode=mode)
    doc = Doc(nlp.vocab, words=["Anna", "flew", "to Berlin"], spaces=[True, True, False])
    assert cities(nlp(doc)) == found


def test_spans_that_would_share_a_token(pipeline):
    nlp = pipeline("spans")
    [found] = nlp.get_pipe("headwise").predict([nlp.make_doc("She flew to Oslo to Berlin")])
    assert len(found.spans) == 2
    doc = Doc(nlp.vocab, words=["She flew to Oslo to Berlin"], spaces=[False])
    assert cities(nlp(doc)) == [("She flew to Oslo to Berlin", "CITY")]


def test_plain_tags(pipeline):
    doc = pipeline("plain")("Anna flew  to Berlin")
    assert [own.tag_ for own in doc] == ["PROPN", "VERB", "_SP", "ADP", "PROPN"]
    doc = pipeline("plain", attribute="pos")("Anna flew  to Berlin")
    assert [own.pos_ for own in doc] == ["PROPN", "VERB", "SPACE", "ADP", "PROPN"]
    assert [own.tag_ for own in doc] == [""] * 5


def test_tags_that_are_there_stay_unless_they_are_overwritten(pipeline):
    for overwrite, expected in ((False, ["X", "VERB"]), (True, ["PROPN", "VERB"])):
        nlp = pipeline("plain", overwrite=overwrite)
        doc = nlp.make_doc("Anna flew")
        doc[0].tag_ = "X"
        assert [own.tag_ for own in nlp(doc)] == expected


def test_the_tokens_of_the_pipeline_can_be_the_words(pipeline):
    words, spaces = ["Anna", "flew", "to", "Ber", "lin"], [True, True, True, False, False]
    for tokens, read in (("headwise", ["Anna", "flew", "to", "Berlin"]), ("spacy", words)):
        nlp = pipeline("plain", tokens=tokens)
        doc = Doc(nlp.vocab, words=words, spaces=spaces)
        [found] = nlp.get_pipe("headwise").predict([doc])
        assert list(found.words) == read
        assert all(own.tag_ for own in nlp(doc))


@pytest.mark.parametrize("name", ["classifier", "label-sets", "regressor", "spans", "plain"])
def test_texts_without_words_and_with_one(pipeline, name):
    nlp = pipeline(name)
    texts = ["", " \n", "Berlin", "\u200b", "😀"]
    docs = list(nlp.pipe(texts))
    assert [doc.text for doc in docs] == texts
    assert all(not doc.ents for doc in docs[:2])
    if name == "plain":
        assert docs[1][0].tag_ == "_SP"
    if name == "spans":
        assert list(nlp.pipe(texts, batch_size=1))[2].ents[0].label_ == "CITY"


@pytest.mark.parametrize("name", ["classifier", "spans"])
def test_a_stream_is_read_in_batches(pipeline, name, monkeypatch):
    nlp, asked = pipeline(name), []
    model = nlp.get_pipe("headwise").text_model
    predict = type(model).predict
    monkeypatch.setattr(
        type(model), "predict", lambda own, texts: asked.append(len(texts)) or predict(own, texts)
    )
    texts = [f"Anna flew to Berlin {n}" for n in range(25)]
    docs = list(nlp.pipe(texts, batch_size=10))
    assert asked == [10, 10, 5]
    assert [doc.text for doc in docs] == texts
    for doc, text in zip(docs, texts, strict=True):
        alone = nlp(text)
        assert doc.cats == pytest.approx(alone.cats, abs=1e-6)
        assert cities(doc) == cities(alone)


@pytest.mark.parametrize("name", ["classifier", "regressor", "spans"])
def test_a_saved_pipeline_needs_the_folder_no_more(folder_of, tmp_path, name):
    shutil.copytree(folder_of(name), tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("headwise", name="mine", config={"model": str(tmp_path / "model"), "overwrite": True})
    before = nlp("Anna flew to Berlin")
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(tmp_path / "model")
    (tmp_path / "saved").rename(tmp_path / "moved")
    for _ in range(2):
        again = spacy.load(tmp_path / "moved")
        after = again("Anna flew to Berlin")
        assert (after.cats, after._.headwise) == (before.cats, before._.headwise)
        assert cities(after) == cities(before)
        assert again.get_pipe("mine").overwrite
        assert again.meta["labels"] == nlp.meta["labels"]
        again.to_disk(tmp_path / "moved")  # onto itself
    assert not [own for own in (tmp_path / "moved").rglob("*") if own.suffix in {".pkl", ".pickle"}]


def test_nothing_is_loaded_for_being_looked_at(folder_of):
    """spaCy asks every component for the attributes of its own networks."""
    own = HeadwiseComponent("headwise", str(folder_of("classifier")))
    assert not isinstance(own, ListenedToComponent)
    assert not any(hasattr(own, name) for name in ("model", "listeners"))
    assert own.labels == ()


def test_a_pipeline_can_be_saved_without_the_model(folder_of, pipeline, tmp_path):
    nlp = pipeline("classifier")
    nlp.to_disk(tmp_path / "saved", exclude=["headwise"])
    assert not (tmp_path / "saved" / "headwise").exists()
    assert spacy.load(tmp_path / "saved")("great").cats == nlp("great").cats


def test_bytes(pipeline, tmp_path):
    nlp = pipeline("classifier")
    other = spacy.blank("en")
    other.add_pipe("headwise", config={"model": str(nlp.get_pipe("headwise").folder)})
    other.from_bytes(nlp.to_bytes())
    assert other("great film").cats == nlp("great film").cats
    other.to_disk(tmp_path / "saved")
    assert spacy.load(tmp_path / "saved")("great film").cats == nlp("great film").cats


def test_bytes_that_hold_no_model(pipeline, tmp_path):
    component = pipeline("classifier").get_pipe("headwise")
    whole = srsly.msgpack_loads(component.to_bytes())
    for held in ({"a": b""}, [1], 5, {**whole, "config.json": "text"}, {**whole, "manifest.json": 3}):
        with pytest.raises(HeadwiseError, match=r"HW912.*not the files of a headwise model"):
            component.from_bytes(srsly.msgpack_dumps(held))
    whole["../outside"] = b"never written"
    assert component.from_bytes(srsly.msgpack_dumps(whole)).labels == ("bad", "good")
    del whole["config.json"]
    with pytest.raises(HeadwiseError, match="HW503"):
        component.from_bytes(srsly.msgpack_dumps(whole))
    damaged = {**srsly.msgpack_loads(component.to_bytes()), "manifest.json": b'{"files": 5}'}
    with pytest.raises(HeadwiseError, match="HW5"):
        component.from_bytes(srsly.msgpack_dumps(damaged))


def test_a_folder_that_has_changed_is_not_saved(folder_of, tmp_path):
    shutil.copytree(folder_of("classifier"), tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("headwise", config={"model": str(tmp_path / "model")})
    shutil.rmtree(tmp_path / "model")
    shutil.copytree(folder_of("regressor"), tmp_path / "model")
    with pytest.raises(HeadwiseError, match=r"HW912.* has changed since the model was loaded"):
        nlp.to_disk(tmp_path / "saved")


def test_what_is_no_model(tmp_path):
    nlp = spacy.blank("en")
    with pytest.raises(HeadwiseError, match=r"HW501.*there is no such folder"):
        nlp.add_pipe("headwise", config={"model": str(tmp_path / "none")})
    with pytest.raises(HeadwiseError, match="HW502"):
        nlp.add_pipe("headwise", config={"model": str(tmp_path)})
    assert nlp.pipe_names == []


def test_models_of_other_things(folder_of, tmp_path):
    said = r"HW911.*a model for the task pair; .*classify, multi-label, regress or tag"
    with pytest.raises(HeadwiseError, match=said):
        spacy.blank("en").add_pipe("headwise", config={"model": str(folder_of("pairs"))})
    rows = "".join(f"m{n // 2},{n},{n % 3},{'ab'[n // 2 % 2]}\n" for n in range(40))
    (tmp_path / "bags.csv").write_text(f"bag,x1,x2,label\n{rows}")
    flags = "--task bags --bags.width 8 --bags.heads 2 --epochs 1 --output"
    assert main(["train", str(tmp_path / "bags.csv"), *flags.split(), str(tmp_path / "bags")]) == 0
    with pytest.raises(HeadwiseError, match=r"HW911.*a model for the task bags"):
        spacy.blank("en").add_pipe("headwise", config={"model": str(tmp_path / "bags")})


def test_tags_that_are_no_parts_of_speech(pipeline, folder_of):
    with pytest.raises(HeadwiseError, match=r"HW001.*attribute = pos, but 'O' is not a part of speech"):
        pipeline("spans", attribute="pos")


def test_settings_are_checked(pipeline):
    with pytest.raises(ValueError, match="alignment_mode"):
        pipeline("spans", alignment_mode="near")
    with pytest.raises(
        ValueError, match=r"unexpected argument: 'sizes'|sizes\s+extra fields not permitted"
    ):
        pipeline("spans", sizes=3)


def test_errors_are_the_pipelines_to_handle(pipeline, monkeypatch):
    nlp, failed = pipeline("classifier"), []

    def broken(self, texts):
        raise RuntimeError("no")

    monkeypatch.setattr(type(nlp.get_pipe("headwise").text_model), "predict", broken)
    with pytest.raises(RuntimeError, match="no"):
        nlp("text")
    nlp.set_error_handler(lambda name, component, docs, error: failed.append((name, len(docs))))
    assert list(nlp.pipe(["a", "b"])) == []
    assert failed == [("headwise", 2)]


def test_a_pipeline_can_be_judged(pipeline):
    nlp = pipeline("spans")
    doc = nlp.make_doc("Anna flew to Berlin")
    found = nlp.evaluate([Example.from_dict(doc, {"entities": [(13, 19, "CITY")]})])
    assert found["ents_f"] == 1.0
    nlp = pipeline("plain")
    found = nlp.evaluate([Example.from_dict(nlp.make_doc("Anna flew"), {"tags": ["PROPN", "X"]})])
    assert found["tag_acc"] == 0.5
    nlp = pipeline("classifier")
    found = nlp.evaluate([Example.from_dict(nlp.make_doc("x"), {"cats": {"bad": 1.0, "good": 0.0}})])
    assert set(found["cats_f_per_type"]) == {"bad", "good"}
    nlp = pipeline("regressor")
    assert "speed" in nlp.evaluate([Example.from_dict(nlp.make_doc("x"), {})])


def test_spacy_finds_it_without_an_import(folder_of, tmp_path):
    """As an installation does it: by the entry point that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [(name, value)] = project["entry-points"]["spacy_factories"].items()
    info = tmp_path / "headwise_entry-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: headwise-entry\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[spacy_factories]\n{name} = {value}\n")
    code = (
        "import sys, spacy; nlp = spacy.blank('en'); print('headwise.nn' in sys.modules);"
        "nlp.add_pipe('headwise', config={'model': sys.argv[1]}); print(sorted(nlp('great').cats))"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder_of("classifier"))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.split("\n")[:2] == ["False", "['bad', 'good']"], done.stderr


def test_the_codes_are_told():
    page = (ROOT / "docs" / "spacy.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(HW9\d\d)` \|", page, re.MULTILINE)) == set(
        re.findall(r"HW\d{3}", AdapterError.__doc__ or "")
    )
