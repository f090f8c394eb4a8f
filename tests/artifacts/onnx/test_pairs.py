"""Models of pairs: what was exported says what the model says."""

import csv
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.artifacts.onnx.onnx_export import write_exported
from headwise.artifacts.onnx.onnx_load import load_exported
from headwise.artifacts.onnx.onnx_models import OnnxPairNetwork
from headwise.artifacts.onnx.padded_network import PairGraph
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.encoder_configs import WindowsConfig
from headwise.nn.layout import Layout
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import PairModel
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.layer_configs import ClassifierConfig, PairConfig
from headwise.runtime.pair_network import PairNetwork
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

from .conftest import ENGINES, SHORT, WINDOW, WORDS, draw_encoder, draw_weights, encoder_of, hard_texts

CROSS = {"cross_heads": 2, "cross_head_size": 3, "cross_feedforward": 5, "cross_layers": 1}
# id: (row of `conftest.ROWS` whose encoder it has, readout, pair settings, windows)
ROWS = {
    "none": ("ms-transformer", "node+max", PairConfig(), WindowsConfig()),
    "cross": ("transformer, priors", "node,max", PairConfig(interaction="cross", **CROSS), SHORT),
    "concat": ("ms-san", "mean,max", PairConfig("concat", "match"), WindowsConfig(words=WINDOW)),
    "product": ("bilstm, two layers", "max", PairConfig("product"), WindowsConfig()),
}


def hard_pairs() -> list[tuple[str, str]]:
    texts = hard_texts()
    drawn = random.Random(2)
    pairs = [(one, drawn.choice(texts)) for one in texts]
    return [("", ""), ("", "w1"), ("w1 w2", " "), *pairs, *((second, one) for one, second in pairs[:4])]


def make(row: str, **pair) -> PairModel:
    """A model of a row, with other pair settings perhaps; its weights are drawn."""
    name, readout, settings, windows = ROWS[row]
    config = ModelConfig(
        task="pair",
        words=WordConfig(vector_size=6 if name == "ms-transformer" else 8),
        encoder=encoder_of(name),
        readout=readout,
        classifier=ClassifierConfig(hidden=5),
        pair=replace(settings, **pair),
        windows=windows,
    )
    model = PairModel(config, Vocabulary.build([WORDS]), ["x", "y", "z"])
    draw_weights(model)
    return model.eval()


@pytest.fixture(scope="module")
def made(tmp_path_factory, same_graphs, needs_onnx):
    trained = {}

    def give(row: str):
        if row not in trained:
            model, folder = make(row), tmp_path_factory.mktemp("pairs") / "x"
            with same_graphs():
                write_exported(model, folder)
            trained[row] = model, folder
        return trained[row]

    return give


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ROWS)
def test_the_outputs_are_those_of_the_model(row, engine, made):
    model, folder = made(row)
    exported = load_exported(folder, engine=engine)
    computed = engine == "auto" and row in ("none", "concat")
    assert isinstance(exported.network, PairNetwork if computed else OnnxPairNetwork)
    pairs = hard_pairs()
    encoded = [variant.encoded(pairs) for variant in (model, exported)]
    expected, actual = model.outputs_of(encoded[0]), exported.outputs_of(encoded[1])
    assert np.ptp(expected, axis=0).max() > 0.01
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    alone = np.concatenate([exported.predict_proba([pair]) for pair in pairs])
    np.testing.assert_allclose(alone, exported.predict_proba(pairs), rtol=0, atol=1e-6)


def test_two_layers_of_cross_attention_on_padded_texts():
    """What is exported above has one, as its graph takes long."""
    model, sizes = make("cross", cross_layers=2), [3, 0, 1, 2, 5, 0]  # three first texts, three second ones
    tokens, summary = torch.randn(sum(sizes), 8), torch.randn(len(sizes), 8)
    padded = torch.full((len(sizes), max(sizes), 8), 1e3)
    for row, text in zip(padded, tokens.split(sizes), strict=True):
        row[: len(text)] = text
    inputs = {}
    for side, texts in (("1", slice(3)), ("2", slice(3, None))):
        inputs |= {f"tokens_{side}": padded[texts], f"summary_{side}": summary[texts]}
        inputs[f"lengths_{side}"] = torch.tensor(sizes[texts])
    graph = PairGraph(model, summary=True, node=True)
    with torch.no_grad():
        expected = model.read(Encoded(Ragged(tokens, Layout(sizes)), summary))
        actual = graph(*(inputs[name] for name in graph.inputs))
    assert expected.std() > 0.01
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        ("pair", {}),
        ("pair-score", {"pair": {"interaction": "match"}, "base": {"probe": False}}),
    ],
)
def test_trained_models_say_the_same(task, settings, base, tmp_path, graphs_once, needs_onnx):
    drawn = random.Random(1)
    with open(tmp_path / "data.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["first", "second", "label"])
        for number in range(160):
            words = drawn.choices(WORDS, k=drawn.randrange(2, 7))
            same = number % 2 == 0
            second = drawn.sample(words, k=len(words)) if same else drawn.choices(WORDS, k=4)
            answer = ("same" if same else "other") if task == "pair" else f"{1.5 * same + 0.1:.2f}"
            table.writerow([" ".join(words), " ".join(second), answer])
    sizes = {
        "model": {"task": task},
        "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
        "train": {"epochs": 2, "batch-texts": 16},
        **settings,
        "base": {"name": base, **settings.get("base", {})},
    }
    train_files(tmp_path / "data.csv", tmp_path / "model", settings=[sizes])
    model = load_model(tmp_path / "model")
    draw_encoder(model)
    write_exported(model, tmp_path / "x")
    assert model.linear_model is not None
    expected = model.logits(model.encoded(hard_pairs()))
    assert np.ptp(expected, axis=0).max() > 0.01
    for engine in ENGINES:
        exported = load_exported(tmp_path / "x", engine=engine)
        actual = exported.logits(exported.encoded(hard_pairs()))
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
