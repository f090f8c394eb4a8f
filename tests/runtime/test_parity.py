"""The networks of `headwise.runtime` compute what the models of PyTorch compute, for every supported
encoder, readout, length and label type."""

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model, save_model
from headwise.artifacts.runtime_load import load_for_prediction, needs_torch, unsupported_reason
from headwise.metrics.target_scale import Scale
from headwise.nn.encoders.encoder_configs import MSTransformerConfig, WindowsConfig
from headwise.nn.encoders.transformer_configs import DiSANConfig, MSSANConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import MultiLabelModel, TextClassifierModel, TextRegressorModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

SMALL = {"width": 8, "head_size": 4}
SCALES = {**SMALL, "heads": 3, "scales": ("1", "3", "n/2")}
ENCODERS = {
    "one layer": (MSTransformerConfig(**SCALES, layers=1), "mean"),
    "two layers": (MSTransformerConfig(**SCALES, layers=2, bias=True), "node+max"),
    "node beside maximum": (MSTransformerConfig(**SCALES, layers=1), "node,max"),
    "no node": (MSTransformerConfig(**SCALES, layers=1, classification_node=False), "mean,max"),
    "windows alone": (MSTransformerConfig(**SMALL, heads=2, layers=1, scales=("1",), alpha=0), "max"),
    "priors": (
        MSTransformerConfig(**SMALL, heads=2, layers=1, priors=("forward + word-distance(1)", "later")),
        "node",
    ),
    "ms-san": (MSSANConfig(**SMALL, heads=4, feedforward=12, distances=("word", "none")), "attentive,max"),
    "ms-san, two layers": (
        MSSANConfig(**SMALL, heads=2, layers=2, feedforward=12, distances=("word",), bias=True),
        "attentive",
    ),
    "separate": (
        MSSANConfig(**SMALL, heads=2, feedforward=12, distances=("none",), separate=True),
        "attentive,max",
    ),
}
WORDS = ["a", "b", "größe", "日本", "."]
TEXTS = [
    "",
    "a",
    "unheard",
    "a b größe",
    "b . 日本 unheard a",
    "a b . größe 日本 " * 30,
    " ".join(["b"] * 700),
]
KINDS = {
    "label": lambda config, words: TextClassifierModel(config, words, ["x", "y", "z"]),
    "labels": lambda config, words: MultiLabelModel(config, words, ["x", "y"]),
    "number": lambda config, words: TextRegressorModel(config, words, Scale(3.0, 2.0)),
}
TASKS = {"label": "classify", "labels": "multi-label", "number": "regress"}


def new_model(kind, encoder, readout, *, normalize="none", windows=None, vector_size=6):
    torch.manual_seed(0)
    config = ModelConfig(
        task=TASKS[kind],
        words=WordConfig(vector_size=vector_size),
        encoder=encoder,
        readout=readout,
        classifier=ClassifierConfig(hidden=5, normalize=normalize),
        windows=windows or WindowsConfig(),
    )
    model = KINDS[kind](config, Vocabulary.build([WORDS]))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    for name, buffer in model.named_buffers():
        if "running" in name:
            buffer.copy_(torch.rand_like(buffer) + 0.5)
    return model.eval()


def compare(model, folder):
    save_model(model, folder, data={}, training={}, metrics={})
    assert needs_torch(folder) is None
    expected, actual = load_model(folder), load_for_prediction(folder)
    for texts in (TEXTS, TEXTS[::-1], TEXTS[:1], TEXTS[5:6] * 3, []):
        outputs = [one.logits(one.encoded(texts)) for one in (expected, actual)]
        scale = max(1.0, float(np.abs(outputs[0]).max(initial=0)))
        np.testing.assert_allclose(outputs[1], outputs[0], atol=1e-5 * scale, rtol=0)
    if not isinstance(model, TextRegressorModel):
        chances = [one.predict_proba(TEXTS) for one in (expected, actual)]
        np.testing.assert_allclose(chances[1], chances[0], atol=1e-5)
        assert actual.labels == expected.labels


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("label", name) for name in ENCODERS),
        *((kind, name) for kind in ("labels", "number") for name in ("two layers", "priors", "separate")),
    ],
)
def test_same_outputs(kind, name, tmp_path):
    compare(new_model(kind, *ENCODERS[name]), tmp_path / "model")


@pytest.mark.parametrize("normalize", ["batch", "layer"])
def test_normalised_heads(normalize, tmp_path):
    encoder, readout = ENCODERS["one layer"]
    compare(new_model("label", encoder, readout, normalize=normalize), tmp_path / "model")


@pytest.mark.parametrize("name", ["one layer", "two layers", "ms-san"])
def test_windows(name, tmp_path):
    encoder, readout = ENCODERS[name]
    windows = WindowsConfig(words=11, overlap=3)
    compare(new_model("label", encoder, readout, windows=windows, vector_size=8), tmp_path / "model")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"encoder": DiSANConfig(width=8)}, "the encoder disan"),
        ({"encoder": MSTransformerConfig(**SCALES, positions="sinusoidal")}, "position embeddings"),
        ({"encoder": MSSANConfig(**SMALL, heads=6), "readout": "max"}, "dependency trees"),
        ({"encoder": MSSANConfig(**SMALL, heads=2, distances=("shaw",)), "readout": "max"}, "the prior"),
        ({"encoder": MSTransformerConfig(**SCALES, global_node=True)}, "the prior"),
        ({"task": "language-model"}, "models of the task language-model"),
    ],
)
def test_what_needs_torch_is_named(settings, reason):
    assert reason in str(unsupported_reason(ModelConfig(**settings)))


def test_damage_is_reported(tmp_path):
    encoder, readout = ENCODERS["one layer"]
    folder = tmp_path / "model"
    save_model(new_model("label", encoder, readout), folder, data={}, training={}, metrics={})
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(StoreError, match="HW504"):
        load_for_prediction(folder)
    weights.write_bytes(content[:-4])
    with pytest.raises(StoreError, match="HW504"):
        load_for_prediction(folder)
