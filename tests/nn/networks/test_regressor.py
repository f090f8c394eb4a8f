"""Regressor: numbers alone and in company, and the model folder."""

import numpy as np
import torch

from headwise.artifacts import load_model, save_model
from headwise.metrics.target_scale import Scale
from headwise.models.label_evaluation import evaluate_numbers
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextRegressorModel
from headwise.nn.task_layers.layer_configs import RegressorConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(20)]


def new() -> TextRegressorModel:
    torch.manual_seed(0)
    config = ModelConfig(
        task="regress",
        words=WordConfig(vector_size=8),
        encoder=MSTransformerConfig(width=12, heads=3, head_size=4, layers=1),
        regressor=RegressorConfig(hidden=8),
    )
    model = TextRegressorModel(config, Vocabulary.build([WORDS]), Scale(10.0, 4.0))
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return model.eval()


def random_texts(texts: int) -> list[str]:
    random = np.random.default_rng(0)
    return ["", *(" ".join(random.choice(WORDS, random.integers(0, 12))) for _ in range(texts))]


def test_alone_and_in_company():
    model, texts = new(), random_texts(30)
    together = model.scores(model.features.encode(texts))
    alone = [next(iter(model.predict([text]))) for text in texts]
    np.testing.assert_allclose(together, alone, atol=1e-4)
    np.testing.assert_allclose(list(model.predict(iter(texts), chunk=7)), together, atol=1e-4)
    assert np.ptp(together) > 0.5


def test_saved_and_loaded(tmp_path):
    model, texts = new(), random_texts(10)
    save_model(model, tmp_path / "m", data={}, training={}, metrics={"dev": {"mae": 1.0, "rmse": 2.0}})
    loaded = load_model(tmp_path / "m")
    assert isinstance(loaded, TextRegressorModel)
    assert loaded.scale == Scale(10.0, 4.0)
    assert list(loaded.predict(texts)) == list(model.predict(texts))
    card = (tmp_path / "m" / "README.md").read_text()
    assert "regressor of texts" in card
    assert "mean absolute error" in card


def test_evaluation():
    model, texts = new(), random_texts(20)
    predicted = np.array(list(model.predict(texts)))
    actual = evaluate_numbers(model, texts, predicted + 1)
    np.testing.assert_allclose(actual.scores.mae, 1, atol=1e-4)
    assert actual.reading.empty_texts >= 1
    targets = predicted.copy()
    targets[5] += 3
    targets[7] -= 9
    assert evaluate_numbers(model, texts, targets).worst(targets, 2) == [7, 5]
