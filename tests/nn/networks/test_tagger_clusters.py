"""Taggers that read the clusters of words: the sum of their vectors, one table for encoder and linear CRF,
and the same tags from a folder, without torch, and exported."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model, save_model
from headwise.artifacts.onnx.onnx_export import write_exported
from headwise.artifacts.onnx.onnx_load import load_exported
from headwise.artifacts.runtime_load import load_for_prediction, needs_torch
from headwise.artifacts.runtime_tag_builder import clusters_of
from headwise.core.errors import ConfigError
from headwise.data.items.examples import TaggedSentence
from headwise.linear.tag_crf import fit_crf
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.networks.linear_members import TagLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.text.character_features import Alphabet
from headwise.text.static_embeddings.base_folder import save_base
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.word_groups import (
    CLUSTER_ROWS,
    LEVELS,
    WordClusters,
    cluster_rows,
    word_hash,
)
from headwise.text.text_configs import BaseConfig, CharacterConfig
from headwise.text.vocabulary import Vocabulary

WORDS = ("anna", "saw", "rome", "bob", ".")
SENTENCES = [[], ["Anna"], ["unheard", "Rome"], ["Anna", "saw", "BOB", "3", "."], ["x-rome", "sooo"]]
TAGS = ("O", "S-A", "S-B")
CHARACTERS = CharacterConfig("none", shape=3, clusters=4)


def clusters_of_words(count: int = len(WORDS)) -> WordClusters:
    keys = np.array([word_hash(word) for word in WORDS[:count]], dtype=np.uint32)
    numbers = np.random.default_rng(0).integers(0, 8, (count, len(LEVELS)))
    return WordClusters(keys, numbers.astype(np.int16))


@pytest.fixture
def folder(tmp_path):
    """A base that lists clusters of four of its five words."""
    random = np.random.default_rng(0)
    vectors, runs = (
        QuantizedMatrix.of(random.normal(size=(rows, 6)).astype(np.float32)) for rows in (len(WORDS), 16)
    )
    base = StaticEmbeddings("tiny", WORDS, vectors, runs, np.ones(len(WORDS) + 1, dtype=np.float32))
    save_base(replace(base, groups=clusters_of_words(4)), tmp_path / "base", "# card\n")
    return tmp_path / "base"


def new_model(folder) -> TagModel:
    torch.manual_seed(0)
    config = ModelConfig(
        task="tag",
        base=BaseConfig(name=str(folder), train=True, size=6, subwords=16),
        encoder=MSTransformerConfig(width=8, heads=2, head_size=4, layers=1),
        characters=CHARACTERS,
    )
    model = TagModel(config, Vocabulary.build([WORDS], min_count=1), TAGS, "iob2", Alphabet.build(WORDS))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    with torch.no_grad():
        model.embedding.vectors.weight[0] = 0  # unknown words have no correction
    sentences = [TaggedSentence(("Anna", "saw", "Rome", "."), ("B-A", "O", "B-B", "O"))] * 3
    crf = fit_crf(sentences, "iob2", groups=model.clusters.contents())
    model.add_linear_model(TagLinearBuffers.of(crf, model.tags, model.clusters), (0.7, 0.4), 0.4)
    return model.eval()


def assert_same_tags(first, second):
    for expected, actual in zip(first.tag(SENTENCES), second.tag(SENTENCES), strict=True):
        assert actual.tags == expected.tags
        np.testing.assert_allclose(actual.probabilities, expected.probabilities, atol=1e-5)


def test_the_vector_of_a_word_is_the_sum_of_those_of_its_clusters(folder):
    layer = new_model(folder).spelling.characters
    table, clusters = layer.clusters.weight.detach().numpy(), clusters_of_words(4)
    words = ["Anna", "SAW", "unheard", "."]
    starts = np.concatenate([[0], np.cumsum([level + 1 for level in LEVELS])])
    expected = np.zeros((len(words), 4))
    for row, numbers in enumerate(clusters.of(words)):
        for level, number in enumerate(numbers):  # the first row of a level is that of words without
            expected[row] += table[starts[level] + number + 1]
    actual = layer([words])[:, -4:].detach().numpy()
    np.testing.assert_allclose(actual, expected, atol=1e-6)
    assert (clusters.of(["unheard", "."]) == -1).all()


def test_rows_of_clusters_do_not_meet():
    rows = cluster_rows(np.stack([np.full(5, -1), np.array(LEVELS) - 1]).astype(np.int16))
    assert rows[0, 0] == 0
    assert rows[1, -1] == CLUSTER_ROWS - 1
    assert (rows[0, 1:] == rows[1, :-1] + 1).all()


def test_they_are_stored_once_and_come_back(folder, tmp_path):
    model = new_model(folder)
    tables = [name for name in model.state_dict() if name.endswith((".numbers", "group_numbers"))]
    assert tables == ["spelling.characters.cluster_table.numbers"]
    assert model.config.characters.clustered == 4
    save_model(model, tmp_path / "model", data={}, training={}, metrics={})
    again = load_model(tmp_path / "model")
    assert (again.clusters.contents().keys == clusters_of_words(4).keys).all()
    assert_same_tags(model, again)
    assert_same_tags(model, pickle.loads(pickle.dumps(model)))


def test_the_linear_crf_reads_them(folder):
    model = new_model(folder)
    before = model.linear_model(SENTENCES)
    assert model.linear_model.contents().groups is model.clusters.contents()
    different = clusters_of_words(4)
    model.clusters.fill(WordClusters(different.keys, (different.numbers + 1) % 8).tables())
    model.linear_model._contents = None
    assert not np.allclose(model.linear_model(SENTENCES), before)


def test_models_without_torch_read_them(folder, tmp_path):
    model = new_model(folder)
    save_model(model, tmp_path / "model", data={}, training={}, metrics={})
    assert needs_torch(tmp_path / "model") is None
    predictor = load_for_prediction(tmp_path / "model")
    assert_same_tags(model, predictor)
    assert_same_tags(model, pickle.loads(pickle.dumps(predictor)))


def test_exported_models_read_them(folder, tmp_path):
    pytest.importorskip("onnxruntime")
    model, texts = new_model(folder), [" ".join(words) for words in SENTENCES]
    write_exported(model, tmp_path / "exported")
    for engine in ("auto", "onnxruntime"):
        exported = load_exported(tmp_path / "exported", engine=engine)
        for expected, actual in zip(model.predict(texts), exported.predict(texts), strict=True):
            assert actual.tags == expected.tags
            np.testing.assert_allclose(actual.probabilities, expected.probabilities, atol=1e-5)
        again = pickle.loads(pickle.dumps(exported))
        assert [prediction.tags for prediction in again.predict(texts)] == [
            prediction.tags for prediction in exported.predict(texts)
        ]


def test_damaged_clusters_are_refused(folder, tmp_path):
    model = new_model(folder)
    model.clusters.numbers[0, 0] = LEVELS[0]
    with pytest.raises(StoreError, match="a number that no cluster has"):
        save_model(model, tmp_path / "model", data={}, training={}, metrics={})
    tables = {f"x.{name}": table.numpy() for name, table in model.clusters.named_buffers()}
    with pytest.raises(ValueError, match="a number that no cluster has"):
        clusters_of(tables, "x")
    tables["x.numbers"][0, 0] = 0
    tables["x.keys"][1] = tables["x.keys"][0]
    with pytest.raises(ValueError, match="a word stands there twice"):
        clusters_of(tables, "x")


def test_a_model_without_a_base_has_none():
    config = ModelConfig(
        task="tag", encoder=MSTransformerConfig(width=8, heads=2, head_size=4), characters=CHARACTERS
    )
    with pytest.raises(ConfigError, match=r"characters.clusters: there is no base"):
        TagModel(config, Vocabulary.build([WORDS]), TAGS, "iob2", Alphabet.build(WORDS))
