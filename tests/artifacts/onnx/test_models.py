"""What was exported says what the model says: values, on texts that are hard to agree on."""

import copy
import pickle
import sys

import numpy as np
import pytest

from headwise.artifacts.onnx import onnx_runner as runner_module
from headwise.artifacts.onnx.onnx_load import load_exported
from headwise.artifacts.onnx.onnx_models import OnnxTextNetwork
from headwise.runtime.text_network import TextNetwork

from .conftest import ENGINES, EXPORTED


@pytest.mark.parametrize("row", EXPORTED)
def test_the_outputs_are_those_of_the_model(row, pair_of, texts):
    model, exported = pair_of(row)
    encoded = [item.encoded(texts) for item in (model, exported)]
    expected, actual = model.outputs_of(encoded[0]), exported.outputs_of(encoded[1])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(exported.predict_proba(texts), model.predict_proba(texts), rtol=0, atol=1e-6)


@pytest.mark.parametrize("row", EXPORTED)
def test_a_text_does_not_depend_on_its_company(row, pair_of, texts):
    _, exported = pair_of(row)
    together = exported.predict_proba(texts)
    alone = np.concatenate([exported.predict_proba([text]) for text in texts])
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-6)
    backwards = exported.predict_proba(texts[::-1])[::-1]
    np.testing.assert_allclose(backwards, together, rtol=0, atol=1e-6)
    encoded = exported.encoded(texts)
    small = exported.logits(encoded, batch_texts=3, batch_tokens=20)
    np.testing.assert_allclose(small, exported.logits(encoded), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("row", ["ms-transformer, windows", "ms-san"])
def test_little_memory_gives_the_same(row, pair_of, texts, monkeypatch):
    _, exported = pair_of(row)
    expected = exported.predict_proba(texts)
    monkeypatch.setattr(runner_module, "_PAIRS", 1)
    monkeypatch.setattr(runner_module, "_WORDS", 1)
    np.testing.assert_allclose(exported.predict_proba(texts), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("row", ["ms-transformer", "ms-transformer, windows", "ms-san"])
def test_headwise_computes_what_onnxruntime_does(row, written, pair_of, texts, monkeypatch):
    model, folder = written(row)
    exported = load_exported(folder)
    assert isinstance(exported.network, TextNetwork)
    encoded = exported.encoded(texts)
    actual = exported.outputs_of(encoded)
    for variant in (model, pair_of(row)[1]):
        np.testing.assert_allclose(actual, variant.outputs_of(variant.encoded(texts)), rtol=1e-5, atol=1e-5)
    small = exported.logits(encoded, batch_texts=3, batch_tokens=20)
    np.testing.assert_allclose(small, exported.logits(encoded), rtol=1e-5, atol=1e-5)
    again = pickle.loads(pickle.dumps(exported))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert load_exported(folder).predict_proba(texts[:3]).shape == (3, 3)
    np.testing.assert_array_equal(again.predict_proba(texts), exported.predict_proba(texts))


@pytest.mark.parametrize(
    "row", ["ms-transformer, no node, positions", "transformer, priors", "bilstm, two layers"]
)
def test_other_networks_are_left_to_onnxruntime(row, written):
    _, folder = written(row)
    assert not (folder / "network.safetensors").exists()
    assert isinstance(load_exported(folder).network, OnnxTextNetwork)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("task", "based"), [("classify", True), ("multi-label", True), ("regress", False)])
def test_trained_models_say_the_same(task, based, engine, exported_model, texts):
    model, folder = exported_model(task, based=based)
    exported = load_exported(folder, engine=engine)
    assert model.linear_model is not None
    assert exported.linear_model is not None
    texts = [*texts, "a good film", "Bad, poor film!", "goooood w1 badder"]
    one, second = (item.logits(item.encoded(texts)) for item in (model, exported))
    assert np.ptp(one, axis=0).max() > 0.1
    np.testing.assert_allclose(second, one, rtol=1e-5, atol=1e-5)
    for expected, actual in zip(model.predict(texts), exported.predict(texts), strict=True):
        if task == "regress":
            assert actual == pytest.approx(expected, abs=1e-5)
            continue
        assert actual.probabilities == pytest.approx(expected.probabilities, abs=1e-6)
        assert actual.unknown_words == expected.unknown_words
        name = "labels" if task == "multi-label" else "label"
        assert getattr(actual, name) == getattr(expected, name)
    for name in ("labels", "separator", "scale", "thresholds", *model.FITTED.numbers):
        assert getattr(exported, name, None) == getattr(model, name, None)


def test_no_texts(pair_of):
    _, exported = pair_of("ms-transformer")
    assert exported.predict_proba([]).shape == (0, 3)
    assert list(exported.predict([])) == []


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("row", ["ms-san"])
def test_a_model_can_be_sent_to_other_processes(row, pair_of, texts, again):
    """As pools of processes and schedulers do, and as a model folder's can be."""
    _, exported = pair_of(row)
    np.testing.assert_array_equal(again(exported).predict_proba(texts), exported.predict_proba(texts))
