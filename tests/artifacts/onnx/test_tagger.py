"""Taggers: what was exported says what the model says."""

import json
import random
import shutil

import numpy as np
import pytest
import torch

from headwise.app.workflows.train import train_files
from headwise.artifacts import StoreError, load_model
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.artifacts.onnx.onnx_export import write_exported
from headwise.artifacts.onnx.onnx_load import load_exported
from headwise.artifacts.onnx.onnx_models import OnnxTagNetwork
from headwise.core.errors import HeadwiseError
from headwise.data.items.examples import TaggedSentence, as_example
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.tag_schemes import scheme_constraints
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import WindowsConfig
from headwise.nn.layout import Layout
from headwise.nn.networks.linear_members import TagLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.crf import CRF
from headwise.nn.task_layers.layer_configs import TaggerConfig
from headwise.runtime.chain_tagger import CrfScores
from headwise.runtime.tag_network import TagNetwork
from headwise.text.character_features import Alphabet
from headwise.text.static_embeddings.word_groups import LEVELS, WordClusters, word_hash
from headwise.text.text_configs import CharacterConfig, WordConfig
from headwise.text.vocabulary import Vocabulary

from .conftest import ENGINES, WINDOW, WORDS, draw_weights, hard_texts
from .test_load import forge

SPANS = ("O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y")
EVERY_VIEW = CharacterConfig("lstm", features=8, ngrams=3, buckets=40, shape=2)
# id: (encoder, characters, tagger, scheme of the file, windows)
ROWS = {
    "shape": ("ms-transformer", CharacterConfig("none", shape=4), TaggerConfig(), "iob2", {}),
    "convolution, words alone": (
        "bilstm",
        CharacterConfig(window=5),
        TaggerConfig(hidden=0, crf=False),
        "iob1",
        {"words": WINDOW, "overlap": 3},
    ),
    "every view": ("transformer", EVERY_VIEW, TaggerConfig(constraints=False), "bioes", {}),
    "no spelling": (
        "ms-san",
        CharacterConfig("none"),
        TaggerConfig(crf=False, constraints=False),
        "bilou",
        {"words": WINDOW},
    ),
    "plain tags": ("s-lstm", CharacterConfig("none", ngrams=4, buckets=30), TaggerConfig(), "plain", {}),
}


def make(row: str) -> TagModel:
    name, characters, tagger, written, windows = ROWS[row]
    sizes = {"width": 8, "heads": 4, "head_size": 4, "layers": 1, "feedforward": 6, "hidden": 4}
    sizes["distances"] = ("word", "none")
    kind = ENCODERS[name][1]
    encoder = kind(**{key: value for key, value in sizes.items() if key in kind.__dataclass_fields__})
    config = ModelConfig(
        task="tag",
        words=WordConfig(vector_size=6 if name == "ms-transformer" else 8),
        encoder=encoder,
        characters=characters,
        tagger=tagger,
        windows=WindowsConfig(**windows),
    )
    tags = ("ADJ", "NOUN", "O") if written == "plain" else SPANS
    model = TagModel(config, Vocabulary.build([WORDS]), tags, written, Alphabet.build([*WORDS, "é!"]))
    draw_weights(model)
    return model.eval()


def groups_of_words() -> WordClusters:
    keys = np.array([word_hash(word) for word in sorted({*WORDS})[::2]], dtype=np.uint32)
    numbers = np.random.default_rng(0).integers(0, 3, (len(keys), len(LEVELS)))
    return WordClusters(keys, numbers.astype(np.int16))


def linear_model_of(tags) -> TagLinearBuffers:
    drawn = random.Random(3)
    sentences = []
    for _ in range(30):
        words = tuple(drawn.choices(WORDS, k=5))
        named = [drawn.choice(tags) for _ in words] if "NOUN" in tags else ["O", "B-X", "E-X", "S-Y", "O"]
        sentences.append(TaggedSentence(words, tuple(named)))
    crf = fit_crf(sentences, "plain", groups=groups_of_words())
    return TagLinearBuffers.of(crf, tags) if len(crf.tags) == len(tags) else _wider(crf, tags)


def _wider(crf, tags) -> TagLinearBuffers:
    """A linear CRF that also has the tags that its sentences lacked."""
    places = [tags.index(tag) for tag in crf.tags]
    weights = np.zeros((len(crf.keys), len(tags)), dtype=np.float32)
    weights[:, places] = crf.weights
    moves = np.random.default_rng(0).normal(size=(len(tags), len(tags))).astype(np.float32)
    return TagLinearBuffers.of(type(crf)(tuple(tags), "plain", crf.keys, weights, moves, crf.groups), tags)


