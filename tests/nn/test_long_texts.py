"""Long texts in the models of all tasks: windows, cut texts, refused ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headwise.artifacts import load_model, save_model
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.items.examples import Pair, TaggedSentence
from headwise.metrics.target_scale import Scale
from headwise.models.label_evaluation import evaluate_labels, evaluate_numbers
from headwise.nn.embeddings.encoded_batches import batch_of
from headwise.nn.encoders import MSSANConfig, TransformerConfig
from headwise.nn.encoders.encoder_configs import WindowsConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_models import (
    MultiLabelModel,
    PairModel,
    TextClassifierModel,
    TextRegressorModel,
)
from headwise.text.character_features import Alphabet
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(20)]
BANDED = TransformerConfig(
    width=8,
    layers=2,
    heads=2,
    head_size=4,
    feedforward=8,
    positions="none",
    classification_node=False,
    priors=("window(3)", "window(5)"),
)
TASKS = ("classify", "multi-label", "regress", "tag", "pair")


def config(task: str, **windows) -> ModelConfig:
    return ModelConfig(
        task=task,
        words=WordConfig(vector_size=8, dropout=0.0),
        encoder=BANDED,
        readout="max",
        windows=WindowsConfig(**windows),
    )


def new(task: str, **windows):
    """A model whose heads see 4 words to a side, over both layers."""
    torch.manual_seed(0)
    vocabulary, settings = Vocabulary.build([WORDS]), config(task, **windows)
    match task:
        case "classify":
            model = TextClassifierModel(settings, vocabulary, ["a", "b", "c"])
        case "multi-label":
            model = MultiLabelModel(settings, vocabulary, ["a", "b", "c"])
        case "regress":
            model = TextRegressorModel(settings, vocabulary, Scale(0.0, 1.0))
        case "pair":
            model = PairModel(settings, vocabulary, ["a", "b"])
        case _:
            model = TagModel(settings, vocabulary, ["a", "b"], "plain", Alphabet.build(WORDS))
    return model.eval()


def sample_texts(sizes=(40, 0, 1, 15, 9)) -> list[str]:
    random = np.random.default_rng(0)
    return [" ".join(random.choice(WORDS, size)) for size in sizes]


def says(model, texts: list[str]) -> np.ndarray:
    match model.config.task:
        case "regress":
            return model.scores(model.features.encode(texts))
        case "pair":
            return model.predict_proba(
                [(text, second) for text, second in zip(texts, texts[::-1], strict=True)]
            )
        case "tag":
            sentences = [TaggedSentence(tuple(text.split()), ()) for text in texts]
            return np.concatenate(model.decode(model.encode_sentences(sentences))[1])
        case _:
            return model.predict_proba(texts)


@pytest.mark.parametrize("task", TASKS)
def test_windows_are_exact_in_every_task_where_no_head_sees_further(task):
    complete = says(new(task, words=0), sample_texts())
    assert np.ptp(complete) > 1e-3
    np.testing.assert_allclose(says(new(task, words=14, overlap=8), sample_texts()), complete, atol=1e-6)
    assert np.abs(says(new(task, words=8, overlap=0), sample_texts()) - complete).max() > 1e-5
    np.testing.assert_array_equal(says(new(task, words=40), sample_texts()), complete)


@pytest.mark.parametrize("task", TASKS)
def test_training_reaches_everything(task):
    model = new(task, words=8, overlap=2).train()
    texts = model.features.encode(sample_texts((20, 8)))
    batch = batch_of(texts)
    out = model(batch)
    (out.values if task == "tag" else out).square().sum().backward()
    for name, parameter in model.named_parameters():
        if name.startswith("encoder."):
            assert parameter.grad is not None, name


@pytest.mark.parametrize("task", ["classify", "multi-label", "regress", "pair"])
def test_cut_short_only_on_request_and_counted(task):
    model, texts = new(task, words=10, long="truncate"), sample_texts()
    short = [" ".join(text.split()[:10]) for text in texts]
    np.testing.assert_array_equal(says(model, texts), says(model, short))
    assert [text.cut for text in model.features.encode(texts)] == [30, 0, 0, 5, 0]
    match task:
        case "classify":
            evaluation = evaluate_labels(model, texts, np.zeros(5, int))
        case "regress":
            evaluation = evaluate_numbers(model, texts, np.arange(5.0))
        case "pair":
            pairs = [Pair(one, second) for one, second in zip(texts, texts[::-1], strict=True)]
            assert evaluate_labels(model, pairs, np.zeros(5, int)).reading.cut_texts == 4
            return
        case _:
            from headwise.models.label_evaluation import evaluate_multi_label

            evaluation = evaluate_multi_label(model, texts, np.zeros((5, 3), bool))
    assert (evaluation.reading.cut_texts, evaluation.to_json()["cut_texts"]) == (2, 2)


def test_refused_on_request():
    model = new("classify", words=15, long="error")
    with pytest.raises(HeadwiseError, match="40 words, but the model reads at most 15") as raised:
        model.predict_proba(sample_texts())
    assert raised.value.code == "HW226"
    assert len(model.predict_proba(sample_texts()[1:])) == 4


def test_what_cannot_be_cut():
    with pytest.raises(ConfigError, match="words without a tag"):
        new("tag", words=10, long="truncate")
    trees = ModelConfig(encoder=MSSANConfig(width=8), windows=WindowsConfig(long="truncate"))
    with pytest.raises(ConfigError, match="dependency trees"):
        TextClassifierModel(trees, Vocabulary.build([WORDS]), ["a", "b"])


def test_in_the_folder(tmp_path):
    model = new("classify", words=5_000, overlap=3, long="truncate")
    save_model(model, tmp_path, data={}, training={}, metrics={})
    loaded = load_model(tmp_path)
    assert loaded.config == model.config
    assert "5,000 (longer texts are cut short)" in (tmp_path / "README.md").read_text()
    assert (loaded.window, loaded.features.most(), loaded.features.cut) == ((5_000, 3), 5_000, True)
    learned = replace(BANDED, priors=(), positions="learned", max_positions=30)
    different = TextClassifierModel(
        replace(config("classify"), encoder=learned), Vocabulary.build([WORDS]), ["a", "b"]
    )
    save_model(different, tmp_path / "other", data={}, training={}, metrics={})
    assert load_model(tmp_path / "other").window == (30, 3)
    assert len(load_model(tmp_path / "other").predict_proba(sample_texts())) == 5


@pytest.mark.parametrize("task", ["classify", "multi-label", "regress", "pair"])
def test_what_is_cut_off_reaches_no_linear_model(task):
    model = new(task, words=3, long="truncate")
    texts = ["w1  w2, w3 w4 w5", "w1 w2", "", "w1 w2 w3"]
    items = [Pair(text, text) for text in texts] if task == "pair" else texts
    read = model.texts_of(model.encoded(items))
    first = [text[0] if task == "pair" else text for text in read]
    assert first == ["w1  w2,", "w1 w2", "", "w1 w2 w3"]
    if task == "pair":
        assert read == [(text, text) for text in first]
