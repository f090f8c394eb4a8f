"""The linear model of an ensemble, and its weight."""

import numpy as np
import torch

from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary


def text_model() -> TextClassifierModel:
    torch.manual_seed(0)
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)
    config = ModelConfig(words=WordConfig(vector_size=8), encoder=encoder)
    return TextClassifierModel(config, Vocabulary.build([["red", "green"]]), ["a", "b"])


def test_a_linear_member_of_texts_reads_what_the_vocabulary_does_not_know():
    model, texts = text_model(), ["red apples", "green pears", "red cherries", "green plums"] * 5
    linear_model = TextLinearBuffers.of(fit_linear(LinearExamples(texts, np.arange(20) % 2, 2)).model)
    encoded = model.features.encode(["apples", "plums", ""])
    alone = model.logits(encoded)
    model.add_linear_model(linear_model, 0.5, share=0.3)
    say = linear_model(["apples", "plums", ""])
    assert say[0, 0] > say[1, 0]
    np.testing.assert_allclose(model.logits(encoded), alone + 0.5 * say, rtol=1e-5)
    again = TextClassifierModel(model.config, model.features.vocabulary, model.labels)
    again.load_state_dict(model.state_dict())
    again.linear_weight = 0.5
    np.testing.assert_array_equal(again.logits(encoded), model.logits(encoded))
    model.remove_linear_model()
    np.testing.assert_array_equal(model.logits(encoded), alone)
    assert model.config.linear_model.features == 0


def test_an_encoder_without_a_say_is_not_asked(monkeypatch):
    model, texts = text_model(), ["red apples", "green pears"] * 5
    linear_model = TextLinearBuffers.of(fit_linear(LinearExamples(texts, np.arange(10) % 2, 2)).model)
    model.add_linear_model(linear_model, 1.0, encoder_weight=0.0, share=1.0)
    monkeypatch.setattr(model, "outputs_of", None)
    np.testing.assert_array_equal(model.logits(model.features.encode(texts)), linear_model(texts))