# Weights of encoder and linear CRF, and what is taken off `O`.
SAYS = {
    "encoder": (1.0, 0.0, 0.0),
    "both": (0.7, 0.6, 0.4),
    "linear_model": (0.0, 0.8, 0.5),
    "none": (0, 0, 0),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory, same_graphs, needs_onnx):
    """`made(row, say)`: a model, what was exported of it, computed by onnxruntime, and in which folder."""
    trained = {}

    def give(row: str, say: str):
        if (row, say) not in trained:
            model = make(row)
            *weights, outside = SAYS[say]
            linear_model = None if say == "encoder" else linear_model_of(model.tags)
            model.add_linear_model(linear_model, (weights[0], weights[1]), 0.5, outside)
            folder = tmp_path_factory.mktemp("taggers") / "x"
            with same_graphs():  # whatever the linear model says, the network says the same
                write_exported(model.eval(), folder)
            trained[row, say] = model, load_exported(folder, engine="onnxruntime"), folder
        return trained[row, say]

    return give


@pytest.mark.parametrize(
    ("row", "say"), [*((row, "both") for row in ROWS), *(("shape", say) for say in SAYS if say != "both")]
)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_tags_are_those_of_the_model(row, say, engine, made):
    model, _, folder = made(row, say)
    exported = load_exported(folder, engine=engine)
    computed = engine == "auto" and row in ("shape", "no spelling")
    assert isinstance(exported.network, TagNetwork if computed else OnnxTagNetwork)
    texts = [*hard_texts(), "é w1 éé w2 unheard É w7", "w1 " + "x" * 300, "W1w2 w3-4 1990"]
    for expected, actual in zip(model.predict(texts), exported.predict(texts), strict=True):
        assert (actual.words, actual.tags, actual.places) == (
            expected.words,
            expected.tags,
            expected.places,
        )
        assert model.scheme == "plain" or actual.spans == expected.spans
        assert actual.unknown_words == expected.unknown_words
        assert actual.probabilities == pytest.approx(expected.probabilities, abs=1e-5)
    encoded = [
        variant.encode_sentences([variant.sentence(as_example(text)) for text in texts])
        for variant in (model, exported)
    ]
    for weights in (None, (1.0, 0.0)):
        one, second = (
            variant.marginals(sentences, weights=weights)
            for variant, sentences in zip((model, exported), encoded, strict=True)
        )
        for expected, actual in zip(one, second, strict=True):
            assert expected.shape == actual.shape
            np.testing.assert_allclose(actual, expected, atol=1e-5)


@pytest.mark.parametrize("row", ROWS)
def test_a_text_does_not_depend_on_its_company(row, made):
    _, exported, _ = made(row, "both")
    texts = hard_texts()
    together = [*exported.predict(texts)]
    alone = [next(exported.predict([text])) for text in texts]
    in_parts = exported.tag([exported.sentence(as_example(text)) for text in texts], batch_tokens=12)
    for separate in (alone, in_parts):
        for expected, actual in zip(together, separate, strict=True):
            assert actual.tags == expected.tags
            assert actual.probabilities == pytest.approx(expected.probabilities, abs=1e-5)
    assert list(exported.predict([])) == []


@pytest.mark.parametrize("scheme", ["bioes", "iob2"])
def test_its_chain_is_a_crf(scheme):
    """With scores at the ends and constraints, beside the layer that models are trained with."""
    tags = SPANS if scheme == "bioes" else SPANS[:3]
    may = scheme_constraints(tags, scheme)
    assert may is not None
    torch.manual_seed(0)
    crf = CRF(len(tags), may)
    for parameter in crf.parameters():
        parameter.data = 2 * torch.randn_like(parameter)
    layout = Layout([4, 0, 1, 7])
    scores = Ragged(3 * torch.randn(12, len(tags), dtype=torch.float64), layout)
    tables = {name: parameter.detach().numpy() for name, parameter in crf.named_parameters()}
    learned = CrfScores.of(tables, len(tags))
    parts = ((learned.transitions, may.follow), (learned.start, may.start), (learned.end, may.end))
    chain = CrfScores(*(part + np.where(allowed, 0.0, -1e30) for part, allowed in parts))
    ends = layout.offsets.numpy()
    np.testing.assert_array_equal(chain.best(scores.values.numpy(), ends), crf.viterbi(scores)[0].numpy())
    np.testing.assert_allclose(
        chain.chances(scores.values.numpy(), ends), crf.marginals(scores).values.numpy(), atol=1e-7
    )


@pytest.fixture(scope="module")
def trained_tagger(tmp_path_factory, base, needs_onnx):
    """The folder of a trained tagger with base and linear_model, and what was exported of it."""
    folder, drawn = tmp_path_factory.mktemp("tagger"), random.Random(1)
    with open(folder / "data.conll", "w", encoding="utf-8") as file:
        for _ in range(120):
            words = [(word, "O") for word in drawn.choices(WORDS, k=drawn.randrange(1, 6))]
            name = drawn.choice([["Ann"], ["Ann", "Lee"], ["Bob", "Ray"]])
            words += [("by", "O"), *((part, "I-P" if n else "B-P") for n, part in enumerate(name))]
            file.write("".join(f"{word} {tag}\n" for word, tag in words) + "\n")
    settings = {
        "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
        "train": {"epochs": 2, "batch-texts": 16},
        "base": {"name": base},
    }
    train_files(folder / "data.conll", folder / "model", settings=[{"model": {"task": "tag"}, **settings}])
    write_exported(load_model(folder / "model"), folder / "x")
    return folder / "model", folder / "x"


