"""PairModel: the same alone and in company, empty texts, order of the pair, the model folder."""

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model, save_model
from headwise.core.errors import ConfigError
from headwise.data.items.examples import Pair
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.metrics.target_scale import Scale
from headwise.nn.encoders import ENCODERS
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import PairModel, PairScorer
from headwise.nn.task_layers.layer_configs import ClassifierConfig, PairConfig, RegressorConfig
from headwise.runtime.pair_outputs import as_pair
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(20)]
LABELS = ["contradiction", "entailment", "neutral"]
SIZES = {"width": 12, "heads": 2, "head_size": 6, "layers": 1}


def settings(encoder="ms-transformer", task="pair", **pair) -> ModelConfig:
    kind = ENCODERS[encoder][1]
    fields = kind.__dataclass_fields__
    chosen = {name: value for name, value in SIZES.items() if name in fields}
    if "tree_fallback" in fields:
        chosen["tree_fallback"] = "word"
    readout = "attentive,max" if encoder in ("ms-san", "disan", "bilstm", "set-transformer") else "node,max"
    small = {"cross_heads": 2, "cross_head_size": 4, "cross_feedforward": 8}
    return ModelConfig(
        task=task,
        words=WordConfig(vector_size=8),
        encoder=kind(**chosen),
        readout=readout,
        classifier=ClassifierConfig(hidden=8),
        regressor=RegressorConfig(hidden=8),
        pair=PairConfig(**small, **pair),
    )


def shaken(model):
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)  # or all pairs would look alike
    return model.eval()


def new(encoder="ms-transformer", **pair) -> PairModel:
    torch.manual_seed(0)
    return shaken(PairModel(settings(encoder, **pair), Vocabulary.build([WORDS]), LABELS))


def random_pairs(pairs: int, seed: int = 0) -> list[Pair]:
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, random.integers(0, 9))) for _ in range(2 * pairs)]
    made = [Pair(texts[2 * n], texts[2 * n + 1], line=n + 1) for n in range(pairs)]
    return [*made, Pair("", ""), Pair("w1", ""), Pair("", "w2 w3"), Pair("w1", "w1")]


@pytest.mark.parametrize(
    ("encoder", "interaction"),
    [
        *((name, "cross") for name in ENCODERS if name != "set-transformer"),
        *((name, features) for name in ("ms-transformer", "bilstm") for features in ("none", "match")),
    ],
)
def test_the_same_alone_and_in_company(encoder, interaction):
    model, pairs = new(encoder, interaction=interaction), random_pairs(12)
    together = model.predict_proba(pairs)
    alone = np.concatenate([model.predict_proba([pair]) for pair in pairs])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert together.shape == (16, 3)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-12)
    assert np.ptp(together, axis=0).max() > 0.01


@pytest.mark.parametrize("interaction", ["none", "cross", "match"])
def test_the_order_of_the_pair_matters(interaction):
    model, pairs = new(interaction=interaction), random_pairs(6)
    swapped = [Pair(pair.second, pair.first) for pair in pairs]
    assert np.abs(model.predict_proba(pairs) - model.predict_proba(swapped)).max() > 1e-3


def test_a_text_depends_on_its_partner_only_with_interaction():
    for interaction, differs in (("none", False), ("cross", True), ("match", True)):
        model = new(interaction=interaction)
        seen = []
        model.head.register_forward_pre_hook(lambda _, inputs, seen=seen: seen.append(inputs[0].clone()))
        model.predict_proba([Pair("w1 w2", "w3 w4 w5")])
        model.predict_proba([Pair("w1 w2", "w6")])
        assert bool((seen[0] - seen[1]).abs().max() > 1e-4) is differs


@pytest.mark.parametrize("limits", [(1, 10_000), (3, 10_000), (256, 1), (256, 40)])
def test_the_size_of_batches_does_not_matter(limits):
    model = new()
    encoded = model.encoded(random_pairs(20))
    actual = model.logits(encoded, batch_texts=limits[0], batch_tokens=limits[1])
    np.testing.assert_allclose(actual, model.logits(encoded), atol=1e-5)


