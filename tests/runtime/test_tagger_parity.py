"""Taggers without PyTorch compute what those of PyTorch compute."""

from itertools import groupby

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model, save_model
from headwise.artifacts.runtime_load import load_for_prediction, needs_torch
from headwise.data.items.examples import TaggedSentence, as_sentence
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.tag_schemes import convert_tags
from headwise.nn.encoders.encoder_configs import MSTransformerConfig, WindowsConfig
from headwise.nn.encoders.transformer_configs import MSSANConfig
from headwise.nn.networks.linear_members import TagLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.task_layers.layer_configs import TaggerConfig
from headwise.text.character_features import Alphabet
from headwise.text.text_configs import CharacterConfig, WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = ["anna", "saw", "größe", "日本", "."]
DRAWN = np.random.default_rng(0).choice([*WORDS, "New-York"], 800)
LONG = [str(word) for word, _ in groupby(DRAWN)]  # equal neighbours could exchange their tags
SENTENCES = [
    [],
    ["Anna"],
    ["unheard-Of"],
    ["Anna", "saw", "ANNA", "3", "."],
    ["größe", "Größe", "日本", "a"],
    LONG,
]
TAGS = ["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"]
SMALL = {"width": 8, "head_size": 4}
WITH_NODE = MSTransformerConfig(**SMALL, heads=2, layers=2, scales=("1", "3"))
FUSION = MSSANConfig(**SMALL, heads=2, feedforward=12, distances=("word", "none"))
CHARACTERS = {
    "none": CharacterConfig(network="none"),
    "shape alone": CharacterConfig(network="none", shape=3),
    "cnn": CharacterConfig(vector_size=4, features=5, window=3),
    "wide cnn and all": CharacterConfig(vector_size=4, features=5, window=7, ngrams=6, buckets=64, shape=3),
    "lstm": CharacterConfig(network="lstm", vector_size=4, features=6),
}


def new_model(tags=TAGS, written="iob2", *, encoder=WITH_NODE, characters="cnn", tagger=None, windows=None):
    torch.manual_seed(0)
    config = ModelConfig(
        task="tag",
        words=WordConfig(vector_size=6),
        encoder=encoder,
        characters=CHARACTERS[characters],
        tagger=tagger or TaggerConfig(hidden=7),
        windows=windows or WindowsConfig(),
    )
    alphabet = Alphabet.build(["Anna", "saw", "größe"])
    model = TagModel(config, Vocabulary.build([WORDS]), tags, written, alphabet)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.eval()


def compare(model, folder):
    save_model(model, folder, data={}, training={}, metrics={})
    assert needs_torch(folder) is None
    expected, actual = load_model(folder), load_for_prediction(folder)
    for sentences in (SENTENCES, SENTENCES[::-1], SENTENCES[:1], SENTENCES[3:4] * 3, []):
        tagged = [one.tag(sentences) for one in (expected, actual)]
        assert [text.tags for text in tagged[1]] == [text.tags for text in tagged[0]]
        assert [text.unknown_words for text in tagged[1]] == [text.unknown_words for text in tagged[0]]
        for first, second in zip(*tagged, strict=True):
            np.testing.assert_allclose(second.probabilities, first.probabilities, atol=1e-5)
    parts = [as_sentence(words) for words in SENTENCES]
    marginals = [one.marginals(one.encode_sentences(parts)) for one in (expected, actual)]
    for first, second in zip(*marginals, strict=True):
        np.testing.assert_allclose(second, first, atol=1e-5)
    assert actual.labels == expected.labels


@pytest.mark.parametrize("characters", CHARACTERS)
@pytest.mark.parametrize("encoder", [WITH_NODE, FUSION], ids=["ms-transformer", "ms-san"])
def test_characters(characters, encoder, tmp_path):
    compare(new_model(encoder=encoder, characters=characters), tmp_path / "model")


@pytest.mark.parametrize("crf", [True, False])
@pytest.mark.parametrize("constraints", [True, False])
@pytest.mark.parametrize("hidden", [7, 0])
def test_heads(crf, constraints, hidden, tmp_path):
    tagger = TaggerConfig(hidden=hidden, crf=crf, constraints=constraints)
    compare(new_model(tagger=tagger), tmp_path / "model")


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "bioes", "bilou"])
@pytest.mark.parametrize("written", ["iob1", "iob2", "bioes", "bilou"])
def test_schemes(scheme, written, tmp_path):
    spans = ["B-A", "I-A", "E-A", "S-A", "O", "S-B", "S-B", "B-B", "E-B"]
    tags = ["O", *sorted({*convert_tags(spans, scheme)} - {"O"})]
    compare(new_model(tags, written, tagger=TaggerConfig(hidden=7, scheme=scheme)), tmp_path / "model")


def test_plain_tags(tmp_path):
    compare(new_model(["noun", "verb"], "plain"), tmp_path / "model")


def test_windows(tmp_path):
    compare(new_model(windows=WindowsConfig(words=11, overlap=3)), tmp_path / "model")


def with_linear_model(model):
    """The tagger beside a linear CRF."""
    tags = ["B-A", "I-A", "O", "B-B", "O", "B-A", "I-A", "I-A"]
    sentences = [TaggedSentence(tuple(LONG[at : at + 8]), tuple(tags)) for at in range(0, 80, 8)]
    model.add_linear_model(TagLinearBuffers.of(fit_crf(sentences, "iob2"), model.tags), (0.7, 0.4), 0.5)
    return model


@pytest.mark.parametrize("outside", [0.0, 1.5])
@pytest.mark.parametrize("weights", [(0.7, 0.0), (0.7, 0.4), (0.0, 1.0)])
def test_ensembles(weights, outside, tmp_path):
    model = with_linear_model(new_model(["O", "B-A", "E-A", "I-A", "S-B"]))
    (model.encoder_weight, model.linear_weight), model.outside = weights, outside
    compare(model, tmp_path / "model")


def test_tags_of_another_scheme_are_reported(tmp_path):
    folder = tmp_path / "model"
    save_model(new_model(["noun", "verb"], "plain"), folder, data={}, training={}, metrics={})
    labels = folder / "labels.json"
    text = labels.read_text(encoding="utf-8").replace('"plain"', '"iob2"')
    labels.write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match="HW50"):
        load_for_prediction(folder)
