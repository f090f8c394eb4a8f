"""Ensemble weights of linear model and encoder; class weights reach the linear model."""

from dataclasses import replace

import numpy as np
import torch

from headwise.data.items.examples import Example
from headwise.linear.training_data import TrainingData
from headwise.metrics.classification_scores import mean_loss
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary
from headwise.training.ensembles import SingleLabelEnsembleFitter
from headwise.training.text_objectives import ClassificationObjective

LABELS = ["a", "b", "c"]
NAMES = (("apple", "pear"), ("oak", "fir"), ("cat", "dog"))


def corpus(texts: int, seed: int) -> tuple[list[Example], np.ndarray]:
    random = np.random.default_rng(seed)
    targets = random.integers(0, 3, texts)
    sentences = [f"the {random.choice(NAMES[label])}s of {random.integers(1000)}" for label in targets]
    return [Example(text) for text in sentences], targets


def objective(weights: str = "none", tokenizer: str = "penn") -> ClassificationObjective:
    torch.manual_seed(0)
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)
    config = ModelConfig(words=WordConfig(vector_size=8, tokenizer=tokenizer), encoder=encoder)
    config = replace(config, classifier=ClassifierConfig(class_weights=weights))
    model = TextClassifierModel(config, Vocabulary.build([["the", "of"]]), LABELS)
    return ClassificationObjective(model, corpus(90, 0), corpus(60, 1))


def knowing(targets: np.ndarray, strength: float) -> np.ndarray:
    """Logits of an encoder that knows so much."""
    noise = np.random.default_rng(3).normal(size=(len(targets), 3))
    return (strength * np.eye(3)[targets] + noise).astype(np.float32)


def ensemble(task_objective: ClassificationObjective, logits: np.ndarray) -> SingleLabelEnsembleFitter:
    """The ensemble of the linear model and an encoder with these logits of dev."""
    fitted = SingleLabelEnsembleFitter(task_objective)
    task_objective.model.outputs_of = lambda *_, **__: logits  # type: ignore[method-assign]
    fitted.fit()
    del task_objective.model.outputs_of
    return fitted


def test_an_encoder_that_knows_nothing_is_dropped():
    task_objective = objective()
    ensemble(task_objective, knowing(task_objective.dev_targets, 0.0))
    model = task_objective.model
    assert isinstance(model.linear_model, TextLinearBuffers)
    assert (model.encoder_weight, model.linear_weight, model.linear_share) == (0.0, 1.0, 1.0)
    assert (model.logits(task_objective.dev_items).argmax(1) == task_objective.dev_targets).mean() == 1.0


def test_an_encoder_without_a_weight_beside_the_linear_model_is_unused():
    """What it says of dev decides; the linear model is fitted once."""
    task_objective = objective()
    fitter = SingleLabelEnsembleFitter(task_objective)
    answers = []
    for strength in (0.0, 6.0):
        logits = knowing(task_objective.dev_targets, strength)
        if strength:
            task_objective.dev_targets = np.random.default_rng(0).permutation(task_objective.dev_targets)
            logits = knowing(task_objective.dev_targets, strength)
        task_objective.model.outputs_of = lambda *_, logits=logits, **__: logits  # type: ignore[method-assign]
        task_objective.evaluate()
        answers.append((fitter.encoder_is_unused(), fitter.linear_fit))
    assert [unused for unused, _ in answers] == [True, False]
    assert answers[0][1] is answers[1][1]
    assert task_objective.model.linear_model is None  # nothing of the model is changed


def test_whether_the_encoder_is_unused_is_asked_without_another_pass_over_dev(monkeypatch):
    task_objective = objective()
    fitter = SingleLabelEnsembleFitter(task_objective)
    calls = []
    network, linear = task_objective.model.outputs_of, fitter.dev_scores
    monkeypatch.setattr(
        task_objective.model, "outputs_of", lambda *a, **k: calls.append("network") or network(*a, **k)
    )
    monkeypatch.setattr(fitter, "dev_scores", lambda model: calls.append("linear") or linear(model))
    for _ in range(2):
        task_objective.evaluate()
        fitter.encoder_is_unused()
    assert calls == ["network", "linear", "network"]
    fitter.fit()
    assert calls == ["network", "linear", "network", "network"]  # of the weights of the best epoch