def test_a_trained_tagger_says_the_same(trained_tagger):
    model, exported = load_model(trained_tagger[0]), load_exported(trained_tagger[1])
    texts = [*hard_texts(), "w1 by Ann Lee", "good film by Bob Ray w2", "Zoe-Lee 5"]
    actual = [*exported.predict(texts)]
    assert any(tagged.spans for tagged in actual)
    for expected, tagged in zip(model.predict(texts), actual, strict=True):
        assert (tagged.words, tagged.tags, tagged.unknown_words) == (
            expected.words,
            expected.tags,
            expected.unknown_words,
        )
        assert tagged.probabilities == pytest.approx(expected.probabilities, abs=1e-5)
    for name in ("tags", "written", "scheme", *model.FITTED.numbers):
        assert getattr(exported, name) == getattr(model, name)


FORGED = {
    "crf": ("config.json", lambda d: d["model"]["tags"].update(crf=False)),
    "scheme": ("config.json", lambda d: d["model"]["tags"].update(scheme="iob2")),
    "no scheme": ("config.json", lambda d: d["model"]["tags"].update(scheme="none such")),
    "no spelling": ("config.json", lambda d: d["model"].update(characters={"network": "none", "shape": 0})),
    "more spelling": ("config.json", lambda d: d["model"]["characters"].update(ngrams=3)),
    "other task": ("config.json", lambda d: d["model"].update(task="classify")),
    "features": ("config.json", lambda d: d["model"]["linear_model"].update(features=3)),
    "grouped": ("config.json", lambda d: d["model"]["linear_model"].update(grouped=3)),
    "less tags": ("labels.json", lambda d: d["labels"].pop()),
    "no tag for all": ("labels.json", lambda d: d.update(labels=[f"B-{n}" for n in d["labels"]])),
    "no alphabet": ("labels.json", lambda d: d.update(alphabet=3)),
    "factors": ("calibration.json", lambda d: d.pop("outside")),
}


@pytest.mark.parametrize("name", FORGED)
def test_files_that_contradict_each_other(name, trained_tagger, tmp_path):
    copied = shutil.copytree(trained_tagger[1], tmp_path / "copied")
    forge(copied, "calibration.json", lambda data: data.update(encoder_weight=0.5, linear_weight=0.5))
    forge(copied, *FORGED[name])
    with pytest.raises(HeadwiseError) as raised:
        [*load_exported(copied, engine="onnxruntime").predict(["w1 by Ann"])]
    assert raised.value.code in ("HW507", "HW509", "HW510", "HW956"), raised.value


def test_the_graph_of_the_spelling_is_checked(trained_tagger, tmp_path):
    copied = shutil.copytree(trained_tagger[1], tmp_path / "copied")
    (copied / "spelling.onnx").write_bytes((copied / "readout.onnx").read_bytes())
    with pytest.raises(StoreError, match=r"HW504.*spelling.onnx"):
        load_exported(copied)
    forge(copied, "labels.json", lambda data: None)
    with pytest.raises(ExportError, match=r"HW956.*spelling.onnx"):
        load_exported(copied, engine="onnxruntime")
    (copied / "spelling.onnx").unlink()
    with pytest.raises(StoreError, match=r"HW503.*spelling.onnx"):
        load_exported(copied)


def test_a_classifier_in_its_place_leaves_nothing_behind(made, written, tmp_path, graphs_once):
    shutil.copytree(made("shape", "encoder")[2], tmp_path / "x")
    assert (tmp_path / "x" / "spelling.onnx").is_file()
    write_exported(written("ms-transformer")[0], tmp_path / "x", overwrite=True)
    assert not (tmp_path / "x" / "spelling.onnx").exists()
    assert json.loads((tmp_path / "x" / "config.json").read_text())["model"]["task"] == "classify"


def test_a_linear_member_that_is_not_there_is_not_asked(made, tmp_path):
    """Whatever a forged folder says of its say."""
    model, _, folder = made("shape", "encoder")
    shutil.copytree(folder, tmp_path / "x")
    forge(tmp_path / "x", "calibration.json", lambda data: data.update(encoder_weight=0, linear_weight=1))
    exported = load_exported(tmp_path / "x")
    encoded = exported.encode_sentences([exported.sentence(as_example("w1 unheard w2"))])
    expected = model.marginals(encoded, weights=(0.0, 1.0))
    np.testing.assert_allclose(exported.marginals(encoded)[0], expected[0], atol=1e-6)
