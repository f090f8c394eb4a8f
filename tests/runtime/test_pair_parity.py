"""Models of pairs without PyTorch compute what those of PyTorch compute."""

import copy

import numpy as np
import pytest
import torch

from headwise.artifacts import load_model, save_model
from headwise.artifacts.runtime_load import load_for_prediction, needs_torch
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.metrics.target_scale import Scale
from headwise.nn.encoders.encoder_configs import MSTransformerConfig, WindowsConfig
from headwise.nn.encoders.transformer_configs import MSSANConfig
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import PairModel, PairScorer
from headwise.nn.task_layers.layer_configs import ClassifierConfig, PairConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = ["a", "b", "größe", "日本", "."]
PAIRS = [
    ("", ""),
    ("a", ""),
    ("", "b a"),
    ("größe", "unheard"),
    ("a b . größe", "日本 a"),
    (" ".join(["a b", "."] * 20), "größe 日本 " * 30),
    (" ".join(np.random.default_rng(0).choice([*WORDS, "unheard"], 700)), "a b"),
]
SMALL = {"width": 8, "head_size": 4}
WITH_NODE = MSTransformerConfig(**SMALL, heads=2, layers=1, scales=("1", "3"))
PLAIN = MSTransformerConfig(**SMALL, heads=2, layers=2, scales=("1", "n/2"), classification_node=False)
FUSION = MSSANConfig(**SMALL, heads=2, feedforward=12, distances=("word", "none"))
CROSS = {"cross_heads": 3, "cross_head_size": 5, "cross_feedforward": 11}
KINDS = {
    "pair": lambda config, words: PairModel(config, words, ["x", "y", "z"]),
    "pair-score": lambda config, words: PairScorer(config, words, Scale(3.0, 2.0)),
}


def new_model(kind, encoder, readout, pair, *, normalize="none", windows=None):
    torch.manual_seed(0)
    config = ModelConfig(
        task=kind,
        words=WordConfig(vector_size=6),
        encoder=encoder,
        readout=readout,
        classifier=ClassifierConfig(hidden=5, normalize=normalize),
        pair=pair,
        windows=windows or WindowsConfig(),
    )
    model = KINDS[kind](config, Vocabulary.build([WORDS]))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.eval()


def compare(model, folder):
    save_model(model, folder, data={}, training={}, metrics={})
    assert needs_torch(folder) is None
    expected, actual = load_model(folder), load_for_prediction(folder)
    exact = copy.deepcopy(expected).double()
    for pairs in (PAIRS, PAIRS[::-1], PAIRS[:1], PAIRS[4:5] * 3, []):
        outputs, computed, precise = (one.logits(one.encoded(pairs)) for one in (expected, actual, exact))
        scale = max(1.0, float(np.abs(outputs).max(initial=0)))
        rounding = np.abs(outputs - precise).max(initial=0)  # of PyTorch; each processor has its own
        np.testing.assert_allclose(computed, outputs, atol=1e-5 * scale + 2 * rounding, rtol=0)
    small = [
        one.outputs_of(one.encoded(PAIRS), batch_texts=2, batch_tokens=9) for one in (expected, actual)
    ]
    np.testing.assert_allclose(small[1], small[0], atol=1e-5 * max(1.0, float(np.abs(small[0]).max())))
    if isinstance(model, PairModel):
        predicted = [[p.label for p in one.predict(PAIRS)] for one in (expected, actual)]
        assert predicted[0] == predicted[1]


ENCODERS = [(WITH_NODE, "node+max"), (PLAIN, "max"), (FUSION, "attentive,max")]
INTERACTIONS = ["none", "match", "cross"]
# Each encoder with each interaction, and either with each kind.
ROWS = [([*KINDS][(n + m) % 2], m, n) for n in range(3) for m in range(3)]


@pytest.mark.parametrize(("kind", "interaction", "encoder"), ROWS)
def test_same_outputs(kind, interaction, encoder, tmp_path):
    interaction, (encoder, readout) = INTERACTIONS[interaction], ENCODERS[encoder]
    pair = PairConfig(features="product", interaction=interaction, cross_layers=2, **CROSS)
    compare(new_model(kind, encoder, readout, pair), tmp_path / "model")


@pytest.mark.parametrize("features", ["concat-absolute", "concat"])
def test_combinations(features, tmp_path):
    pair = PairConfig(features=features, interaction="match")
    compare(new_model("pair", WITH_NODE, "node,max", pair, normalize="layer"), tmp_path / "model")


def with_linear_model(model):
    """The model beside a linear model of shared words."""
    random = np.random.default_rng(0)
    pairs = [tuple(" ".join(random.choice(WORDS, 4)) for _ in range(2)) for _ in range(60)]
    _, _, numbers = model.linear_inputs(model.encoded(pairs))
    targets = np.array([len({*first.split()} & {*second.split()}) > 1 for first, second in pairs])
    fitted = fit_linear(
        LinearExamples(pairs, targets + random.integers(0, 2, 60), 3, numbers=numbers, pairs=True)
    )
    model.add_linear_model(TextLinearBuffers.of(fitted.model), 0.7, encoder_weight=0.6)
    return model


@pytest.mark.parametrize("encoder_weight", [0.6, 0.0])
def test_ensembles(encoder_weight, tmp_path):
    model = with_linear_model(new_model("pair", WITH_NODE, "max", PairConfig(interaction="match")))
    model.encoder_weight = encoder_weight
    compare(model, tmp_path / "model")


@pytest.mark.parametrize("interaction", ["none", "match"])
def test_windows(interaction, tmp_path):
    pair, windows = PairConfig(interaction=interaction), WindowsConfig(words=11, overlap=3)
    compare(new_model("pair", WITH_NODE, "node+max", pair, windows=windows), tmp_path / "model")