def test_both_have_a_say_and_the_probabilities_are_calibrated():
    task_objective = objective()
    logits = knowing(task_objective.dev_targets, 2.0)
    noisy = task_objective.dev_targets.copy()
    noisy[::4] = (noisy[::4] + 1) % 3  # the linear model is not always right either
    task_objective.dev_targets = noisy
    ensemble(task_objective, logits)
    model = task_objective.model
    assert 0 < model.linear_share <= 1
    alone = model.linear_scores(task_objective.dev_items)
    model.outputs_of = lambda *_, **__: logits  # type: ignore[method-assign]
    mixed = model.logits(task_objective.dev_items) / model.temperature
    assert mean_loss(mixed, noisy) <= min(mean_loss(alone, noisy), mean_loss(logits, noisy)) + 0.02


def test_a_linear_member_that_is_not_needed_is_dropped():
    task_objective = objective()
    task_objective.dev_targets = np.random.default_rng(0).permutation(task_objective.dev_targets)
    ensemble(task_objective, knowing(task_objective.dev_targets, 6.0))
    assert task_objective.model.linear_model is None
    assert task_objective.model.config.linear_model.features == 0


def test_class_weights_reach_it():
    shares = {}
    for weights in ("none", "a=20.0"):
        task_objective = objective(weights)
        task_objective.train_targets = np.random.default_rng(7).integers(
            0, 3, len(task_objective.train_targets)
        )
        task_objective.dev_targets = np.zeros_like(task_objective.dev_targets)
        ensemble(task_objective, knowing(task_objective.dev_targets, 0.0))
        guessed = (
            task_objective.model.linear_scores(task_objective.dev_items).argmax(1)
            if task_objective.model.linear_model
            else [1]
        )
        shares[weights] = np.mean(np.array(guessed) == 0)
    assert shares["a=20.0"] > shares["none"] + 0.1


def test_texts_without_words_have_no_linear_model():
    task_objective = objective()
    task_objective.train_items = task_objective.model.features.encode(
        [" "] * len(task_objective.train_items)
    )
    ensemble(task_objective, knowing(task_objective.dev_targets, 1.0))
    assert task_objective.model.linear_model is None


def test_labels_that_are_not_certain_and_weights_reach_loss_class_weights_and_linear_model():
    plain = objective()
    targets, texts = plain.train_targets, corpus(90, 0)[0]
    dev = corpus(60, 1)
    certain = np.eye(3, dtype=np.float32)[targets]
    soft = ClassificationObjective(plain.model, (texts, certain), dev)
    plain.model.eval()
    torch.testing.assert_close(soft.loss(range(90)), plain.loss(range(90)))
    twice = np.where(targets == 0, 2.0, 1.0)
    weighted = ClassificationObjective(
        plain.model, (texts, targets), dev, weights=(twice / twice.mean()).astype(np.float32)
    )
    expected = (plain.loss(range(90)) + plain.loss(np.flatnonzero(targets == 0).tolist())) / twice.mean()
    torch.testing.assert_close(weighted.loss(range(90)), expected)
    balanced = replace(plain.model.config, classifier=ClassifierConfig(class_weights="balanced"))
    plain.model.config = balanced
    even = ClassificationObjective(plain.model, (texts, np.full((90, 3), 1 / 3, "f4")), dev)
    assert np.allclose(even.class_weights, 1)
    wrong = certain[:, [1, 2, 0]]
    taught = ClassificationObjective(plain.model, (texts, wrong), dev)
    ensemble(taught, knowing(taught.dev_targets, 0.0))
    guessed = taught.model.linear_scores(taught.dev_items).argmax(1)
    assert (guessed == (taught.dev_targets + 2) % 3).mean() > 0.9


def test_a_refit_has_the_scale_of_the_first_fit_whose_ensemble_weight_it_has(monkeypatch):
    """Scores are margins: no calibration of a refit, which is random for uninformative scores."""
    first, second = objective(), objective()
    fitted = ensemble(first, knowing(first.dev_targets, 0.0))
    fits = []
    monkeypatch.setattr(
        TrainingData,
        "fit",
        lambda *arguments, fit=TrainingData.fit: fits.append(arguments) or fit(*arguments),
    )
    SingleLabelEnsembleFitter(second).refit(fitted)
    assert len(fits) == 1
    before, after = (model.model.linear_scores(second.dev_items) for model in (first, second))
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)
    assert second.model.linear_weight == first.model.linear_weight