def test_predictions_in_a_stream():
    model, pairs = new(), random_pairs(20)
    expected = model.predict_proba(pairs)
    tuples = [(pair.first, pair.second) for pair in pairs]
    for chunk in (1, 7, 100):
        actual = list(model.predict(iter(tuples), chunk=chunk))
        np.testing.assert_allclose([p.probabilities for p in actual], expected, atol=1e-6)
        assert [p.label for p in actual] == [LABELS[n] for n in expected.argmax(axis=1)]
    assert next(iter(model.predict([("w1 what", "is this")]))).unknown_words == pytest.approx(0.75)


def test_gradients_reach_all_parameters_from_both_texts():
    from headwise.nn.embeddings.encoded_batches import batch_of_pairs

    model = new(interaction="cross").train()
    model(batch_of_pairs(model.encoded(random_pairs(5)))).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert model.embedding.vectors.weight.grad[1:].abs().sum(dim=1).count_nonzero() > 10


def test_labels_that_make_no_classifier():
    with pytest.raises(ConfigError, match="two or more"):
        PairModel(settings(), Vocabulary.build([WORDS]), ["one"])


EMPTY = {"data": {}, "training": {}, "metrics": {}}


@pytest.mark.parametrize("interaction", ["none", "cross", "match"])
def test_saved_and_loaded(tmp_path, interaction):
    model = new(interaction=interaction)
    model.temperature = 1.7
    save_model(model, tmp_path / "m", **EMPTY)
    loaded = load_model(tmp_path / "m")
    assert isinstance(loaded, PairModel)
    assert (loaded.labels, loaded.temperature) == (tuple(LABELS), 1.7)
    pairs = random_pairs(10)
    np.testing.assert_array_equal(loaded.predict_proba(pairs), model.predict_proba(pairs))
    assert "text pairs" in (tmp_path / "m" / "README.md").read_text()


def test_scores_saved_and_loaded(tmp_path):
    torch.manual_seed(0)
    scale = Scale(3.5, 2.0)
    model = shaken(PairScorer(settings(task="pair-score"), Vocabulary.build([WORDS]), scale))
    save_model(model, tmp_path / "m", **EMPTY)
    loaded = load_model(tmp_path / "m")
    assert isinstance(loaded, PairScorer)
    assert loaded.scale == scale
    pairs = random_pairs(10)
    actual = list(loaded.predict(pairs, chunk=3))
    np.testing.assert_allclose(actual, model.scores(model.encoded(pairs)), atol=1e-5)
    alone = [next(iter(loaded.predict([pair]))) for pair in pairs]
    np.testing.assert_allclose(actual, alone, atol=1e-5)
    assert np.ptp(actual) > 0.1


def test_a_hostile_scale(tmp_path):
    import hashlib
    import json

    model = PairScorer(settings(task="pair-score"), Vocabulary.build([WORDS]), Scale(0.0, 1.0))
    save_model(model, tmp_path / "m", **EMPTY)
    text = json.dumps({"mean": 0.0, "deviation": -1.0})
    (tmp_path / "m" / "labels.json").write_text(text)
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    entry = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "size": len(text)}
    manifest["files"]["labels.json"] = entry
    (tmp_path / "m" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=r"labels\.json.*deviation"):
        load_model(tmp_path / "m")


def test_the_linear_member_has_its_say_and_is_saved(tmp_path):

    model, pairs = new(), random_pairs(30)
    encoded = model.encoded(pairs)
    texts, vectors, numbers = model.linear_inputs(encoded)
    assert vectors is None
    linear_model = TextLinearBuffers.of(
        fit_linear(LinearExamples(texts, np.arange(len(pairs)) % 3, 3, numbers=numbers, pairs=True)).model
    )
    before = model.logits(encoded)
    model.add_linear_model(linear_model, 0.7)
    np.testing.assert_allclose(
        model.logits(encoded), before + 0.7 * linear_model(texts, None, numbers), atol=1e-5
    )
    assert model.logits([]).shape == (0, 3)
    save_model(model, tmp_path / "m", **EMPTY)
    loaded = load_model(tmp_path / "m")
    assert loaded.linear_weight == 0.7
    np.testing.assert_array_equal(loaded.predict_proba(pairs), model.predict_proba(pairs))


@pytest.mark.parametrize(
    "pair", [("a", None), ("a", 3), (None, None), None, 3, "ab", ("a",), {"a": "b", "c": "d"}]
)
def test_what_is_no_pair_of_texts(pair):
    with pytest.raises(ConfigError, match="expected a pair of texts, got"):
        as_pair(pair)
