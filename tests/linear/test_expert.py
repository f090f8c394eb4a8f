"""The linear expert, and how much say it gets."""

import numpy as np
import pytest
import torch
from sklearn.svm import LinearSVC

from headwise.encoders import MSTransformerConfig
from headwise.features.embedding import WordConfig
from headwise.features.ngrams import NgramVocabulary
from headwise.features.vocabulary import Vocabulary
from headwise.linear.expert import LinearExpert, fit_linear_expert
from headwise.linear.svm import STRENGTHS
from headwise.linear.text_expert import TextExpert
from headwise.linear.text_fit import fit_linear
from headwise.models.classifier import Model
from headwise.models.model_config import ModelConfig


def corpus(classes: int, texts: int = 60, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Texts of words 1 to 9, with the word 9 + label among them."""
    random = np.random.default_rng(seed)
    targets = random.integers(0, classes, texts)
    return [np.append(random.integers(1, 10, 6), 10 + target) for target in targets], targets


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_are_those_of_scikit_learn(classes):
    train, dev = corpus(classes), corpus(classes, seed=1)
    expert = fit_linear_expert(train, dev, classes)
    vocabulary = NgramVocabulary.build(train[0])
    features = vocabulary.transform(train[0])
    dev_features = vocabulary.transform(dev[0])
    machines = [LinearSVC(C=strength, random_state=0).fit(features, train[1]) for strength in STRENGTHS]
    best = max(machines, key=lambda machine: (machine.predict(dev_features) == dev[1]).mean())
    scores, theirs = expert(dev[0]), best.decision_function(dev_features)
    ours = scores[:, 1] - scores[:, 0] if classes == 2 else scores
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert (scores.argmax(1) == dev[1]).mean() > 0.9


def test_texts_without_words_score_the_bias():
    expert = fit_linear_expert(corpus(3), corpus(3, seed=1), 3)
    none = np.zeros(0, dtype=np.int64)
    np.testing.assert_allclose(expert([none, np.array([0, 0])]), expert.bias.numpy()[None].repeat(2, 0))
    assert fit_linear_expert(([none, none], np.array([0, 1])), ([none], np.array([0])), 2) is None


def test_a_model_adds_it_to_its_logits():
    torch.manual_seed(0)
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)
    config = ModelConfig(words=WordConfig(vector_size=8, tokenizer="whitespace"), encoder=encoder)
    model = Model(config, Vocabulary.build([[str(n) for n in range(15)]]), ["a", "b"])
    encoded = model.features.encode(["1 2 3", "", "4 4"])
    alone = model.logits(encoded)
    expert = fit_linear_expert(corpus(2), corpus(2, seed=1), 2)
    model.add_expert(expert, 0.5)
    say = expert([text.words for text in encoded])
    np.testing.assert_allclose(model.logits(encoded), alone + 0.5 * say, rtol=1e-6)
    np.testing.assert_array_equal(model.outputs_of(encoded), alone)
    assert model.config.expert.features == len(expert.keys)
    again = Model(model.config, model.features.vocabulary, model.labels)
    assert isinstance(again.expert, LinearExpert)
    again.load_state_dict(model.state_dict())


def text_model() -> Model:
    torch.manual_seed(0)
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)
    config = ModelConfig(words=WordConfig(vector_size=8), encoder=encoder)
    return Model(config, Vocabulary.build([["red", "green"]]), ["a", "b"])


def test_an_expert_of_texts_reads_what_the_vocabulary_does_not_know():
    model, texts = text_model(), ["red apples", "green pears", "red cherries", "green plums"] * 5
    expert = TextExpert.of(fit_linear(texts, np.arange(20) % 2, 2).model)
    encoded = model.features.encode(["apples", "plums", ""])
    alone = model.logits(encoded)
    model.add_expert(expert, 0.5, share=0.3)
    say = expert(["apples", "plums", ""])
    assert say[0, 0] > say[1, 0]
    np.testing.assert_allclose(model.logits(encoded), alone + 0.5 * say, rtol=1e-5)
    again = Model(model.config, model.features.vocabulary, model.labels)
    again.load_state_dict(model.state_dict())
    again.expert_weight = 0.5
    np.testing.assert_array_equal(again.logits(encoded), model.logits(encoded))
    model.remove_expert()
    np.testing.assert_array_equal(model.logits(encoded), alone)
    assert model.config.expert.features == 0


def test_an_encoder_without_a_say_is_not_asked(monkeypatch):
    model, texts = text_model(), ["red apples", "green pears"] * 5
    expert = TextExpert.of(fit_linear(texts, np.arange(10) % 2, 2).model)
    model.add_expert(expert, 1.0, encoder_weight=0.0, share=1.0)
    monkeypatch.setattr(model, "outputs_of", None)
    np.testing.assert_array_equal(model.logits(model.features.encode(texts)), expert(texts))
