"""Training runs that start from the pretrained encoder of a base."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from headwise.app.distillation import DistillationSettings
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks import encoder_rules
from headwise.models.tasks.encoder_rules import EncoderRules, TextCounts, pretrained_encoder
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.static_embeddings.base_encoder import (
    BaseEncoder,
    add_encoder,
    load_base_encoder,
    open_base_encoder,
)
from headwise.text.static_embeddings.base_folder import ENCODER, load_base, save_base
from headwise.text.static_embeddings.base_vectors import BaseError, QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.installed_bases import open_base
from headwise.text.text_configs import BaseConfig, WordConfig
from headwise.text.vocabulary import Vocabulary
from headwise.training import fit as fit_module
from headwise.training.linear_probe import ENCODER_LENGTH, ProbeInputs

WORDS = ("good", "fine", "great", "bad", "poor", "awful", "not", "a", "film", "book", "this", "is", ".")
ENCODER_SETTINGS = {"name": "ms-transformer", "width": 8, "layers": 1, "heads": 2, "head_size": 4}
SECTIONS = {
    "encoder": {**ENCODER_SETTINGS, "priors": ["window(3)", "window(n)"], "classification_node": False},
    "classifier": {"hidden": 10, "normalize": "none"},
    "model": {"readout": "mean,max"},
}


def network(folder: Path, **base: object) -> TextClassifierModel:
    torch.manual_seed(1)
    tables = load_base(folder)
    priors = ("window(3)", "window(n)")
    config = ModelConfig(
        task="classify",
        readout="mean,max",
        words=WordConfig(),
        base=BaseConfig(name=str(folder), size=tables.size, subwords=len(tables.subwords), **base),
        encoder=MSTransformerConfig(8, 1, 2, 4, priors=priors, classification_node=False),
        classifier=ClassifierConfig(hidden=10),
    )
    return TextClassifierModel(config, Vocabulary.build([["film"]], min_count=1), ["bad", "good", "so-so"])


@pytest.fixture
def base(tmp_path) -> Path:
    """A base with an encoder of random weights."""
    random, folder = np.random.default_rng(0), tmp_path / "base"
    rows = random.normal(size=(len(WORDS), 6)).astype(np.float32)
    runs = QuantizedMatrix.of(0.1 * random.normal(size=(64, 6)).astype(np.float32))
    weights = np.ones(len(WORDS) + 1, dtype=np.float32)
    save_base(StaticEmbeddings("tiny", WORDS, QuantizedMatrix.of(rows), runs, weights), folder, "#\n")
    parts = ("encoder.", "embedding.norm.", "embedding.project.", "head.layers.1.")
    state = network(folder).state_dict()
    state = {name: values.numpy() for name, values in state.items() if name.startswith(parts)}
    outputs = random.normal(size=(5, 6 + 10)).astype(np.float32)
    add_encoder(folder, BaseEncoder(state, outputs), SECTIONS)
    return folder


def data(path: Path, labels: str = "{}") -> str:
    rows = (
        f"this film is {WORDS[n % 6]} x{n},{labels.format('good' if n % 6 < 3 else 'bad')}"
        for n in range(60)
    )
    path.write_text("\n".join(["text,label", *rows, ""]))
    return str(path)


def run(tmp_path: Path, folder: Path, file: str | None = None, **settings: dict[str, object]):
    settings["base"] = {"name": str(folder), **settings.get("base", {})}
    settings["train"] = {"epochs": 1, **settings.get("train", {})}
    file = file or data(tmp_path / "train.csv")
    return train_files(file, tmp_path / "model", settings=[settings], baseline=False, overwrite=True)


def test_an_encoder_is_saved_in_16_bits_and_loaded_with_its_settings(base):
    encoder, saved = load_base_encoder(base), load_file(base / ENCODER)
    assert {"outputs", *encoder.weights} == set(saved)
    assert all(values.dtype == np.float16 for values in saved.values())
    assert np.array_equal(encoder.outputs, saved["outputs"].astype(np.float32))
    assert load_base(base).encoder == SECTIONS


def test_more_than_five_labels_start_from_both_teachers(base):
    plain = load_base_encoder(base)
    topics = np.random.default_rng(3).normal(size=(4, plain.outputs.shape[1])).astype(np.float16)
    add_encoder(base, BaseEncoder(plain.weights, plain.outputs, topics), SECTIONS)
    encoder = load_base_encoder(base)
    both = np.vstack([plain.outputs, topics.astype(np.float32)])
    assert np.array_equal(encoder.for_labels(5).outputs, plain.outputs)
    assert np.array_equal(encoder.for_labels(6).outputs, both)
    assert np.array_equal(plain.for_labels(6).outputs, plain.outputs)
    model = network(base, encoder="on")  # of three labels
    assert np.array_equal(model.base_encoder.outputs, plain.outputs)
    add_encoder(base, BaseEncoder(plain.weights, plain.outputs, topics[:, 1:]), SECTIONS)
    with pytest.raises(BaseError, match="topic_outputs") as caught:
        load_base_encoder(base)
    assert caught.value.code == "HW803"


def test_merged_bases_have_the_encoder_of_the_first_that_has_one(base, tmp_path, monkeypatch):
    plain = tmp_path / "bases" / "plain"
    tables = load_base(base)
    save_base(replace(tables, name="plain", about={"space": "tiny"}), plain, "#\n")
    shutil.copytree(base, tmp_path / "bases" / "tiny")
    monkeypatch.setenv("HEADWISE_BASES", str(tmp_path / "bases"))
    assert open_base("plain").encoder == {}
    for name in ("plain+tiny", "tiny+plain"):
        assert open_base(name).encoder == SECTIONS
        assert np.array_equal(open_base_encoder(name).outputs, load_base_encoder(base).outputs)


@pytest.mark.parametrize("spoil", ["missing", "cut", "nan", "no outputs"])
def test_a_damaged_encoder_is_an_error(base, spoil):
    path = base / ENCODER
    encoder = load_base_encoder(base)
    if spoil == "missing":
        path.unlink()
    elif spoil == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    elif spoil == "nan":
        add_encoder(base, BaseEncoder(encoder.weights, encoder.outputs * np.nan), SECTIONS)
    else:
        save_file({"outputs": np.zeros(3, np.float16)}, path)
        add_encoder(base, BaseEncoder(encoder.weights, encoder.outputs[0]), SECTIONS)
    with pytest.raises(BaseError) as caught:
        load_base_encoder(base)
    assert ENCODER in str(caught.value)
    assert caught.value.code == ("HW802" if spoil in ("missing", "cut") else "HW803")


def test_a_probe_on_base_and_encoder_becomes_part_of_the_network(base):
    model = network(base, encoder="on").eval()
    texts = ["this is a good film", "not good", "", "this book is bad .", "awful"]
    items = model.encoded([Example(text, "") for text in texts])
    inputs = ProbeInputs.of(model, items)
    vectors, states = model.base_vectors(items), model.head_states(items)
    outputs = np.array(
        [load_base_encoder(base).outputs @ [*v, *h] for v, h in zip(vectors, states, strict=True)]
    )
    away = outputs - outputs.mean(axis=0)
    expected = away * ENCODER_LENGTH / np.linalg.norm(away, axis=1).mean()
    assert inputs.values.shape == (5, 6 + 5)
    assert np.allclose(inputs.values[:, :6], vectors)
    assert np.allclose(inputs.values[:, 6:], expected, atol=1e-4)
    random = np.random.default_rng(2)
    weights, bias = random.normal(size=(3, 11)).astype(np.float32), np.float32([1, -2, 3])
    assert not model.outputs_of(items).any()
    inputs.add_to(model, weights, bias)
    assert np.allclose(model.outputs_of(items), inputs.values @ weights.T + bias, atol=1e-4)


def test_without_an_encoder_a_probe_reads_the_base_alone(base):
    model = network(base)
    items = model.encoded([Example("a good film", "")])
    inputs = ProbeInputs.of(model, items)
    assert np.array_equal(inputs.values, model.base_vectors(items))
    inputs.add_to(model, np.ones((3, 6), np.float32), np.zeros(3, np.float32))
    assert np.allclose(model.outputs_of(items), inputs.values.sum(), atol=1e-5)


def test_training_starts_from_the_encoder_by_itself_and_needs_it_no_more(tmp_path, base, monkeypatch):
    starts, train = [], fit_module.run_epochs

    def spy(model, *rest, **keywords):
        starts.append({name: values.detach().clone() for name, values in model.named_parameters()})
        assert model.base_encoder is None  # megabytes that the probe alone needed
        return train(model, *rest, **keywords)

    monkeypatch.setattr(fit_module, "run_epochs", spy)
    result = run(tmp_path, base)
    encoder = load_base_encoder(base)
    for start in starts:
        assert all(np.allclose(start[name], values) for name, values in encoder.weights.items())
        assert start["head.layers.4.weight"].any()
    model = result.fitted.model
    assert model.config.base.encoder == "on"
    texts = ["this is a great book", "not good", ""]
    probabilities = model.predict_proba(texts)
    shutil.rmtree(base)
    assert np.allclose(load_model(tmp_path / "model").predict_proba(texts), probabilities, atol=1e-6)


def test_label_sets_start_from_the_encoder_too(tmp_path, base):
    file = data(tmp_path / "sets.csv", "{};film")
    model = run(tmp_path, base, file, model={"task": "multi-label"}).fitted.model
    assert model.config.base.encoder == "on"
    assert model.config.encoder.width == 8


def test_numbers_start_from_the_encoder_too(tmp_path, base, monkeypatch):
    starts, train = [], fit_module.run_epochs

    def spy(model, *rest, **keywords):
        starts.append({name: values.detach().clone() for name, values in model.named_parameters()})
        return train(model, *rest, **keywords)

    monkeypatch.setattr(fit_module, "run_epochs", spy)
    file = str(numbers(tmp_path / "n.csv"))
    result = run(tmp_path, base, file, model={"task": "regress"})
    encoder = load_base_encoder(base)
    for start in starts:
        assert all(np.allclose(start[name], values) for name, values in encoder.weights.items())
        assert start["head.layers.4.weight"].any()  # the probe's part
    config = result.fitted.model.config
    assert (config.base.encoder, config.encoder.width, config.regressor.hidden) == ("on", 8, 10)
    texts = ["a film x3", "", "awful"]
    expected = [*result.fitted.model.predict(texts)]
    assert np.allclose([*load_model(tmp_path / "model").predict(texts)], expected, atol=1e-4)
    on, task = {"base": {"encoder": "on"}}, {"model": {"task": "regress"}}
    assert run(tmp_path, base, file, **on, **task).fitted.model.config.encoder.width == 8
    own = run(tmp_path, base, file, **task, regressor={"hidden": 12}).fitted.model.config
    assert (own.base.encoder, own.regressor.hidden) == ("off", 12)
    with pytest.raises(BaseError, match="of encoder, regressor and model") as caught:
        run(tmp_path, base, file, **on, **task, regressor={"hidden": 12})
    assert caught.value.code == "HW803"


@pytest.mark.parametrize(
    "settings",
    [
        {"base": {"encoder": "off"}},
        {"encoder": {"width": 16, "heads": 2, "head-size": 8, "layers": 1}},
        {"classifier": {"hidden": 12}},
        {"model": {"readout": "max"}},
    ],
)
def test_settings_of_the_user_come_first(tmp_path, base, settings):
    config = run(tmp_path, base, **settings).fitted.model.config
    assert config.base.encoder == "off"
    assert config.classifier.hidden == settings.get("classifier", {}).get("hidden", 128)


def test_a_request_that_cannot_be_met_is_an_error(tmp_path, base):
    on = {"base": {"encoder": "on"}}
    with pytest.raises(BaseError, match="does not fit these settings") as caught:
        run(tmp_path, base, **on, classifier={"hidden": 12})
    assert caught.value.code == "HW803"
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(
        "\n".join(["first,second,label", *(f"a film x{n},a book,{n % 2}" for n in range(40)), ""])
    )
    with pytest.raises(ConfigError, match="the task pair has no pretrained encoder"):
        run(tmp_path, base, str(pairs), **on, model={"task": "pair"})
    shutil.copytree(base, tmp_path / "plain")
    plain = load_base(base)
    save_base(plain, tmp_path / "plain", "#\n")
    with pytest.raises(ConfigError, match="the base tiny has no pretrained encoder"):
        run(tmp_path, tmp_path / "plain", **on)


@pytest.mark.parametrize(
    ("sections", "error"),
    [
        ({"classifier": {"hidden": 10}}, "does not fit these settings"),
        ({"encoder": {"name": "new"}}, "unknown encoder 'new'"),
        ({"encoder": {"name": "ms-transformer", "new": 1}}, "unknown setting 'new'"),
    ],
)
def test_settings_that_make_no_encoder_are_an_error(tmp_path, base, sections, error):
    add_encoder(base, load_base_encoder(base), sections)
    with pytest.raises(HeadwiseError, match=error):
        run(tmp_path, base)


def test_a_base_that_replaces_another_has_no_encoder(base):
    save_base(load_base(base), base, "#\n")
    assert not (base / ENCODER).exists()
    assert not load_base(base).encoder


def numbers(path: Path) -> Path:
    path.write_text("\n".join(["text,score", *(f"a film x{n},{n}.5" for n in range(40)), ""]))
    return path


@pytest.mark.parametrize(
    ("texts", "labels", "words", "on"),
    [
        (10, 2, 10, True),
        (499, 150, 10, True),
        (500, 5, 10, True),
        (500, 6, 10, False),  # labels of topics with enough texts each
        (500, 11, 10, True),  # with few texts each
        (3_999, 80, 10, True),
        (3_999, 6, 10, False),
        (4_000, 25, 10, True),  # topics, too, where attention would learn word order otherwise
        (4_000, 26, 10, False),
        (12_999, 26, 10, False),
        (13_000, 26, 10, True),  # 500 texts of a label
        (5_000, 2, 100, True),
        (4_999, 2, 101, False),  # takes too long
        (20_000, 2, 100, True),
        (100_000, 2, 100, True),
        (100_001, 2, 100, False),
        (1_000, 2, 250, True),
        (1_000, 2, 251, False),
    ],
)
def test_the_encoder_is_for_few_words(texts, labels, words, on):
    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], [Example("word " * words, "x")] * texts, [], [])
    counts = TextCounts.of(parts, labels)
    settings = pretrained_encoder(SECTIONS, counts)
    train = {"epochs": 5 if texts < 500 else 2 if texts * words <= 2_000_000 else 1}
    assert settings == ({**SECTIONS, "base": {"encoder": "on"}, "train": train} if on else {})
    assert pretrained_encoder({}, counts) == {}


@pytest.mark.parametrize(
    ("gold_texts", "taught", "labels", "words", "on"),
    [
        (250, 5_000, 2, 10, True),
        (499, 5_000, 25, 10, True),
        (499, 5_000, 26, 10, False),
        (500, 5_000, 6, 10, False),  # labels of topics with enough texts each, by people
        (3_999, 5_000, 2, 10, True),
        (4_000, 100, 2, 10, False),
        (500, 4_500, 2, 100, True),
        (500, 4_500, 2, 101, False),  # takes too long
        (500, 50_000, 2, 40, True),
    ],
)
def test_beside_a_teacher_the_labels_by_people_choose_the_encoder(gold_texts, taught, labels, words, on):
    texts = [Example("word " * words, "x")] * (gold_texts + taught)
    parts = DataParts(ITEM_TYPES_BY_TASK["classify"], texts, [], [])
    settings = pretrained_encoder(SECTIONS, TextCounts.of(parts, labels, taught))
    train = {"epochs": 2 if len(texts) * words <= 2_000_000 else 1}
    assert settings == ({**SECTIONS, "base": {"encoder": "on"}, "train": train} if on else {})


def test_a_distilled_model_starts_from_the_encoder(tmp_path, base, monkeypatch):
    monkeypatch.setattr(
        encoder_rules, "RULES", EncoderRules(order_texts=60)
    )  # more than people have labelled
    answers = tmp_path / "answers.csv"
    rows = (f"that book is {WORDS[n % 6]} y{n},{'good' if n % 6 < 3 else 'bad'}" for n in range(100))
    answers.write_text("\n".join(["text,label", *rows, ""]))
    file, distillation = data(tmp_path / "train.csv"), DistillationSettings(str(answers), None)
    for requested, used in (("auto", "on"), ("off", "off")):
        settings = {"base": {"name": str(base), "encoder": requested}, "train": {"epochs": 1}}
        result = train_files(
            file, tmp_path / used, settings=[settings], baseline=False, distillation=distillation
        )
        assert result.fitted.model.config.base.encoder == used
